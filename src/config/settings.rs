//! Where a setting comes from: flag, variable, policy or `[defaults]`, in this order.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;

use super::values::{self, Parsed};
use crate::cli::parse::CommandLine;
use crate::cli::table::{self, Opt};

/// Bad input: one line that quotes it, says where it came from and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a value came from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// `[defaults]` of the configuration file.
    Defaults,
    /// A named policy.
    Policy,
    /// A rule of a policy, which speaks of one class of failures.
    Rule,
    /// A `BACKOFF_*` variable.
    Variable,
    /// The command line.
    Flag,
}

/// A place in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as it may be shown.
    pub file: Rc<str>,
    /// 1 is the first.
    pub line: usize,
    /// In characters; 1 is the first.
    pub column: usize,
}

/// `/etc/backoff.toml:12:8`
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A value as text, for the same parser that reads flags and variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The option's long name, or what else a rule of a policy may say.
    pub key: &'static str,
    /// The value.
    pub text: Cow<'static, str>,
    /// Where it stands; None where it is built in.
    pub place: Option<Place>,
}

/// Values that were said together: `[defaults]`, a policy, a rule of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// How strong they are.
    pub origin: Source,
    /// What a person calls it, "policy sip"; empty where the place says enough.
    pub name: String,
    /// The values. Of an option that adds up there may be several.
    pub entries: Vec<Entry>,
}

impl Layer {
    /// All values under a key, read by `parse`.
    pub fn read_all<T>(&self, key: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<Vec<T>, Usage> {
        let entries = self.entries.iter().filter(|entry| entry.key == key);
        entries
            .map(|entry| parse(&entry.text).map_err(|problem| self.refuse(entry, &entry.text, &problem)))
            .collect()
    }

    /// The one value under a key.
    pub fn read<T>(&self, key: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<Option<T>, Usage> {
        Ok(self.read_all(key, parse)?.pop())
    }

    fn refuse(&self, entry: &Entry, text: &str, problem: &str) -> Usage {
        self.wrong(entry, &format!("{text:?} {problem}"))
    }

    /// The error that something is wrong with an entry.
    pub fn wrong(&self, entry: &Entry, problem: &str) -> Usage {
        Usage(match &entry.place {
            Some(place) => format!("{place}: {problem}"),
            None => format!("{}, {}: {problem}", self.name, entry.key),
        })
    }

    /// "policy sip", "policy slow, /etc/backoff.toml:12:8"
    fn said(&self, entry: &Entry) -> String {
        match &entry.place {
            None => self.name.clone(),
            Some(place) if self.name.is_empty() => place.to_string(),
            Some(place) => format!("{}, {place}", self.name),
        }
    }
}

/// Who said a value.
#[derive(Debug, Clone, Copy)]
enum Speaker<'a> {
    Flag,
    Variable,
    Layer(&'a Layer, &'a Entry),
}

impl Speaker<'_> {
    fn origin(&self) -> Source {
        match self {
            Speaker::Flag => Source::Flag,
            Speaker::Variable => Source::Variable,
            Speaker::Layer(layer, _) => layer.origin,
        }
    }

    /// The error that this speaker's value cannot be read.
    fn refuse(&self, opt: &Opt, text: &str, problem: &str) -> Usage {
        match self {
            Speaker::Flag => Usage(format!("--{}: {text:?} {problem}", opt.long)),
            Speaker::Variable => Usage(format!("{}: {text:?} {problem}", opt.variable())),
            Speaker::Layer(layer, entry) => layer.refuse(entry, text, problem),
        }
    }

    /// `--base`, `BACKOFF_BASE`, `policy sip`
    fn name(&self, opt: &Opt) -> String {
        match self {
            Speaker::Flag => format!("--{}", opt.long),
            Speaker::Variable => opt.variable(),
            Speaker::Layer(layer, entry) => layer.said(entry),
        }
    }
}

/// A value with the place it came from.
#[derive(Debug, Clone)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Its source.
    pub origin: Source,
    opt: &'static Opt,
    text: String,
    by: String,
}

impl<T> Sourced<T> {
    /// Whether somebody asked for it here, rather than a policy or the configuration file.
    pub fn is_explicit(&self) -> bool {
        self.origin >= Source::Variable
    }

    /// The error that this value is of no use.
    pub fn wrong(&self, problem: &str) -> Usage {
        Usage(format!("{}: {:?} {problem}", self.by, self.text))
    }

    /// Who said it: `--base`, `BACKOFF_BASE`, `policy sip`.
    pub fn by(&self) -> &str {
        &self.by
    }
}

/// `--base 5s`, `BACKOFF_BASE=5s`, `--base 5s (policy sip)`
impl<T> fmt::Display for Sourced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sourced { opt, text, by, .. } = self;
        let space = if text.is_empty() { "" } else { " " };
        match self.origin {
            Source::Flag => write!(f, "{by}{space}{text}"),
            Source::Variable => write!(f, "{by}={text}"),
            Source::Defaults | Source::Policy | Source::Rule => write!(f, "--{}{space}{text} ({by})", opt.long),
        }
    }
}

/// A value as it may be shown: an address may hold a password.
pub fn shown(long: &str, text: &str) -> String {
    match long {
        "store" => values::without_password(text),
        _ => text.to_owned(),
    }
}

/// All sources of settings.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    typed: &'a CommandLine,
    /// The environment's entries whose names start with `BACKOFF_`.
    variables: &'a [(OsString, OsString)],
    /// Below flags and variables, strongest first.
    layers: Vec<&'a Layer>,
}

impl<'a> Settings<'a> {
    /// Flags and variables; what is weaker is added with [`Settings::with`].
    pub fn new(typed: &'a CommandLine, variables: &'a [(OsString, OsString)]) -> Settings<'a> {
        Settings {
            typed,
            variables,
            layers: Vec::new(),
        }
    }

    /// The same with one more layer, above the others and below flags and variables.
    pub fn with<'b>(&self, layer: &'b Layer) -> Settings<'b>
    where
        'a: 'b,
    {
        let mut layers: Vec<&'b Layer> = vec![layer];
        layers.extend(&self.layers);
        Settings {
            typed: self.typed,
            variables: self.variables,
            layers,
        }
    }

    /// A variable's value by full name; an empty one counts as unset.
    pub fn variable(&self, name: &str) -> Option<&'a OsStr> {
        let (_, value) = self.variables.iter().find(|(known, _)| known == name)?;
        (!value.is_empty()).then_some(value)
    }

    /// The names of the variables that are set.
    pub fn variables(&self) -> impl Iterator<Item = &'a OsStr> {
        let set = self.variables.iter().filter(|(_, value)| !value.is_empty());
        set.map(|(name, _)| name.as_os_str())
    }

    /// What the strongest source says; several values only of an option that adds up.
    fn find(&self, opt: &'static Opt) -> Vec<(&'a OsStr, Speaker<'a>)> {
        let typed = self.typed.values.iter().filter(|(typed, _)| typed.long == opt.long);
        let typed: Vec<_> = typed.map(|(_, text)| (text.as_os_str(), Speaker::Flag)).collect();
        if !typed.is_empty() {
            return typed;
        }
        if let Some(text) = self.of_variable(opt) {
            return vec![(text, Speaker::Variable)];
        }
        for layer in &self.layers {
            let set = layer.entries.iter().filter(|entry| entry.key == opt.long);
            let set: Vec<_> = set
                .map(|entry| (OsStr::new(entry.text.as_ref()), Speaker::Layer(layer, entry)))
                .collect();
            if !set.is_empty() {
                return set;
            }
        }
        Vec::new()
    }

    fn of_variable(&self, opt: &Opt) -> Option<&'a OsStr> {
        // In a hook or a predicate of another run, BACKOFF_SIGNAL is what that run's attempt died of, not --signal.
        let is_taken = || opt.long == "signal" && self.variable("BACKOFF_EXIT").is_some();
        if self.variables.is_empty() || is_taken() {
            None
        } else {
            self.variable(&opt.variable())
        }
    }

    /// The value of an option, read by `parse`.
    pub fn read<T>(&self, long: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<Option<Sourced<T>>, Usage> {
        Ok(self.read_all(long, parse)?.pop())
    }

    /// All values of an option that adds up.
    pub fn read_all<T>(&self, long: &str, parse: impl Fn(&str) -> Parsed<T>) -> Result<Vec<Sourced<T>>, Usage> {
        let opt = table::option(long);
        let given = self.find(opt).into_iter().map(|(text, speaker)| {
            let wrong = |problem: &str| speaker.refuse(opt, &shown(opt.long, &text.to_string_lossy()), problem);
            let known = text.to_str().ok_or_else(|| wrong("is not UTF-8"))?;
            let value = parse(known).map_err(|problem| wrong(&problem))?;
            Ok(Sourced {
                value,
                origin: speaker.origin(),
                opt,
                text: shown(opt.long, known),
                by: speaker.name(opt),
            })
        });
        given.collect()
    }

    /// The value of an option that takes a path, which need not be UTF-8.
    pub fn read_path(&self, long: &str) -> Result<Option<Sourced<PathBuf>>, Usage> {
        let opt = table::option(long);
        let Some((text, speaker)) = self.find(opt).pop() else {
            return Ok(None);
        };
        if text.is_empty() {
            return Err(speaker.refuse(opt, "", "is no path; try a file name"));
        }
        Ok(Some(Sourced {
            value: PathBuf::from(text),
            origin: speaker.origin(),
            opt,
            text: text.to_string_lossy().into_owned(),
            by: speaker.name(opt),
        }))
    }

    /// How often a switch is on, and where that was said: 0 or 1, more for an option that counts.
    pub fn switch(&self, long: &str) -> Result<Option<Sourced<u8>>, Usage> {
        let opt = table::option(long);
        if let Some((_, count)) = self.typed.switches.iter().find(|(typed, _)| typed.long == long) {
            return Ok(Some(Sourced {
                value: *count,
                origin: Source::Flag,
                opt,
                text: String::new(),
                by: Speaker::Flag.name(opt),
            }));
        }
        let counts = opt.takes == table::Takes::Count;
        self.read(long, |text| match values::whole(text, 0, u64::from(u8::MAX)) {
            Ok(count) if counts => Ok(count as u8),
            _ => values::switch(text).map(u8::from),
        })
    }

    /// Whether a switch is on.
    pub fn is_on(&self, long: &str) -> Result<bool, Usage> {
        Ok(self.switch(long)?.is_some_and(|given| given.value > 0))
    }

    /// What an option is set to, as it may be shown, and by whom; None where nobody set it.
    pub fn said(&self, opt: &'static Opt) -> Option<(String, String)> {
        if let Some((_, count)) = self.typed.switches.iter().find(|(typed, _)| typed.long == opt.long) {
            return Some((count.to_string(), Speaker::Flag.name(opt)));
        }
        let found = self.find(opt);
        let (_, speaker) = found.last()?;
        let shown = |(text, _): &(&OsStr, _)| shown(opt.long, &text.to_string_lossy());
        let values: Vec<String> = match opt.takes {
            table::Takes::Values(_) => found.iter().map(shown).collect(),
            _ => found.last().map(shown).into_iter().collect(),
        };
        Some((values.join(", "), speaker.name(opt)))
    }
}

/// Two options that exclude each other: the one from the stronger source stays. From the same
/// source, nobody can say which was meant.
pub fn exclude<A, B>(a: &mut Option<Sourced<A>>, b: &mut Option<Sourced<B>>, why: &str) -> Result<(), Usage> {
    let (Some(first), Some(second)) = (&a, &b) else {
        return Ok(());
    };
    match first.origin.cmp(&second.origin) {
        std::cmp::Ordering::Less => *a = None,
        std::cmp::Ordering::Greater => *b = None,
        std::cmp::Ordering::Equal => return Err(Usage(format!("{first} cannot go with {second}: {why}"))),
    }
    Ok(())
}
