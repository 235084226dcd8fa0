//! The plan of a run, put together from its parts.

use std::ffi::OsString;

use super::idempotence::Idempotence;
use super::program::wrapped_program;
use super::{budget, limits, output, rules, streams, waits};
use crate::budget::client::Store;
use crate::cli::defaults;
use crate::cli::words::NestedMode;
use crate::config::settings::{Settings, is_on, variable};
use crate::config::sourced::{UsageError, value};
use crate::policy::exit::Overrides;
use crate::policy::session::Limits;
use crate::policy::sets::CodeSet;
use crate::run::nesting::{self, Nesting};
use crate::run::plan::Plan;

/// The runs around this one, as their variables tell.
#[derive(Debug, Clone, Default)]
pub(super) struct Outer {
    /// How many.
    depth: u64,
    /// The number of the attempt of the innermost; None if that is unknown.
    attempt: Option<u64>,
    /// Most attempts of all of them together; None if they are unlimited or unknown.
    attempts: Option<u64>,
    /// The budget that has counted this attempt.
    counted: Option<String>,
    root_id: Option<String>,
}

impl From<&[(OsString, OsString)]> for Outer {
    fn from(variables: &[(OsString, OsString)]) -> Outer {
        let text = |name| variable(variables, name)?.to_str();
        let depth = text("BACKOFF_DEPTH").and_then(|depth| depth.parse().ok()).unwrap_or(0);
        if depth == 0 {
            return Outer::default();
        }
        let number = |name| text(name)?.parse().ok().filter(|number: &u64| *number > 0);
        let around = if depth == 1 { Some(1) } else { number(nesting::AROUND) };
        let limit = number("BACKOFF_ATTEMPT_LIMIT");
        Outer {
            depth,
            attempt: number("BACKOFF_ATTEMPT"),
            attempts: around.zip(limit).and_then(|(around, limit)| around.checked_mul(limit)),
            counted: text(nesting::COUNTED)
                .filter(|text| !text.is_empty())
                .map(str::to_owned),
            root_id: text("BACKOFF_ROOT_ID").filter(|id| is_id(id)).map(str::to_owned),
        }
    }
}

impl Outer {
    /// Returns true if this run is the one to say that retries multiply: the innermost, in the first attempt around it.
    fn warns(&self, command: &[OsString]) -> bool {
        let is_first = self.attempt.is_none_or(|attempt| attempt == 1);
        // To find the program in the end takes longer than all else of a start.
        let is_innermost = || wrapped_program(command).first() != Some(&"backoff");
        self.depth > 0 && is_first && self.attempts != Some(1) && is_innermost()
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
    command: &[OsString],
    words: &[&str],
    outer: Outer,
) -> Result<(Plan, Store), UsageError> {
    let nested = value(&settings.nested).unwrap_or(defaults::NESTED);
    let delays = waits::delays(settings)?;
    let idempotence = Idempotence::of(settings, command, words);
    let (classifier, patterns) = rules::classifier(settings, words, &idempotence)?;
    let limits = Limits {
        idempotent: idempotence.why_not.is_none(),
        leave_to_outer: nested == NestedMode::Once && outer.depth > 0,
        ..limits::limits(settings)?
    };
    let streams = streams::streams(settings, &classifier, patterns, &limits)?;
    let (initial_delay, splay) = limits::start_delays(settings, &limits)?;
    let (budget, store) = budget::budget(settings, delays.cap, outer.counted.as_deref())?;
    let plan = Plan {
        command: command.to_vec(),
        limits,
        delays,
        classifier,
        streams,
        retry_if: value(&settings.retry_if),
        success_if: value(&settings.success_if),
        bounds: limits::bounds(settings),
        timeouts: limits::timeouts(settings),
        initial_delay,
        splay,
        seed: value(&settings.seed),
        budget,
        nesting: Nesting {
            depth: outer.depth.saturating_add(1),
            warn: nested == NestedMode::Warn && outer.warns(command),
            outer_attempts: outer.attempts,
            counted: outer.counted,
        },
        not_idempotent: idempotence.why_not,
        root_id: outer.root_id,
        overrides: Overrides {
            exhausted: budget::without_a_run(&settings.exhausted_exit)?,
            flaky: value(&settings.flaky_exit),
            zero: {
                let said = settings.success_exit.iter().map(|said| said.value.zero);
                said.fold(CodeSet::default(), CodeSet::union)
            },
            skipped: budget::without_a_run(&settings.skipped_exit)?.unwrap_or(defaults::SKIPPED_EXIT),
        },
        output: output::output(settings)?,
        on_retry: value(&settings.on_retry),
        before_retry: value(&settings.before_retry),
        on_give_up: value(&settings.on_give_up),
        c_locale: is_on(&settings.c_locale),
        warnings: Vec::new(),
        remarks: Vec::new(),
        remarks_on_failure: Vec::new(),
        remark_on_retry: None,
        effective: Vec::new(),
    };
    Ok((plan, store))
}
