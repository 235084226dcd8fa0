//! Settings: what sources say about options, as texts that a command line takes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::rc::Rc;

use crate::cli::declared::{Declared, EXCLUSIVE, Takes, variable};
use crate::cli::options::Options;
use crate::cli::parse;
use crate::cli::values;
use crate::cli::wrong::shown_text;

/// Names and values of the `BACKOFF_*` environment variables.
pub(crate) type Variables = [(OsString, OsString)];

/// Who set an option, from lowest to highest precedence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Another option, with this name.
    Implied(String),
    /// `[defaults]` of this file.
    Defaults(Rc<str>),
    /// A policy. The file is empty if it is built in.
    Policy {
        name: Rc<str>,
        file: Rc<str>,
    },
    Variable,
    Flag,
}

/// What one source says about an option.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// Several for a repeatable option. For a switch, one such as `1` or `true`.
    texts: Vec<OsString>,
    pub(crate) source: Source,
    /// The option as written, such as `every`, which stands for three.
    written: String,
}

/// Settings by option name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings(BTreeMap<String, Setting>);

impl Setting {
    /// Returns the texts for messages, without secrets. Not escaped, because the printer of the message does that.
    pub(crate) fn shown(&self) -> String {
        let texts = self.texts.iter();
        let shown: Vec<String> = texts
            .map(|text| shown_text(&self.written, &text.to_string_lossy()))
            .collect();
        shown.join(", ")
    }

    /// Returns the text, or the last one of several.
    pub(super) fn last_text(&self) -> &OsStr {
        self.texts.last().map(|text| &**text).unwrap_or_default()
    }

    /// Returns the name of the source, with which a user finds the setting: `--base`, `BACKOFF_BASE`, `policy wait`,
    /// `policy slow in /etc/backoff.toml`.
    pub(crate) fn source_name(&self) -> String {
        match &self.source {
            Source::Implied(by) => format!("by --{by}"),
            Source::Defaults(file) => format!("[defaults] in {file}"),
            Source::Policy { name, file } if file.is_empty() => format!("policy {name}"),
            Source::Policy { name, file } => format!("policy {name} in {file}"),
            Source::Variable => variable(&self.written),
            Source::Flag => format!("--{}", self.written),
        }
    }

    /// Returns the error `PLACE: "TEXT" PROBLEM`. The place is file, table and key, or else the name of the source.
    pub(crate) fn error(&self, problem: impl fmt::Display) -> String {
        format!("{}: {:?} {problem}", self.place(), self.shown())
    }

    fn place(&self) -> String {
        let long = &self.written;
        match &self.source {
            Source::Defaults(file) => format!("{file}: [defaults] {long}"),
            Source::Policy { name, file } => format!("{file}: [policy.{name}] {long}"),
            _ => self.source_name(),
        }
    }
}

/// Formats as the user would write it, without secrets: `--base 5s`, `BACKOFF_BASE=5s`, `--every 1s from policy wait`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.source_name();
        let text = self.shown();
        match self.source {
            Source::Flag => write!(f, "{source} {text}"),
            Source::Variable => write!(f, "{source}={text}"),
            _ => write!(f, "--{} {text} from {source}", self.written),
        }
    }
}

impl Settings {
    /// Returns what is typed on the command line.
    pub(super) fn typed(given: &[(String, Vec<OsString>)]) -> Settings {
        let mut settings = Settings::default();
        for (long, texts) in given {
            settings.set(long, texts.clone(), Source::Flag);
        }
        settings
    }

    /// Returns what variables set. An empty one is unset, because scripts clear variables that way. Ignores unknown
    /// names, about which `plan::remarks` warns.
    pub(super) fn from_variables(variables: &Variables, declared: &[Declared]) -> Settings {
        let mut settings = Settings::default();
        for (name, text) in variables {
            let option = declared
                .iter()
                .find(|option| option.has_variable() && *name == *option.variable());
            if let Some(option) = option
                && !text.is_empty()
            {
                settings.set(&option.long, vec![text.clone()], Source::Variable);
            }
        }
        settings
    }

    pub(super) fn set(&mut self, long: &str, texts: Vec<OsString>, source: Source) {
        let written = long.to_owned();
        let setting = Setting {
            texts,
            source,
            written,
        };
        self.0.insert(long.to_owned(), setting);
    }

    /// Adds a higher source. Its settings replace those of the same options, and of options that they exclude.
    pub(super) fn overlay(&mut self, higher: Settings) {
        let higher = higher.with_every_written_out();
        for (option, others, _) in EXCLUSIVE {
            for other in others {
                if higher.has(option) {
                    self.0.remove(*other);
                }
                if higher.has(other) {
                    self.0.remove(option);
                }
            }
        }
        self.0.extend(higher.0);
    }

    /// Replaces `--every` with the three settings that it stands for, except those that the source sets itself.
    fn with_every_written_out(mut self) -> Settings {
        let Some(every) = self.0.remove("every") else {
            return self;
        };
        let texts = [
            ("base", every.texts.clone()),
            ("growth", vec!["constant".into()]),
            ("jitter", vec!["none".into()]),
        ];
        for (long, texts) in texts {
            self.0.entry(long.to_owned()).or_insert(Setting {
                texts,
                ..every.clone()
            });
        }
        self
    }

    /// Sets an option to what another implies, if that has a higher source or the option only has its default.
    pub(super) fn imply(&mut self, long: &str, text: &str, by: &str) {
        let Some(implying) = self.0.get(by) else {
            return;
        };
        let is_free = match self.0.get(long).map(|setting| &setting.source) {
            None => true,
            Some(Source::Implied(_)) => false,
            Some(source) => *source < implying.source,
        };
        if is_free {
            let by = implying.written.clone();
            self.set(long, vec![text.into()], Source::Implied(by));
        }
    }

    /// Sets an option to what another implies, if no source sets it.
    pub(super) fn imply_default(&mut self, long: &str, text: &str, by: &str) {
        if !self.has(long) {
            self.imply(long, text, by);
        }
    }

    /// Returns the text of an option that is set, or the last one of several.
    pub(super) fn text(&self, long: &str) -> Option<&str> {
        self.0.get(long)?.last_text().to_str()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(long, setting)| (&**long, setting))
    }

    pub(crate) fn find(&self, long: &str) -> Option<&Setting> {
        self.0.get(long)
    }

    pub(crate) fn has(&self, long: &str) -> bool {
        self.0.contains_key(long)
    }

    /// Returns the setting of an option that is typed and in effect.
    pub(crate) fn typed_setting(&self, long: &str) -> Option<&Setting> {
        self.find(long)
            .filter(|setting| setting.source == Source::Flag)
    }

    /// Returns true if all settings are from the command line and imply nothing. Its parsed values then hold.
    pub(super) fn are_as_typed(&self) -> bool {
        let mut settings = self.iter();
        settings.all(|(long, setting)| setting.source == Source::Flag && setting.written == long)
    }

    /// Returns the values. An error names the place of a wrong text.
    pub(super) fn options(&self, declared: &[Declared]) -> Result<Options, String> {
        // The words with which a command line says the same.
        let mut words = Vec::new();
        for option in declared {
            if let Some(setting) = self.find(&option.long) {
                words.extend(words_of(option, setting)?);
            }
        }
        parse::options(&words).map_err(|wrong| match wrong.long.and_then(|long| self.find(&long)) {
            Some(setting) => format!("{}: {}", setting.place(), wrong.problem),
            None => wrong.problem,
        })
    }

    /// Returns the `-vv` line about an option, such as `base = 2s (policy slow in /etc/backoff.toml)`. None for an
    /// option that is not set and has no default.
    pub(crate) fn line(&self, option: &Declared) -> Option<String> {
        let long = &option.long;
        match (self.find(long), &option.default) {
            (Some(setting), _) => {
                let source = setting.source_name();
                Some(format!("{long} = {} ({source})", setting.shown()))
            }
            (None, Some(default)) => Some(format!("{long} = {default} (default)")),
            (None, None) => None,
        }
    }
}

/// Returns the words of a setting: `--base=2s`, or a switch as often as its text says.
fn words_of(option: &Declared, setting: &Setting) -> Result<Vec<OsString>, String> {
    let flag = format!("--{}", option.long);
    let read = match option.takes {
        Takes::Nothing => |text: &str| values::switch(text).map(u8::from),
        Takes::Count => values::count,
        _ => {
            return Ok(setting
                .texts
                .iter()
                .map(|text| with_text(&flag, text))
                .collect());
        }
    };
    let text = setting.shown();
    let times = read(&text).map_err(|problem| setting.error(problem))?;
    Ok(vec![flag.into(); usize::from(times)])
}

fn with_text(flag: &str, text: &OsStr) -> OsString {
    let mut word = OsString::from(flag);
    word.push("=");
    word.push(text);
    word
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
