//! Options that stand for others: `--every`, and `--until failure` for the waits; and those that give way to others.

use std::time::Duration;

use crate::cli::words::{GrowthKind, JitterKind};
use crate::config::settings::Settings;
use crate::config::sourced::{Sourced, UsageError, exclude};
use crate::config::values::Spread;
use crate::policy::session::Until;

/// Says it by those others, as from the same source.
pub(super) fn spell_out(settings: &mut Settings) -> Result<(), UsageError> {
    every(settings)?;
    until(settings)?;
    give_way(settings);
    Ok(())
}

/// Of values that cannot hold together, those of the stronger source stay. From the same one, a check says what is wrong.
fn give_way(settings: &mut Settings) {
    start_or_deadline(settings);
    of_another_jitter(settings);
}

/// A start that the deadline leaves no time for.
fn start_or_deadline(settings: &mut Settings) {
    let Some((deadline, rank)) = settings.deadline.as_ref().map(|said| (said.value, said.rank())) else {
        return;
    };
    let start = |settings: &Settings| {
        let said = [&settings.initial_delay, &settings.splay].into_iter().flatten();
        said.map(|said| said.value)
            .fold(Duration::ZERO, Duration::saturating_add)
    };
    if deadline.is_zero() || start(settings) < deadline {
        return;
    }
    for said in [&mut settings.initial_delay, &mut settings.splay] {
        said.take_if(|said| said.rank() < rank);
    }
    let mut left = [&settings.initial_delay, &settings.splay].into_iter().flatten();
    let is_outdone = left.any(|said| said.rank() > rank && !said.value.is_zero());
    if is_outdone && start(settings) >= deadline {
        settings.deadline = None;
    }
}

/// What is of use only with another jitter than the one that a stronger source asks for.
fn of_another_jitter(settings: &mut Settings) {
    let Some((jitter, rank)) = settings.jitter.as_ref().map(|said| (said.value, said.rank())) else {
        return;
    };
    settings.spread.take_if(|said| {
        let Spread { duration, fraction } = &said.value;
        let is_of_another = match jitter {
            JitterKind::Additive => duration.is_err() && fraction.is_ok(),
            JitterKind::Proportional => fraction.is_err() && duration.is_ok(),
            _ => false,
        };
        is_of_another && said.rank() < rank
    });
}

fn every(settings: &mut Settings) -> Result<(), UsageError> {
    let Some(every) = settings.every.clone() else {
        return Ok(());
    };
    let why = "it is a fixed wait without jitter";
    say(&every, &mut settings.base, every.value, why)?;
    say(&every, &mut settings.growth, GrowthKind::Constant, why)?;
    say(&every, &mut settings.jitter, JitterKind::None, why)?;
    // What became of it is the base.
    settings.every = settings.base.clone().filter(|base| base.is_by(&every));
    Ok(())
}

fn until(settings: &mut Settings) -> Result<(), UsageError> {
    let is_other = |said: &Sourced<Until>| said.value != Until::Success;
    let is_several = |said: &Sourced<u64>| said.value > 1;
    if settings.until.as_ref().is_some_and(is_other) && settings.consecutive.as_ref().is_some_and(is_several) {
        let why = "no number of successes ends such a run";
        exclude(&mut settings.consecutive, &mut settings.until, why)?;
    }
    match settings.until.clone().filter(|said| said.value == Until::Failure) {
        Some(until) => until_failure(settings, &until),
        None => Ok(()),
    }
}

/// Waits that grow spare a service that fails. Here there is none, or its failure is wanted.
fn until_failure(settings: &mut Settings, until: &Sourced<Until>) -> Result<(), UsageError> {
    let growth = &mut settings.growth;
    say(until, growth, GrowthKind::Constant, "no wait grows until a failure")?;
    settings.base.get_or_insert_with(|| until.also(Duration::ZERO));
    if settings.jitter.as_ref().is_none_or(|said| said.rank() < until.rank()) {
        settings.jitter = Some(until.also(JitterKind::None));
    }
    Ok(())
}

/// An option that is said by another one. What a stronger source says of it stays; the same one must not say something
/// else.
fn say<B, T: PartialEq>(
    by: &Sourced<B>,
    option: &mut Option<Sourced<T>>,
    value: T,
    why: &str,
) -> Result<(), UsageError> {
    match option {
        Some(said) if said.rank() > by.rank() => {}
        Some(said) if said.rank() == by.rank() && said.value != value => {
            return Err(UsageError(format!("{by} cannot go with {said}: {why}")));
        }
        _ => *option = Some(by.also(value)),
    }
    Ok(())
}
