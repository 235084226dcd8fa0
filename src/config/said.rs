//! A statement about an option, and its source.

use std::ffi::OsString;
use std::fmt;
use std::rc::Rc;

use crate::budget::client::redacted;
pub(crate) use crate::cli::UsageError;
use crate::cli::table::{Kind, Opt, STORE};

/// Source of a statement, from lowest to highest precedence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// `[defaults]` of the configuration file.
    Defaults,
    /// The policy with this name.
    Policy(Rc<str>),
    Variable,
    Flag,
}

/// A statement about an option.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) opt: &'static Opt,
    pub(crate) text: OsString,
    pub(crate) source: Source,
    /// `/etc/backoff.toml:12:8`; empty outside of the configuration file.
    position: String,
    /// The statement that this one was expanded from: `--every` sets three options.
    part_of: Option<Rc<Said>>,
}

impl Said {
    pub(super) fn new(opt: &'static Opt, text: impl Into<OsString>, source: Source, position: String) -> Said {
        Said {
            opt,
            text: text.into(),
            source,
            position,
            part_of: None,
        }
    }

    /// Returns the part of a compound statement that sets `opt`.
    pub(super) fn part_of(whole: &Rc<Said>, opt: &'static Opt, text: OsString) -> Said {
        let mut part = Said::clone(whole);
        (part.opt, part.text, part.part_of) = (opt, text, Some(Rc::clone(whole)));
        part
    }

    fn as_given(&self) -> &Said {
        self.part_of.as_deref().unwrap_or(self)
    }

    /// Returns the text without secrets: an address may hold a password.
    pub(crate) fn shown(&self) -> String {
        let text = self.text.to_string_lossy();
        match self.opt.kind == STORE {
            true => redacted(&text),
            false => text.into_owned(),
        }
    }

    /// Returns the name of the source: `--base`, `BACKOFF_BASE`, `policy sip`, `policy slow at /etc/backoff.toml:12:8`.
    pub(crate) fn source_name(&self) -> String {
        let said = self.as_given();
        match (&said.source, &*said.position) {
            (Source::Flag, _) => format!("--{}", said.opt.long),
            (Source::Variable, _) => said.opt.variable(),
            (Source::Policy(name), "") => format!("policy {name}"),
            (Source::Policy(name), position) => format!("policy {name} at {position}"),
            (Source::Defaults, position) => position.to_owned(),
        }
    }

    /// Returns the error for an invalid text.
    pub(crate) fn unreadable(&self, problem: impl fmt::Display) -> UsageError {
        let place = Some(self.position.clone()).filter(|position| !position.is_empty());
        let place = place.unwrap_or_else(|| self.source_name());
        UsageError(format!("{place}: {:?} {problem}", self.shown()))
    }

    pub(crate) fn read<T>(&self, read: impl Fn(&str) -> Result<T, UsageError>) -> Result<T, UsageError> {
        let text = self.text.to_str().ok_or_else(|| self.unreadable("is not UTF-8"))?;
        read(text).map_err(|problem| self.unreadable(problem))
    }
}

/// Formats as `--base 5s`, `BACKOFF_BASE=5s` or `--base 5s from policy sip`.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.as_given();
        let (source, long, text) = (said.source_name(), said.opt.long, said.shown());
        match said.source {
            Source::Flag if said.opt.kind.is_switch() => f.write_str(&source),
            Source::Flag if matches!(said.opt.kind, Kind::Optional(_)) => write!(f, "{source}={text}"),
            Source::Flag => write!(f, "{source} {text}"),
            Source::Variable => write!(f, "{source}={text}"),
            Source::Policy(_) | Source::Defaults => write!(f, "--{long} {text} from {source}"),
        }
    }
}
