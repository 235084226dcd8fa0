//! Lines of the JSON log (`--log-format json`), and what the report (`--report`) shares with them. The names of fields
//! and the words for ends are part of the interface: `docs/log.schema.json` and `docs/report.schema.json` describe them.

use serde::Serialize;

use super::endings::{limit, rule_of_attempt, rule_of_end};
use super::failure::how_it_failed;
use super::json::{self, seconds};
use super::text::{Sentences, nested_warning};
use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome, Survival};
use crate::policy::session::{Stop, Until};
use crate::policy::signal::Signal;
use crate::run::event::{Event, Moment};
use crate::run::plan::Plan;
use crate::text::{name, printable, timestamp};

/// A line of the log.
#[derive(Serialize)]
struct Line<'a> {
    ts: String,
    run_id: &'a str,
    command: String,
    label: Option<&'a str>,
    event: &'static str,
    attempt: u64,
    #[serde(flatten)]
    fields: Fields,
    #[serde(flatten)]
    totals: Option<Totals>,
}

/// What only this event has.
#[derive(Serialize)]
#[serde(untagged)]
enum Fields {
    None {},
    Attempt(AttemptRecord),
    Retrying {
        delay_s: f64,
        /// None unless the output made the wait longer, even if it asked for a shorter one.
        asked_s: Option<f64>,
    },
    GaveUp {
        reason: &'static str,
        rule: String,
        asked_s: Option<f64>,
    },
    Interrupted {
        signal: i32,
    },
    Warning {
        message: String,
    },
}

/// What a line about the end of the run has in addition.
#[derive(Serialize)]
struct Totals {
    attempts: u64,
    elapsed_s: f64,
}

/// An attempt that has ended. Absent values are null, but for `survivors`, as there almost never are any.
#[derive(Debug, Serialize)]
pub(super) struct AttemptRecord {
    duration_s: f64,
    /// 126 or 127 after a failed start; None after a death by a signal, a timeout, or no end.
    exit: Option<u8>,
    signal: Option<i32>,
    timed_out: bool,
    /// None if a signal or a fault of backoff ended the run before the attempt was judged.
    verdict: Option<&'static str>,
    reason: Option<String>,
    rule: Option<String>,
    asked_s: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    survivors: Vec<SurvivorRecord>,
}

#[derive(Debug, Serialize)]
struct SurvivorRecord {
    pid: i32,
    program: String,
    why: &'static str,
}

impl AttemptRecord {
    pub(super) fn new(plan: &Plan, outcome: &Outcome, verdict: Option<&Verdict>) -> AttemptRecord {
        let signal = outcome.end.signal();
        // The code would be 128+N after a signal.
        let exit = if signal.is_some() {
            None
        } else {
            outcome.end.code()
        };
        let survivors = outcome.survivors.iter().map(|survivor| SurvivorRecord {
            pid: survivor.pid,
            program: survivor.program.clone(),
            why: match survivor.why {
                Survival::Protected => "not_permitted",
                Survival::Unkillable => "unkillable",
            },
        });
        AttemptRecord {
            duration_s: seconds(outcome.ran),
            exit,
            signal: signal.map(Signal::number),
            timed_out: matches!(outcome.end, End::TimedOut(_)),
            verdict: verdict.map(verdict_name),
            reason: verdict.and_then(|verdict| reason(outcome, verdict)),
            rule: verdict.and_then(|verdict| rule_of_attempt(plan, outcome, verdict)),
            asked_s: asked_seconds(outcome),
            survivors: survivors.collect(),
        }
    }
}

/// Returns the line about an event; None if the log leaves the event out, by its verbosity, or as it is one that only
/// people need.
pub(super) fn line(
    sentences: &Sentences<'_>,
    moment: &Moment,
    event: &Event<'_>,
) -> Option<String> {
    let plan = sentences.plan;
    let is_shown = match event {
        // A log without an end could not be told from that of a run that was killed.
        Event::Interrupted { .. } => plan.output.verbosity >= 0,
        _ => plan.output.verbosity >= sentences.least_verbosity(moment, event),
    };
    if !is_shown {
        return None;
    }
    let totals = result(event).map(|_| Totals {
        attempts: moment.total,
        elapsed_s: seconds(moment.elapsed),
    });
    Some(json::line(&Line {
        ts: timestamp(moment.time_of_day),
        run_id: &sentences.identity.run_id,
        command: command_name(plan),
        label: plan.output.label.as_deref(),
        event: event_name(plan, event)?,
        attempt: moment.attempt,
        fields: fields(plan, event)?,
        totals,
    }))
}

/// Returns the name of an event, which for the end of a run is its result; None for an event without a line.
fn event_name(plan: &Plan, event: &Event<'_>) -> Option<&'static str> {
    match event {
        Event::Started => Some("attempt_started"),
        // The end of the last attempt is that of the run, which has a line of its own; another success has to follow if
        // this one is not the last (`--consecutive`).
        Event::Ended {
            verdict: Some(Verdict::Success),
            ..
        } if plan.limits.until == Until::Success => None,
        Event::Ended {
            verdict: Some(Verdict::Success),
            ..
        } => Some("attempt_succeeded"),
        Event::Ended { .. } => Some("attempt_failed"),
        Event::Retrying { .. } => Some("retrying"),
        Event::Warning(_) | Event::Failed(_) | Event::Nested(_) => Some("warning"),
        event => result(event),
    }
}

fn fields(plan: &Plan, event: &Event<'_>) -> Option<Fields> {
    Some(match event {
        // Without a verdict, a signal or a fault of backoff ended the run: another event tells.
        Event::Ended { outcome, verdict } => {
            Fields::Attempt(AttemptRecord::new(plan, outcome, Some((*verdict)?)))
        }
        Event::Retrying {
            delay,
            is_asked,
            attempt,
        } => Fields::Retrying {
            delay_s: seconds(*delay),
            asked_s: if *is_asked {
                asked_seconds(&attempt.outcome)
            } else {
                None
            },
        },
        Event::Stopped { stop, attempt } => match stop.gave_up() {
            Some(why) => Fields::GaveUp {
                reason: limit(&plan.limits, why).word,
                rule: rule_of_end(plan, why, attempt),
                asked_s: asked_seconds(&attempt.outcome),
            },
            None => Fields::None {},
        },
        Event::NoTimeToStart(why) => {
            let limit = limit(&plan.limits, *why);
            Fields::GaveUp {
                reason: limit.word,
                rule: limit.option.to_owned(),
                asked_s: None,
            }
        }
        Event::Interrupted { signal, .. } => Fields::Interrupted {
            signal: signal.number(),
        },
        Event::Warning(text) => Fields::Warning {
            message: printable(text),
        },
        Event::Failed(why) => Fields::Warning {
            message: format!("backoff itself failed: {why}"),
        },
        // Without the number of calls, which only people need.
        Event::Nested(nesting) => Fields::Warning {
            message: nested_warning(nesting, None),
        },
        _ => Fields::None {},
    })
}

/// Returns the result of the run in one word, for the log and the report, or None if the event does not end it. Not
/// final: a signal or a fault while output is still printed is another event, and outweighs this one in the report. A
/// fault of backoff has no result here: the log has a warning instead, and the report says "failed".
pub(super) fn result(event: &Event<'_>) -> Option<&'static str> {
    match event {
        Event::Stopped { stop, .. } => Some(match stop {
            // With `--until never` the run ended by a limit, but after a success.
            Stop::Succeeded { .. } | Stop::EndedOnSuccess(_) => "succeeded",
            Stop::FailureCame => "failure_came",
            Stop::GaveUp(_) => "gave_up",
        }),
        Event::NoTimeToStart(_) => Some("gave_up"),
        Event::Interrupted { .. } => Some("interrupted"),
        _ => None,
    }
}

/// Returns the command's own name, without its arguments, which may hold secrets.
pub(super) fn command_name(plan: &Plan) -> String {
    plan.command.first().map(name).unwrap_or_default()
}

/// Returns how the attempt failed and, if a predicate or hook decided by failing itself, how that failed; None for a
/// success. Not escaped, as JSON escapes it.
fn reason(outcome: &Outcome, verdict: &Verdict) -> Option<String> {
    let why = verdict.why()?;
    let failure = how_it_failed(outcome, verdict, str::to_owned);
    Some(match why.failure() {
        Some(failed) => format!("{failure}; {failed}"),
        None => failure,
    })
}

fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "success",
        Verdict::Transient(_) => "transient",
        // `Ask` is left only with `--until failure`, which ends the run without asking `--retry-if`.
        Verdict::Permanent(_) | Verdict::Ask(_) => "permanent",
    }
}

/// Returns the wait that the output asked for, in seconds, even if it is longer than the run waits; None if it asked
/// for none, and without `--retry-after`, as the output is not searched then.
fn asked_seconds(outcome: &Outcome) -> Option<f64> {
    outcome.seen.wait_asked.map(seconds)
}
