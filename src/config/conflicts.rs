//! Pairs of options that contradict each other. One that a user types must not be refused because of one in a file that
//! others wrote: so within a source a contradiction is an error, and between sources the higher one wins if it can.

use std::path::absolute;
use std::time::Duration;

use super::setting::{Setting, UsageError};
use crate::options::opt::Spec;
use crate::options::{
    BASE, CONSECUTIVE, DEADLINE, DELAYS, GROWTH, GrowthName, IDEMPOTENT, INITIAL_DELAY, JITTER,
    LOG_FILE, MAX_DELAY, QUIET, REPORT, SPLAY, STOP_AFTER, STOP_AT_DELAY, UNTIL, VERBOSE,
};
use crate::policy::delay::Jitter;
use crate::policy::session::Until;

/// Two options that may contradict each other.
struct Conflict {
    first: &'static Spec,
    second: &'static Spec,
    /// Returns true if settings of the two options contradict each other. A text that cannot be read is reported
    /// later, unless the setting is dropped here.
    contradict: fn(&Setting, &Setting) -> bool,
    resolution: Resolution,
    /// An error is the first setting, then this with the second setting for `{}`.
    problem: &'static str,
}

/// Effect of a contradiction between two sources; within one source, it is an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resolution {
    /// Drops the setting of the lower source.
    Override,
    /// An error if the first option has the higher source; otherwise keeps both. The first one protects from harm, so
    /// that only a higher source may go against it.
    Refuse,
    /// An error if the first option has the higher source; otherwise drops the first option. A limit on time, which is
    /// the second one, is never dropped.
    Yield,
    /// Keeps both: `plan::limits` adapts the one of the lower source to the other, if that is of use.
    KeepBoth,
}

use Resolution::{KeepBoth, Override, Refuse, Yield};

const GROWS: &str = "cannot go with {}: this jitter grows by itself; tip: try --jitter full";
const NO_GROWTH: &str = "cannot go with {}: no wait grows until a failure";
const AGAIN: &str = "cannot go with {}: a success would be carried out again";
const LATE: &str = "may leave no time before {}; tip: try a shorter wait or a later limit";

static CONFLICTS: [Conflict; 17] = [
    Conflict {
        first: &GROWTH.spec,
        second: &DELAYS.spec,
        contradict: |_, _| true,
        resolution: Override,
        problem: "cannot go with {}: a list of waits takes the place of growth",
    },
    Conflict {
        first: &JITTER.spec,
        second: &GROWTH.spec,
        contradict: |jitter, _| grows(jitter),
        resolution: Override,
        problem: GROWS,
    },
    Conflict {
        first: &JITTER.spec,
        second: &DELAYS.spec,
        contradict: |jitter, _| grows(jitter),
        resolution: Override,
        problem: GROWS,
    },
    Conflict {
        first: &UNTIL.spec,
        second: &GROWTH.spec,
        contradict: |until, growth| is_until_failure(until) && !is_constant(growth),
        resolution: Override,
        problem: NO_GROWTH,
    },
    Conflict {
        first: &UNTIL.spec,
        second: &DELAYS.spec,
        contradict: |until, _| is_until_failure(until),
        resolution: Override,
        problem: NO_GROWTH,
    },
    Conflict {
        first: &JITTER.spec,
        second: &UNTIL.spec,
        contradict: |jitter, until| grows(jitter) && is_until_failure(until),
        resolution: Override,
        problem: NO_GROWTH,
    },
    Conflict {
        first: &CONSECUTIVE.spec,
        second: &UNTIL.spec,
        contradict: |count, until| is_several(count) && !is_until_success(until),
        resolution: Override,
        problem: "cannot go with {}: no number of successes ends such a run",
    },
    Conflict {
        first: &INITIAL_DELAY.spec,
        second: &DEADLINE.spec,
        contradict: leaves_no_time,
        resolution: Yield,
        problem: LATE,
    },
    Conflict {
        first: &SPLAY.spec,
        second: &DEADLINE.spec,
        contradict: leaves_no_time,
        resolution: Yield,
        problem: LATE,
    },
    Conflict {
        first: &INITIAL_DELAY.spec,
        second: &STOP_AFTER.spec,
        contradict: leaves_no_time,
        resolution: Yield,
        problem: LATE,
    },
    Conflict {
        first: &SPLAY.spec,
        second: &STOP_AFTER.spec,
        contradict: leaves_no_time,
        resolution: Yield,
        problem: LATE,
    },
    Conflict {
        first: &QUIET.spec,
        second: &VERBOSE.spec,
        contradict: |quiet, verbose| is_given(quiet) && is_given(verbose),
        resolution: Override,
        problem: "cannot go with {}: one silences what the other asks for",
    },
    Conflict {
        first: &LOG_FILE.spec,
        second: &REPORT.spec,
        contradict: is_same_file,
        resolution: Override,
        problem: "cannot go with {}: the report would replace the log; tip: try another file",
    },
    Conflict {
        first: &IDEMPOTENT.spec,
        second: &CONSECUTIVE.spec,
        contradict: |idempotent, count| is_no(idempotent) && is_several(count),
        resolution: Refuse,
        problem: AGAIN,
    },
    Conflict {
        first: &IDEMPOTENT.spec,
        second: &UNTIL.spec,
        contradict: |idempotent, until| is_no(idempotent) && !is_until_success(until),
        resolution: Refuse,
        problem: AGAIN,
    },
    Conflict {
        first: &BASE.spec,
        second: &MAX_DELAY.spec,
        contradict: is_longer,
        resolution: KeepBoth,
        problem: "is longer than {}; tip: try a larger --max-delay",
    },
    Conflict {
        first: &STOP_AT_DELAY.spec,
        second: &MAX_DELAY.spec,
        contradict: is_longer,
        resolution: KeepBoth,
        problem: "can never be reached with {}; tip: try a larger --max-delay",
    },
];

/// Returns true if a jitter has its own growth, so that `--growth` and `--delays` would have no effect.
fn grows(jitter: &Setting) -> bool {
    match jitter.value_of(&JITTER) {
        Some(jitter) => matches!(jitter, Jitter::Decorrelated { .. } | Jitter::Slotted { .. }),
        // A wrong text, such as `slotted:99`, tells as much.
        None => jitter.text.to_string_lossy().starts_with("slotted"),
    }
}

fn is_constant(growth: &Setting) -> bool {
    growth.value_of(&GROWTH) == Some(GrowthName::Constant)
}

fn is_until_failure(until: &Setting) -> bool {
    until.value_of(&UNTIL) == Some(Until::Failure)
}

fn is_until_success(until: &Setting) -> bool {
    until.value_of(&UNTIL) == Some(Until::Success)
}

fn is_several(consecutive: &Setting) -> bool {
    consecutive
        .value_of(&CONSECUTIVE)
        .is_some_and(|count| count > 1)
}

fn is_no(idempotent: &Setting) -> bool {
    idempotent.value_of(&IDEMPOTENT) == Some(false)
}

/// Returns true if `--quiet` or `--verbose`, whichever the setting is of, is not 0.
fn is_given(times: &Setting) -> bool {
    let count = times.value_of(&QUIET).or(times.value_of(&VERBOSE));
    count.is_some_and(|count| count > 0)
}

/// Returns true if the wait of `--base` or `--stop-at-delay`, whichever the setting is of, is longer than
/// `--max-delay`.
fn is_longer(wait: &Setting, longest: &Setting) -> bool {
    let wait = wait.value_of(&BASE).or(wait.value_of(&STOP_AT_DELAY));
    match (wait, longest.value_of(&MAX_DELAY)) {
        (Some(wait), Some(longest)) => wait > longest,
        _ => false,
    }
}

/// Returns true if log and report have the same path, so that the report would replace the log. False for standard
/// output and devices: both can write there, and nothing is replaced. Links are followed later, once the files are
/// known.
fn is_same_file(log: &Setting, report: &Setting) -> bool {
    let Some(log) = log.value_of(&LOG_FILE) else {
        return false;
    };
    let Some(report) = report.value_of(&REPORT) else {
        return false;
    };
    // `/dev/shm` holds files.
    let is_device = log.starts_with("/dev") && !log.starts_with("/dev/shm");
    if is_device || log.as_os_str() == "-" || report.as_os_str() == "-" {
        return false;
    }
    // `./run.log` is `run.log`.
    match (absolute(log), absolute(report)) {
        (Ok(log), Ok(report)) => log == report,
        _ => false,
    }
}

/// Returns true if a wait before the first attempt (`--initial-delay` or `--splay`) ends at or after the limit on time
/// (`--deadline` or `--stop-after`); 0 is no limit.
fn leaves_no_time(wait: &Setting, limit: &Setting) -> bool {
    let wait = wait.value_of(&INITIAL_DELAY).or(wait.value_of(&SPLAY));
    let limit = limit.value_of(&DEADLINE).or(limit.value_of(&STOP_AFTER));
    match (wait, limit) {
        (Some(_), Some(Duration::ZERO)) => false,
        (Some(wait), Some(limit)) => wait >= limit,
        _ => false,
    }
}

/// Settles the contradictions of a layer, the settings of one source, within itself and with `higher`, the settings of
/// all sources above it. Removes from the layer the settings that are overridden, and returns them, for messages.
/// Returns an error if two settings of the layer contradict each other, or if the pair's [`Resolution`] is an error.
pub(super) fn settle(
    higher: &[Setting],
    layer: &mut Vec<Setting>,
) -> Result<Vec<Setting>, UsageError> {
    let mut overridden = Vec::new();
    for conflict in &CONFLICTS {
        // `Settings::add` drops options that a higher source sets, so a setting in the layer is the lower one. Two in
        // the layer end in an error below. If the layer has neither option, the pair was settled with an earlier layer.
        let Some(lower) = layer.iter().position(|setting| conflict.names(setting.opt)) else {
            continue;
        };
        let Some(first) = find(conflict.first, layer, higher) else {
            continue;
        };
        let Some(second) = find(conflict.second, layer, higher) else {
            continue;
        };
        if !(conflict.contradict)(first, second) {
            continue;
        }
        conflict.check(first, second)?;
        // With `Yield`, the lower one is the first option: otherwise the check has failed.
        if matches!(conflict.resolution, Override | Yield) {
            overridden.push(layer.remove(lower));
        }
    }
    Ok(overridden)
}

fn find<'s>(opt: &Spec, layer: &'s [Setting], higher: &'s [Setting]) -> Option<&'s Setting> {
    let mut settings = layer.iter().chain(higher);
    settings.find(|setting| setting.opt == opt)
}

impl Conflict {
    fn names(&self, opt: &Spec) -> bool {
        self.first == opt || self.second == opt
    }

    /// Returns an error if two settings that contradict each other must not be in effect together, and none of them may
    /// be dropped: by their sources and the [`Resolution`].
    fn check(&self, first: &Setting, second: &Setting) -> Result<(), UsageError> {
        let is_refused = match self.resolution {
            Refuse | Yield => first.source >= second.source,
            Override | KeepBoth => first.source == second.source,
        };
        if !is_refused {
            return Ok(());
        }
        let problem = self.problem.replace("{}", &second.to_string());
        Err(UsageError(format!("{first} {problem}")))
    }
}
