//! Policies, built-in and user-defined, and the configuration file that may define some.

use std::path::Path;

use super::document::Policy;
use super::said::{Said, UsageError};
use super::settings::Settings;
use super::{document, file};
use crate::cli::suggest::closest;
use crate::process::sys::environment::config_home;
use crate::run::text::printable;

/// Contents of the configuration file.
#[derive(Debug)]
pub(crate) struct Config {
    /// The file's name, or "none", and the reason; for `-vv`.
    pub(crate) file: (String, String),
    /// Statements of `[defaults]`.
    pub(crate) defaults: Vec<Said>,
    /// User-defined policies, in file order.
    pub(crate) policies: Vec<Policy>,
}

impl Config {
    /// Loads the file of `--config`, or else the default file if it exists; `--config none` loads no file.
    pub(crate) fn load(settings: &Settings) -> Result<Config, UsageError> {
        let none = |why: String| Config {
            file: ("none".to_owned(), why),
            defaults: Vec::new(),
            policies: Vec::new(),
        };
        let shown = |path: &Path| printable(&path.to_string_lossy());
        if let (Some(path), Some(said)) = (settings.path("config")?, settings.said("config")) {
            if path == Path::new("none") {
                return Ok(none(said.name()));
            }
            let bytes = file::read(&path).map_err(|problem| said.unreadable(problem))?;
            return Config::of_file(shown(&path), said.name(), &bytes);
        }
        let Some(path) = config_home().map(|home| home.join("config.toml")) else {
            return Ok(none("neither XDG_CONFIG_HOME nor HOME is set".to_owned()));
        };
        let wrong = |problem| UsageError(format!("{}: the configuration file {problem}", shown(&path)));
        match file::read_if_there(&path).map_err(wrong)? {
            Some(bytes) => Config::of_file(shown(&path), "default".to_owned(), &bytes),
            None => Ok(none(format!("no {}", shown(&path)))),
        }
    }

    fn of_file(file: String, from: String, bytes: &[u8]) -> Result<Config, UsageError> {
        let (defaults, policies) = document::parse(&file, bytes)?;
        Ok(Config {
            file: (file, from),
            defaults,
            policies,
        })
    }

    /// Returns the user-defined policies, then the built-in ones whose names are not redefined.
    pub(crate) fn all_policies(&self) -> Result<Vec<Policy>, UsageError> {
        let mut all = self.policies.clone();
        let is_new = |policy: &Policy| !self.policies.iter().any(|own| own.name == policy.name);
        all.extend(built_in()?.into_iter().filter(is_new));
        Ok(all)
    }

    /// Returns the statements of the policy selected by the source of highest precedence.
    pub(crate) fn policy(&self, settings: &Settings) -> Result<Vec<Said>, UsageError> {
        let by_default = self.defaults.iter().find(|said| said.opt.long == "policy");
        let Some(said) = settings.said("policy").or(by_default) else {
            return Ok(Vec::new());
        };
        let is_it = |policy: &&Policy| said.text == *policy.name;
        if let Some(own) = self.policies.iter().find(is_it) {
            return Ok(own.said.clone());
        }
        let all = self.all_policies()?;
        if let Some(policy) = all.iter().find(is_it) {
            return Ok(policy.said.clone());
        }
        let known: Vec<&str> = all.iter().map(|policy| &*policy.name).collect();
        let hint = closest(&said.shown(), known.iter().copied());
        Err(said.unreadable(format!("is not one of {}{hint}", known.join(", "))))
    }
}

pub(super) fn built_in() -> Result<Vec<Policy>, UsageError> {
    let (_, policies) = document::parse("", include_bytes!("policies.toml"))?;
    Ok(policies)
}
