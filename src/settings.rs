//! Where a setting comes from: flag, variable or policy, in this order.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use crate::cli::{self, Opt, Typed};
use crate::policy::named::Named;
use crate::values::{self, Parsed};

/// Bad input: one line that quotes it, says where it came from and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a value came from, weakest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A named policy.
    Policy(&'static str),
    /// A `BACKOFF_*` variable.
    Variable,
    /// The command line.
    Flag,
}

/// A value with the place it came from.
#[derive(Debug, Clone)]
pub struct Given<T> {
    /// The value.
    pub value: T,
    /// Its source.
    pub origin: Origin,
    opt: &'static Opt,
    text: String,
}

impl<T> Given<T> {
    /// Whether somebody asked for it here, rather than a policy.
    pub fn is_explicit(&self) -> bool {
        self.origin >= Origin::Variable
    }
}

/// `--base 5s`, `BACKOFF_BASE=5s`, `--base 5s (policy sip)`
impl<T> fmt::Display for Given<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Given { opt, text, .. } = self;
        match self.origin {
            Origin::Flag => write!(f, "--{} {text}", opt.long),
            Origin::Variable => write!(f, "{}={text}", opt.variable()),
            Origin::Policy(name) => write!(f, "--{} {text} (policy {name})", opt.long),
        }
    }
}

/// A value as it may be shown: an address may hold a password.
fn shown(opt: &Opt, text: &str) -> String {
    match opt.long {
        "store" => values::without_password(text),
        _ => text.to_owned(),
    }
}

/// All sources of settings.
#[derive(Debug)]
pub struct Settings<'a> {
    typed: &'a Typed,
    /// The environment's entries whose names start with `BACKOFF_`.
    variables: &'a [(OsString, OsString)],
    policy: Option<&'static Named>,
}

impl<'a> Settings<'a> {
    /// Flags and variables; a policy is added with [`Settings::set_policy`].
    pub fn new(typed: &'a Typed, variables: &'a [(OsString, OsString)]) -> Settings<'a> {
        Settings {
            typed,
            variables,
            policy: None,
        }
    }

    /// Puts a policy below flags and variables.
    pub fn set_policy(&mut self, policy: &'static Named) {
        self.policy = Some(policy);
    }

    /// A variable's value by full name; an empty one counts as unset.
    pub fn variable(&self, name: &str) -> Option<&'a OsStr> {
        let (_, value) = self.variables.iter().find(|(known, _)| known == name)?;
        (!value.is_empty()).then_some(value)
    }

    /// What the strongest source says; several values only of an option that adds up.
    fn find(&self, opt: &'static Opt) -> Vec<(&'a OsStr, Origin)> {
        let typed = self.typed.values.iter().filter(|(typed, _)| typed.long == opt.long);
        let typed: Vec<_> = typed.map(|(_, text)| (text.as_os_str(), Origin::Flag)).collect();
        if !typed.is_empty() {
            return typed;
        }
        if let Some(text) = self.of_variable(opt) {
            return vec![(text, Origin::Variable)];
        }
        let Some(policy) = self.policy else { return Vec::new() };
        let set = policy.sets.iter().filter(|(name, _)| *name == opt.long);
        set.map(|(_, text)| (OsStr::new(*text), Origin::Policy(policy.name)))
            .collect()
    }

    fn of_variable(&self, opt: &Opt) -> Option<&'a OsStr> {
        if self.variables.is_empty() {
            None
        } else {
            self.variable(&opt.variable())
        }
    }

    /// The value of an option, read by `parse`.
    pub fn read<T>(&self, long: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<Option<Given<T>>, Usage> {
        Ok(self.read_all(long, parse)?.pop())
    }

    /// All values of an option that adds up.
    pub fn read_all<T>(&self, long: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<Vec<Given<T>>, Usage> {
        let opt = cli::option(long);
        let given = self.find(opt).into_iter().map(|(text, origin)| {
            let wrong = |problem: &str| {
                let place = match origin {
                    Origin::Flag => format!("--{}", opt.long),
                    Origin::Variable => opt.variable(),
                    Origin::Policy(name) => format!("policy {name}, {}", opt.long),
                };
                Usage(format!("{place}: {:?} {problem}", shown(opt, &text.to_string_lossy())))
            };
            let known = text.to_str().ok_or_else(|| wrong("is not UTF-8"))?;
            let value = parse(known).map_err(|problem| wrong(&problem))?;
            Ok(Given {
                value,
                origin,
                opt,
                text: shown(opt, known),
            })
        });
        given.collect()
    }

    /// The value of an option that takes a path, which need not be UTF-8.
    pub fn read_path(&self, long: &str) -> Result<Option<Given<PathBuf>>, Usage> {
        let opt = cli::option(long);
        let Some((text, origin)) = self.find(opt).pop() else {
            return Ok(None);
        };
        let given = Given {
            value: PathBuf::from(text),
            origin,
            opt,
            text: text.to_string_lossy().into_owned(),
        };
        if text.is_empty() {
            return Err(Usage(format!(
                "{} {:?} is no path; try a file name",
                given.to_string().trim_end(),
                text
            )));
        }
        Ok(Some(given))
    }

    /// How often a switch is on, and where that was said: 0 or 1, more for an option that counts.
    pub fn switch(&self, long: &str) -> Result<Option<Given<u8>>, Usage> {
        let opt = cli::option(long);
        if let Some((_, count)) = self.typed.switches.iter().find(|(typed, _)| typed.long == long) {
            return Ok(Some(Given {
                value: *count,
                origin: Origin::Flag,
                opt,
                text: String::new(),
            }));
        }
        if self.of_variable(opt).is_none() {
            return Ok(None);
        }
        let counts = opt.takes == cli::Takes::Count;
        self.read(long, |text| match values::whole(text, 0, u64::from(u8::MAX)) {
            Ok(count) if counts => Ok(count as u8),
            _ => values::switch(text).map(u8::from),
        })
    }

    /// Whether a switch is on.
    pub fn is_on(&self, long: &str) -> Result<bool, Usage> {
        Ok(self.switch(long)?.is_some_and(|given| given.value > 0))
    }
}

/// Two options that exclude each other: the one from the stronger source stays. From the same
/// source, nobody can say which was meant.
pub fn exclude<A, B>(a: &mut Option<Given<A>>, b: &mut Option<Given<B>>, why: &str) -> Result<(), Usage> {
    let (Some(first), Some(second)) = (&a, &b) else {
        return Ok(());
    };
    match first.origin.cmp(&second.origin) {
        std::cmp::Ordering::Less => *a = None,
        std::cmp::Ordering::Greater => *b = None,
        std::cmp::Ordering::Equal => {
            let (first, second) = (first.to_string(), second.to_string());
            return Err(Usage(format!(
                "{} cannot go with {}: {why}",
                first.trim_end(),
                second.trim_end()
            )));
        }
    }
    Ok(())
}
