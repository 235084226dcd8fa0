//! Options that contradict each other. One that a user types must not be refused because of one in a file that others
//! wrote: so within a source a contradiction is an error, and between sources the higher one wins. In three exceptions
//! the higher one is refused: a wait before the first attempt never overrides a limit on time, nor `--idempotent no` an
//! option that repeats successes, and neither of `--consecutive` and `--attempts` the other (`plan::limits`). And of
//! `--max-delay` and a longer wait both are kept: `plan::delays` adapts the one of the lower source, if that is of use.

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

/// Two options that may contradict each other, neither of them repeatable: a source sets each once at most.
/// `settle_start` knows contradictions of three.
struct Conflict {
    first: &'static Spec,
    second: &'static Spec,
    /// Returns true if settings of `first` and `second`, in this order, contradict each other. A text that cannot be
    /// read is reported later, unless the setting is dropped here.
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
    /// Keeps both: `plan::delays` adapts the one of the lower source to the other, if that is of use.
    KeepBoth,
}

use Resolution::{KeepBoth, Override, Refuse};

const GROWS: &str = "cannot go with {}: this jitter grows by itself";
const NO_GROWTH: &str = "cannot go with {}: no wait grows until a failure";
const AGAIN: &str = "cannot go with {}: a success would be carried out again";

/// The waits before the first attempt: each alone, then both together. If both are too long together and a layer sets
/// both, the random one is dropped, as it stands first.
const START_WAITS: [&[&Spec]; 3] = [
    &[&INITIAL_DELAY.spec],
    &[&SPLAY.spec],
    &[&SPLAY.spec, &INITIAL_DELAY.spec],
];

static CONFLICTS: [Conflict; 13] = [
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
        problem: "cannot go with {}: the report would replace the log",
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
        problem: "is longer than {}",
    },
    Conflict {
        first: &STOP_AT_DELAY.spec,
        second: &MAX_DELAY.spec,
        contradict: is_longer,
        resolution: KeepBoth,
        problem: "can never be reached with {}",
    },
];

/// Returns true if a jitter has its own growth, so that `--growth` and `--delays` would have no effect.
fn grows(jitter: &Setting) -> bool {
    match jitter.value_of(&JITTER) {
        Some(jitter) => matches!(jitter, Jitter::Decorrelated { .. } | Jitter::Slotted { .. }),
        // With a wrong parameter, such as `slotted:99`, it is still this jitter.
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
/// output and devices: both can write there, and nothing is replaced. Only the paths are compared here; a later check,
/// before the run, follows links.
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

/// Settles the contradictions of a layer, the settings of one source, within itself and with `higher`, the settings of
/// all sources above it. Removes from the layer the settings that are overridden, and returns them, for messages.
/// Returns an error if settings of the layer contradict each other, whatever the resolution, or if a higher one may not
/// go against one of the layer (`Refuse`, a limit on time).
pub(super) fn settle(
    higher: &[Setting],
    layer: &mut Vec<Setting>,
) -> Result<Vec<Setting>, UsageError> {
    let mut overridden = Vec::new();
    for conflict in &CONFLICTS {
        // `Settings::add` drops options that a higher source sets, so a setting in the layer is the lower one. If the
        // layer has neither option, there is nothing to settle, or an earlier layer has settled it.
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
        match conflict.resolution {
            _ if first.source == second.source => return Err(conflict.error(first, second)),
            Refuse if first.source > second.source => return Err(conflict.error(first, second)),
            Override => overridden.push(layer.remove(lower)),
            Refuse | KeepBoth => {}
        }
    }
    for limit in [&DEADLINE.spec, &STOP_AFTER.spec] {
        for waits in START_WAITS {
            overridden.extend(settle_start(waits, limit, higher, layer)?);
        }
    }
    Ok(overridden)
}

/// Settles a contradiction of waits before the first attempt with a limit on time: all of `waits` together must end
/// before it. If they do not, removes the first of them that the layer sets, and returns it. Returns None if one of the
/// options is not set or nothing contradicts. Returns an error if the layer sets all waits and the limit, or the limit
/// alone: a limit is never dropped.
fn settle_start(
    waits: &[&Spec],
    limit: &Spec,
    higher: &[Setting],
    layer: &mut Vec<Setting>,
) -> Result<Option<Setting>, UsageError> {
    let found = waits.iter().map(|wait| find(wait, layer, higher));
    let Some(found) = found.collect::<Option<Vec<&Setting>>>() else {
        return Ok(None);
    };
    let Some(limit) = find(limit, layer, higher) else {
        return Ok(None);
    };
    if !leave_no_time(&found, limit) {
        return Ok(None);
    }
    let is_one_source = found.iter().all(|wait| wait.source == limit.source);
    let position = |wait: &&Spec| layer.iter().position(|setting| setting.opt == *wait);
    if let Some(lower) = waits.iter().find_map(position)
        && !is_one_source
    {
        return Ok(Some(layer.remove(lower)));
    }
    let waits: Vec<String> = found.iter().map(ToString::to_string).collect();
    let waits = waits.join(" and ");
    Err(UsageError(format!(
        "{waits} may leave no time before {limit}"
    )))
}

/// Returns true if waits before the first attempt may together, with the longest `--splay`, end at or after a limit on
/// time; 0 is no limit. A text that cannot be read is left out, and reported later.
fn leave_no_time(waits: &[&Setting], limit: &Setting) -> bool {
    let limit = limit.value_of(&DEADLINE).or(limit.value_of(&STOP_AFTER));
    let lengths = waits.iter().filter_map(|wait| {
        wait.value_of(&INITIAL_DELAY)
            .or_else(|| wait.value_of(&SPLAY))
    });
    let length = lengths.fold(Duration::ZERO, Duration::saturating_add);
    limit.is_some_and(|limit| !limit.is_zero() && length >= limit)
}

fn find<'s>(opt: &Spec, layer: &'s [Setting], higher: &'s [Setting]) -> Option<&'s Setting> {
    let mut settings = layer.iter().chain(higher);
    settings.find(|setting| setting.opt == opt)
}

impl Conflict {
    fn names(&self, opt: &Spec) -> bool {
        self.first == opt || self.second == opt
    }

    fn error(&self, first: &Setting, second: &Setting) -> UsageError {
        let problem = self.problem.replace("{}", &second.to_string());
        UsageError(format!("{first} {problem}"))
    }
}
