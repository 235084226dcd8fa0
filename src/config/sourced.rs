//! A value and where it came from.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use super::values::{self, Parsed};
use crate::budget::client::redacted;
use crate::cli::table::{Kind, Opt};

/// Bad input: one line that quotes it, says where it came from and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How strong a source is, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// `[defaults]` of the configuration file.
    Defaults,
    Policy,
    Variable,
    Flag,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Flag,
    Variable,
    Entry(Rc<EntrySource>),
}

/// An entry of `[defaults]` or of a policy.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EntrySource {
    pub(crate) rank: Rank,
    /// What a person calls its table, "policy sip"; empty where the place says enough.
    pub(crate) table: Rc<str>,
    pub(crate) key: &'static str,
    /// None where it is built in.
    pub(crate) place: Option<FilePosition>,
}

/// A place in the configuration file: `/etc/backoff.toml:12:8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePosition {
    /// As it may be shown.
    pub(crate) file: Rc<str>,
    /// 1 is the first.
    pub(crate) line: usize,
    /// In characters; 1 is the first.
    pub(crate) column: usize,
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl EntrySource {
    /// The error that something is wrong with this entry.
    pub(crate) fn wrong(&self, problem: &str) -> UsageError {
        UsageError(match &self.place {
            Some(place) => format!("{place}: {problem}"),
            None => format!("{}, {}: {problem}", self.table, self.key),
        })
    }

    /// "policy sip", "policy slow, /etc/backoff.toml:12:8"
    fn name(&self) -> String {
        match &self.place {
            None => self.table.to_string(),
            Some(place) if self.table.is_empty() => place.to_string(),
            Some(place) => format!("{}, {place}", self.table),
        }
    }
}

impl Source {
    pub(crate) fn rank(&self) -> Rank {
        match self {
            Source::Flag => Rank::Flag,
            Source::Variable => Rank::Variable,
            Source::Entry(entry) => entry.rank,
        }
    }

    /// `--base`, `BACKOFF_BASE`, `policy sip`
    fn name(&self, opt: &Opt) -> String {
        match self {
            Source::Flag => format!("--{}", opt.long),
            Source::Variable => opt.variable(),
            Source::Entry(entry) => entry.name(),
        }
    }

    /// The error that a text from here cannot be read.
    fn unreadable(&self, opt: &Opt, text: &str, problem: &str) -> UsageError {
        let problem = format!("{text:?} {problem}");
        match self {
            Source::Flag | Source::Variable => UsageError(format!("{}: {problem}", self.name(opt))),
            Source::Entry(entry) => entry.wrong(&problem),
        }
    }
}

/// What was said of an option, as text, and where.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) source: Source,
    opt: &'static Opt,
    /// As it may be shown.
    text: String,
}

impl Statement {
    fn new(opt: &'static Opt, text: &OsStr, source: Source) -> Rc<Statement> {
        let text = shown(opt.long, &text.to_string_lossy());
        Rc::new(Statement { source, opt, text })
    }

    fn unreadable(&self, problem: &str) -> UsageError {
        self.source.unreadable(self.opt, &self.text, problem)
    }

    /// The text as it may be shown, and who said it: `--base`, `BACKOFF_BASE`, `policy sip`.
    pub(crate) fn shown(&self) -> (String, String) {
        (self.text.clone(), self.source.name(self.opt))
    }
}

/// `--base 5s`, `BACKOFF_BASE=5s`, `--base 5s (policy sip)`
impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statement { opt, text, source } = self;
        let name = source.name(opt);
        let is_switch = opt.kind.is_switch();
        match source {
            Source::Flag if is_switch => f.write_str(&name),
            Source::Flag if opt.kind.is_optional() => write!(f, "{name}={text}"),
            Source::Flag => write!(f, "{name} {text}"),
            Source::Variable => write!(f, "{name}={text}"),
            Source::Entry(_) => write!(f, "--{} {text} ({name})", opt.long),
        }
    }
}

/// The value of an option, and the statement that it was read from.
#[derive(Debug, Clone)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) statement: Rc<Statement>,
}

impl<T> Sourced<T> {
    pub(crate) fn read(
        opt: &'static Opt,
        text: &OsStr,
        source: Source,
        parse: fn(&str) -> Parsed<T>,
    ) -> Result<Sourced<T>, UsageError> {
        let said = Statement::new(opt, text, source);
        let parsed = text.to_str().map_or_else(|| Err("is not UTF-8".to_owned()), parse);
        match parsed {
            Ok(value) => Ok(Sourced { value, statement: said }),
            Err(problem) => Err(said.unreadable(&problem)),
        }
    }

    /// What the same statement says of another option.
    pub(crate) fn also<U>(&self, value: U) -> Sourced<U> {
        Sourced {
            value,
            statement: Rc::clone(&self.statement),
        }
    }

    /// Whether both were read from the same statement.
    pub(crate) fn is_by<U>(&self, other: &Sourced<U>) -> bool {
        Rc::ptr_eq(&self.statement, &other.statement)
    }

    pub(crate) fn rank(&self) -> Rank {
        self.statement.source.rank()
    }

    /// The error that this value is of no use.
    pub(crate) fn wrong(&self, problem: &str) -> UsageError {
        UsageError(format!("{}: {:?} {problem}", self.name(), self.statement.text))
    }

    /// The error that the text cannot be read, found later than usual.
    pub(crate) fn unreadable(&self, problem: &str) -> UsageError {
        self.statement.unreadable(problem)
    }

    /// Where it came from: `--base`, `BACKOFF_BASE`, `policy sip`.
    pub(crate) fn name(&self) -> String {
        self.statement.source.name(self.statement.opt)
    }
}

impl Sourced<PathBuf> {
    /// A path need not be UTF-8.
    pub(crate) fn path(opt: &'static Opt, text: &OsStr, source: Source) -> Result<Sourced<PathBuf>, UsageError> {
        if text.is_empty() {
            return Err(source.unreadable(opt, "", "is not a path; try a file name"));
        }
        Ok(Sourced {
            value: PathBuf::from(text),
            statement: Statement::new(opt, text, source),
        })
    }
}

impl Sourced<u8> {
    /// A switch that is set by a text: 0 or 1, more for an option that counts.
    pub(crate) fn switch(opt: &'static Opt, text: &OsStr, source: Source) -> Result<Sourced<u8>, UsageError> {
        let parse = if opt.kind == Kind::Count {
            values::count
        } else {
            values::switch_count
        };
        Sourced::read(opt, text, source, parse)
    }
}

impl<T> fmt::Display for Sourced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statement.fmt(f)
    }
}

/// A value as it may be shown: an address may hold a password.
pub(crate) fn shown(long: &str, text: &str) -> String {
    match long {
        "store" => redacted(text),
        _ => text.to_owned(),
    }
}

/// What was said, without where.
pub(crate) fn value<T: Clone>(said: &Option<Sourced<T>>) -> Option<T> {
    said.as_ref().map(|said| said.value.clone())
}

/// Two options that exclude each other: the one from the stronger source stays. From the same source, nobody can say
/// which was meant.
pub(crate) fn exclude<A, B>(
    a: &mut Option<Sourced<A>>,
    b: &mut Option<Sourced<B>>,
    why: &str,
) -> Result<(), UsageError> {
    let (Some(first), Some(second)) = (&a, &b) else {
        return Ok(());
    };
    match first.rank().cmp(&second.rank()) {
        Ordering::Less => *a = None,
        Ordering::Greater => *b = None,
        Ordering::Equal => return Err(UsageError(format!("{first} cannot go with {second}: {why}"))),
    }
    Ok(())
}
