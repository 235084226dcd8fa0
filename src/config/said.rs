//! One statement about an option, and where it came from.

use std::ffi::OsString;
use std::fmt;
use std::rc::Rc;

use crate::budget::client::redacted;
use crate::cli::table::{Kind, Opt};

/// Bad input: one line that quotes it, says where it came from and what would be right. The exit status is 125.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Where a statement came from, weakest first.
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
    /// Empty for `[defaults]`.
    pub(crate) policy: Rc<str>,
    /// `/etc/backoff.toml:12:8`; empty if the policy is built in.
    pub(crate) position: String,
}

/// One statement about an option.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) opt: &'static Opt,
    pub(crate) text: OsString,
    pub(crate) source: Source,
    /// Empty if it is a flag or a variable.
    pub(crate) place: Place,
    /// The statement that this one is a part of: `--every` stands for three options.
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

    /// Returns what a statement that stands for several options says of this one.
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

    /// Returns the text as it may be shown: an address may hold a password.
    pub(crate) fn shown(&self) -> String {
        let text = self.text.to_string_lossy();
        match self.opt.kind {
            Kind::Store => redacted(&text),
            _ => text.into_owned(),
        }
    }

    /// Returns where it came from: `--base`, `BACKOFF_BASE`, `policy sip`, `policy slow, /etc/backoff.toml:12:8`.
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

    /// Returns the error that the text cannot be read.
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

/// `--base 5s`, `BACKOFF_BASE=5s`, `--base 5s (policy sip)`
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
