//! Lines for programs, each a JSON object. `docs/log.schema.json` is the schema.

use serde::Serialize;

use super::json::{self, seconds};
use super::text::{self, Text};
use super::words::{self, timestamp};
use crate::policy::classifier::Verdict;
use crate::policy::outcome::{self, Outcome};
use crate::policy::session::{GiveUp, Until};
use crate::run::event::{Event, Moment};
use crate::run::plan::{Identity, Plan};

#[derive(Debug)]
pub(crate) struct JsonLog<'a> {
    plan: &'a Plan,
    run_id: &'a str,
    /// Lines that are printed only if an attempt fails or a warning comes.
    held: String,
    /// True until an attempt fails or a warning comes.
    is_uneventful: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    ts: String,
    run_id: &'a str,
    command: String,
    label: Option<&'a str>,
    event: &'static str,
    attempt: u64,
    #[serde(flatten)]
    facts: Option<AttemptFacts>,
    #[serde(flatten)]
    detail: Option<Detail>,
    #[serde(flatten)]
    end: Option<End>,
}

/// Field of a single kind of event.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Detail {
    DelayS(f64),
    Reason(&'static str),
    LeftS(f64),
    Signal(i32),
    Message(String),
}

/// Events that end a run.
const ENDS: [&str; 5] = ["failure_came", "succeeded", "gave_up", "skipped", "interrupted"];

#[derive(Serialize)]
struct End {
    attempts: u64,
    elapsed_s: f64,
}

/// Part of a line of the log and of an entry of the report.
#[derive(Debug, Serialize)]
pub(super) struct AttemptFacts {
    duration_s: f64,
    exit: Option<u8>,
    signal: Option<i32>,
    timed_out: bool,
    verdict: Option<&'static str>,
    reason: Option<String>,
}

impl<'a> JsonLog<'a> {
    pub(super) fn new(plan: &'a Plan, identity: &'a Identity) -> JsonLog<'a> {
        JsonLog {
            plan,
            run_id: &identity.run_id,
            held: String::new(),
            is_uneventful: true,
        }
    }

    /// Returns the lines about an event. A run that succeeds at once has no lines, unless verbose; any other run has a
    /// complete log.
    pub(super) fn lines(&mut self, text: &Text<'_>, moment: &Moment, event: &Event<'_>) -> Option<String> {
        let (event_name, detail) = self.record(event)?;
        let end = End {
            attempts: moment.total,
            elapsed_s: seconds(moment.elapsed),
        };
        let line = json::line(&Line {
            ts: timestamp(moment.time_of_day),
            run_id: self.run_id,
            command: words::command_name(self.plan),
            label: self.plan.output.label.as_deref(),
            event: event_name,
            attempt: moment.attempt,
            facts: match event {
                Event::Ended { outcome, verdict } => Some(facts(outcome, *verdict)),
                _ => None,
            },
            detail,
            end: ENDS.contains(&event_name).then_some(end),
        });
        let verbosity = self.plan.output.verbosity;
        if verbosity < 0 {
            return (text.least_verbosity(moment, event) < 0).then_some(line);
        }
        self.is_uneventful &= matches!(
            event,
            Event::Started | Event::Succeeded { flaky: false, .. } | Event::Skipped(_)
        );
        if self.is_uneventful && verbosity == 0 {
            self.held.push_str(&line);
            return None;
        }
        Some(std::mem::take(&mut self.held) + &line)
    }

    /// Returns the name of an event and its own field, or None if the log leaves the event out.
    fn record(&self, event: &Event<'_>) -> Option<(&'static str, Option<Detail>)> {
        let warning = |message| ("warning", Some(Detail::Message(message)));
        Some(match event {
            Event::Started => ("attempt_started", None),
            Event::Ended {
                verdict: Some(verdict), ..
            } => match verdict {
                Verdict::Success if self.plan.limits.until == Until::Success => return None,
                Verdict::Success => ("attempt_succeeded", None),
                _ => ("attempt_failed", None),
            },
            Event::Retrying { delay, .. } => ("retrying", Some(Detail::DelayS(seconds(*delay)))),
            Event::FailureCame(_) => ("failure_came", None),
            Event::Succeeded { .. } => ("succeeded", None),
            Event::GaveUp { why, .. } | Event::NoTime { why, .. } => ("gave_up", Some(Detail::Reason(reason(*why)))),
            Event::Skipped(left) => ("skipped", Some(Detail::LeftS(seconds(*left)))),
            Event::Interrupted { signal, .. } => ("interrupted", Some(Detail::Signal(signal.number()))),
            Event::Warning(text) => warning(text::warning(text)),
            Event::Failed(why) => warning(format!("backoff itself failed: {why}")),
            Event::CoolingOff(wait) => warning(format!("cooling off for {}", words::length(*wait))),
            Event::Nested(nesting) => warning(text::nested(nesting, None)),
            _ => return None,
        })
    }
}

pub(super) fn facts(outcome: &Outcome, verdict: Option<&Verdict>) -> AttemptFacts {
    use outcome::End;
    let (exit, signal) = match &outcome.end {
        End::Exited(code) => (Some(*code), None),
        End::Signaled(signal) => (None, Some(signal.number())),
        End::NotStarted(failure) => (Some(failure.code()), None),
        End::TimedOut(_) => (None, None),
    };
    let reason = verdict.filter(|verdict| **verdict != Verdict::Success).map(|verdict| {
        let failure = words::how_it_failed(outcome, verdict, str::to_owned);
        match verdict.reason().and_then(|reason| reason.why.failed_program()) {
            Some(failed) => format!("{failure}; {failed}"),
            None => failure,
        }
    });
    AttemptFacts {
        duration_s: seconds(outcome.ran),
        exit,
        signal,
        timed_out: matches!(outcome.end, End::TimedOut(_)),
        verdict: verdict.map(|verdict| match verdict {
            Verdict::Success => "success",
            Verdict::Transient(_) => "transient",
            Verdict::Permanent(_) | Verdict::Ask(_) => "permanent",
        }),
        reason,
    }
}

/// Returns the reason for giving up in one word.
pub(super) fn reason(why: GiveUp) -> &'static str {
    match why {
        GiveUp::Permanent => "permanent",
        GiveUp::Attempts => "attempts",
        GiveUp::Deadline => "deadline",
        GiveUp::StopAfter => "stop_after",
        GiveUp::Delay | GiveUp::RetryAfterTooLong => "delay",
        GiveUp::Budget(_) | GiveUp::StoreDown => "budget",
        GiveUp::NotIdempotent => "not_idempotent",
        GiveUp::Nested => "nested",
        GiveUp::Stdin => "stdin",
    }
}
