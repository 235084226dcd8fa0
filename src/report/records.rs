//! Lines of the JSON log (`--log-format json`), and what the report (`--report`) shares with them. Field names and the
//! words for ends are part of the interface. `docs/log.schema.json` and `docs/report.schema.json` describe them.

use serde::Serialize;

use super::endings::{limit, rule_of_attempt, rule_of_end};
use super::failure::how_it_failed;
use super::json::{self, seconds};
use super::text::{Sentences, nested_warning};
use crate::policy::classifier::Verdict;
use crate::policy::limits::Until;
use crate::policy::outcome::{End, Outcome, Survivor};
use crate::policy::session::Stop;
use crate::policy::signal::Signal;
use crate::run::event::{Event, Moment};
use crate::run::plan::Plan;
use crate::text::{name, printable, timestamp};

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

/// The part of a line that is specific to the event.
#[derive(Serialize)]
#[serde(untagged)]
enum Fields {
    None {},
    Attempt(AttemptRecord),
    Retrying {
        delay_s: f64,
        /// None unless the output made the wait longer. A request for a shorter one does not count.
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

/// Additional fields of a line about the end of the run.
#[derive(Serialize)]
struct Totals {
    attempts: u64,
    elapsed_s: f64,
}

/// A finished attempt. Absent values are null, but `survivors` is left out if empty, as it almost always is.
#[derive(Debug, Serialize)]
pub(super) struct AttemptRecord {
    duration_s: f64,
    /// 126 or 127 after a failed start. None after a signal or a timeout, or if it has not ended.
    exit: Option<u8>,
    signal: Option<i32>,
    timed_out: bool,
    /// None if a signal or a fault of backoff ended the run before the attempt was judged.
    verdict: Option<&'static str>,
    reason: Option<String>,
    rule: Option<String>,
    asked_s: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    survivors: Vec<Survivor>,
}

impl AttemptRecord {
    pub(super) fn new(plan: &Plan, outcome: &Outcome, verdict: Option<&Verdict>) -> AttemptRecord {
        let signal = outcome.end.signal();
        // After a signal, the code would be 128+N.
        let exit = if signal.is_some() {
            None
        } else {
            outcome.end.code()
        };
        AttemptRecord {
            duration_s: seconds(outcome.ran),
            exit,
            signal: signal.map(Signal::number),
            timed_out: matches!(outcome.end, End::TimedOut(_)),
            verdict: verdict.map(verdict_name),
            reason: verdict.and_then(|verdict| reason(outcome, verdict)),
            rule: verdict.and_then(|verdict| rule_of_attempt(plan, outcome, verdict)),
            asked_s: asked_seconds(outcome),
            survivors: outcome.survivors.clone(),
        }
    }
}

/// Returns the line about an event. None if the log leaves the event out, by its verbosity or because only people need
/// it.
pub(super) fn line(
    sentences: &Sentences<'_>,
    moment: &Moment,
    event: &Event<'_>,
) -> Option<String> {
    let plan = sentences.plan;
    let is_shown = match event {
        // A log without an end would look like that of a run that was killed.
        Event::Interrupted { .. } => plan.output.verbosity >= 0,
        _ => plan.output.verbosity >= sentences.least_verbosity(moment, event),
    };
    if !is_shown {
        return None;
    }
    let (name, fields) = name_and_fields(plan, event)?;
    let totals = end_of_run(plan, event).map(|_| Totals {
        attempts: moment.total,
        elapsed_s: seconds(moment.elapsed),
    });
    Some(json::line(&Line {
        ts: timestamp(moment.time_of_day),
        run_id: &sentences.identity.run_id,
        command: command_name(plan),
        label: plan.output.label.as_deref(),
        event: name,
        attempt: moment.attempt,
        fields,
        totals,
    }))
}

/// Returns the name and the fields of an event. None if only people need it, or if another event also tells it.
fn name_and_fields(plan: &Plan, event: &Event<'_>) -> Option<(&'static str, Fields)> {
    let warning = |message| ("warning", Fields::Warning { message });
    Some(match event {
        Event::Started => ("attempt_started", Fields::None {}),
        // Without a verdict, a signal or a fault of backoff ended the run.
        Event::Ended { outcome, verdict } => return ended(plan, outcome, (*verdict)?),
        Event::Retrying {
            delay,
            is_asked,
            attempt,
        } => {
            let delay_s = seconds(*delay);
            let asked_s = if *is_asked {
                asked_seconds(&attempt.outcome)
            } else {
                None
            };
            ("retrying", Fields::Retrying { delay_s, asked_s })
        }
        Event::Warning(text) => warning(printable(text)),
        Event::Failed(why) => warning(format!("backoff itself failed: {why}")),
        // Without the number of calls, which only people need.
        Event::Nested(nesting) => warning(nested_warning(nesting, None)),
        Event::Interrupted { signal, .. } => {
            let signal = signal.number();
            ("interrupted", Fields::Interrupted { signal })
        }
        event => {
            let end = end_of_run(plan, event)?;
            (end.result, end.fields())
        }
    })
}

/// Returns the name and the fields of an attempt's end. None for a success if success is the goal, because the end of
/// the run tells it or another success has to follow (`--consecutive`).
fn ended(plan: &Plan, outcome: &Outcome, verdict: &Verdict) -> Option<(&'static str, Fields)> {
    let name = match verdict {
        Verdict::Success if plan.limits.until == Until::Success => return None,
        Verdict::Success => "attempt_succeeded",
        _ => "attempt_failed",
    };
    let record = AttemptRecord::new(plan, outcome, Some(verdict));
    Some((name, Fields::Attempt(record)))
}

/// The end of a run, for the log and the report. In the report, an error of the run overrides it, because a signal or a
/// fault may follow while output is still being printed.
#[derive(Default)]
pub(super) struct EndOfRun {
    pub(super) result: &'static str,
    /// One-word reason for giving up, None if the run did not.
    pub(super) gave_up: Option<&'static str>,
    /// What made the run give up.
    pub(super) rule: Option<String>,
    asked_s: Option<f64>,
}

impl EndOfRun {
    fn fields(self) -> Fields {
        match (self.gave_up, self.rule) {
            (Some(reason), Some(rule)) => Fields::GaveUp {
                reason,
                rule,
                asked_s: self.asked_s,
            },
            _ => Fields::None {},
        }
    }
}

/// Returns the end of the run if an event tells it, None for any other event. A fault of backoff is not an end here.
/// The log has a warning instead, and the report says "failed".
pub(super) fn end_of_run(plan: &Plan, event: &Event<'_>) -> Option<EndOfRun> {
    let result = match event {
        Event::Stopped { stop, attempt } => match stop {
            // With `--until never`, a limit ended the run, but after a success.
            Stop::Succeeded { .. } | Stop::EndedOnSuccess(_) => "succeeded",
            Stop::FailureCame => "failure_came",
            Stop::GaveUp(why) => {
                return Some(EndOfRun {
                    result: "gave_up",
                    gave_up: Some(limit(&plan.limits, *why).word),
                    rule: Some(rule_of_end(plan, *why, attempt)),
                    asked_s: asked_seconds(&attempt.outcome),
                });
            }
        },
        Event::NoTimeToStart(why) => {
            let limit = limit(&plan.limits, *why);
            return Some(EndOfRun {
                result: "gave_up",
                gave_up: Some(limit.word),
                rule: Some(limit.option.to_owned()),
                asked_s: None,
            });
        }
        Event::Interrupted { .. } => "interrupted",
        _ => return None,
    };
    Some(EndOfRun {
        result,
        ..EndOfRun::default()
    })
}

/// Returns the command's name without its arguments, which may contain secrets.
pub(super) fn command_name(plan: &Plan) -> String {
    plan.command.first().map(name).unwrap_or_default()
}

/// Returns how the attempt failed and, if a predicate or hook decided by failing itself, how that failed. None for a
/// success. Not escaped, because JSON does that.
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
        // `Ask` remains only with `--until failure`, which ends the run without asking `--retry-if`.
        Verdict::Permanent(_) | Verdict::Ask(_) => "permanent",
    }
}

/// Returns the wait that the output asked for, in seconds, even if the run waits less. None if it asked for none, and
/// without `--retry-after`, because the output is not searched then.
fn asked_seconds(outcome: &Outcome) -> Option<f64> {
    outcome.seen.wait_asked.map(seconds)
}
