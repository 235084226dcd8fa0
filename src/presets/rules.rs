//! The file of a tool: rules that tell which of its failures are transient. Parsed when it is needed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::policy::sets::CodeSet;
use crate::search::pattern::Pattern;

/// Texts that rules of several tools share.
static LISTS: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(|| toml::from_str(include_str!("lists.toml")).unwrap_or_default());

/// A file in `tools/`. A test parses each one.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolFile {
    /// The errors and codes that the rules know, on one line.
    pub(crate) about: String,
    /// Presets whose rules follow the tool's own.
    #[serde(default)]
    pub(crate) include: Vec<String>,
    /// False to leave out the shared list of hopeless failures, unless an included preset has it.
    hopeless: Option<bool>,
    /// Permanent, whatever other rules say.
    #[serde(default)]
    stop: Vec<Texts>,
    /// Transient, and the request had no effect.
    #[serde(default)]
    refused: Vec<Texts>,
    /// Transient.
    #[serde(default)]
    retry: Vec<Texts>,
    /// Permanent, unless `--before-retry` changes something.
    #[serde(default)]
    behind: Vec<Texts>,
    /// Examples of failures that no rule makes transient.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests read examples"))]
    pub(crate) permanent: Vec<Texts>,
}

/// A rule as written. It applies to any code without `exit`, and to any output without `line` and `begin`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Texts {
    pub(crate) exit: Option<String>,
    /// A line must match one of these.
    #[serde(default)]
    line: OneOrMore,
    /// A line must begin with this, and have one of `then` further on.
    begin: Option<String>,
    #[serde(default)]
    then: OneOrMore,
    #[serde(default)]
    source: String,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests read examples"))]
    pub(crate) example: OneOrMore,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> OneOrMore {
        OneOrMore::More(Vec::new())
    }
}

impl OneOrMore {
    pub(crate) fn as_slice(&self) -> &[String] {
        match self {
            OneOrMore::One(text) => std::slice::from_ref(text),
            OneOrMore::More(texts) => texts,
        }
    }
}

/// One fact: a failure with these codes and this text is transient or permanent.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) verdict: RowVerdict,
    /// Required exit codes. None matches any failure.
    pub(crate) codes: Option<CodeSet>,
    /// Case-insensitive expression that a line must match. None matches any output. `{NAME}` stands for the list of
    /// this name.
    pub(crate) text: Option<String>,
    pub(crate) source: String,
}

/// The verdict on a failure that matches a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowVerdict {
    Stop,
    Refused,
    Retry,
    Behind,
}

impl RowVerdict {
    /// Explains the words to users.
    pub(crate) const LEGEND: &str = "retry: transient; refused: transient, and had no effect (see --idempotent);\n\
                                     stop: permanent; behind: transient only with --before-retry";

    /// Returns the verdict's word in files and lists.
    pub(crate) fn word(self) -> &'static str {
        match self {
            RowVerdict::Stop => "stop",
            RowVerdict::Refused => "refused",
            RowVerdict::Retry => "retry",
            RowVerdict::Behind => "behind",
        }
    }
}

impl ToolFile {
    /// Parses one of the program's own files. Returns an empty one if the file is wrong, which a test finds.
    pub(crate) fn parse(text: &str) -> ToolFile {
        toml::from_str(text).unwrap_or_default()
    }

    fn rules(&self) -> [(RowVerdict, &[Texts]); 4] {
        [
            (RowVerdict::Stop, &self.stop),
            (RowVerdict::Refused, &self.refused),
            (RowVerdict::Retry, &self.retry),
            (RowVerdict::Behind, &self.behind),
        ]
    }

    /// Returns the tool's rules as written.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Texts> {
        self.rules().into_iter().flat_map(|(_, rules)| rules)
    }

    /// Returns each example with its rule and its verdict. None is permanent.
    #[cfg(test)]
    pub(crate) fn examples(&self) -> Vec<(Option<RowVerdict>, &Texts, &str)> {
        let permanent = self.permanent.iter().map(|rule| (None, rule));
        let rules = self.rules().into_iter();
        let rules =
            rules.flat_map(|(verdict, rules)| rules.iter().map(move |rule| (Some(verdict), rule)));
        let examples = rules.chain(permanent).flat_map(|(verdict, rule)| {
            let texts = rule.example.as_slice().iter();
            texts.map(move |text| (verdict, rule, text.as_str()))
        });
        examples.collect()
    }

    /// Returns the tool's own rules.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let rules = self.rules().into_iter();
        let rows =
            rules.flat_map(|(verdict, rules)| rules.iter().map(move |rule| rule.row(verdict)));
        rows.collect()
    }

    pub(crate) fn has_hopeless(&self) -> bool {
        self.hopeless != Some(false)
    }
}

impl Texts {
    #[cfg(test)]
    pub(crate) fn has_line(&self) -> bool {
        self.joined().is_some()
    }

    pub(crate) fn row(&self, verdict: RowVerdict) -> Row {
        let exit = self.exit.as_deref();
        Row {
            verdict,
            codes: exit.and_then(|codes| codes.parse().ok()),
            text: self.joined(),
            source: self.source.clone(),
        }
    }

    fn joined(&self) -> Option<String> {
        if let Some(begin) = &self.begin {
            return Some(format!("^({begin}).*({})", self.then.as_slice().join("|")));
        }
        match self.line.as_slice() {
            [] => None,
            lines => Some(lines.join("|")),
        }
    }
}

/// Formats the conditions of the row for `-vv`: `exit 35,56, match curl: \((35|56)\)`.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions = self.conditions().into_iter();
        let shown: Vec<String> = conditions
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        f.write_str(&shown.join(", "))
    }
}

impl Row {
    /// Returns the rule for what is hopeless for any tool.
    pub(crate) fn hopeless() -> Row {
        Row {
            verdict: RowVerdict::Stop,
            codes: None,
            text: Some("{HOPELESS}".to_owned()),
            source: "rejected logins, certificates, full disks".to_owned(),
        }
    }

    /// Returns the named conditions of the row, for people. Lists remain short: `{NAME}`.
    pub(crate) fn conditions(&self) -> Vec<(&'static str, String)> {
        let codes = self.codes.map(|codes| ("exit", codes.to_string()));
        let text = self.text.clone().map(|text| ("match", text));
        codes.into_iter().chain(text).collect()
    }

    /// Returns the expression with each `{NAME}` expanded, None if the row has no text.
    pub(crate) fn expression(&self) -> Option<String> {
        self.text.as_deref().map(expanded)
    }

    /// Returns the expression as a pattern, None if the row has no text.
    pub(crate) fn pattern(&self) -> Option<Pattern> {
        self.expression().map(Pattern::of_preset)
    }
}

/// Replaces each `{NAME}` with the list of this name, as an alternation, and expands the lists that it names in turn.
/// `{2}` is a repetition, and remains.
pub(crate) fn expanded(text: &str) -> String {
    let Some((before, name, after)) = split_at_list(text) else {
        return text.to_owned();
    };
    let parts: Vec<String> = list(name).iter().map(|text| expanded(text)).collect();
    format!("{before}(?:{}){}", parts.join("|"), expanded(after))
}

/// Returns the texts of a list. Empty for an unknown name, which a test finds.
pub(crate) fn list(name: &str) -> &'static [String] {
    LISTS.get(name).map_or(&[], Vec::as_slice)
}

/// Returns the text before the first name of a list, the name, and the text after it, or None if there is no name.
/// Names begin with a capital letter, repetitions such as `{2}` with a digit.
pub(crate) fn split_at_list(text: &str) -> Option<(&str, &str, &str)> {
    for (brace, _) in text.match_indices('{') {
        let (name, after) = text[brace + 1..].split_once('}')?;
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return Some((&text[..brace], name, after));
        }
    }
    None
}
