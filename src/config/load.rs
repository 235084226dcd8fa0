//! The configuration file: which one is read, and the policies that there are then.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::built_in::BUILT_IN;
use super::layer::{Layer, Policy};
use super::settings::Settings;
use super::sourced::{Sourced, UsageError};
use super::{document, file};
use crate::cli::suggest::closest;
use crate::process::sys::environment::config_home;
use crate::run::text::printable;

/// What policies and defaults there are.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) file: ConfigFile,
    /// `[defaults]`, if it says anything.
    pub(crate) defaults: Option<Box<Layer>>,
    /// The user's own, in the order of the file.
    pub(crate) policies: Vec<Rc<Policy>>,
}

/// Which file was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigFile {
    /// This one, which this option or variable named; nothing where it is the default one.
    Read(Rc<str>, Option<String>),
    /// None, as this one is not there; nothing where there is no home either.
    Missing(Option<PathBuf>),
    /// None, as this option or variable said.
    Forbidden(String),
}

impl Config {
    /// Reads the file that `--config` names, or the default one if it is there; none for `--config none`.
    pub(crate) fn load(said: &Settings) -> Result<Config, UsageError> {
        if let Some(path) = &said.config {
            if path.value == Path::new("none") {
                return Ok(Config::without(ConfigFile::Forbidden(path.name())));
            }
            let bytes = file::read(&path.value).map_err(|problem| path.wrong(&problem))?;
            return Config::of_file(shown(&path.value), Some(path.name()), &bytes);
        }
        let Some(path) = config_home().map(|home| home.join("config.toml")) else {
            return Ok(Config::without(ConfigFile::Missing(None)));
        };
        let bytes = file::read_if_there(&path)
            .map_err(|problem| UsageError(format!("{}: the configuration file {problem}", shown(&path))))?;
        match bytes {
            Some(bytes) => Config::of_file(shown(&path), None, &bytes),
            None => Ok(Config::without(ConfigFile::Missing(Some(path)))),
        }
    }

    fn without(file: ConfigFile) -> Config {
        Config {
            file,
            defaults: None,
            policies: Vec::new(),
        }
    }

    fn of_file(file: Rc<str>, named_by: Option<String>, bytes: &[u8]) -> Result<Config, UsageError> {
        let (defaults, policies) = document::parse(&file, bytes)?;
        Ok(Config {
            file: ConfigFile::Read(file, named_by),
            defaults,
            policies: policies.into_iter().map(Rc::new).collect(),
        })
    }

    /// The policy of this name. The user's own take the place of built-in ones.
    pub(crate) fn policy(&self, name: &Sourced<String>) -> Result<Rc<Policy>, UsageError> {
        if let Some(own) = self.policies.iter().find(|own| own.name == name.value) {
            return Ok(Rc::clone(own));
        }
        if let Some(named) = BUILT_IN.iter().find(|named| named.name == name.value) {
            return Policy::built_in(named).map(Rc::new);
        }
        let own = self.policies.iter().map(|own| &*own.name);
        let built_in = BUILT_IN.iter().map(|named| named.name).filter(|name| !self.has(name));
        let known: Vec<&str> = own.chain(built_in).collect();
        let hint = closest(&name.value, known.iter().copied());
        Err(name.unreadable(&format!("is not one of {}{hint}", known.join(", "))))
    }

    /// All of them: the user's own, then the built-in ones that are still to be had.
    pub(crate) fn all_policies(&self) -> Result<Vec<Rc<Policy>>, UsageError> {
        let built_in = BUILT_IN.iter().filter(|named| !self.has(named.name));
        let own = self.policies.iter().map(|own| Ok(Rc::clone(own)));
        own.chain(built_in.map(|named| Policy::built_in(named).map(Rc::new)))
            .collect()
    }

    fn has(&self, name: &str) -> bool {
        self.policies.iter().any(|own| own.name == name)
    }
}

/// As it may be shown in a line.
pub(crate) fn shown(path: &Path) -> Rc<str> {
    printable(&path.to_string_lossy()).into()
}
