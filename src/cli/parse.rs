//! Parses the command line with clap, as the options declare it: separates options from the command. Texts of options
//! are not read here, but where all sources of settings come together (`config`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::declare::{COMMAND, SUMMARY_ID, arg, described, parser};
use super::help;
use super::suggest::tip_for_flag;
use crate::options::opt::{Kind, Spec};
use crate::options::problem::UsageError;
use crate::options::{COLOR, HELP, OPTIONS, VERSION};

/// A parsed command line; option values are still text.
#[derive(Debug, Default)]
pub struct CommandLine {
    /// The options that were given, with their texts; once for each text of a repeatable one. The text of a switch is
    /// `1`, or the number of times given if it counts (`-vv`); a text that may be missing, and is, is `on` or empty.
    pub options: Vec<(&'static Spec, OsString)>,
    /// The command and its arguments; may be empty.
    pub command: Vec<OsString>,
    /// The option directly before the command, without `--` between them, if it takes no text, or takes it after `=`
    /// and has none: the command may be meant as its text.
    pub switch_before_command: Option<&'static Spec>,
}

/// The task that the command line sets.
#[derive(Debug)]
pub enum Task {
    /// A run with these options and this command, or another option that prints something.
    Run(CommandLine),
    /// Text for standard output: help or the version.
    Print(String),
}

/// Parses a command line whose first word is the program's own name. Returns what to do: a run, or help or version to
/// print, which override a run. A wrong command line is a usage error, and nothing is run.
pub fn parse(args: &[OsString]) -> Result<Task, UsageError> {
    let words = args.get(1..).unwrap_or_default();
    let used = options_used(words)?;
    let parser = parser(used.options.iter().map(|opt| arg(opt)));
    let mut matches = parser
        .try_get_matches_from(words)
        .map_err(|_| usage_error(words))?;
    let wants_summary = matches.get_flag(SUMMARY_ID);
    let mut line = command_line(&mut matches, &used.options);
    line.switch_before_command = used.switch_before_command;
    // --help overrides -h, and -h overrides --version.
    if let Some(topic) = line.text(&HELP) {
        let color = line.text(&COLOR);
        return Ok(Task::Print(help::help(&topic.to_string_lossy(), color)?));
    }
    if wants_summary {
        return Ok(Task::Print(help::SUMMARY.to_owned()));
    }
    if line.text(&VERSION).is_some() {
        return Ok(Task::Print(help::version()));
    }
    Ok(Task::Run(line))
}

impl CommandLine {
    /// Returns the text of an option, the last one if it was repeated; None if it was not given.
    fn text(&self, opt: &Spec) -> Option<&OsString> {
        let given = self.options.iter().rfind(|(given, _)| *given == opt);
        given.map(|(_, text)| text)
    }
}

/// The options before the command.
#[derive(Default)]
struct Used {
    /// Each once, in any order; all options of backoff if one is `--help`.
    options: Vec<&'static Spec>,
    /// As in [`CommandLine`].
    switch_before_command: Option<&'static Spec>,
}

/// Returns the options before the command. Only they are declared to clap, as declaring all takes longer than the rest
/// of the start.
///
/// Returns an error for two mistakes that clap accepts: an option or `--` in place of a text (`-t --pty`), and a long
/// name after one dash (`-timeout` would be `-t imeout`).
fn options_used(words: &[OsString]) -> Result<Used, UsageError> {
    let mut used: Vec<&'static Spec> = Vec::new();
    let mut last_switch = None;
    let mut words = words.iter().map(|word| word.as_bytes()).peekable();
    while let Some(word) = words.next_if(|word| is_option(word)) {
        last_switch = None;
        check_dashes(word)?;
        // The topic may be an option; clap checks the words after it.
        if word.starts_with(b"--help") {
            return Ok(Used {
                options: OPTIONS.to_vec(),
                ..Used::default()
            });
        }
        let Named { options, text } = options_in(word);
        used.extend(&options);
        let Some(last) = options.last().copied() else {
            // clap reports an unknown option.
            continue;
        };
        if !text.is_empty() {
            continue;
        }
        if !last.kind.takes_next() {
            last_switch = Some(last);
            continue;
        }
        // Skips the text of the option, which may begin with a dash.
        let Some(next) = words.next() else { break };
        check_text(last, next)?;
    }
    used.sort_by_key(|opt| opt.long);
    used.dedup_by_key(|opt| opt.long);
    let next = words.next();
    // In `--pty true make`, the command `true` may be meant as the text of the switch.
    let is_command_next = next.is_some_and(|next| next != b"--");
    Ok(Used {
        options: used,
        switch_before_command: last_switch.filter(|_| is_command_next),
    })
}

fn is_option(word: &[u8]) -> bool {
    word.len() > 1 && word.starts_with(b"-") && word != b"--"
}

/// Returns an error for a long name after one dash (`-timeout`), which clap would read as letters: `-t imeout`.
fn check_dashes(word: &[u8]) -> Result<(), UsageError> {
    let Some(opt) = find(&[b"-", word].concat()) else {
        return Ok(());
    };
    let long = opt.long;
    Err(UsageError::new(format!(
        "unexpected argument '-{long}' found; tip: try --{long}"
    )))
}

/// Returns an error if the word after `opt`, which would be its text, is one of backoff's options (`-n`,
/// `--attempts=3`) or `--`: then the text was forgotten. The error quotes no more than the option's name.
fn check_text(opt: &Spec, next: &[u8]) -> Result<(), UsageError> {
    let is_mistake = matches!(next, b"--" | b"-h") || find(next).is_some();
    if !is_mistake {
        return Ok(());
    }
    let long = opt.long;
    let next = String::from_utf8_lossy(name_in(next));
    Err(UsageError::new(format!(
        "a value is required for '--{long}', but '{next}' follows; if it is the value, write --{long}={next}"
    )))
}

/// The options of one word.
struct Named<'w> {
    options: Vec<&'static Spec>,
    /// The rest of the word, with its `=` if it has one, which is the text of the last option. Used only to see whether
    /// there is one: clap reads the text.
    text: &'w [u8],
}

/// Returns the options that a word names, and the text in the same word: `-vn3` is -v, -n and `3`, and `--base=3` is
/// --base and `=3`. Unknown names are left out, as clap reports them.
fn options_in(word: &[u8]) -> Named<'_> {
    if word.starts_with(b"--") {
        return Named {
            options: find(word).into_iter().collect(),
            text: &word[name_in(word).len()..],
        };
    }
    let mut options: Vec<&Spec> = Vec::new();
    for (index, letter) in word.iter().enumerate().skip(1) {
        options.extend(find(&[b'-', *letter]));
        // The rest of the word is this option's text.
        if options.last().is_some_and(|opt| opt.kind.takes_next()) {
            return Named {
                options,
                text: &word[index + 1..],
            };
        }
    }
    Named { options, text: b"" }
}

/// Returns the option that a word names exactly: `--timeout`, `--timeout=3` or `-t`. None for any other word.
fn find(word: &[u8]) -> Option<&'static Spec> {
    let name = name_in(word);
    OPTIONS.iter().copied().find(|opt| is_named(opt, name))
}

/// Returns true if a name with its dashes, `--timeout` or `-t`, is that of the option. Compares bytes, as a word need
/// not be UTF-8.
fn is_named(opt: &Spec, name: &[u8]) -> bool {
    match name {
        [b'-', b'-', long @ ..] => long == opt.long.as_bytes(),
        [b'-', letter] => opt.short.is_some_and(|short| short as u8 == *letter),
        _ => false,
    }
}

/// Returns a word up to its `=`. Errors quote no more, as a password may follow.
fn name_in(word: &[u8]) -> &[u8] {
    word.split(|byte| *byte == b'=').next().unwrap_or_default()
}

/// Takes these options with their texts, and the command, out of clap's matches. Texts stay as typed; the text of a
/// switch is `1`, or the number of times if it counts (`-vv`), and a text that may be missing, and is, becomes `on`
/// (`--plan`), or nothing (`--help`). Options that were not given are left out. The parser of `matches` must know all
/// `options`, as clap may panic about any other.
fn command_line(matches: &mut ArgMatches, options: &[&'static Spec]) -> CommandLine {
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
    line.command = matches
        .remove_many(COMMAND)
        .map(Iterator::collect)
        .unwrap_or_default();
    line
}

/// Returns the error about a command line that clap has rejected, in one line: with a tip if another tool has the
/// option, or else clap's text. Parses again with all options declared, not only those in use, so that clap can suggest
/// any.
fn usage_error(words: &[OsString]) -> UsageError {
    let Err(error) = described(OPTIONS.iter().copied()).try_get_matches_from(words) else {
        // Not reached: options that are not in use do not change what clap accepts.
        return UsageError(String::new());
    };
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(tip) = tip_for_flag(word.trim_start_matches('-'))
    {
        return UsageError(format!("unexpected argument '{word}' found{tip}"));
    }
    UsageError(in_one_line(&error.render().to_string()))
}

/// Returns clap's error in one line: the problem and, if there is one, the first tip, without usage.
fn in_one_line(clap_text: &str) -> String {
    let mut parts = Vec::new();
    for line in clap_text.trim_start_matches("error: ").lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("Usage:") {
            continue;
        }
        // clap's tip to put the word after `--` would make it the command.
        if line.starts_with("tip: to pass") {
            parts.push("see --help");
        } else {
            parts.push(line);
        }
    }
    parts.truncate(2);
    parts.join("; ")
}

#[cfg(test)]
mod tests;
