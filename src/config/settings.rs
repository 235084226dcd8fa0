//! Statements of all sources about options.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use super::conflicts;
use super::said::{Said, Source, UsageError};
use super::values::{self, Parsed};
use crate::cli::parse::CommandLine;
use crate::cli::table::{OPTIONS, Opt, option};

/// Names and values of the environment's `BACKOFF_*` variables.
pub(crate) type Variables = [(OsString, OsString)];

/// Merged statements of all sources, added from highest to lowest precedence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    said: Vec<Said>,
    /// Statements overridden by one of higher precedence about a different option.
    overridden: Vec<Said>,
}

impl Settings {
    /// Returns the settings of the command line.
    pub(crate) fn typed(typed: &CommandLine) -> Result<Settings, UsageError> {
        let flag = |(opt, text): &(&'static Opt, OsString)| Said::new(opt, text, Source::Flag, String::new());
        let mut settings = Settings::default();
        settings.add(typed.options.iter().map(flag).collect())?;
        Ok(settings)
    }

    /// Adds the options' `BACKOFF_*` variables.
    pub(crate) fn add_variables(&mut self, variables: &Variables) -> Result<(), UsageError> {
        let said = |opt: &'static Opt| {
            let (_, text) = variables.iter().find(|(name, _)| opt.has_variable(name.as_bytes()))?;
            (!text.is_empty()).then(|| Said::new(opt, text, Source::Variable, String::new()))
        };
        self.add(OPTIONS.iter().filter(|opt| !opt.is_action()).filter_map(said).collect())
    }

    /// Adds the statements of a lower source about options that are not yet set.
    pub(crate) fn add(&mut self, mut lower: Vec<Said>) -> Result<(), UsageError> {
        lower.retain(|said| self.source(said.opt.long).is_none());
        self.expand_every(&mut lower)?;
        let overridden = conflicts::settle(&self.said, &mut lower)?;
        self.overridden.extend(overridden);
        self.said.extend(lower);
        Ok(())
    }

    /// Replaces `--every`, if the statements of a source hold it, by the three options that it sets.
    fn expand_every(&self, statements: &mut Vec<Said>) -> Result<(), UsageError> {
        let Some(at) = statements.iter().position(|said| said.opt.long == "every") else {
            return Ok(());
        };
        let every = Rc::new(statements.remove(at));
        let parts = [
            ("base", every.text.clone()),
            ("growth", "constant".into()),
            ("jitter", "none".into()),
        ];
        for (long, text) in parts {
            match statements.iter().find(|said| said.opt.long == long) {
                Some(other) if other.text != text => {
                    return Err(format!("{every} cannot go with {other}: it is a fixed wait without jitter").into());
                }
                None if self.source(long).is_none() => statements.push(Said::part_of(&every, option(long), text)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the statement in effect for an option; the last one if it was repeated.
    pub(crate) fn said(&self, long: &str) -> Option<&Said> {
        self.said.iter().rfind(|said| said.opt.long == long)
    }

    /// Returns the source of an option's value; None, which is below every source, if the option is not set.
    pub(crate) fn source(&self, long: &str) -> Option<Source> {
        self.said(long).map(|said| said.source.clone())
    }

    /// Returns the option's value, if set.
    pub(crate) fn get<T>(&self, long: &str, read: impl Fn(&str) -> Parsed<T>) -> Parsed<Option<T>> {
        self.said(long).map(|said| said.read(read)).transpose()
    }

    /// Returns the option's value, or else that of its default.
    pub(crate) fn value<T>(&self, long: &str, read: impl Fn(&str) -> Parsed<T>) -> Parsed<T> {
        let default = option(long).default_value();
        match self.said(long) {
            Some(said) => said.read(read),
            None => read(default).map_err(|problem| UsageError(format!("--{long}: {default:?} {problem}"))),
        }
    }

    /// Returns the element of `values` that corresponds to the option's word; both are in the same order.
    pub(crate) fn choice<T: Clone>(&self, long: &str, values: &[T]) -> Result<T, UsageError> {
        let words = option(long).kind.words();
        self.value(long, |text| values::word(words, text).map(|at| values[at].clone()))
    }

    /// Returns each statement about a repeatable option.
    pub(crate) fn each(&self, long: &str) -> impl Iterator<Item = &Said> {
        self.said.iter().filter(move |said| said.opt.long == long)
    }

    /// Returns the values of a repeatable option.
    pub(crate) fn all<T>(&self, long: &str, read: impl Fn(&str) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.each(long).map(|said| said.read(&read)).collect()
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
        match self.said(long) {
            Some(said) if said.text.is_empty() => Err(said.unreadable("is not a path; tip: try a file name")),
            said => Ok(said.map(|said| PathBuf::from(&said.text))),
        }
    }

    /// Returns an option's text without secrets, and its source, even if the statement is overridden.
    pub(crate) fn shown(&self, long: &str) -> Option<(String, String)> {
        let (list, note) = match self.said(long) {
            Some(_) => (&self.said, ""),
            None => (&self.overridden, "; overridden"),
        };
        let said: Vec<&Said> = list.iter().filter(|said| said.opt.long == long).collect();
        let texts: Vec<String> = said.iter().map(|said| said.shown()).collect();
        Some((texts.join(", "), said.last()?.source_name() + note))
    }
}

/// Returns a variable's value by its full name; an empty variable counts as unset.
pub(crate) fn variable<'v>(variables: &'v Variables, name: &str) -> Option<&'v OsStr> {
    let (_, value) = variables.iter().find(|(known, _)| known == name)?;
    Some(&**value).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests;
