//! Turns clap's errors into one line that names the option, the value and what would be right, without secrets.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory};

use super::declared::{exclusion, takes_no_word};
use super::options::Options;
use super::tips::tip_for_flag;
use crate::budget::store::redacted;
use crate::text::tip;

/// A mistake in the words of options.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// The option whose value is wrong, or None if it is not a single value.
    pub(crate) long: Option<String>,
    pub(crate) problem: String,
}

impl Wrong {
    /// Explains an error of clap, which has read `words`.
    pub(super) fn new(error: &clap::Error, words: &[OsString]) -> Wrong {
        let arg = context(error, ContextKind::InvalidArg);
        let long = long_name(&arg);
        let text = context(error, ContextKind::InvalidValue);
        let shown = shown_text(&long, &text);
        let problem = match error.kind() {
            ErrorKind::ValueValidation => {
                let problem = error.source().map(ToString::to_string);
                format!("{shown:?} {}", problem.unwrap_or_default())
            }
            ErrorKind::InvalidValue if text.is_empty() => missing(&long),
            ErrorKind::InvalidValue => format!("{shown:?} {}", not_a_word(error, &text)),
            ErrorKind::TooManyValues => format!("{shown:?} is not allowed; it takes no value"),
            ErrorKind::InvalidUtf8 => return not_utf8(words),
            ErrorKind::UnknownArgument => return unknown(&arg, words),
            ErrorKind::ArgumentConflict => {
                let other = long_name(&context(error, ContextKind::PriorArg));
                let why = exclusion(&long, &other).unwrap_or_default();
                return Wrong::words(format!("--{long} cannot be used with --{other}{why}"));
            }
            _ => return Wrong::words(in_one_line(error)),
        };
        Wrong {
            long: Some(long),
            problem,
        }
    }

    pub(super) fn words(problem: String) -> Wrong {
        Wrong {
            long: None,
            problem,
        }
    }

    /// Returns the message for the command line.
    pub(super) fn line(self) -> String {
        match self.long {
            Some(long) => format!("--{long}: {}", self.problem),
            None => self.problem,
        }
    }
}

/// Returns a value for a message, without the password that an address may contain.
pub(crate) fn shown_text(long: &str, text: &str) -> String {
    match long {
        "store" => redacted(text),
        _ if text.contains("://") => redacted(text),
        _ => text.to_owned(),
    }
}

fn context(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

/// Returns the name of an option as clap shows it: `attempts` for `--attempts <N|unlimited>`.
fn long_name(shown: &str) -> String {
    let name = shown.split([' ', '=', '[', '.']).next().unwrap_or_default();
    name.trim_start_matches('-').to_owned()
}

fn missing(long: &str) -> String {
    format!("a value is required; one that begins with - is written --{long}=VALUE")
}

/// Explains a value that is not one of an option's words.
fn not_a_word(error: &clap::Error, text: &str) -> String {
    let words = context(error, ContextKind::ValidValue);
    let tip = tip(text, words.split(", "));
    format!("is not one of {words}{tip}")
}

/// Explains an option that does not exist: the value of the option before it, as in `-b -1s`, another tool's option, or
/// a typo.
fn unknown(option: &str, words: &[OsString]) -> Wrong {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    // clap names the first letter of a word such as `-1s`.
    let index = texts.iter().position(|word| word.starts_with(option));
    let before = index.and_then(|index| texts.get(index.checked_sub(1)?));
    if let Some(long) = before.and_then(|before| option_with_text(before)) {
        return Wrong {
            problem: missing(&long),
            long: Some(long),
        };
    }
    // The rest may contain a password, in an address that was quoted together with its option.
    let name = option.split([' ', ':']).next().unwrap_or_default();
    let parser = Options::command();
    let known = parser.get_arguments().filter_map(Arg::get_long);
    let tip = tip_for_flag(&long_name(name), known).unwrap_or_else(|| "; see --help".to_owned());
    Wrong::words(format!("unexpected argument '{name}' found{tip}"))
}

/// Returns the option in a word such as `-n` or `--attempts`, if it takes the next word.
fn option_with_text(word: &str) -> Option<String> {
    let parser = Options::command();
    let takes_text = |arg: &&Arg| !takes_no_word(arg);
    let option = parser.get_arguments().filter(takes_text).find(|arg| {
        let letter = word
            .strip_prefix('-')
            .and_then(|letters| letters.chars().last());
        let is_letter = !word.starts_with("--") && letter.is_some() && letter == arg.get_short();
        is_letter
            || word
                .strip_prefix("--")
                .is_some_and(|long| Some(long) == arg.get_long())
    });
    option?.get_long().map(str::to_owned)
}

/// Explains the first word that is not UTF-8, with the option that it belongs to.
fn not_utf8(words: &[OsString]) -> Wrong {
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let index = words
        .iter()
        .position(|word| word.to_str().is_none())
        .unwrap_or(0);
    let word = &*texts[index];
    let before = texts[..index]
        .last()
        .map(|word| &**word)
        .unwrap_or_default();
    let (option, text) = match word.split_once('=') {
        Some((option, text)) if option.starts_with("--") => (option, text),
        _ => (before, word),
    };
    match option_with_text(option) {
        Some(long) => Wrong {
            problem: format!("{:?} is not UTF-8", shown_text(&long, text)),
            long: Some(long),
        },
        None => Wrong::words("a value is not UTF-8".to_owned()),
    }
}

/// Returns an unexpected error of clap as one line.
fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}
