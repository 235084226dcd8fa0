//! Policies (`--policy`), built-in and user-defined, and the config file, which may define some and set defaults.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::file;
use super::settings::{Setting, Settings};
use super::toml_file::{Policy, parse};
use crate::cli::declared::Declared;
use crate::process::sys::environment::config_home;
use crate::text::{printable, tip};

/// Contents of the config file.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// The `-vv` line about the file: its name, or `none` and why.
    pub(crate) line: String,
    pub(super) defaults: Settings,
    policies: Vec<Policy>,
}

impl Config {
    /// Loads the file that `--config` or its variable names, or else the default file if it exists. The name `none`
    /// loads no file. The whole file is checked, so that a mistake shows before its policy is first used.
    pub(super) fn load(settings: &Settings, declared: &[Declared]) -> Result<Config, String> {
        let mut config = Config::default();
        let setting = settings.find("config");
        let named = setting.map(|setting| PathBuf::from(setting.last_text()));
        let source = setting.map_or("default".to_owned(), Setting::source_name);
        let path = match (named, config_home()) {
            (Some(path), _) if path == Path::new("none") => {
                config.line = format!("config = none ({source})");
                return Ok(config);
            }
            (Some(path), _) => path,
            // backoff's own directory, `~/.config/backoff`.
            (None, Some(home)) => home.join("config.toml"),
            (None, None) => {
                let why = "neither XDG_CONFIG_HOME nor HOME is an absolute path";
                config.line = format!("config = none ({why})");
                return Ok(config);
            }
        };
        let shown: Rc<str> = printable(&path.to_string_lossy()).into();
        let is_default = setting.is_none();
        let content = file::read(&path, is_default).map_err(|problem| match setting {
            Some(setting) => setting.error(problem),
            None => format!("{shown}: the configuration file {problem}"),
        })?;
        let Some(content) = content else {
            config.line = format!("config = none (no {shown})");
            return Ok(config);
        };
        let parsed = parse(&shown, &content, declared)?;
        config.line = format!("config = {shown} ({source})");
        config.defaults = parsed.defaults;
        config.policies = parsed.policies;
        config.check(declared)?;
        Ok(config)
    }

    /// Returns the policies of the file, then the built-in ones whose names it does not use, because a user may replace
    /// one.
    pub(super) fn all_policies(&self, declared: &[Declared]) -> Result<Vec<Policy>, String> {
        let mut all = self.policies.clone();
        for policy in parse("", include_bytes!("policies.toml"), declared)?.policies {
            if self.policies.iter().all(|own| own.name != policy.name) {
                all.push(policy);
            }
        }
        Ok(all)
    }

    /// Returns an error if a text of `[defaults]` or of a policy, used or not, cannot be parsed.
    fn check(&self, declared: &[Declared]) -> Result<(), String> {
        self.defaults.options(declared)?;
        for policy in &self.policies {
            policy.settings.options(declared)?;
        }
        Ok(())
    }

    /// Returns the settings of the policy that `settings`, or else `[defaults]`, select. Empty if neither does. An
    /// unknown name is an error that lists the known ones.
    pub(super) fn policy(
        &self,
        settings: &Settings,
        declared: &[Declared],
    ) -> Result<Settings, String> {
        let Some(setting) = settings.find("policy").or(self.defaults.find("policy")) else {
            return Ok(Settings::default());
        };
        let all = self.all_policies(declared)?;
        let chosen = setting.last_text();
        if let Some(policy) = all.iter().find(|policy| *chosen == *policy.name) {
            return Ok(policy.settings.clone());
        }
        let names = all.iter().map(|policy| &*policy.name);
        let known = names.clone().collect::<Vec<_>>().join(", ");
        let tip = tip(&setting.shown(), names);
        Err(setting.error(format!("is not one of {known}{tip}")))
    }
}
