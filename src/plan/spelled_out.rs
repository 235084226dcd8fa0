//! Options that stand for others: `--every`, and `--until failure` for the waits; and those that give way to others.

use std::cmp::Ordering;
use std::time::Duration;

use crate::cli::words::{GrowthKind, JitterKind};
use crate::config::settings::Settings;
use crate::config::sourced::{Sourced, UsageError, exclude};
use crate::policy::session::Until;

/// Says it by those others, as from the same source.
pub(super) fn spelled_out(mut settings: Settings) -> Result<Settings, UsageError> {
    every(&mut settings)?;
    until(&mut settings)?;
    give_way(&mut settings);
    Ok(settings)
}

/// Of values that cannot hold together, those of the stronger source stay. From the same one, a check says what is wrong.
fn give_way(settings: &mut Settings) {
    let start = [&settings.initial_delay, &settings.splay];
    let start = start.into_iter().flatten().map(|said| said.value);
    let start = start.fold(Duration::ZERO, Duration::saturating_add);
    if let Some(deadline) = settings.deadline.as_ref().filter(|said| !said.value.is_zero())
        && start >= deadline.value
    {
        let rank = deadline.rank();
        for said in [&mut settings.initial_delay, &mut settings.splay] {
            said.take_if(|said| said.rank() < rank);
        }
    }
    if let (Some(consecutive), Some(attempts)) = (&settings.consecutive, &settings.attempts)
        && attempts.value.is_some_and(|limit| consecutive.value > limit)
    {
        match consecutive.rank().cmp(&attempts.rank()) {
            Ordering::Less => settings.consecutive = None,
            Ordering::Greater => settings.attempts = None,
            Ordering::Equal => {}
        }
    }
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
