//! The plan of a run, put together from its parts.

use std::ffi::OsString;
use std::time::Duration;

use super::idempotence::Idempotence;
use super::layers::Layers;
use super::{budget, limits, output, rules, streams, waits};
use crate::budget::client::Store;
use crate::cli::defaults;
use crate::cli::words::NestedMode;
use crate::config::settings::{Settings, is_on, variable};
use crate::config::sourced::{UsageError, value};
use crate::policy::exit::Overrides;
use crate::policy::session::Limits;
use crate::run::plan::{Nesting, Plan};

/// The run around this one, as its variables tell.
#[derive(Debug, Clone, Default)]
pub(super) struct OuterRun {
    /// 0 where there is none.
    depth: u64,
    attempts: Option<u64>,
    root_id: Option<String>,
}

impl From<&[(OsString, OsString)]> for OuterRun {
    fn from(variables: &[(OsString, OsString)]) -> OuterRun {
        let number = |name| variable(variables, name)?.to_str()?.parse::<u64>().ok();
        let depth = number("BACKOFF_DEPTH").unwrap_or(0);
        OuterRun {
            depth,
            attempts: number("BACKOFF_ATTEMPT_LIMIT").filter(|_| depth > 0),
            root_id: variable(variables, "BACKOFF_ROOT_ID")
                .and_then(|id| id.to_str())
                .filter(|id| depth > 0 && is_id(id))
                .map(str::to_owned),
        }
    }
}

/// Whether it has the form of a UUID.
fn is_id(text: &str) -> bool {
    let parts = text
        .split('-')
        .map(|part| part.bytes().all(|b| b.is_ascii_hexdigit()).then_some(part.len()));
    parts.eq([8, 4, 4, 4, 12].map(Some))
}

/// A run by these settings, and where its budget is kept. `words` are those of the program in the end.
pub(super) fn plan(
    settings: &Settings,
    layers: &Layers<'_>,
    command: &[OsString],
    words: &[&str],
    outer: OuterRun,
) -> Result<(Plan, Store), UsageError> {
    let nested = value(&settings.nested).unwrap_or(defaults::NESTED);
    let delays = waits::delays(settings)?;
    let classes = rules::classes(layers)?;
    let idempotence = Idempotence::of(settings, words);
    let (classifier, patterns) = rules::classifier(settings, layers, words, &idempotence)?;
    let limits = Limits {
        idempotent: idempotence.why_not.is_none(),
        leave_to_outer: nested == NestedMode::Once && outer.depth > 0,
        ..limits::limits(settings)?
    };
    let streams = streams::streams(settings, &classifier, patterns, &limits);
    let (initial_delay, splay) = limits::start_delays(settings, &limits)?;
    let caps = classes.iter().map(|class| class.delays.cap);
    let (budget, store) = budget::budget(settings, caps.fold(delays.cap, Duration::max))?;
    let plan = Plan {
        command: command.to_vec(),
        limits,
        delays,
        classes,
        classifier,
        streams,
        retry_if: value(&settings.retry_if),
        bounds: limits::bounds(settings),
        timeouts: limits::timeouts(settings),
        initial_delay,
        splay,
        seed: value(&settings.seed),
        budget,
        nesting: Nesting {
            depth: outer.depth.saturating_add(1),
            // Under a run of one attempt nothing multiplies.
            warn: nested == NestedMode::Warn && outer.depth > 0 && outer.attempts != Some(1),
            outer_attempts: outer.attempts,
        },
        not_idempotent: idempotence.why_not,
        root_id: outer.root_id,
        overrides: Overrides {
            exhausted: value(&settings.exhausted_exit),
            flaky: value(&settings.flaky_exit),
            skipped: budget::skipped_exit(settings)?,
        },
        output: output::output(settings)?,
        on_retry: value(&settings.on_retry),
        on_give_up: value(&settings.on_give_up),
        c_locale: is_on(&settings.c_locale),
        remarks: Vec::new(),
        remarks_on_failure: Vec::new(),
        effective: Vec::new(),
    };
    Ok((plan, store))
}
