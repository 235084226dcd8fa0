//! How an attempt failed, in words that text and JSON share.

use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome, Survivor};
use crate::text::printable;

/// Describes how an attempt failed: `exit 7`, or `matched "bad" (exit 0; --fail-match)` if a pattern matched, or `no
/// line matches --success-match (exit 0)` if the end alone is not a failure. For a success, returns its end. `shown`
/// escapes the matched text. A terminal needs that, but JSON escapes by itself.
pub(super) fn how_it_failed(
    outcome: &Outcome,
    verdict: &Verdict,
    shown: fn(&str) -> String,
) -> String {
    let Some(reason) = verdict.reason() else {
        return outcome.to_string();
    };
    // The end goes inside parentheses, so it must not have its own: `timed out: --timeout 5s`.
    let end_for_brackets = outcome.to_string().replace(" (", ": ").replace(')', "");
    match (&reason.matched, reason.cause) {
        (Some(text), Some(cause)) => {
            format!("matched \"{}\" ({end_for_brackets}; {cause})", shown(text))
        }
        (Some(text), None) => format!("matched \"{}\" ({end_for_brackets})", shown(text)),
        (None, Some(cause)) => format!("{cause} ({outcome})"),
        // Only a hint, because programs other than shells may also exit with 127.
        (None, None) if outcome.end == End::Exited(127) => {
            format!("{outcome} (\"command not found\", in a shell)")
        }
        (None, None) => outcome.to_string(),
    }
}

/// Returns the processes that could not be killed, next to which no further attempt may run, and why: `PID 42 (rsync)
/// survived SIGKILL`. Empty if there are none.
pub(super) fn survivors(outcome: &Outcome) -> String {
    let names: Vec<String> = outcome.survivors.iter().map(Survivor::to_string).collect();
    printable(&names.join(", "))
}

/// Adds a detail in parentheses: `exit 7 (detail)`, or `timed out (--timeout 5s; detail)` if the text ends with
/// parentheses, because a line has at most one pair. An empty detail adds nothing.
pub(super) fn with_detail(text: String, detail: &str) -> String {
    if detail.is_empty() {
        return text;
    }
    match text.strip_suffix(')') {
        Some(open) => format!("{open}; {detail})"),
        None => format!("{text} ({detail})"),
    }
}
