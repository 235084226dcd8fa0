//! What was typed: the parser, made of the table of options.

use std::borrow::Cow;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::help::Topic;
use super::suggest::did_you_mean;
use super::table::Takes::{Count, Nothing, Optional, Value, Values, Word};
use super::table::{OPTIONS, Opt};
use super::version;

impl Opt {
    /// Whether any of these words could be this option: it is spelled out, or its letter stands
    /// anywhere after a dash.
    fn may_be_in(&self, args: &[OsString]) -> bool {
        let letter = self.short.map(|short| short as u8);
        args.iter().any(|arg| match arg.as_bytes() {
            [b'-', b'-', name @ ..] => name.starts_with(self.long.as_bytes()),
            [b'-', letters @ ..] => letter.is_some_and(|letter| letters.contains(&letter)),
            _ => false,
        })
    }

    /// The form of the value that has to follow as a word of its own, or behind `=`.
    fn next_word(&self) -> Option<&'static str> {
        match self.takes {
            Value(form) | Values(form) | Word(form, _) => Some(form),
            Optional(_) | Nothing | Count => None,
        }
    }

    fn arg(&self) -> Arg {
        let arg = Arg::new(self.long).long(self.long);
        let arg = match self.short {
            Some(short) => arg.short(short),
            None => arg,
        };
        // As getopt does: the word after an option that takes a value is its value, `-5` included.
        let value = |arg: Arg, name| {
            arg.value_name(name)
                .value_parser(value_parser!(OsString))
                .allow_hyphen_values(true)
                .action(ArgAction::Set)
        };
        match self.takes {
            Value(name) | Word(name, _) => value(arg, name),
            Values(name) => value(arg, name).action(ArgAction::Append),
            // The next word is never its value: it may be the command.
            Optional(name) => value(arg, name)
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value(ON),
            Nothing => arg.action(ArgAction::SetTrue),
            Count => arg.action(ArgAction::Count),
        }
    }
}

/// What an option stands for that may have a value and has none.
const ON: &str = "on";

/// What was typed: text only, nothing judged.
#[derive(Debug, Default)]
pub struct CommandLine {
    /// Options that take a value, with it.
    pub values: Vec<(&'static Opt, OsString)>,
    /// Switches, with how often they were given.
    pub switches: Vec<(&'static Opt, u8)>,
    /// The command and its arguments; empty if none was given.
    pub command: Vec<OsString>,
}

/// What parsing the command line came to.
#[derive(Debug)]
pub enum Parsed {
    /// Options and a command.
    Run(CommandLine),
    /// `--help`, after these words.
    Help(Topic, CommandLine),
    /// `--version`: print this on standard output.
    Print(String),
    /// One line that says what is wrong.
    Wrong(String),
}

/// The parser, made of [`OPTIONS`].
pub fn parser() -> Command {
    parser_of(OPTIONS.iter().map(Opt::arg))
}

fn parser_of(options: impl IntoIterator<Item = Arg>) -> Command {
    Command::new("backoff")
        .no_binary_name(true)
        .version(env!("CARGO_PKG_VERSION"))
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(options)
        .arg(Arg::new("help").short('h').long("help").action(ArgAction::Help))
        .arg(
            Arg::new("version")
                .short('V')
                .long("version")
                .action(ArgAction::Version),
        )
        .arg(
            Arg::new("command")
                .value_name("COMMAND [ARG]")
                .value_parser(value_parser!(OsString))
                .num_args(1..)
                .trailing_var_arg(true)
                .hide(true),
        )
}

/// Reads a command line, its first word being the program's own name.
pub fn parse(args: &[OsString]) -> Parsed {
    // A command line names few of the options, and to declare all of them takes longer than all else
    // that backoff does before it starts the command.
    let named: Vec<_> = OPTIONS.iter().filter(|opt| opt.may_be_in(args)).collect();
    let words = args.get(1..).unwrap_or_default();
    if let Some(wrong) = forgotten_value(words) {
        return Parsed::Wrong(wrong);
    }
    if let Ok(matches) = parser_of(named.iter().map(|opt| opt.arg())).try_get_matches_from(words) {
        return understood(typed(matches, named), args);
    }
    // What is wrong, and which option was meant, only all of them together can tell.
    match parser().try_get_matches_from(words) {
        Ok(matches) => understood(typed(matches, OPTIONS), args),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp => help(args),
            ErrorKind::DisplayVersion => Parsed::Print(version::text()),
            _ => explain(&error, args),
        },
    }
}

/// Returns the error for an option whose value was forgotten: the next word is `--` or an option of backoff.
fn forgotten_value(words: &[OsString]) -> Option<String> {
    let mut words = words.iter().map(|word| word.as_bytes());
    while let Some(word) = words.next() {
        let opt = match word {
            b"--" | b"-" => return None,
            [b'-', b'-', name @ ..] => OPTIONS.iter().find(|opt| opt.long.as_bytes() == name),
            [b'-', letters @ ..] => last_letter(letters),
            _ => return None,
        };
        let Some((opt, form)) = opt.and_then(|opt| Some((opt, opt.next_word()?))) else {
            continue;
        };
        let value = words.next()?;
        if value == b"--" || is_option(value) {
            let (long, value) = (opt.long, String::from_utf8_lossy(value));
            return Some(format!(
                "--{long} needs a value: {form}, but {value:?} follows; try --{long}={value} if that is the value"
            ));
        }
    }
    None
}

/// Returns the option of the last of these letters, unless that is part of another option's value.
fn last_letter(letters: &[u8]) -> Option<&'static Opt> {
    let with_letter = |letter: &u8| {
        OPTIONS
            .iter()
            .find(|opt| opt.short.is_some_and(|short| short as u8 == *letter))
    };
    let (last, before) = letters.split_last()?;
    let has_value = |letter: &u8| with_letter(letter).is_some_and(|opt| opt.next_word().is_some());
    with_letter(last).filter(|_| !before.iter().any(has_value))
}

/// Returns true if the word is one of backoff's own options: `-n`, `--attempts`, `--attempts=3`.
fn is_option(word: &[u8]) -> bool {
    match word {
        [b'-', b'-', rest @ ..] => {
            let name = rest.split(|byte| *byte == b'=').next().unwrap_or_default();
            let mut known = OPTIONS.iter().map(|opt| opt.long).chain(["help", "version"]);
            known.any(|known| known.as_bytes() == name)
        }
        [b'-', letter] => {
            let mut known = OPTIONS.iter().filter_map(|opt| opt.short).chain(['h', 'V']);
            known.any(|known| known as u8 == *letter)
        }
        _ => false,
    }
}

/// But for `-timeout 3`, which says `-t imeout`, and runs the command `3`: it is hardly meant.
fn understood(typed: CommandLine, args: &[OsString]) -> Parsed {
    let before_command = args.len().saturating_sub(typed.command.len());
    let options = args.iter().take(before_command).skip(1);
    let is_read_as = |(opt, value): &(&Opt, OsString), word: &str| {
        let before = opt.short.and_then(|short| {
            let letters = word.strip_suffix(value.to_str()?)?;
            letters.strip_suffix(short)
        });
        before.is_some_and(|before| before.starts_with('-'))
    };
    let words = options.filter_map(|word| word.to_str());
    let mut mistaken = words.filter_map(|word| Some((word, with_one_dash(word)?)));
    match mistaken.find(|(word, _)| typed.values.iter().any(|value| is_read_as(value, word))) {
        Some((word, name)) => Parsed::Wrong(format!("there is no option {word:?}; did you mean --{name}?")),
        None => Parsed::Run(typed),
    }
}

/// The long name that stands after a single dash.
fn with_one_dash(word: &str) -> Option<&str> {
    let name = word.strip_prefix('-')?.split('=').next()?;
    let mut known = OPTIONS.iter().map(|opt| opt.long).chain(["help", "version"]);
    known.any(|known| known == name).then_some(name)
}

/// What was found of these options, and the command.
fn typed(mut matches: ArgMatches, options: impl IntoIterator<Item = &'static Opt>) -> CommandLine {
    let mut typed = CommandLine::default();
    for opt in options {
        match opt.takes {
            Value(_) | Values(_) | Optional(_) | Word(..) => {
                let values = matches.remove_many::<OsString>(opt.long).into_iter().flatten();
                typed.values.extend(values.map(|value| (opt, value)));
            }
            Nothing if matches.get_flag(opt.long) => typed.switches.push((opt, 1)),
            Count if matches.get_count(opt.long) > 0 => {
                typed.switches.push((opt, matches.get_count(opt.long)));
            }
            Nothing | Count => {}
        }
    }
    typed.command = matches
        .remove_many("command")
        .map(Iterator::collect)
        .unwrap_or_default();
    typed
}

/// The help that was asked for. A word that follows `--help` is a section, and no command: nothing would be run anyway.
fn help(args: &[OsString]) -> Parsed {
    let asks = |words: &[OsString]| {
        let parsed = parser().try_get_matches_from(words);
        parsed.is_err_and(|error| error.kind() == ErrorKind::DisplayHelp)
    };
    // The same word may be the value of an option before it.
    let may_ask = |at: &usize| args[*at].as_bytes().starts_with(b"-");
    let at = (1..args.len())
        .filter(may_ask)
        .find(|at| asks(&args[1..=*at]))
        .unwrap_or(0);
    let before = parser().try_get_matches_from(args.get(1..at).unwrap_or_default());
    let before = before.map(|matches| typed(matches, OPTIONS)).unwrap_or_default();
    if !args[at].as_bytes().starts_with(b"--") {
        return Parsed::Help(Topic::Summary, before);
    }
    match args.get(at + 1).filter(|next| !next.as_bytes().starts_with(b"-")) {
        Some(name) => help_on(&name.to_string_lossy(), before),
        None => Parsed::Help(Topic::All, before),
    }
}

fn help_on(name: &str, before: CommandLine) -> Parsed {
    match Topic::named(name) {
        Ok(topic) => Parsed::Help(topic, before),
        Err(line) => Parsed::Wrong(line),
    }
}

/// One line for a command line that cannot be read.
fn explain(error: &clap::Error, args: &[OsString]) -> Parsed {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.first().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let arg = context(ContextKind::InvalidArg);
    Parsed::Wrong(match error.kind() {
        ErrorKind::UnknownArgument => {
            let hint = match meant(&arg, args) {
                hint if hint.is_empty() => "; put -- before a command that starts with a dash".to_owned(),
                hint => hint,
            };
            format!("there is no option {arg:?}{hint}")
        }
        ErrorKind::TooManyValues => {
            let value = context(ContextKind::InvalidValue);
            // The parser's mark of what may be repeated.
            let arg = arg.trim_end_matches("...");
            if arg == "--help" {
                return help_on(&value, CommandLine::default());
            }
            format!("{arg} takes no value, got {value:?}{}", without_value(arg, &value))
        }
        ErrorKind::InvalidValue => match arg.split_once(' ') {
            Some((option, form)) => format!("{option} needs a value: {}", form.trim_matches(['<', '>'])),
            None => format!("{arg} needs a value"),
        },
        _ => error
            .render()
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .replace("error: ", ""),
    })
}

/// What an option that there is not may have meant: `; did you mean --attempts 4, ...?`
fn meant(arg: &str, args: &[OsString]) -> String {
    let Some(name) = arg.strip_prefix("--") else {
        // A letter: the first word that it may be from.
        let words = args.iter().filter_map(|word| word.to_str());
        let letter = arg.trim_start_matches('-');
        let mut words = words.filter(|word| word.starts_with('-') && !word.starts_with("--"));
        let name = words.find(|word| word.contains(letter)).and_then(with_one_dash);
        return name.map_or_else(String::new, |name| format!("; did you mean --{name}?"));
    };
    let mut words = args.iter().map(|word| word.to_string_lossy());
    let with_value = format!("{arg}=");
    let found = words.find(|word| word == arg || word.starts_with(&with_value));
    let given = found.and_then(|word| match word.strip_prefix(&with_value) {
        Some(value) => Some(value.to_owned()),
        None => words.next().map(Cow::into_owned),
    });
    let known = OPTIONS.iter().map(|opt| opt.long).chain(["help", "version"]);
    did_you_mean(name, given.as_deref(), known, |name, value| match value {
        "" => format!("--{name}"),
        value => format!("--{name} {value}"),
    })
}

/// How to say without a value what was said with one.
fn without_value(arg: &str, value: &str) -> String {
    let opt = OPTIONS.iter().find(|opt| arg.strip_prefix("--") == Some(opt.long));
    match opt {
        Some(opt) if opt.takes == Count => match opt.short {
            Some(short) if value == "1" => format!("; try -{short}"),
            Some(short) if value != "0" => format!("; try -{short}{short}"),
            _ => String::new(),
        },
        Some(opt) if opt.long == "list-presets" => format!("; try {arg} {value}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_parser_is_sound() {
        parser().debug_assert();
    }

    /// Words of a command line: options in every spelling, values, mistakes.
    fn word() -> impl Strategy<Value = String> {
        let opt = || (0..OPTIONS.len()).prop_map(|index| &OPTIONS[index]);
        let shorts: Vec<char> = OPTIONS
            .iter()
            .filter_map(|opt| opt.short)
            .chain(['h', 'V', 'Z'])
            .collect();
        prop_oneof![
            4 => opt().prop_map(|opt| format!("--{}", opt.long)),
            2 => (opt(), "[a-z0-9=-]{0,3}").prop_map(|(opt, value)| format!("--{}={value}", opt.long)),
            1 => (opt(), 1usize..4).prop_map(|(opt, left)| format!("--{}", &opt.long[..opt.long.len() - left])),
            1 => opt().prop_map(|opt| format!("--{}s", opt.long)),
            4 => proptest::collection::vec(proptest::sample::select(shorts), 1..4)
                .prop_map(|letters| format!("-{}", letters.iter().collect::<String>())),
            4 => "[a-z0-9]{1,3}",
            1 => proptest::sample::select(vec!["--", "-", "", "-5", "--help", "--version", "--no-such", "\u{e9}"])
                .prop_map(str::to_owned),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn options_that_are_not_named_need_not_be_declared(words in proptest::collection::vec(word(), 0..8)) {
            let args: Vec<OsString> = std::iter::once("backoff").chain(words.iter().map(String::as_str)).map(Into::into).collect();
            let all = parser().try_get_matches_from(&args[1..]).map(|matches| typed(matches, OPTIONS));
            let named: Vec<_> = OPTIONS.iter().filter(|opt| opt.may_be_in(&args)).collect();
            let few = parser_of(named.iter().map(|opt| opt.arg())).try_get_matches_from(&args[1..]).map(|matches| typed(matches, named));
            // What is wrong is for all of them to say.
            prop_assert_eq!(format!("{:?}", few.ok()), format!("{:?}", all.ok()));
        }
    }

    #[test]
    fn names_are_unique() {
        for (i, opt) in OPTIONS.iter().enumerate() {
            for other in &OPTIONS[i + 1..] {
                assert_ne!(opt.long, other.long);
                assert!(
                    opt.short.is_none() || opt.short != other.short,
                    "{} {}",
                    opt.long,
                    other.long
                );
            }
        }
    }

    #[test]
    fn a_help_line_is_one_line_without_a_full_stop() {
        for opt in OPTIONS {
            assert!(!opt.about.contains('\n') && !opt.about.ends_with('.'), "{}", opt.long);
            assert!(opt.more.is_empty() || opt.more.ends_with('.'), "{}", opt.long);
        }
    }
}
