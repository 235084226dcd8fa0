//! Every option, once: name, value, heading, help. The parser, `--help`, the man page, the
//! completions and the `BACKOFF_*` variables all come from [`OPTIONS`].

use std::ffi::OsString;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command, ValueHint, value_parser};

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A value, shown as this.
    Value(&'static str),
    /// A value out of this list. The list is for help and completions; `plan` judges the value.
    Word(&'static str, &'static [&'static str]),
    /// Nothing: on or off.
    Nothing,
    /// Nothing, but it counts.
    Count,
}

/// One option.
#[derive(Debug)]
pub struct Opt {
    /// The long name without dashes.
    pub long: &'static str,
    /// The short name, if it has one.
    pub short: Option<char>,
    /// What it takes.
    pub takes: Takes,
    /// The heading it stands under.
    pub heading: &'static str,
    /// One line.
    pub help: &'static str,
    /// What more there is to say, for `--help` and the man page; may be empty.
    pub more: &'static str,
}

const TIME: &str = "Attempts and time";
const WAIT: &str = "The wait between attempts";
const JUDGE: &str = "Which outcome is what";
const PROTECT: &str = "Protecting the other side";
const SAY: &str = "What backoff says and returns";
const OTHER: &str = "Other";

const fn opt(
    heading: &'static str,
    short: Option<char>,
    long: &'static str,
    takes: Takes,
    help: &'static str,
    more: &'static str,
) -> Opt {
    Opt {
        long,
        short,
        takes,
        heading,
        help,
        more,
    }
}

use Takes::{Count, Nothing, Value, Word};

/// All options that have a variable, in the order of `--help`. (`--help` and `--version` are actions
/// of the parser and have none.)
#[rustfmt::skip]
pub const OPTIONS: &[Opt] = &[
    opt(TIME, Some('n'), "attempts", Value("N|unlimited"),
        "Attempts in all, the first included [default: 5]", ""),
    opt(TIME, Some('d'), "deadline", Value("DURATION"),
        "Bound on the whole run",
        "A wait that would end past it is not started: backoff gives up at once. An attempt still running at the \
         deadline is ended as by --timeout. Time in which backoff was stopped (Ctrl-Z) counts. 0 is no bound."),
    opt(TIME, Some('t'), "timeout", Value("DURATION"),
        "Bound on one attempt",
        "When it passes, the attempt's process tree gets the signal of --signal, and KILL after --kill-after. Such a \
         failure is transient unless --stop-on-timeout is given. Time in which backoff was stopped (Ctrl-Z) does not \
         count. 0 is no bound."),
    opt(TIME, Some('s'), "signal", Value("SIGNAL"),
        "What --timeout and --deadline send first [default: TERM]", ""),
    opt(TIME, Some('k'), "kill-after", Value("DURATION"),
        "Time from that signal to KILL; 0 is never [default: 5s]",
        "If given, KILL also follows a TERM, INT, HUP or QUIT that backoff passed on, after this time."),

    opt(WAIT, Some('b'), "base", Value("DURATION"),
        "The first wait's scale [default: 500ms]",
        "With slotted jitter, the slot time. Lowered to --max-delay where only that is given."),
    opt(WAIT, Some('f'), "factor", Value("NUMBER"),
        "Growth per retry, at least 1 [default: 2; 3 with decorrelated jitter]", ""),
    opt(WAIT, Some('m'), "max-delay", Value("DURATION"),
        "The cap: no wait is ever longer, jitter included [default: 30s]",
        "Where it is not given, slotted jitter has no cap, an entry of --delays may be longer, and --stop-at-delay \
         raises it."),
    opt(WAIT, Some('g'), "growth", Word("GROWTH", &["exponential", "linear", "fibonacci", "constant"]),
        "How the un-jittered wait grows [default: exponential]",
        "exponential: base * factor^i; linear: base * (i + 1); fibonacci: base * 1, 1, 2, 3, 5, ...; constant: base. \
         Not with decorrelated or slotted jitter, which grow by themselves."),
    opt(WAIT, None, "delays", Value("DURATION,..."),
        "An explicit list of waits instead of growth; its last entry repeats", ""),
    opt(WAIT, Some('j'), "jitter",
        Word("STRATEGY", &["none", "full", "equal", "decorrelated", "additive", "proportional", "slotted"]),
        "The randomness [default: decorrelated; full with --growth or --delays]",
        "With e the un-jittered wait: none: e; full: uniform in [0, e]; equal: e/2 + uniform in [0, e/2]; decorrelated: \
         uniform in [base, min(max-delay, previous * factor)]; additive: e + uniform in [0, spread]; proportional: e * \
         uniform in [1 - spread, 1 + spread]; slotted: k * base, k a uniform integer in [0, 2^min(c, slot-ceiling) - 1] \
         after the c-th failure."),
    opt(WAIT, None, "spread", Value("DURATION|PERCENT"),
        "The width of additive (a duration) or proportional (a percentage) jitter [default: 1s; 25%]", ""),
    opt(WAIT, None, "slot-ceiling", Value("N"),
        "Where the exponent of slotted jitter stops growing, 1 to 62 [default: 10]", ""),
    opt(WAIT, None, "stop-at-delay", Value("DURATION"),
        "Give up once the next un-jittered wait would reach this",
        "With decorrelated jitter the un-jittered wait is base * factor^i, with slotted jitter the longest possible one."),
    opt(WAIT, None, "initial-delay", Value("DURATION"),
        "Wait before the first attempt [default: 0]", ""),
    opt(WAIT, None, "splay", Value("DURATION"),
        "A further uniform random wait in [0, DURATION] before the first attempt [default: 0]",
        "Keeps the cron jobs of many machines from starting in the same second."),
    opt(WAIT, None, "reset-after", Value("DURATION"),
        "A failed attempt that ran at least this long starts the growth and the attempt count again",
        "For commands that are meant to run for long and are supervised by backoff."),
    opt(WAIT, None, "seed", Value("N"),
        "Reproducible waits: same build, same seed, same waits", ""),
    opt(WAIT, Some('p'), "policy", Word("NAME", &["sip", "google", "ethernet", "aws", "clojure"]),
        "A named set of the options of this and the first section; options given explicitly win",
        "sip: 500ms doubling to 4s, no jitter (RFC 3261). google: 1s doubling to 64s, additive jitter of 1s. ethernet: \
         slots of 51.2us, ceiling 10, 16 attempts (IEEE 802.3). aws: 100ms doubling to 20s, full jitter, 3 attempts. \
         clojure: 1s doubling, no jitter, giving up at 10s."),

    opt(JUDGE, None, "success-exit", Value("CODES"),
        "Exit codes that are not a failure [default: 0]",
        "CODES is a list such as 7, 1,2,75, 100-110 or tempfail (the names of sysexits.h)."),
    opt(JUDGE, None, "consecutive", Value("N"),
        "Success means N successful attempts in a row, --base apart [default: 1]", ""),
    opt(JUDGE, Some('e'), "retry-exit", Value("CODES"),
        "Exit codes of transient failures; all others are then permanent",
        "Listing 126 or 127 makes a command that cannot be executed or found a transient failure."),
    opt(JUDGE, None, "stop-exit", Value("CODES"),
        "Exit codes of permanent failures; wins over every retry rule", ""),
    opt(JUDGE, None, "retry-signal", Value("SIGNALS"),
        "Dying of one of these signals is a transient failure; others are then permanent",
        "SIGNALS is a list such as TERM, SIGTERM, 15 or HUP,RTMIN+1."),
    opt(JUDGE, None, "stop-signal", Value("SIGNALS"),
        "Dying of one of these signals is a permanent failure", ""),
    opt(JUDGE, None, "stop-on-timeout", Nothing,
        "A time-out is a permanent failure", ""),

    opt(PROTECT, None, "nested", Word("WHAT", &["allow", "once", "warn"]),
        "What to do under an outer backoff: retry, run once, or retry and say so [default: warn]",
        "Retries under retries multiply: 3 x 3 = 9 calls."),

    opt(SAY, Some('q'), "quiet", Nothing,
        "Say nothing but backoff's own errors", ""),
    opt(SAY, Some('v'), "verbose", Count,
        "Also say starts, successes and which rule decided; twice: also the command's arguments", ""),
    opt(SAY, None, "exhausted-exit", Value("CODE"),
        "Status when attempts, deadline or delay ran out on a transient failure",
        "By default the command's own. 75 (tempfail) tells an outer scheduler to try later."),
    opt(SAY, None, "flaky-exit", Value("CODE"),
        "Status when the command succeeded, but not at the first attempt [default: 0]", ""),
    opt(SAY, None, "c-locale", Nothing,
        "Set LC_ALL=C.UTF-8 for the command, so that its messages are English", ""),

    opt(OTHER, None, "plan", Nothing,
        "Print the waits these options give and run nothing",
        "One line a retry: the least, mean and most of the wait before it, and the means added up, in seconds. With \
         unlimited attempts, the first 20."),
    opt(OTHER, None, "generate",
        Word("KIND", &["man", "complete-bash", "complete-zsh", "complete-fish"]),
        "Print the man page or a shell's completions", ""),
];

/// The option with this long name.
///
/// # Panics
/// If there is none: names in the code are checked by every run of the test suite.
#[allow(
    clippy::panic,
    reason = "a name that is not in the table is a defect of the code, not of its input"
)]
pub fn option(long: &str) -> &'static Opt {
    OPTIONS
        .iter()
        .find(|opt| opt.long == long)
        .unwrap_or_else(|| panic!("no option --{long}"))
}

impl Opt {
    /// `BACKOFF_SOME_OPTION`
    pub fn variable(&self) -> String {
        format!("BACKOFF_{}", self.long.to_ascii_uppercase().replace('-', "_"))
    }

    fn arg(&self) -> Arg {
        let arg = Arg::new(self.long)
            .long(self.long)
            .help(self.help)
            .help_heading(self.heading);
        let arg = if self.more.is_empty() {
            arg
        } else {
            arg.long_help(format!("{}\n{}", self.help, self.more))
        };
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
            Nothing => arg.action(ArgAction::SetTrue),
            Count => arg.action(ArgAction::Count),
        }
    }
}

/// What was typed: text only, nothing judged.
#[derive(Debug, Default)]
pub struct Typed {
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
    Run(Typed),
    /// `--help` or `--version`: print this on standard output.
    Print(String),
    /// One line that says what is wrong.
    Wrong(String),
}

const USAGE: &str = "backoff [OPTION]... [--] COMMAND [ARG]...\n       backoff [OPTION]... --plan\n       \
                     backoff --generate KIND | --help | --version";

const ABOUT: &str =
    "Runs COMMAND; when it fails for a transient reason, waits (exponential backoff with jitter) and runs it again.";

const AFTER_HELP: &str = "\
Every option --some-option can also be set by the variable BACKOFF_SOME_OPTION; the option wins.
DURATION is 500ms, 2s, 1.5s, 1m30s, or a bare number of seconds.

Exit status: COMMAND's own (dies by the same signal); 1 it exited 0 but was judged failed; 124 timed out;
125 backoff itself failed; 126 COMMAND cannot be executed; 127 COMMAND not found.";

/// The parser, made of [`OPTIONS`].
pub fn parser() -> Command {
    Command::new("backoff")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .override_usage(USAGE)
        .after_help(AFTER_HELP)
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .max_term_width(100)
        .args(OPTIONS.iter().map(Opt::arg))
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::Help)
                .help_heading(OTHER)
                .help("Print help (-h: a summary)"),
        )
        .arg(
            Arg::new("version")
                .short('V')
                .long("version")
                .action(ArgAction::Version)
                .help_heading(OTHER)
                .help("Print the version"),
        )
        .arg(
            Arg::new("command")
                .value_name("COMMAND [ARG]")
                .help("The command and its arguments; nothing after COMMAND is an option of backoff")
                .value_parser(value_parser!(OsString))
                .value_hint(ValueHint::CommandWithArguments)
                .num_args(1..)
                .trailing_var_arg(true)
                .hide(true),
        )
}

/// The parser as help, man page and completions see it: with the words that options take.
pub fn documented_parser() -> Command {
    OPTIONS.iter().fold(parser(), |command, opt| match opt.takes {
        Word(_, words) => command.mut_arg(opt.long, |arg| {
            arg.value_parser(PossibleValuesParser::new(
                words.iter().map(|word| PossibleValue::new(*word)),
            ))
            .hide_possible_values(opt.long == "jitter" || opt.long == "growth" || opt.long == "policy")
        }),
        _ => command,
    })
}

/// Reads a command line, its first word being the program's own name.
pub fn parse(args: Vec<OsString>) -> Parsed {
    let mut matches = match parser().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => return explain(&error),
    };
    let mut typed = Typed::default();
    for opt in OPTIONS {
        match opt.takes {
            Value(_) | Word(..) => {
                if let Some(value) = matches.remove_one::<OsString>(opt.long) {
                    typed.values.push((opt, value));
                }
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
    Parsed::Run(typed)
}

/// One line for a command line that cannot be read.
fn explain(error: &clap::Error) -> Parsed {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.first().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let arg = context(ContextKind::InvalidArg);
    Parsed::Wrong(match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return Parsed::Print(error.render().to_string());
        }
        ErrorKind::UnknownArgument => {
            let similar = context(ContextKind::SuggestedArg);
            let hint = if similar.is_empty() {
                String::new()
            } else {
                format!(", did you mean {similar}?")
            };
            format!("there is no option {arg:?}{hint} (put -- before a command that starts with a dash)")
        }
        ErrorKind::TooManyValues => {
            format!("{arg} takes no value, got {:?}", context(ContextKind::InvalidValue))
        }
        ErrorKind::InvalidValue => format!("{arg} needs a value"),
        _ => error
            .render()
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .replace("error: ", ""),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parser_is_sound() {
        parser().debug_assert();
        documented_parser().debug_assert();
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
            assert!(!opt.help.contains('\n') && !opt.help.ends_with('.'), "{}", opt.long);
            assert!(opt.more.is_empty() || opt.more.ends_with('.'), "{}", opt.long);
        }
    }
}
