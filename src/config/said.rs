//! A statement about an option, and its source.

use std::ffi::OsString;
use std::fmt;
use std::rc::Rc;

use crate::budget::client::redacted;
use crate::cli::table::{Kind, Opt};

/// Usage error: one line that quotes the input and its source, and suggests a valid form. The exit status is 125.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Source of a statement, from lowest to highest precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// `[defaults]` of the configuration file.
    Defaults,
    Policy,
    Variable,
    Flag,
}

/// The place of a statement in the configuration file or in a built-in policy.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// Name of the policy; empty for `[defaults]`.
    pub(crate) policy: Rc<str>,
    /// `/etc/backoff.toml:12:8`; empty for a built-in policy.
    pub(crate) position: String,
}

/// A statement about an option.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) opt: &'static Opt,
    pub(crate) text: OsString,
    pub(crate) source: Source,
    /// Empty for a flag or a variable.
    pub(crate) place: Place,
    /// The statement that this one was expanded from: `--every` sets three options.
    part_of: Option<Rc<Said>>,
}

impl Said {
    pub(crate) fn new(opt: &'static Opt, text: OsString, source: Source, place: Place) -> Said {
        Said {
            opt,
            text,
            source,
            place,
            part_of: None,
        }
    }

    /// Returns the part of a compound statement that sets `opt`.
    pub(super) fn part_of(whole: &Rc<Said>, opt: &'static Opt, text: OsString) -> Said {
        Said {
            opt,
            text,
            source: whole.source,
            place: whole.place.clone(),
            part_of: Some(Rc::clone(whole)),
        }
    }

    fn as_given(&self) -> &Said {
        self.part_of.as_deref().unwrap_or(self)
    }

    /// Returns the text without secrets: an address may hold a password.
    pub(crate) fn shown(&self) -> String {
        let text = self.text.to_string_lossy();
        match self.opt.kind {
            Kind::Store => redacted(&text),
            _ => text.into_owned(),
        }
    }

    /// Returns the source: `--base`, `BACKOFF_BASE`, `policy sip`, `policy slow, /etc/backoff.toml:12:8`.
    pub(crate) fn name(&self) -> String {
        let Said { opt, source, place, .. } = self.as_given();
        match source {
            Source::Flag => format!("--{}", opt.long),
            Source::Variable => opt.variable(),
            Source::Policy if place.position.is_empty() => format!("policy {}", place.policy),
            Source::Policy => format!("policy {}, {}", place.policy, place.position),
            Source::Defaults => place.position.clone(),
        }
    }

    /// Returns the error for an invalid text.
    pub(crate) fn unreadable(&self, problem: impl fmt::Display) -> UsageError {
        let said = self.as_given();
        let place = match &*said.place.position {
            "" => said.name(),
            position => position.to_owned(),
        };
        UsageError(format!("{place}: {:?} {problem}", said.shown()))
    }

    pub(crate) fn read<T, E: fmt::Display>(&self, read: impl Fn(&str) -> Result<T, E>) -> Result<T, UsageError> {
        let text = self.text.to_str().ok_or_else(|| self.unreadable("is not UTF-8"))?;
        read(text).map_err(|problem| self.unreadable(problem))
    }
}

/// Formats as `--base 5s`, `BACKOFF_BASE=5s` or `--base 5s (policy sip)`.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.as_given();
        let (name, long, text) = (said.name(), said.opt.long, said.shown());
        match said.source {
            Source::Flag if said.opt.kind.is_switch() => f.write_str(&name),
            Source::Flag if said.opt.kind.is_optional() => write!(f, "{name}={text}"),
            Source::Flag => write!(f, "{name} {text}"),
            Source::Variable => write!(f, "{name}={text}"),
            Source::Policy | Source::Defaults => write!(f, "--{long} {text} ({name})"),
        }
    }
}
