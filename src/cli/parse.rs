//! Parses the command line with clap, as the table of options declares it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::declare::{COMMAND, SUMMARY_ID, described, parser};
use super::help;
use super::suggest::foreign;
use super::table::{Kind, OPTIONS, Opt};

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
    /// A usage error in one line.
    Wrong(String),
}

impl Opt {
    /// Returns true if a word could be this option: its name, or its letter anywhere after a dash.
    fn could_occur_in(&self, words: &[OsString]) -> bool {
        let letter = self.short.map(|short| short as u8);
        words.iter().any(|word| match word.as_bytes() {
            [b'-', b'-', name @ ..] => name.starts_with(self.long.as_bytes()),
            [b'-', letters @ ..] => letter.is_some_and(|letter| letters.contains(&letter)),
            _ => false,
        })
    }

    /// Returns true if this option is the word, or its letter the last one of the word. The next word is its text then,
    /// unless the letter is a part of a text (`-b5e`).
    fn is_last_in(&self, word: &[u8]) -> bool {
        match word {
            [b'-', b'-', name @ ..] => name == self.long.as_bytes(),
            [b'-', .., last] => self.short.is_some_and(|short| short as u8 == *last),
            _ => false,
        }
    }
}

/// Parses a command line whose first word is the program's own name.
pub fn parse(args: &[OsString]) -> Parsed {
    let words = args.get(1..).unwrap_or_default();
    if let [help, topic] = words
        && help == "--help"
        && OPTIONS.iter().any(|opt| opt.is_last_in(topic.as_bytes()))
    {
        return help_on(topic, None);
    }
    // Declares only the options that may occur: declaring all takes longer than the rest of the start.
    let named = OPTIONS.iter().filter(|opt| opt.could_occur_in(words));
    let mut matches = parser(named.clone().map(Opt::arg)).try_get_matches_from(words);
    let wants_summary = matches.as_ref().is_ok_and(|matches| matches.get_flag(SUMMARY_ID));
    match matches.as_mut().map(|matches| typed(matches, named)) {
        Ok(line) => answer(line, words, wants_summary),
        Err(_) => Parsed::Wrong(usage_error(words)),
    }
}

/// Extracts these options and the command from clap's matches.
fn typed(matches: &mut ArgMatches, options: impl Iterator<Item = &'static Opt>) -> CommandLine {
    let mut line = CommandLine::default();
    for opt in options {
        let times = match opt.kind {
            Kind::Switch => u8::from(matches.get_flag(opt.long)),
            Kind::Count => matches.get_count(opt.long),
            _ => {
                let texts = matches.remove_many(opt.long).into_iter().flatten();
                line.options.extend(texts.map(|text| (opt, text)));
                0
            }
        };
        if times > 0 {
            line.options.push((opt, times.to_string().into()));
        }
    }
    line.command = matches.remove_many(COMMAND).map(Iterator::collect).unwrap_or_default();
    line
}

fn answer(line: CommandLine, words: &[OsString], wants_summary: bool) -> Parsed {
    let said = |long| line.options.iter().rev().find(|(opt, _)| opt.long == long);
    if let Some(problem) = slip(&line, words) {
        return Parsed::Wrong(problem);
    }
    match (said("help"), said("version")) {
        (Some((_, topic)), _) => help_on(topic, said("color").map(|(_, when)| &**when)),
        _ if wants_summary => Parsed::Print(help::SUMMARY.to_owned()),
        (_, Some(_)) => Parsed::Print(help::version()),
        _ => Parsed::Run(line),
    }
}

fn help_on(topic: &OsStr, color: Option<&OsStr>) -> Parsed {
    match help::help(&topic.to_string_lossy(), color) {
        Ok(text) => Parsed::Print(text),
        Err(problem) => Parsed::Wrong(problem),
    }
}

/// Returns the error for an option that was parsed as the text of another option, or as several letters.
fn slip(line: &CommandLine, words: &[OsString]) -> Option<String> {
    let before_command = &words[..words.len() - line.command.len()];
    for pair in before_command.windows(2).filter(|pair| is_option(pair[1].as_bytes())) {
        let is_taken = |(opt, text): &&(&Opt, OsString)| *text == pair[1] && opt.is_last_in(pair[0].as_bytes());
        if let Some((opt, next)) = line.options.iter().find(is_taken) {
            let (long, next) = (opt.long, next.to_string_lossy());
            return Some(format!(
                "a value is required for '--{long}', but '{next}' follows; tip: use '--{long}={next}' if it is the value"
            ));
        }
    }
    let is_text = |word: &&OsString| line.options.iter().any(|(_, text)| text == *word);
    let mut others = before_command.iter().filter(|word| !is_text(word));
    others.find_map(long_after_one_dash)
}

/// Returns true if the word is `--` or one of backoff's options: `-n`, `--attempts`, `--attempts=3`.
fn is_option(word: &[u8]) -> bool {
    let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
    let is_name = name.starts_with(b"--") || name.len() == 2;
    matches!(word, b"--" | b"-h") || is_name && OPTIONS.iter().any(|opt| opt.is_last_in(name))
}

/// Returns the error for `-timeout`, which would parse as `-t imeout`.
fn long_after_one_dash(word: &OsString) -> Option<String> {
    let word = word.to_str()?;
    let name = word.strip_prefix('-')?.split('=').next()?;
    let opt = OPTIONS.iter().find(|opt| opt.long == name)?;
    Some(unexpected(
        word,
        &format!("a similar argument exists: '--{}'", opt.long),
    ))
}

fn unexpected(word: &str, tip: &str) -> String {
    format!("unexpected argument '{word}' found; tip: {tip}")
}

/// Returns clap's error about a rejected command line, in one line. Declares all options, for suggestions.
fn usage_error(words: &[OsString]) -> String {
    let options = words.iter().take_while(|word| word.as_bytes().starts_with(b"-"));
    if let Some(problem) = options.filter(|word| *word != "--").find_map(long_after_one_dash) {
        return problem;
    }
    let Err(error) = described(OPTIONS.iter()).try_get_matches_from(words) else {
        return String::new();
    };
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(tip) = foreign(word.trim_start_matches('-'))
    {
        return unexpected(word, &format!("use --{tip}"));
    }
    let text = error.render().to_string();
    let lines = text.trim_start_matches("error: ").lines().map(str::trim);
    let told = lines.filter(|line| !line.is_empty() && !line.starts_with("Usage:"));
    told.take(2).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(options: impl Iterator<Item = &'static Opt> + Clone, words: &[OsString]) -> Option<CommandLine> {
        let matches = parser(options.clone().map(Opt::arg)).try_get_matches_from(words);
        matches.ok().map(|mut matches| typed(&mut matches, options))
    }

    #[test]
    fn the_parser_is_sound() {
        parser(OPTIONS.iter().map(Opt::arg)).debug_assert();
    }

    /// Words of a command line: options in every spelling, values, mistakes.
    fn word() -> impl Strategy<Value = String> {
        let opt = || (0..OPTIONS.len()).prop_map(|index| &OPTIONS[index]);
        let shorts: Vec<char> = OPTIONS.iter().filter_map(|opt| opt.short).chain(['h', 'Z']).collect();
        prop_oneof![
            4 => opt().prop_map(|opt| format!("--{}", opt.long)),
            2 => (opt(), "[a-z0-9=-]{0,3}").prop_map(|(opt, value)| format!("--{}={value}", opt.long)),
            1 => (opt(), 1usize..4).prop_map(|(opt, left)| format!("--{}", &opt.long[..opt.long.len() - left])),
            1 => opt().prop_map(|opt| format!("--{}s", opt.long)),
            4 => proptest::collection::vec(proptest::sample::select(shorts), 1..4)
                .prop_map(|letters| format!("-{}", letters.iter().collect::<String>())),
            4 => "[a-z0-9]{1,3}",
            1 => proptest::sample::select(vec!["--", "-", "", "-5", "--no-such", "\u{e9}"])
                .prop_map(str::to_owned),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn options_that_do_not_occur_need_not_be_declared(words in proptest::collection::vec(word(), 0..8)) {
            let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
            let few = read(OPTIONS.iter().filter(|opt| opt.could_occur_in(&words)), &words);
            prop_assert_eq!(format!("{few:?}"), format!("{:?}", read(OPTIONS.iter(), &words)));
        }
    }
}
