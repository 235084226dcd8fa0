//! The language of the configuration file, and of the built-in policies: TOML with a table `[defaults]` and tables
//! `[policy.NAME]`. A value becomes the text that a flag would take, so that both go through the same readers.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use super::setting::{Setting, Source, UsageError};
use crate::cli::suggest::tip_for_option;
use crate::options::opt::{Kind, Spec};
use crate::options::problem::Checked;
use crate::options::similar::tip;
use crate::options::{OPTIONS, POLICY};

/// Settings under a name.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    /// The name that `--policy` takes.
    pub(crate) name: String,
    /// The purpose of a built-in policy.
    pub(crate) about: Option<String>,
    /// `FILE:LINE:COLUMN` of the name; empty for a built-in policy.
    pub(crate) position: String,
    pub(crate) settings: Vec<Setting>,
}

type Key<'a> = Spanned<Cow<'a, str>>;
type TomlValue<'a> = Spanned<DeValue<'a>>;

/// A document, used to find positions in its text.
struct TomlText<'a> {
    /// The file's name, escaped for display; empty for a built-in document.
    file: &'a str,
    bytes: &'a [u8],
}

/// The tables of a file.
pub(super) struct ParsedFile {
    /// Settings of `[defaults]`.
    pub(super) defaults: Vec<Setting>,
    /// Policies, in file order.
    pub(super) policies: Vec<Policy>,
}

/// Parses a file, or the built-in policies, whose name `file` is empty. An error begins with the position: one of the
/// syntax, wherever it is, or else the first key or type of a value from the top that is not accepted. The texts are
/// not read here.
pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<ParsedFile, UsageError> {
    let document = TomlText { file, bytes };
    let text = std::str::from_utf8(bytes)
        .map_err(|error| document.wrong(error.valid_up_to(), "is not UTF-8"))?;
    let root = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        document.wrong(offset, &format!("is not TOML: {}", error.message()))
    })?;
    let mut defaults = Vec::new();
    let mut policies = Vec::new();
    for (key, value) in in_order(root.get_ref()) {
        match (key.get_ref().as_ref(), value.get_ref()) {
            ("defaults", DeValue::Table(table)) => {
                defaults = document.options(&Source::Defaults, table)?;
            }
            ("policy", DeValue::Table(table)) => {
                for (name, value) in in_order(table) {
                    policies.push(document.policy(name, value)?);
                }
            }
            (name, _) => {
                // A known name with a value of the wrong type, such as `defaults = 1`, must not be its own tip.
                let known = ["defaults", "policy"]
                    .into_iter()
                    .filter(|known| *known != name);
                let tip = tip(name, known);
                let why = format!("is neither a table [defaults] nor [policy.NAME]{tip}");
                return Err(document.wrong_key(key, &why));
            }
        }
    }
    Ok(ParsedFile { defaults, policies })
}

/// Returns the entries in file order, so that errors are reported from the top; the parser sorts by name.
fn in_order<'a, 't>(table: &'t DeTable<'a>) -> Vec<(&'t Key<'a>, &'t TomlValue<'a>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Returns the option of a key, or an error, to which the caller adds the key, if a file or a policy cannot set the
/// option. Accepts `max_delay` for `max-delay`. For a misspelled key, or one of another tool, the error suggests our
/// option.
fn option_of_key(key: &str, source: &Source) -> Checked<&'static Spec> {
    let name = key.replace('_', "-");
    let Some(opt) = OPTIONS.iter().copied().find(|opt| opt.long == name) else {
        let settable = OPTIONS.iter().filter(|opt| opt.is_setting());
        let tip = tip_for_option(key, settable.map(|opt| opt.long));
        return Err(UsageError::new(format!("is not an option{tip}")));
    };
    if !opt.is_setting() {
        return Err(UsageError::new("cannot be set in a configuration file"));
    }
    if *opt == *POLICY && *source != Source::Defaults {
        return Err(UsageError::new("cannot be set by a policy"));
    }
    Ok(opt)
}

impl TomlText<'_> {
    /// Returns the `FILE:LINE:COLUMN` of an offset in bytes, as editors open it; nothing for a built-in document. Line
    /// and column count from 1; columns are characters.
    fn position(&self, offset: usize) -> String {
        if self.file.is_empty() {
            return String::new();
        }
        let before = &self.bytes[..offset.min(self.bytes.len())];
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |end| end + 1);
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        let columns = before[line_start..]
            .iter()
            .filter(|byte| begins_character(**byte))
            .count();
        format!("{}:{}:{}", self.file, lines + 1, columns + 1)
    }

    fn wrong(&self, offset: usize, problem: &str) -> UsageError {
        UsageError(format!("{}: {problem}", self.position(offset)))
    }

    fn wrong_key(&self, key: &Key<'_>, problem: &str) -> UsageError {
        self.wrong(key.span().start, &format!("{:?} {problem}", key.get_ref()))
    }

    /// Reads the table of one policy; `key` is the NAME of `[policy.NAME]`. Returns an error if the value is no table,
    /// or the name or an option in the table is not accepted.
    fn policy(&self, key: &Key<'_>, value: &TomlValue<'_>) -> Result<Policy, UsageError> {
        let name = key.get_ref();
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.wrong_key(key, "is not a table [policy.NAME]"));
        };
        // Names appear in messages and in the first column of a list.
        if name.is_empty() || !name.chars().all(is_of_name) {
            return Err(self.wrong_key(
                key,
                "cannot be the name of a policy, which has letters, digits, -, _ and . only",
            ));
        }
        // `options` rejects the key `about` in a configuration file.
        let about = table
            .get("about")
            .and_then(|about| about.get_ref().as_str());
        Ok(Policy {
            name: name.clone().into_owned(),
            about: about.map(str::to_owned),
            position: self.position(key.span().start),
            settings: self.options(&Source::Policy(name.as_ref().into()), table)?,
        })
    }

    /// Returns the settings of a table, in file order. Only a built-in policy has a key `about`, which is no option. A
    /// key that is not accepted is an error with its position.
    fn options(&self, source: &Source, table: &DeTable<'_>) -> Result<Vec<Setting>, UsageError> {
        let mut layer: Vec<Setting> = Vec::new();
        for (key, value) in in_order(table) {
            if key.get_ref() == "about" && self.file.is_empty() {
                continue;
            }
            let opt = option_of_key(key.get_ref(), source)
                .map_err(|problem| self.wrong_key(key, &problem.0))?;
            if layer.iter().any(|setting| setting.opt == opt) {
                return Err(self.wrong_key(key, "is given twice, with - and with _"));
            }
            for (text, offset) in self.texts(opt, value)? {
                let position = self.position(offset);
                layer.push(Setting::new(opt, text, source.clone(), position));
            }
        }
        Ok(layer)
    }

    /// Returns a value's texts, each with its offset. In an array, elements are texts of their own if the option may be
    /// repeated, and one text with commas if the option takes a list. A value that the option does not take is an
    /// error: an array for an option with one text, say, or an empty one, which would set nothing.
    fn texts(&self, opt: &Spec, value: &TomlValue<'_>) -> Result<Vec<(String, usize)>, UsageError> {
        // `text_of_flag` rejects an array that is not split here.
        let values = match (value.get_ref(), opt.kind) {
            (DeValue::Array(array), Kind::Repeatable(_) | Kind::List(_)) if !array.is_empty() => {
                array.iter().collect()
            }
            _ => vec![value],
        };
        let mut texts = Vec::new();
        for value in values {
            let offset = value.span().start;
            let text = text_of_flag(value.get_ref(), opt).ok_or_else(|| {
                let expected = expected_form(opt);
                let given = value.get_ref().type_str();
                let problem = format!("{:?} takes {expected}, not a TOML {given}", opt.long);
                self.wrong(offset, &problem)
            })?;
            texts.push((text, offset));
        }
        if let Kind::List(_) = opt.kind {
            let parts: Vec<String> = texts.into_iter().map(|(text, _)| text).collect();
            texts = vec![(parts.join(","), value.span().start)];
        }
        Ok(texts)
    }
}

/// Returns true for a byte of UTF-8 that begins a character: all others are 0b10xxxxxx.
fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Returns true for a letter of a policy's name.
fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

/// Returns the expected form of an option's value, for error messages.
fn expected_form(opt: &Spec) -> String {
    match opt.kind {
        Kind::Switch => "true or false".to_owned(),
        Kind::Count => "a number".to_owned(),
        kind => kind.placeholder(),
    }
}

/// Returns a value as the text that a flag or a variable would take (`true`, `30`, `1.5s`), or None if the option takes
/// no value of this type, such as a number for a switch.
fn text_of_flag(value: &DeValue<'_>, opt: &Spec) -> Option<String> {
    match (value, opt.kind) {
        (DeValue::Boolean(on), Kind::Switch | Kind::Count | Kind::Optional { .. }) => {
            Some(on.to_string())
        }
        // TOML users write true for yes.
        (DeValue::Boolean(on), Kind::Word(["yes", "no"])) => {
            Some(if *on { "yes" } else { "no" }.to_owned())
        }
        (_, Kind::Switch) => None,
        (DeValue::Integer(number), _) => Some(decimal(number)),
        (_, Kind::Count) => None,
        // TOML allows a plus sign; durations and sizes do not.
        (DeValue::Float(number), _) => Some(number.as_str().trim_start_matches('+').to_owned()),
        (DeValue::String(text), _) => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// Returns a number in decimal, as TOML also has 0x1F and 1_000. A number beyond i128 stays as written; the option's
/// parser rejects it.
fn decimal(number: &DeInteger<'_>) -> String {
    let value = i128::from_str_radix(number.as_str(), number.radix());
    value.map_or_else(|_| number.to_string(), |value| value.to_string())
}
