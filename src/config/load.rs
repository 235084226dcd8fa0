//! The configuration file: `[defaults]` and `[policy.NAME]`, as text for the parsers that read flags and
//! variables.
//!
//! What is judged here is the form: tables, keys, types. What a value means is judged where every value is, in
//! `plan`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::built_in::{BUILT_IN, Named};
use super::settings::{Entry, Layer, Place, Settings, Source, Usage, exclude};
use super::{document, file};
use crate::process::sys::environment::config_home;
use crate::run::text::printable;

/// What policies and defaults there are.
#[derive(Debug)]
pub struct Config {
    /// Which file was read, for people.
    pub read: Read,
    /// `[defaults]`
    pub defaults: Layer,
    /// The user's policies in the order of the file, then the built-in ones.
    pub policies: Vec<Policy>,
}

/// Which file was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Read {
    /// This one, which this option or variable named; nothing where it is the default one.
    File(Rc<str>, Option<String>),
    /// None, as this one is not there; nothing where there is no home either.
    Missing(Option<PathBuf>),
    /// None, as this option or variable said.
    Forbidden(String),
}

/// A named set of options, with rules for classes of failures.
#[derive(Debug)]
pub struct Policy {
    /// What `--policy` takes.
    pub name: Cow<'static, str>,
    /// Where it comes from.
    pub source: PolicySource,
    /// The options it sets.
    pub sets: Layer,
    /// Its rules, in order. Each says which failures it is about and what holds for them.
    pub rules: Vec<Layer>,
}

/// Where a policy comes from.
#[derive(Debug)]
pub enum PolicySource {
    /// backoff itself, which has the numbers from here.
    BuiltIn(&'static str),
    /// The configuration file.
    File {
        /// Where its name stands first.
        place: Place,
        /// A built-in policy has the same name, and is not to be had.
        in_place_of_built_in: bool,
    },
}

impl Config {
    /// Reads the file that `--config` names, or the default one if it is there, unless `--no-config`.
    pub fn load(settings: &Settings<'_>) -> Result<Config, Usage> {
        let mut path = settings.read_path("config")?;
        let mut none = settings.switch("no-config")?.filter(|given| given.value > 0);
        exclude(&mut path, &mut none, "one names the file that the other is not to read")?;
        if let Some(none) = none {
            return Config::new(Read::Forbidden(none.by().to_owned()), None);
        }
        if let Some(path) = path {
            let bytes = file::read(&path.value).map_err(|problem| path.wrong(&problem))?;
            return Config::new(Read::File(shown(&path.value), Some(path.by().to_owned())), Some(bytes));
        }
        let Some(path) = config_home().map(|home| home.join("config.toml")) else {
            return Config::new(Read::Missing(None), None);
        };
        let bytes = file::read_if_there(&path)
            .map_err(|problem| Usage(format!("{}: the configuration file {problem}", shown(&path))))?;
        let read = match bytes {
            Some(_) => Read::File(shown(&path), None),
            None => Read::Missing(Some(path)),
        };
        Config::new(read, bytes)
    }

    fn new(read: Read, bytes: Option<Vec<u8>>) -> Result<Config, Usage> {
        let (defaults, mut policies) = match (&read, bytes) {
            (Read::File(file, _), Some(bytes)) => document::parse(file, &bytes)?,
            _ => Default::default(),
        };
        for named in BUILT_IN {
            match policies.iter_mut().find(|own| own.name == named.name) {
                Some(Policy {
                    source: PolicySource::File {
                        in_place_of_built_in, ..
                    },
                    ..
                }) => *in_place_of_built_in = true,
                _ => policies.push(Policy::from(named)),
            }
        }
        let defaults = Layer {
            origin: Source::Defaults,
            name: String::new(),
            entries: defaults,
        };
        Ok(Config {
            read,
            defaults,
            policies,
        })
    }
}

/// As it may be shown in a line.
pub fn shown(path: &Path) -> Rc<str> {
    printable(&path.to_string_lossy()).into()
}

impl From<&'static Named> for Policy {
    fn from(named: &'static Named) -> Policy {
        let entry = |(key, text): &(&'static str, &'static str)| Entry {
            key,
            text: Cow::Borrowed(text),
            place: None,
        };
        Policy {
            name: Cow::Borrowed(named.name),
            source: PolicySource::BuiltIn(named.source),
            sets: Layer {
                origin: Source::Policy,
                name: format!("policy {}", named.name),
                entries: named.sets.iter().map(entry).collect(),
            },
            rules: Vec::new(),
        }
    }
}
