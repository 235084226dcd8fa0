//! One option's text as one source sets it.

use std::ffi::OsString;
use std::fmt;
use std::rc::Rc;

use crate::options::opt::{Kind, Opt, Spec};
use crate::options::problem::Checked;
pub(crate) use crate::options::problem::UsageError;

/// Source of a setting, from lowest to highest precedence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// `[defaults]` of the configuration file.
    Defaults,
    /// The policy with this name.
    Policy(Rc<str>),
    Variable,
    Flag,
}

impl Source {
    /// Returns the table of a file, as it stands there; empty for other sources.
    pub(super) fn table(&self) -> String {
        match self {
            Source::Defaults => "[defaults]".to_owned(),
            Source::Policy(name) => format!("[policy.{name}]"),
            Source::Variable | Source::Flag => String::new(),
        }
    }
}

/// An option, the text that a source gives for it, and the source.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) opt: &'static Spec,
    /// As a flag or a variable takes it, not checked yet: of a switch `1`, `true` or the like.
    pub(crate) text: OsString,
    pub(crate) source: Source,
    /// The name of the configuration file; empty outside of it, and for built-in policies.
    file: String,
    /// The setting that implies this one: `--every` implies three. Messages show it instead.
    implied_by: Option<Rc<Setting>>,
}

impl Setting {
    /// Returns a setting that the user has written. `file` is the name of the configuration file, or empty.
    pub(super) fn new(
        opt: &'static Spec,
        text: impl Into<OsString>,
        source: Source,
        file: String,
    ) -> Setting {
        Setting {
            opt,
            text: text.into(),
            source,
            file,
            implied_by: None,
        }
    }

    /// Returns the setting of `opt` with this text that `compound` implies. Both have the same source, and messages
    /// show `compound`.
    pub(super) fn implied_by(
        compound: &Rc<Setting>,
        opt: &'static Spec,
        text: OsString,
    ) -> Setting {
        let mut implied = Setting::new(opt, text, compound.source.clone(), compound.file.clone());
        implied.implied_by = Some(Rc::clone(compound));
        implied
    }

    /// Returns the setting that the user wrote, for messages.
    fn as_written(&self) -> &Setting {
        self.implied_by.as_deref().unwrap_or(self)
    }

    /// Returns the long name of the option that the user wrote.
    pub(crate) fn option_name(&self) -> &'static str {
        self.as_written().opt.long
    }

    /// Returns the text for messages, without secrets: an address may hold a password. Not escaped, as the
    /// printer of the message does that.
    pub(crate) fn shown(&self) -> String {
        let text = self.text.to_string_lossy();
        match self.opt.redact {
            Some(redact) => redact(&text),
            None => text.into_owned(),
        }
    }

    /// Returns the name of the source, by which a user finds the setting: `--base`, `BACKOFF_BASE`, `policy wait`,
    /// `policy slow in /etc/backoff.toml`. For an implied setting, returns the source of the one that was written.
    pub(crate) fn source_name(&self) -> String {
        let setting = self.as_written();
        match (&setting.source, &*setting.file) {
            (Source::Flag, _) => format!("--{}", setting.opt.long),
            (Source::Variable, _) => setting.opt.variable(),
            // A built-in policy.
            (Source::Policy(name), "") => format!("policy {name}"),
            (Source::Policy(name), file) => format!("policy {name} in {file}"),
            (Source::Defaults, file) => format!("[defaults] in {file}"),
        }
    }

    /// Returns the error `PLACE: "TEXT" PROBLEM`. The place is file, table and key, or else the name of the source; the
    /// text is without secrets.
    pub(crate) fn error(&self, problem: impl fmt::Display) -> UsageError {
        let place = if self.file.is_empty() {
            self.source_name()
        } else {
            format!("{}: {} {}", self.file, self.source.table(), self.opt.long)
        };
        UsageError(format!("{place}: {:?} {problem}", self.shown()))
    }

    /// Returns the value of the text as `opt` reads it, which must be the setting's own option; an error names the
    /// place.
    pub(crate) fn read<T>(&self, opt: &Opt<T>) -> Checked<T> {
        opt.read(&self.text).map_err(|problem| self.error(problem))
    }

    /// Returns the value if this is a setting of the option, and its text can be read; None otherwise. So a check of
    /// two settings needs no order of them, and leaves wrong texts to a later error.
    pub(super) fn value_of<T>(&self, opt: &Opt<T>) -> Option<T> {
        if *self.opt != **opt {
            return None;
        }
        self.read(opt).ok()
    }
}

/// Formats as the user would write it, without secrets: `--base 5s`, `BACKOFF_BASE=5s` or `--every 1s from policy wait`.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let setting = self.as_written();
        let source = setting.source_name();
        let long = setting.opt.long;
        let text = setting.shown();
        match setting.source {
            Source::Flag if setting.opt.kind.is_switch() => f.write_str(&source),
            // The text of such an option must stand in the same word.
            Source::Flag if matches!(setting.opt.kind, Kind::Optional { .. }) => {
                write!(f, "{source}={text}")
            }
            Source::Flag => write!(f, "{source} {text}"),
            Source::Variable => write!(f, "{source}={text}"),
            Source::Policy(_) | Source::Defaults => write!(f, "--{long} {text} from {source}"),
        }
    }
}
