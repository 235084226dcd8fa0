//! How an attempt failed, in words that text and JSON share.

use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome, Survivor};
use crate::text::printable;

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
