//! Suggestions for names of options that backoff does not have: misspelled ones, those of other tools, and those of
//! earlier versions.

use std::fmt;

use crate::options::opt::{Kind, Spec};
use crate::options::similar::{normal, tip};
use crate::options::{
    ATTEMPTS, BASE, BEFORE_RETRY, COLOR, CONFIG, DEADLINE, EVERY, FACTOR, FOR, GROWTH, JITTER,
    LOG_FILE, LOG_FORMAT, MAX_DELAY, ON_RETRY, PLAN, PROGRESS, QUIET, RETRY_AFTER, RETRY_EXIT,
    RETRY_MATCH, STDIN, STOP_EXIT, SUCCESS_EXIT, TIMEOUT, UNTIL, VERBOSE,
};
use crate::policy::signal::Signal;

/// Returns a tip, as the end of a message (`; tip: try timeout`), for an unknown key of a file or topic of `--help`:
/// backoff's option if an earlier version or another tool has the name, or else the one of `known` that is one typo
/// away, or else `examples`. If none is similar and `examples` is empty, the text is empty.
pub(crate) fn tip_for_option<'n>(
    name: &str,
    known: impl Iterator<Item = &'n str>,
    examples: &str,
) -> String {
    if let Some(replacement) = replacement(name, None) {
        return format!("; tip: try {}", replacement.opt.long);
    }
    match foreign(name) {
        Some(foreign) => format!("; tip: try {foreign}"),
        None => tip(name, known, examples),
    }
}

/// Returns a tip for an unknown option on the command line, such as `try -t 5s`. `name` has no dashes before it.
/// `value` is the text after its `=`, or else the next word, if that looks like a value. None if neither other tools
/// nor earlier versions have the name: clap then looks for a similar one.
pub(crate) fn tip_for_flag(name: &str, value: Option<&str>) -> Option<String> {
    if let Some(Replacement { opt, value }) = replacement(name, value) {
        let long = opt.long;
        return Some(match (opt.kind, opt.short) {
            // Its text has to follow in the same word.
            (Kind::Optional { .. }, _) => format!("try --{long}={value}"),
            (_, Some(short)) => format!("try -{short} {value}"),
            (_, None) => format!("try --{long} {value}"),
        });
    }
    let normal = normal(name);
    if let Some((_, advice)) = ADVICE
        .iter()
        .find(|(names, _)| names.split(' ').any(|known| known == normal))
    {
        return Some((*advice).to_owned());
    }
    foreign(name).map(|known| format!("try --{known}"))
}

/// The option that took the place of one that is gone.
pub(crate) struct Replacement {
    pub(crate) opt: &'static Spec,
    /// May repeat what the user wrote: to be escaped before it is printed.
    pub(crate) value: String,
}

/// Returns the option that took the place of one that is gone, with the value that does the same as the old `value`.
/// Without an old one, the value is a usual one of the new option. None if the name was never an option, or still is
/// one.
pub(crate) fn replacement(name: &str, value: Option<&str>) -> Option<Replacement> {
    let (opt, value): (&Spec, String) = match normal(name).as_str() {
        "spread" => match value {
            Some(share) if share.ends_with('%') => (&JITTER, format!("proportional:{share}")),
            _ => (&JITTER, format!("additive:{}", value.unwrap_or("1s"))),
        },
        "slot-ceiling" => (&JITTER, format!("slotted:{}", value.unwrap_or("10"))),
        "max-retry-after" => (&RETRY_AFTER, with_unit(value.unwrap_or("5m"))),
        "no-config" => (&CONFIG, "none".to_owned()),
        "retry-signal" => (&RETRY_EXIT, signal_name(value.unwrap_or("KILL"))),
        "stop-signal" => (&STOP_EXIT, signal_name(value.unwrap_or("KILL"))),
        "stop-on-timeout" => (&STOP_EXIT, "timeout".to_owned()),
        _ => return None,
    };
    Some(Replacement { opt, value })
}

/// Returns a duration with its unit, as `--retry-after` wants it: a number alone was one of seconds. 0 stays, and turns
/// the option off.
fn with_unit(duration: &str) -> String {
    if duration != "0" && duration.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("{duration}s")
    } else {
        duration.to_owned()
    }
}

/// Returns the name of a signal that may be given by number, as a number in a list of CODES is an exit code.
fn signal_name(signal: &str) -> String {
    let by_number = signal.parse().ok().and_then(Signal::from_number);
    by_number.map_or(signal.to_owned(), |signal| signal.to_string())
}

/// Another tool's names of an option.
pub(crate) struct Foreign {
    /// The names, separated by spaces.
    names: &'static str,
    pub(crate) opt: &'static Spec,
    /// A value or a remark, which follows the option's name, with the blank or comma before it; empty for none.
    suffix: &'static str,
}

/// Formats as `attempts unlimited`.
impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.opt.long, self.suffix)
    }
}

/// Returns backoff's option for another tool's name of it; None if the name is not listed.
pub(crate) fn foreign(name: &str) -> Option<&'static Foreign> {
    let name = normal(name);
    FOREIGN
        .iter()
        .find(|foreign| foreign.names.split(' ').any(|known| known == name))
}

const fn foreign_names(names: &'static str, opt: &'static Spec, suffix: &'static str) -> Foreign {
    Foreign { names, opt, suffix }
}

/// Other tools' names of options, with backoff's.
#[rustfmt::skip]
static FOREIGN: [Foreign; 30] = [
    foreign_names("retries retry max-retries tries max-tries max-attempts times count number-of-attempts", &ATTEMPTS.spec, ", which counts the first one, too"),
    foreign_names("forever infinite loop until-success until-succeeds", &ATTEMPTS.spec, " unlimited"),
    foreign_names("until-fail until-failure until-error", &UNTIL.spec, " failure"),
    foreign_names("always restart respawn", &UNTIL.spec, " never"),
    foreign_names("interval sleep wait delay pause retry-delay poll-interval retry-interval retry-wait fixed-delay", &EVERY.spec, ""),
    foreign_names("min-delay min-wait initial-backoff base-delay initial-interval", &BASE.spec, ""),
    foreign_names("max-wait max-interval max-backoff cap", &MAX_DELAY.spec, ""),
    foreign_names("multiplier exponent backoff-factor", &FACTOR.spec, ""),
    foreign_names("max-time time-limit max-elapsed-time retry-max-time total-timeout", &DEADLINE.spec, ", or timeout for each attempt"),
    foreign_names("attempt-timeout timeout-per-attempt per-try-timeout", &TIMEOUT.spec, ""),
    foreign_names("dry-run simulate preview", &PLAN.spec, ""),
    foreign_names("retry-on retry-codes retry-code exit-code exit-codes retry-exit-code", &RETRY_EXIT.spec, ""),
    foreign_names("stop-on stop-code no-retry-on", &STOP_EXIT.spec, ""),
    foreign_names("retry-on-output match grep pattern regex", &RETRY_MATCH.spec, ""),
    foreign_names("ignore-exit ignore-exit-code ok-exit success-code accept", &SUCCESS_EXIT.spec, ""),
    foreign_names("retry-on-timeout", &RETRY_EXIT.spec, " timeout"),
    foreign_names("on-error on-fail on-failure", &ON_RETRY.spec, ", or on-give-up at the end"),
    foreign_names("before-attempt", &BEFORE_RETRY.spec, ""),
    foreign_names("silent no-output", &QUIET.spec, ""),
    foreign_names("debug trace", &VERBOSE.spec, ""),
    foreign_names("log output", &LOG_FILE.spec, ""),
    foreign_names("json", &LOG_FORMAT.spec, " json"),
    foreign_names("exponential linear fibonacci constant", &GROWTH.spec, ""),
    foreign_names("no-jitter", &JITTER.spec, " none"),
    foreign_names("full-jitter randomize random", &JITTER.spec, " full"),
    foreign_names("no-color no-colour", &COLOR.spec, " never"),
    foreign_names("colour", &COLOR.spec, ""),
    foreign_names("no-progress", &PROGRESS.spec, " never"),
    foreign_names("no-stdin", &STDIN.spec, " null"),
    foreign_names("preset tool", &FOR.spec, ""),
];

/// Names of options that no option of backoff replaces, with advice.
const ADVICE: [(&str, &str); 7] = [
    ("on-success", "use the shell: backoff ... && COMMAND"),
    (
        "retry-all-errors retry-all all-errors",
        "leave it out: every failure is retried unless rules say otherwise",
    ),
    (
        "exec command cmd run",
        "put the command at the end: backoff [OPTION]... -- COMMAND",
    ),
    ("shell sh", "give the shell as the command: -- sh -c '...'"),
    ("env", "give env as the command: -- env NAME=VALUE COMMAND"),
    (
        "cwd workdir chdir",
        "give env as the command: -- env -C DIRECTORY COMMAND",
    ),
    ("background daemon", "use the shell: backoff ... &"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OPTIONS;

    #[test]
    fn a_foreign_name_is_answered_with_an_option() {
        for entry in &FOREIGN {
            for name in entry.names.split(' ') {
                assert!(
                    OPTIONS.iter().all(|opt| opt.long != name),
                    "--{name} is an option"
                );
                let found = foreign(name).map(|found| found.names);
                assert_eq!(found, Some(entry.names), "--{name} stands there twice");
            }
        }
    }
}
