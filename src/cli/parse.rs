//! Parses the words of the command line, and those into which `config` turns all sources.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory, FromArgMatches};

use super::declared::{Declared, EXCLUSIVE, Takes, takes, takes_no_word};
use super::help;
use super::options::Options;
use super::values;
use super::wrong::Wrong;

/// A command line.
#[derive(Debug)]
pub(crate) struct CommandLine {
    /// The options, with defaults for those that are not given.
    pub(crate) options: Options,
    /// The options that are given, with their values. A switch has the number of times it is given.
    pub(crate) given: Vec<(String, Vec<OsString>)>,
    /// The command and its arguments, perhaps empty.
    pub(crate) command: Vec<OsString>,
    /// All options, for the other sources.
    pub(crate) declared: Vec<Declared>,
}

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Task {
    /// A run, or an option that prints something.
    Run(Box<CommandLine>),
    /// Text for standard output: help or the version.
    Print(String),
}

/// Parses a command line, without the program's name. Help and version override a run. An error is one line.
pub(crate) fn parse(words: &[OsString]) -> Result<Task, String> {
    let mut parser = parser();
    let declared = Declared::all(&parser);
    for (option, others, _) in EXCLUSIVE {
        parser = parser.mut_arg(option, |arg| arg.conflicts_with_all(others));
    }
    let parsed = parser.try_get_matches_from_mut(words);
    check_dashes(words, parsed.as_ref().ok(), &parser)?;
    let matches = parsed.map_err(|error| Wrong::new(&error, words).line())?;
    let mut options = values_of(&matches)?;
    // --help overrides -h, and -h overrides --version.
    if let Some(topic) = &options.other.help {
        return Ok(Task::Print(help::help(topic, options.output.color)?));
    }
    if options.other.summary {
        return Ok(Task::Print(help::summary()));
    }
    if options.other.version {
        return Ok(Task::Print(help::version()));
    }
    let command = std::mem::take(&mut options.command);
    check_switch(words, &command, &parser)?;
    Ok(Task::Run(Box::new(CommandLine {
        given: given(&parser, &matches),
        declared,
        options,
        command,
    })))
}

/// Returns the parser. A negative number after an option is its value, which the option rejects with a message of its
/// own.
pub(super) fn parser() -> Command {
    Options::command().mut_args(|arg| {
        let is_text = !arg.is_positional() && !takes_no_word(&arg);
        arg.allow_negative_numbers(is_text)
    })
}

/// Parses words such as `--base=5s`, into which the merged sources were turned.
pub(crate) fn options(words: &[OsString]) -> Result<Options, Wrong> {
    let matches = Options::command()
        .try_get_matches_from(words)
        .map_err(|error| Wrong::new(&error, words))?;
    values_of(&matches).map_err(Wrong::words)
}

fn values_of(matches: &ArgMatches) -> Result<Options, String> {
    // No option is required, so there is always a value.
    Options::from_arg_matches(matches).map_err(|error| error.to_string())
}

fn given(parser: &Command, matches: &ArgMatches) -> Vec<(String, Vec<OsString>)> {
    let mut given = Vec::new();
    for arg in parser.get_arguments() {
        let id = arg.get_id().as_str();
        let Some(long) = arg.get_long() else { continue };
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let texts = match takes(arg) {
            Takes::Nothing => vec!["1".into()],
            Takes::Count => vec![matches.get_count(id).to_string().into()],
            _ => matches
                .get_raw(id)
                .map(|texts| texts.map(OsString::from).collect())
                .unwrap_or_default(),
        };
        given.push((long.to_owned(), texts));
    }
    given
}

/// Returns an error for a long name after a single dash. clap would read `-timeout` as `-t imeout`.
fn check_dashes(
    words: &[OsString],
    matches: Option<&ArgMatches>,
    parser: &Command,
) -> Result<(), String> {
    let command = matches.and_then(|matches| Some(matches.get_raw("COMMAND")?.len()));
    let options = &words[..words.len() - command.unwrap_or(0)];
    for word in options.iter().take_while(|word| *word != "--") {
        let name = word.to_str().and_then(|word| word.split('=').next());
        let long = name.and_then(|name| name.strip_prefix('-'));
        let is_long = |arg: &Arg| long.is_some() && arg.get_long() == long;
        if let Some(long) = long
            && parser.get_arguments().any(is_long)
        {
            return Err(format!(
                "unexpected argument '-{long}' found; tip: try --{long}"
            ));
        }
    }
    Ok(())
}

/// Returns an error for a value after a switch or after an option that takes its value after `=`, as in `--pty yes
/// make`. Otherwise `yes` would run as the command. A single word may be a command, as in `-q true`.
fn check_switch(words: &[OsString], command: &[OsString], parser: &Command) -> Result<(), String> {
    let [value, _, ..] = command else {
        return Ok(());
    };
    let Some(text) = value.to_str() else {
        return Ok(());
    };
    if values::switch(text).is_err() && values::duration(text).is_err() {
        return Ok(());
    }
    let first = words.iter().position(|word| word == value);
    let before = first.and_then(|first| words.get(first.checked_sub(1)?)?.to_str());
    let Some(switch) = before.and_then(|word| last_switch(word, parser)) else {
        return Ok(());
    };
    let long = switch.get_long().unwrap_or_default();
    let tip = match takes(switch) {
        Takes::Optional => format!("write the value after =, as in --{long}=MAX"),
        _ => format!("leave {text} out"),
    };
    Err(format!(
        "{text:?} after --{long} would be run as the command; tip: {tip}, or put -- before a command of that name"
    ))
}

/// Returns the last option in a word such as `--pty` or `-qv`, if none of its options takes the next word.
fn last_switch<'p>(word: &str, parser: &'p Command) -> Option<&'p Arg> {
    let mut arguments = parser.get_arguments();
    if let Some(long) = word.strip_prefix("--") {
        return arguments.find(|arg| arg.get_long() == Some(long) && takes_no_word(arg));
    }
    let letters = word.strip_prefix('-')?;
    let mut found = letters.chars().map(|letter| {
        let mut arguments = parser.get_arguments();
        arguments.find(|arg| arg.get_short() == Some(letter) && takes_no_word(arg))
    });
    found.try_fold(None, |_, arg| arg.map(Some))?
}
