//! Pairs of options that contradict each other.

use std::path::absolute;

use super::setting::{Setting, UsageError};
use super::values::{count, duration, whole};

/// Two options, a predicate that is true if their texts contradict each other, the rule if so, and the problem. An
/// error is the first setting, then the problem with the second setting for `{}`.
type Pair = (
    &'static str,
    &'static str,
    fn(&str, &str) -> bool,
    Rule,
    &'static str,
);

/// Effect of a contradiction between two sources; within one source, it is an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Drops the setting of the lower source.
    Override,
    /// An error if the first option has the higher source; otherwise keeps both.
    Refuse,
    /// An error if the first option has the higher source; otherwise drops the first option.
    Yield,
    /// Keeps both: the plan adapts the lower one.
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
    ("initial-delay", "deadline", leaves_no_time, Yield, LATE),
    ("splay", "deadline", leaves_no_time, Yield, LATE),
    ("initial-delay", "stop-after", leaves_no_time, Yield, LATE),
    ("splay", "stop-after", leaves_no_time, Yield, LATE),
    ("quiet", "verbose", |quiet, verbose| is_on(quiet) && is_on(verbose), Override,
        "cannot go with {}: one silences what the other asks for"),
    ("log-file", "report", is_same_file, Override, "cannot go with {}: the report would replace the log; tip: try another file"),
    ("idempotent", "consecutive", |idempotent, n| idempotent == "no" && is_several(n), Refuse, AGAIN),
    ("idempotent", "until", |idempotent, until| idempotent == "no" && until != "success", Refuse, AGAIN),
    ("base", "max-delay", is_longer, KeepBoth, "is longer than {}; tip: try a larger --max-delay"),
    ("stop-at-delay", "max-delay", is_longer, KeepBoth, "can never be reached with {}; tip: try a larger --max-delay"),
];

// The texts are not checked yet. An invalid one is reported later, unless the setting is dropped here.

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

/// Returns false for standard output and devices: both can write there, and nothing is replaced.
fn is_same_file(log: &str, report: &str) -> bool {
    // `/dev/shm` holds files.
    let is_device = log.starts_with("/dev/") && !log.starts_with("/dev/shm/");
    // `./run.log` is `run.log`.
    let is_same =
        matches!((absolute(log), absolute(report)), (Ok(log), Ok(report)) if log == report);
    is_same && !is_device && ![log, report].contains(&"-")
}

/// Returns true if a wait before the first attempt ends at or after the limit; 0 is no limit.
fn leaves_no_time(wait: &str, limit: &str) -> bool {
    matches!((duration(wait), duration(limit)), (Ok(wait), Ok(limit)) if wait >= limit && !limit.is_zero())
}

/// Removes and returns the settings of a layer that a setting of higher precedence overrides. Returns an error if two
/// settings of the layer contradict each other, or if a `Rule` rejects a setting of the layer and one in `higher`.
pub(super) fn settle(
    higher: &[Setting],
    layer: &mut Vec<Setting>,
) -> Result<Vec<Setting>, UsageError> {
    let mut overridden = Vec::new();
    for (first, second, contradict, rule, problem) in PAIRS {
        let find = |long: &str| {
            layer
                .iter()
                .chain(higher)
                .find(|setting| setting.opt.long == long)
        };
        let (Some(first), Some(second)) = (find(first), find(second)) else {
            continue;
        };
        // `Settings::add` drops options that a higher source sets, so a setting in the layer is the lower one.
        // If the layer has neither option, the pair was settled with an earlier layer.
        let is_of_pair = |setting: &Setting| [first.opt, second.opt].contains(&setting.opt);
        let Some(lower) = layer.iter().position(is_of_pair) else {
            continue;
        };
        if !contradict(
            &first.text.to_string_lossy(),
            &second.text.to_string_lossy(),
        ) {
            continue;
        }
        if first.source == second.source
            || [Refuse, Yield].contains(rule) && first.source > second.source
        {
            let problem = problem.replace("{}", &second.to_string());
            return Err(UsageError(format!("{first} {problem}")));
        }
        if [Override, Yield].contains(rule) {
            overridden.push(layer.remove(lower));
        }
    }
    Ok(overridden)
}
