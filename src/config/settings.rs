//! The settings of all sources, merged.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use super::conflicts;
use super::setting::{Setting, Source, UsageError};
use super::values::{self, Parsed};
use crate::cli::parse::CommandLine;
use crate::cli::table::{Kind, OPTIONS, Opt, option};

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

impl Settings {
    /// Returns the settings of the command line.
    pub(crate) fn of_command_line(line: &CommandLine) -> Result<Settings, UsageError> {
        check_switch(line)?;
        let options = line.options.iter();
        let flags = options.map(|(opt, text)| Setting::new(opt, text, Source::Flag, String::new()));
        let mut settings = Settings::default();
        settings.add(flags.collect())?;
        Ok(settings)
    }

    /// Adds the settings of `BACKOFF_*` variables. Actions are accepted on the command line only.
    pub(crate) fn add_variables(&mut self, variables: &Variables) -> Result<(), UsageError> {
        let set_by_variable = |opt: &'static Opt| {
            let (_, text) = variables
                .iter()
                .find(|(name, _)| opt.has_variable(name.as_bytes()))?;
            // An empty variable counts as unset.
            (!text.is_empty()).then(|| Setting::new(opt, text, Source::Variable, String::new()))
        };
        let settable = OPTIONS.iter().filter(|opt| !opt.is_action());
        self.add(settable.filter_map(set_by_variable).collect())
    }

    /// Adds a layer: the settings of one source, which is lower than all sources added before. An option that is
    /// already set keeps its setting.
    pub(crate) fn add(&mut self, mut layer: Vec<Setting>) -> Result<(), UsageError> {
        layer.retain(|setting| self.find(setting.opt.long).is_none());
        self.expand_every(&mut layer)?;
        self.overridden
            .extend(conflicts::settle(&self.merged, &mut layer)?);
        self.merged.extend(layer);
        Ok(())
    }

    /// Replaces `--every` in a layer by the three settings that it implies. Returns an error if the layer itself sets
    /// one of the three differently.
    fn expand_every(&self, layer: &mut Vec<Setting>) -> Result<(), UsageError> {
        let Some(at) = layer.iter().position(|setting| setting.opt.long == "every") else {
            return Ok(());
        };
        let every = Rc::new(layer.remove(at));
        let implied = [
            ("base", every.text.clone()),
            ("growth", "constant".into()),
            ("jitter", "none".into()),
        ];
        for (long, text) in implied {
            match layer.iter().find(|setting| setting.opt.long == long) {
                Some(other) if other.text != text => {
                    return Err(format!(
                        "{every} cannot go with {other}: it is a fixed wait without jitter"
                    )
                    .into());
                }
                None if self.source(long).is_none() => {
                    layer.push(Setting::implied_by(&every, option(long), text));
                }
                // The layer sets it to the same text, or a higher source sets it.
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the setting in effect for an option; the last one if it was repeated.
    pub(crate) fn find(&self, long: &str) -> Option<&Setting> {
        self.merged.iter().rfind(|setting| setting.opt.long == long)
    }

    /// Returns the source of an option's value; None, which is below every source, if the option is not set.
    pub(crate) fn source(&self, long: &str) -> Option<Source> {
        self.find(long).map(|setting| setting.source.clone())
    }

    /// Returns the option's value, if set.
    pub(crate) fn get<T>(
        &self,
        long: &str,
        parse: impl Fn(&str) -> Parsed<T>,
    ) -> Parsed<Option<T>> {
        self.find(long)
            .map(|setting| setting.parse(parse))
            .transpose()
    }

    /// Returns the option's value, or else that of its default, which must not be empty.
    pub(crate) fn value<T>(&self, long: &str, parse: impl Fn(&str) -> Parsed<T>) -> Parsed<T> {
        let default = option(long).default_value();
        match self.find(long) {
            Some(setting) => setting.parse(parse),
            None => parse(default)
                .map_err(|problem| UsageError(format!("--{long}: {default:?} {problem}"))),
        }
    }

    /// Returns the element of `values` that corresponds to the option's word; both are in the same order.
    pub(crate) fn choice<T: Clone>(&self, long: &str, values: &[T]) -> Result<T, UsageError> {
        let words = option(long).kind.words();
        self.value(long, |text| {
            values::word(words, text).map(|at| values[at].clone())
        })
    }

    /// Returns each setting of a repeatable option.
    pub(crate) fn each(&self, long: &str) -> impl Iterator<Item = &Setting> {
        self.merged
            .iter()
            .filter(move |setting| setting.opt.long == long)
    }

    /// Returns the values of a repeatable option.
    pub(crate) fn all<T>(&self, long: &str, parse: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.each(long)
            .map(|setting| setting.parse(&parse))
            .collect()
    }

    /// Returns the number of times a repeatable switch is given.
    pub(crate) fn count(&self, long: &str) -> Result<u8, UsageError> {
        Ok(self.get(long, values::count)?.unwrap_or(0))
    }

    pub(crate) fn is_on(&self, long: &str) -> Result<bool, UsageError> {
        Ok(self.get(long, values::switch)?.unwrap_or(false))
    }

    pub(crate) fn duration(&self, long: &str) -> Parsed<Option<Duration>> {
        self.get(long, values::duration)
    }

    /// Returns a path, which need not be UTF-8.
    pub(crate) fn path(&self, long: &str) -> Parsed<Option<PathBuf>> {
        match self.find(long) {
            Some(setting) if setting.text.is_empty() => {
                Err(setting.error("is not a path; tip: try a file name"))
            }
            setting => Ok(setting.map(|setting| PathBuf::from(&setting.text))),
        }
    }

    /// Returns an option's text without secrets, and the name of its source, even if the setting is overridden.
    pub(crate) fn shown(&self, long: &str) -> Option<(String, String)> {
        let (settings, note) = match self.find(long) {
            Some(_) => (&self.merged, ""),
            None => (&self.overridden, "; overridden"),
        };
        let found: Vec<&Setting> = settings
            .iter()
            .filter(|setting| setting.opt.long == long)
            .collect();
        let texts: Vec<String> = found.iter().map(|setting| setting.shown()).collect();
        Some((texts.join(", "), found.last()?.source_name() + note))
    }
}

/// Refuses a value that stands after a switch, as in `--pty yes make`: it would be the command, and its exit status that
/// of the run. A word alone may be a command: `-q true`.
fn check_switch(line: &CommandLine) -> Result<(), UsageError> {
    let (Some(opt), [word, _, ..]) = (line.switch_before_command, &*line.command) else {
        return Ok(());
    };
    let Some(text) = word.to_str() else {
        return Ok(());
    };
    if !values::is_value_of_switch(opt, text) {
        return Ok(());
    }
    let long = opt.long;
    let problem = match opt.kind {
        Kind::Optional(_) => {
            let lacks_unit = long == "retry-after" && values::retry_after(text).is_err();
            let example = if lacks_unit {
                format!("{text}s")
            } else {
                text.to_owned()
            };
            format!("takes a value only after =; tip: try --{long}={example}")
        }
        Kind::Count => format!("takes no value, but may be repeated; tip: leave {text} out"),
        _ => format!("takes no value; tip: leave {text} out"),
    };
    let why = format!("{text:?} after --{long} would be run as the command: the option {problem}");
    Err(format!("{why}, or put -- before a command of that name").into())
}

/// Returns a variable's value by its full name; an empty variable counts as unset.
pub(crate) fn variable<'v>(variables: &'v Variables, name: &str) -> Option<&'v OsStr> {
    let (_, value) = variables.iter().find(|(known, _)| known == name)?;
    Some(&**value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
