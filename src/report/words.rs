//! Parts of lines that text and JSON share or that need no state: failures, names, limits, and tips about a command
//! that was not found.

use std::ffi::OsString;
use std::time::Duration;

use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome, Survivor};
use crate::policy::session::{GiveUp, Limits};
use crate::run::plan::Plan;
use crate::text::{exact, name, printable, quoted};

/// Built-ins and keywords of `sh`, and of `bash` alone.
const WORDS_OF_SH: &str = ". : alias bg break case cd command continue do done elif else esac eval exec exit export fc fg fi \
     for getopts hash if jobs read readonly return set shift then times trap type ulimit umask unalias unset until wait while";
const WORDS_OF_BASH: &str = "[[ bind builtin declare dirs disown enable function history let local mapfile popd pushd \
     readarray select shopt source time typeset";

/// Characters that a shell acts on.
const SYNTAX_OF_SHELLS: [char; 16] = [
    ' ', '\t', '\n', '|', '&', ';', '<', '>', '$', '`', '(', ')', '{', '}', '*', '?',
];

/// Describes the failure of an attempt: `exit 7`; `matched "bad" (exit 0; --fail-match)` if a pattern matched; `no line
/// matches --success-match (exit 0)` if the end alone would be no failure. For a success, returns its end. `shown`
/// escapes the matched text for where it goes: a terminal needs that, JSON escapes by itself.
pub(super) fn how_it_failed(
    outcome: &Outcome,
    verdict: &Verdict,
    shown: fn(&str) -> String,
) -> String {
    let Some(reason) = verdict.reason() else {
        return outcome.to_string();
    };
    // Without brackets of its own, as it stands in brackets: `timed out: --timeout 5s`.
    let end_for_brackets = outcome.to_string().replace(" (", ": ").replace(')', "");
    match (&reason.matched, reason.cause) {
        (Some(text), Some(cause)) => {
            format!("matched \"{}\" ({end_for_brackets}; {cause})", shown(text))
        }
        (Some(text), None) => format!("matched \"{}\" ({end_for_brackets})", shown(text)),
        (None, Some(cause)) => format!("{cause} ({outcome})"),
        // A hint only, as programs other than shells may exit with 127, too.
        (None, None) if outcome.end == End::Exited(127) => {
            format!("{outcome} (\"command not found\", in a shell)")
        }
        (None, None) => outcome.to_string(),
    }
}

/// Returns the processes of the attempt that could not be ended, beside which no further attempt may run, and why: `PID
/// 42 (rsync) does not die of KILL`. Empty if there are none.
pub(super) fn survivors(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome.survivors.iter().map(Survivor::to_string).collect();
    printable(&names.join(", "))
}

/// Returns the text with a detail in brackets: `exit 7 (detail)`, or `timed out (--timeout 5s; detail)` if it ends with
/// brackets, as a line has one pair at most. An empty detail adds nothing.
pub(super) fn with_detail(text: String, detail: &str) -> String {
    if detail.is_empty() {
        return text;
    }
    match text.strip_suffix(')') {
        Some(open) => format!("{open}; {detail})"),
        None => format!("{text} ({detail})"),
    }
}

/// Returns a tip about a command that was not found if its first word belongs to a shell: a word of its language, a line
/// of shell, or an assignment. Empty for any other word. Not for a program that exists, as some words of shells do
/// (`time`).
pub(super) fn tip_about_shell(command: &[OsString]) -> String {
    let Some(first) = command.first() else {
        return String::new();
    };
    let word = first.to_string_lossy();
    for (shell, words) in [("sh", WORDS_OF_SH), ("bash", WORDS_OF_BASH)] {
        if words.split_whitespace().any(|known| known == word) {
            return format!(
                "; {word} is a word of the shell; tip: try backoff {shell} -c '{word} ...'"
            );
        }
    }
    if word.starts_with('~') || word.contains(SYNTAX_OF_SHELLS) {
        return "; a command line needs a shell; tip: try backoff sh -c '...'".to_owned();
    }
    if word.contains('=') {
        let variable = quoted(first);
        return format!("; tip: to set a variable, try backoff env {variable} ...");
    }
    String::new()
}

/// Returns the command's own name, without its arguments.
pub(super) fn command_name(plan: &Plan) -> String {
    plan.command.first().map(name).unwrap_or_default()
}

/// Returns a limit on time as the user sets it, `--deadline 5m`. `why` tells which of the limits; nothing if it is no
/// limit. A limit that is no time, such as `--attempts`, has no value here: callers use the text only for those on
/// time.
pub(super) fn typed_limit(limits: &Limits, why: GiveUp) -> String {
    let Some(limit) = limiting_option(limits, why) else {
        return String::new();
    };
    let option = limit.option;
    let value = limit.value.map(exact).unwrap_or_default();
    if why == GiveUp::RetryAfterTooLong {
        // The value of this option is optional, and so stands in the same word.
        format!("--{option}={value}")
    } else {
        format!("--{option} {value}")
    }
}

/// An option that limits a run.
pub(super) struct LimitingOption {
    pub(super) option: &'static str,
    /// Its value, if that is a time.
    value: Option<Duration>,
}

/// Returns the option whose limit made the run give up, and that can be raised to allow more (so `budget-ratio`, not
/// `budget`), with its value if that is a time; None if the reason is no limit that can be raised.
pub(super) fn limiting_option(limits: &Limits, why: GiveUp) -> Option<LimitingOption> {
    let option = match why {
        GiveUp::Attempts => "attempts",
        GiveUp::Deadline => "deadline",
        GiveUp::StopAfter => "stop-after",
        GiveUp::Delay => "stop-at-delay",
        GiveUp::RetryAfterTooLong => "retry-after",
        GiveUp::Budget { .. } => "budget-ratio",
        GiveUp::Stdin => "stdin-limit",
        GiveUp::Permanent | GiveUp::NotIdempotent | GiveUp::Nested | GiveUp::StoreDown => {
            return None;
        }
    };
    let value = match why {
        GiveUp::Deadline => limits.deadline,
        GiveUp::StopAfter => limits.stop_after,
        GiveUp::Delay => limits.stop_at_delay,
        GiveUp::RetryAfterTooLong => limits.max_retry_after,
        _ => None,
    };
    Some(LimitingOption { option, value })
}
