//! The settings of all sources, merged. Sources are added from highest to lowest precedence, so that an option that is
//! set already wins over all later ones.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use super::conflicts;
use super::setting::{Setting, Source, UsageError};
use crate::cli::parse::CommandLine;
use crate::options::opt::{Kind, Opt, Spec};
use crate::options::problem::Checked;
use crate::options::{BASE, EVERY, GROWTH, JITTER, OPTIONS};

/// Names and values of the environment's `BACKOFF_*` variables.
pub(crate) type Variables = [(OsString, OsString)];

/// The settings of all sources, added from highest to lowest precedence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// Settings in effect. A repeatable option has several, all of one source.
    merged: Vec<Setting>,
    /// Settings dropped as they contradict one of another option with higher precedence.
    overridden: Vec<Setting>,
}

/// A setting in a message.
pub(crate) struct ShownSetting {
    /// The text without secrets, or the texts of a repeatable option; not escaped, as the printer of the line does so.
    pub(crate) text: String,
    /// The name of the source, with a note if the setting is overridden.
    pub(crate) source: String,
}

impl Settings {
    /// Returns the settings of the command line, the highest source, to which the others are added. Returns an error if
    /// options contradict each other, or a switch seems to have a value.
    pub(crate) fn of_command_line(line: &CommandLine) -> Result<Settings, UsageError> {
        check_switch(line)?;
        let options = line.options.iter();
        let flags = options.map(|(opt, text)| Setting::new(opt, text, Source::Flag, String::new()));
        let mut settings = Settings::default();
        settings.add(flags.collect())?;
        Ok(settings)
    }

    /// Adds the settings of `BACKOFF_*` variables. Actions, such as `--help`, are accepted on the command line only: a
    /// forgotten variable must not replace the run of the command.
    pub(crate) fn add_variables(&mut self, variables: &Variables) -> Result<(), UsageError> {
        let settable = OPTIONS.iter().filter(|opt| !opt.is_action());
        self.add(settable.filter_map(|opt| set_by(variables, opt)).collect())
    }

    /// Adds a layer: the settings of one source, which is lower than all sources added before. An option that is
    /// already set keeps its setting. A setting that a higher one of another option excludes is kept apart, as
    /// overridden.
    pub(crate) fn add(&mut self, mut layer: Vec<Setting>) -> Result<(), UsageError> {
        layer.retain(|setting| self.find(setting.opt).is_none());
        self.expand_every(&mut layer)?;
        self.overridden
            .extend(conflicts::settle(&self.merged, &mut layer)?);
        self.merged.extend(layer);
        Ok(())
    }

    /// Replaces `--every` in a layer by the three settings that it implies, so that no later code has to know it:
    /// `find` never returns it. Leaves out those of the three that a higher source sets. Returns an error if the layer
    /// itself sets one of them with another text.
    fn expand_every(&self, layer: &mut Vec<Setting>) -> Result<(), UsageError> {
        let Some(index) = layer.iter().position(|setting| *setting.opt == *EVERY) else {
            return Ok(());
        };
        let every = Rc::new(layer.remove(index));
        let implied: [(&'static Spec, OsString); 3] = [
            (&BASE, every.text.clone()),
            (&GROWTH, "constant".into()),
            (&JITTER, "none".into()),
        ];
        for (opt, text) in implied {
            match layer.iter().find(|setting| setting.opt == opt) {
                Some(other) if other.text != text => {
                    return Err(UsageError::new(format!(
                        "{every} cannot go with {other}: it is a fixed wait without jitter"
                    )));
                }
                None if self.find(opt).is_none() => {
                    layer.push(Setting::implied_by(&every, opt, text));
                }
                // The layer sets it to the same text, or a higher source sets it.
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the setting in effect for an option; the last one if it was repeated.
    pub(crate) fn find(&self, opt: &Spec) -> Option<&Setting> {
        self.merged.iter().rfind(|setting| setting.opt == opt)
    }

    /// Returns true if a source sets the option.
    pub(crate) fn has(&self, opt: &Spec) -> bool {
        self.find(opt).is_some()
    }

    /// Returns the source of an option's value; None, which is below every source, if the option is not set.
    pub(crate) fn source(&self, opt: &Spec) -> Option<Source> {
        self.find(opt).map(|setting| setting.source.clone())
    }

    /// Returns the option's value, if set.
    pub(crate) fn get<T>(&self, opt: &Opt<T>) -> Checked<Option<T>> {
        self.find(opt).map(|setting| setting.read(opt)).transpose()
    }

    /// Returns the option's value, or else that of its default, which must not be empty. An error names the source of a
    /// text that cannot be read.
    pub(crate) fn value<T>(&self, opt: &Opt<T>) -> Checked<T> {
        if let Some(setting) = self.find(opt) {
            return setting.read(opt);
        }
        opt.read(OsStr::new(opt.default)).map_err(|problem| {
            let default = opt.default;
            UsageError(format!("--{}: {default:?} {problem}", opt.long))
        })
    }

    /// Returns the values of a repeatable option, in the order in which they are given; none if no source sets it.
    pub(crate) fn all<T>(&self, opt: &Opt<T>) -> Checked<Vec<T>> {
        self.merged
            .iter()
            .filter(|setting| *setting.opt == **opt)
            .map(|setting| setting.read(opt))
            .collect()
    }

    /// Returns the number of times a repeatable switch is given.
    pub(crate) fn count(&self, opt: &Opt<u8>) -> Checked<u8> {
        Ok(self.get(opt)?.unwrap_or(0))
    }

    pub(crate) fn is_on(&self, opt: &Opt<bool>) -> Checked<bool> {
        Ok(self.get(opt)?.unwrap_or(false))
    }

    /// Returns an option's setting for a message, even if the setting is overridden, which the name of the source then
    /// tells; None if no source sets the option. A repeatable option has all its texts. If several sources are
    /// overridden, only the highest of them is shown, as it would decide.
    pub(crate) fn shown(&self, opt: &Spec) -> Option<ShownSetting> {
        let (settings, note) = match self.find(opt) {
            Some(_) => (&self.merged, ""),
            None => (&self.overridden, "; overridden"),
        };
        let highest = settings.iter().find(|setting| setting.opt == opt)?;
        let found: Vec<&Setting> = settings
            .iter()
            .filter(|setting| setting.opt == opt && setting.source == highest.source)
            .collect();
        let texts: Vec<String> = found.iter().map(|setting| setting.shown()).collect();
        Some(ShownSetting {
            text: texts.join(", "),
            source: found.last()?.source_name() + note,
        })
    }
}

/// Returns the setting of an option's variable; None if it is unset, or empty, as scripts clear variables that way.
fn set_by(variables: &Variables, opt: &'static Spec) -> Option<Setting> {
    let (_, text) = variables
        .iter()
        .find(|(name, _)| opt.has_variable(name.as_bytes()))?;
    if text.is_empty() {
        return None;
    }
    Some(Setting::new(opt, text, Source::Variable, String::new()))
}

/// Returns an error for a value that stands after a switch, or after an option that takes its text after `=`, as in
/// `--pty yes make`: it would be the command, and its exit status that of the run. A word alone may be a command, as in
/// `-q true`, and so may a word that is no value.
fn check_switch(line: &CommandLine) -> Result<(), UsageError> {
    let Some(opt) = line.switch_before_command else {
        return Ok(());
    };
    let [word, _, ..] = &*line.command else {
        return Ok(());
    };
    let Some(text) = word.to_str() else {
        return Ok(());
    };
    if !opt.is_value_of_switch(text) {
        return Ok(());
    }
    let long = opt.long;
    let tip = match opt.kind {
        Kind::Optional { name, .. } => format!("write the value after =, as in --{long}={name}"),
        _ => format!("leave {text} out"),
    };
    Err(UsageError::new(format!(
        "{text:?} after --{long} would be run as the command; tip: {tip}, or put -- before a command of that name"
    )))
}

/// Returns a variable's value by its full name; an empty variable counts as unset.
pub(crate) fn variable<'v>(variables: &'v Variables, name: &str) -> Option<&'v OsStr> {
    let (_, value) = variables.iter().find(|(known, _)| known == name)?;
    Some(&**value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
