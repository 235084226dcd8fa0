//! Parses the command line with clap, as the table of options declares it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::declare::{COMMAND, SUMMARY_ID, described, parser};
use super::suggest::foreign;
use super::table::{Kind, OPTIONS, Opt};
use super::{UsageError, help};

/// A parsed command line; option values are still text.
#[derive(Debug, Default)]
pub struct CommandLine {
    /// Options with their texts; the text of a switch is the number of times given.
    pub options: Vec<(&'static Opt, OsString)>,
    /// The command and its arguments; may be empty.
    pub command: Vec<OsString>,
}

/// The outcome of parsing the command line.
#[derive(Debug)]
pub enum Parsed {
    /// Options and a command.
    Run(CommandLine),
    /// Text for standard output: help or the version.
    Print(String),
}

/// Parses a command line whose first word is the program's own name.
pub fn parse(args: &[OsString]) -> Result<Parsed, UsageError> {
    let words = args.get(1..).unwrap_or_default();
    let named = named(words)?;
    let parser = parser(named.iter().map(|opt| opt.arg()));
    let mut matches = parser.try_get_matches_from(words).map_err(|_| usage_error(words))?;
    let wants_summary = matches.get_flag(SUMMARY_ID);
    let line = typed(&mut matches, &named);
    let said = |long| line.options.iter().rfind(|(opt, _)| opt.long == long);
    Ok(match (said("help"), said("version")) {
        (Some((_, topic)), _) => Parsed::Print(help::help(&topic.to_string_lossy(), said("color"))?),
        _ if wants_summary => Parsed::Print(help::SUMMARY.to_owned()),
        (_, Some(_)) => Parsed::Print(help::version()),
        _ => Parsed::Run(line),
    })
}

/// Returns the options before the command, which are all that clap needs to know: declaring the others takes longer
/// than the rest of the start. Refuses two mistakes that clap accepts: another option in place of a text, and a long
/// name after one dash (`-timeout` would be `-t imeout`).
fn named(words: &[OsString]) -> Result<Vec<&'static Opt>, UsageError> {
    let mut named = Vec::new();
    let mut words = words.iter().map(|word| word.as_bytes());
    let is_option = |word: &&[u8]| word.len() > 1 && word.starts_with(b"-") && *word != b"--";
    while let Some(word) = words.next().filter(is_option) {
        if let Some(opt) = find(&[b"-", word].concat()) {
            return Err(format!("unexpected argument '-{0}' found; tip: try --{0}", opt.long).into());
        }
        if word.starts_with(b"--help") {
            return Ok(OPTIONS.iter().collect());
        }
        let Some((opt, text)) = options_in(word, &mut named) else {
            continue;
        };
        if text.is_empty()
            && let Some(next) = words.next()
            && (matches!(next, b"--" | b"-h") || find(next).is_some())
        {
            let (long, next) = (opt.long, String::from_utf8_lossy(name_in(next)));
            let why = format!("a value is required for '--{long}', but '{next}' follows");
            return Err(format!("{why}; tip: try --{long}={next} if it is the value").into());
        }
    }
    named.sort_by_key(|opt| opt.long);
    named.dedup_by_key(|opt| opt.long);
    Ok(named)
}

/// Adds the options that a word names: `-vn3` names two. Returns the last one if it takes a text, and what follows its
/// name in the word: `3`, `=3` or nothing.
fn options_in<'w>(word: &'w [u8], named: &mut Vec<&'static Opt>) -> Option<(&'static Opt, &'w [u8])> {
    if word.starts_with(b"--") {
        named.extend(find(word));
        let text = &word[name_in(word).len()..];
        return Some((find(word).filter(|opt| opt.kind.takes_next())?, text));
    }
    for (at, letter) in word.iter().enumerate().skip(1) {
        named.extend(find(&[b'-', *letter]));
        if let Some(opt) = find(&[b'-', *letter]).filter(|opt| opt.kind.takes_next()) {
            return Some((opt, &word[at + 1..]));
        }
    }
    None
}

/// Returns the option that a word is: `--timeout`, `--timeout=3` or `-t`.
fn find(word: &[u8]) -> Option<&'static Opt> {
    let is_it = |opt: &&Opt| match name_in(word) {
        [b'-', b'-', name @ ..] => name == opt.long.as_bytes(),
        [b'-', letter] => opt.short.is_some_and(|short| short as u8 == *letter),
        _ => false,
    };
    OPTIONS.iter().find(is_it)
}

/// Returns a word up to its `=`. Errors quote no more, as a password may follow.
fn name_in(word: &[u8]) -> &[u8] {
    word.split(|byte| *byte == b'=').next().unwrap_or_default()
}

/// Extracts these options and the command from clap's matches.
fn typed(matches: &mut ArgMatches, options: &[&'static Opt]) -> CommandLine {
    let mut line = CommandLine::default();
    for opt in options {
        let times = match opt.kind {
            Kind::Switch => u8::from(matches.get_flag(opt.long)),
            Kind::Count => matches.get_count(opt.long),
            _ => 0,
        };
        if times > 0 {
            line.options.push((opt, times.to_string().into()));
        } else if !opt.kind.is_switch() {
            let texts = matches.remove_many(opt.long).into_iter().flatten();
            line.options.extend(texts.map(|text| (*opt, text)));
        }
    }
    line.command = matches.remove_many(COMMAND).map(Iterator::collect).unwrap_or_default();
    line
}

/// Returns clap's error about a rejected command line, in one line. Declares all options, for suggestions.
fn usage_error(words: &[OsString]) -> UsageError {
    let Err(error) = described(OPTIONS.iter()).try_get_matches_from(words) else {
        return UsageError(String::new());
    };
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(tip) = foreign(word.trim_start_matches('-'))
    {
        return format!("unexpected argument '{word}' found; tip: try --{tip}").into();
    }
    let text = error.render().to_string();
    let lines = text.trim_start_matches("error: ").lines().map(str::trim);
    let told = lines.filter(|line| !line.is_empty() && !line.starts_with("Usage:"));
    // A word after `--` would be the command.
    let told = told.map(|line| line.strip_prefix("tip: to pass").map_or(line, |_| "tip: try --help"));
    UsageError(told.take(2).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests;
