//! Options that contradict each other. One that a user types must not be refused because of one in a file that others
//! wrote: so of two options that exclude each other, that of the higher source removes the other, and only in one source
//! they are an error. A wait before the first attempt gives way to a limit on time, never the other way round.
//! `plan::contradictions` checks other values.

use std::time::Duration;

use super::setting::{Setting, UsageError};
use crate::options::opt::Spec;
use crate::options::{
    BASE, DEADLINE, DELAYS, FACTOR, GROWTH, INITIAL_DELAY, JITTER, QUIET, SPLAY, STOP_AFTER,
    VERBOSE,
};
use crate::policy::delay::Jitter;

/// Two options that exclude each other, neither of them repeatable: a source sets each once at most.
struct Exclusive {
    first: &'static Spec,
    second: &'static Spec,
    /// Returns true if settings of `first` and `second`, in this order, exclude each other. A text that cannot be read
    /// is reported later, unless the setting is removed here.
    exclude: fn(&Setting, &Setting) -> bool,
    /// An error is the first setting, then this with the second setting for `{}`.
    problem: &'static str,
}

const LIST: &str = "cannot go with {}: a list of waits takes the place of base, factor and growth";
const GROWS: &str = "cannot go with {}: this jitter grows by itself";

/// The waits before the first attempt: each alone, then both together. If both are too long together and a layer sets
/// both, the random one is dropped, as it stands first.
const START_WAITS: [&[&Spec]; 3] = [
    &[&INITIAL_DELAY.spec],
    &[&SPLAY.spec],
    &[&SPLAY.spec, &INITIAL_DELAY.spec],
];

static EXCLUSIVE: [Exclusive; 6] = [
    Exclusive {
        first: &GROWTH.spec,
        second: &DELAYS.spec,
        exclude: |_, _| true,
        problem: LIST,
    },
    Exclusive {
        first: &BASE.spec,
        second: &DELAYS.spec,
        exclude: |_, _| true,
        problem: LIST,
    },
    Exclusive {
        first: &FACTOR.spec,
        second: &DELAYS.spec,
        exclude: |_, _| true,
        problem: LIST,
    },
    Exclusive {
        first: &JITTER.spec,
        second: &GROWTH.spec,
        exclude: |jitter, _| grows(jitter),
        problem: GROWS,
    },
    Exclusive {
        first: &JITTER.spec,
        second: &DELAYS.spec,
        exclude: |jitter, _| grows(jitter),
        problem: GROWS,
    },
    Exclusive {
        first: &QUIET.spec,
        second: &VERBOSE.spec,
        exclude: |quiet, verbose| {
            quiet.value_of(&QUIET) > Some(0) && verbose.value_of(&VERBOSE) > Some(0)
        },
        problem: "cannot go with {}: one silences what the other asks for",
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

/// Removes from a layer, the settings of one source, those that a setting of `higher`, the sources above it, excludes,
/// and returns them, for messages. Returns an error if settings of the layer exclude each other.
pub(super) fn settle(
    higher: &[Setting],
    layer: &mut Vec<Setting>,
) -> Result<Vec<Setting>, UsageError> {
    let mut overridden = Vec::new();
    for pair in &EXCLUSIVE {
        // An option that a higher source sets is not in the layer. If neither is, a layer before has settled them.
        let is_one = |setting: &Setting| setting.opt == pair.first || setting.opt == pair.second;
        let Some(lower) = layer.iter().position(is_one) else {
            continue;
        };
        let Some(first) = find(pair.first, layer, higher) else {
            continue;
        };
        let Some(second) = find(pair.second, layer, higher) else {
            continue;
        };
        if !(pair.exclude)(first, second) {
            continue;
        }
        if first.source == second.source {
            return Err(contradiction(first, pair.problem, second));
        }
        overridden.push(layer.remove(lower));
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

fn contradiction(first: &Setting, problem: &str, second: &Setting) -> UsageError {
    UsageError(format!(
        "{first} {}",
        problem.replace("{}", &second.to_string())
    ))
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
