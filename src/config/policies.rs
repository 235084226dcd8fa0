//! Policies (`--policy`), built-in and user-defined, and the configuration file, which may define some and set
//! defaults. A value of the file becomes the text that a flag would take. The file's keys are checked when it is
//! loaded, its values when a plan reads them.

use std::path::{Path, PathBuf};

use super::file::{self, Choice};
use super::setting::{Setting, UsageError};
use super::settings::Settings;
use super::toml_file::{Policy, parse};
use crate::options::similar::tip;
use crate::options::{CONFIG, POLICY};
use crate::process::sys::environment::config_home;
use crate::text::printable;

/// Contents of the configuration file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The file's name, or "none"; for `-vv`.
    pub(crate) file: String,
    /// The file's path; None without a file.
    pub(crate) path: Option<PathBuf>,
    /// The option or variable that names the file, "default", or the reason why there is no file; for `-vv`.
    pub(crate) reason: String,
    /// Settings of `[defaults]`, in file order.
    pub(crate) defaults: Vec<Setting>,
    /// User-defined policies, in file order.
    pub(crate) policies: Vec<Policy>,
}

impl Config {
    /// Returns the configuration without a file: empty, with the reason for that.
    fn none(reason: String) -> Config {
        Config {
            file: "none".to_owned(),
            reason,
            ..Config::default()
        }
    }

    /// Loads the file that `--config` or its variable names, or else the default file if it exists; the name `none`
    /// loads no file. An error is one of the file or of a key in it; the values are read later, by the options.
    pub(crate) fn load(settings: &Settings) -> Result<Config, UsageError> {
        let setting = settings.find(&CONFIG);
        let chosen_by = setting.map_or("default".to_owned(), Setting::source_name);
        let path = match (settings.get(&CONFIG)?, config_home()) {
            (Some(path), _) if path == Path::new("none") => return Ok(Config::none(chosen_by)),
            (Some(path), _) => path,
            // `home` is backoff's own directory, `~/.config/backoff`.
            (None, Some(home)) => home.join("config.toml"),
            (None, None) => {
                return Ok(Config::none(
                    "neither XDG_CONFIG_HOME nor HOME is an absolute path".to_owned(),
                ));
            }
        };
        let shown = printable(&path.to_string_lossy());
        let choice = match setting {
            Some(_) => Choice::Named,
            None => Choice::Default,
        };
        let content = file::read(&path, choice).map_err(|problem| match setting {
            Some(setting) => setting.error(problem),
            None => UsageError(format!("{shown}: the configuration file {problem}")),
        })?;
        let Some(content) = content else {
            return Ok(Config::none(format!("no {shown}")));
        };
        let parsed = parse(&shown, &content)?;
        Ok(Config {
            file: shown,
            path: Some(path),
            reason: chosen_by,
            defaults: parsed.defaults,
            policies: parsed.policies,
        })
    }

    /// Returns the user-defined policies, then the built-in ones whose names are not redefined: a user may replace one.
    /// An error here would be one of the built-in policies, which tests exclude.
    pub(crate) fn all_policies(&self) -> Result<Vec<Policy>, UsageError> {
        let mut all = self.policies.clone();
        for policy in built_in()? {
            if self.policies.iter().all(|own| own.name != policy.name) {
                all.push(policy);
            }
        }
        Ok(all)
    }

    /// Returns the settings of the policy that `settings`, or else `[defaults]`, select; none if neither does. Returns
    /// an error for an unknown name, with the known ones.
    pub(crate) fn policy(&self, settings: &Settings) -> Result<Vec<Setting>, UsageError> {
        let by_default = self.defaults.iter().find(|setting| *setting.opt == *POLICY);
        let Some(setting) = settings.find(&POLICY).or(by_default) else {
            return Ok(Vec::new());
        };
        let name = setting.read(&POLICY)?;
        let mut all = self.all_policies()?;
        if let Some(index) = all.iter().position(|policy| name.0 == *policy.name) {
            return Ok(all.swap_remove(index).settings);
        }
        let names = all.iter().map(|policy| &*policy.name);
        let known = names.clone().collect::<Vec<_>>().join(", ");
        Err(setting.error(format!(
            "is not one of {known}{}",
            tip(&setting.shown(), names)
        )))
    }
}

pub(super) fn built_in() -> Result<Vec<Policy>, UsageError> {
    Ok(parse("", include_bytes!("policies.toml"))?.policies)
}
