//! What all sources set. The command line overrides variables, then come the policy, `[defaults]` of the config file,
//! and last what options imply. Each source is a layer of texts by option name. Once merged, they are parsed like the
//! words of a command line.

mod file;
mod implied;
pub(crate) mod listing;
pub(crate) mod policies;
pub(crate) mod settings;
mod toml_file;

use crate::cli::declared::Declared;
use crate::cli::options::Options;
use crate::cli::parse::CommandLine;

use policies::Config;
use settings::{Settings, Variables};

/// The settings of all sources, and their values.
#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) settings: Settings,
    pub(crate) options: Options,
    pub(crate) config: Config,
    pub(crate) declared: Vec<Declared>,
}

/// Merges all sources. An error names the place of the mistake: an option, a variable, or file, table and key.
pub(crate) fn merge(line: CommandLine, variables: &Variables) -> Result<Merged, String> {
    let declared = line.declared;
    let mut of_user = Settings::default();
    of_user.overlay(Settings::from_variables(variables, &declared));
    of_user.overlay(Settings::typed(&line.given));
    let config = Config::load(&of_user, &declared)?;
    let mut settings = Settings::default();
    settings.overlay(config.defaults.clone());
    settings.overlay(config.policy(&of_user, &declared)?);
    settings.overlay(of_user);
    implied::add(&mut settings);
    let options = match settings.are_as_typed() {
        true => line.options,
        false => settings.options(&declared)?,
    };
    Ok(Merged {
        settings,
        options,
        config,
        declared,
    })
}

#[cfg(test)]
mod tests;
