//! Pairs of options that contradict each other.

use std::path::Path;

use super::said::{Said, UsageError};
use super::values::{count, duration, whole};

/// Two options, a predicate on their texts, the rule, and the problem, which follows the first statement; `{}` stands
/// for the second one. A conflict within one source is an error; between sources the rule decides.
type Pair = (&'static str, &'static str, fn(&str, &str) -> bool, Rule, &'static str);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Drops the statement of the lower source.
    Override,
    /// An error, unless the second option comes from the higher source; then keeps both.
    Refuse,
    /// The same, but drops the first option.
    Yield,
    /// Keeps both.
    KeepBoth,
}

use Rule::{KeepBoth, Override, Refuse, Yield};

const GROWS: &str = "cannot go with {}: this jitter grows by itself; tip: try --jitter full";
const NO_GROWTH: &str = "cannot go with {}: no wait grows until a failure";
const AGAIN: &str = "cannot go with {}: a success would be carried out again";
const LATE: &str = "may leave no time before {}; tip: try a shorter wait or a later limit";

#[rustfmt::skip]
const PAIRS: &[Pair] = &[
    ("growth", "delays", |_, _| true, Override, "cannot go with {}: a list of waits takes the place of growth"),
    ("jitter", "growth", |jitter, _| grows(jitter), Override, GROWS),
    ("jitter", "delays", |jitter, _| grows(jitter), Override, GROWS),
    ("until", "growth", |until, growth| until == "failure" && growth != "constant", Override, NO_GROWTH),
    ("until", "delays", |until, _| until == "failure", Override, NO_GROWTH),
    ("jitter", "until", |jitter, until| grows(jitter) && until == "failure", Override, NO_GROWTH),
    ("consecutive", "until", |n, until| is_several(n) && until != "success", Override,
        "cannot go with {}: no number of successes ends such a run"),
    ("initial-delay", "deadline", is_no_time, Yield, LATE),
    ("splay", "deadline", is_no_time, Yield, LATE),
    ("initial-delay", "stop-after", is_no_time, Yield, LATE),
    ("splay", "stop-after", is_no_time, Yield, LATE),
    ("quiet", "verbose", |quiet, verbose| is_on(quiet) && is_on(verbose), Override,
        "cannot go with {}: one silences what the other asks for"),
    ("log-file", "report", is_same_file, Override, "cannot go with {}: the report would replace the log; tip: try another file"),
    ("idempotent", "consecutive", |idempotent, n| idempotent == "no" && is_several(n), Refuse, AGAIN),
    ("idempotent", "until", |idempotent, until| idempotent == "no" && until != "success", Refuse, AGAIN),
    ("base", "max-delay", is_longer, KeepBoth, "is longer than {}; tip: try a larger --max-delay"),
    ("stop-at-delay", "max-delay", is_longer, KeepBoth, "can never be reached with {}; tip: try a larger --max-delay"),
];

// An invalid text contradicts nothing; its own error comes later.

fn grows(jitter: &str) -> bool {
    jitter == "decorrelated" || jitter.starts_with("slotted")
}

fn is_several(number: &str) -> bool {
    whole(number, 2, u64::MAX).is_ok()
}

fn is_on(switch: &str) -> bool {
    count(switch).is_ok_and(|count| count > 0)
}

fn is_longer(one: &str, other: &str) -> bool {
    matches!((duration(one), duration(other)), (Ok(one), Ok(other)) if one > other)
}

fn is_same_file(log: &str, report: &str) -> bool {
    Path::new(log) == Path::new(report) && log != "-" && !log.starts_with("/dev/")
}

fn is_no_time(start: &str, deadline: &str) -> bool {
    matches!((duration(start), duration(deadline)), (Ok(start), Ok(end)) if start >= end && !end.is_zero())
}

/// Removes and returns the statements of a layer that ones of higher precedence override. A conflict within the layer is an error.
pub(super) fn settle(higher: &[Said], layer: &mut Vec<Said>) -> Result<Vec<Said>, UsageError> {
    let mut overridden = Vec::new();
    for (one, other, contradict, rule, problem) in PAIRS {
        let find = |layer: &[Said], long: &str| layer.iter().position(|said| said.opt.long == long);
        let [here, there] = [one, other].map(|long| (find(layer, long), find(higher, long)));
        let (one, other) = match (here, there) {
            ((Some(one), _), (Some(other), _)) => (&layer[one], &layer[other]),
            ((Some(one), _), (None, Some(other))) => (&layer[one], &higher[other]),
            ((None, Some(one)), (Some(other), _)) => (&higher[one], &layer[other]),
            _ => continue,
        };
        if !contradict(&one.text.to_string_lossy(), &other.text.to_string_lossy()) {
            continue;
        }
        if one.source == other.source || [Refuse, Yield].contains(rule) && one.source > other.source {
            let problem = problem.replace("{}", &other.to_string());
            return Err(UsageError(format!("{one} {problem}")));
        }
        if [Override, Yield].contains(rule) {
            overridden.extend(here.0.or(there.0).map(|at| layer.remove(at)));
        }
    }
    Ok(overridden)
}
