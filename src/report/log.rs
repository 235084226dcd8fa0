//! Lines for programs, each a JSON object (`--log-format json`). `docs/log.schema.json` is the schema, so names and
//! words here are part of the interface. The report (`--report`) shares the fields of an attempt and the words for
//! ends.

use serde_json::{Value, json};

use super::json::{self, Fields, Object, seconds};
use super::rule;
use super::text::{self, Sentences};
use super::words;
use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome, Survival, Survivor};
use crate::policy::session::{GiveUp, Stop, Until};
use crate::policy::signal::Signal;
use crate::run::event::{Event, Moment};
use crate::run::plan::Plan;
use crate::text::{printable, timestamp};

/// The log as JSON lines, some of which wait for the decision whether the run has a log at all.
#[derive(Debug, Default)]
pub(super) struct JsonLog {
    /// Lines that are printed only if the run becomes eventful, and are otherwise dropped at its end.
    held: String,
    /// True after any logged event except the start of an attempt and a success without any failure.
    is_eventful: bool,
}

impl JsonLog {
    /// Returns the lines about an event, None if nothing is to be printed now. A run that succeeds without any failure
    /// or retry (`--until never`) has no lines, unless verbose or after a warning; any other run has a complete log. So lines are held back until an event decides that, and are then returned before its own. With
    /// `-q`, none is held back, and few events have lines.
    pub(super) fn lines(
        &mut self,
        sentences: &Sentences<'_>,
        moment: &Moment,
        event: &Event<'_>,
    ) -> Option<String> {
        let line = line(sentences, moment, event)?;
        let verbosity = sentences.plan.output.verbosity;
        if verbosity < 0 {
            // Only real warnings (not of nested runs), what tells that the command cannot start and,
            // unless `-qq` silences it, the end of a run that gave up.
            if sentences.least_verbosity(moment, event) > verbosity {
                return None;
            }
            return Some(line);
        }
        self.is_eventful |= match event {
            Event::Stopped { stop, .. } => *stop != Stop::Succeeded { flaky: false },
            event => !matches!(event, Event::Started),
        };
        if !self.is_eventful && verbosity == 0 {
            self.held.push_str(&line);
            return None;
        }
        Some(std::mem::take(&mut self.held) + &line)
    }
}

/// Returns the line about an event, or None if the log leaves the event out. The line with the result of the run
/// ([`result`]) has the totals, too.
fn line(sentences: &Sentences<'_>, moment: &Moment, event: &Event<'_>) -> Option<String> {
    let record = record(sentences, event)?;
    let mut fields = vec![
        ("ts", timestamp(moment.time_of_day).into()),
        ("run_id", sentences.identity.run_id.clone().into()),
        ("command", words::command_name(sentences.plan).into()),
        ("label", sentences.plan.output.label.clone().into()),
        ("event", record.name.into()),
        ("attempt", moment.attempt.into()),
    ];
    fields.extend(record.fields);
    if result(event).is_some() {
        let elapsed = seconds(moment.elapsed);
        fields.extend([
            ("attempts", moment.total.into()),
            ("elapsed_s", elapsed.into()),
        ]);
    }
    Some(json::line(&Object(fields)))
}

/// The part of a line that is the event's own.
struct Record {
    name: &'static str,
    fields: Fields,
}

impl Record {
    fn new(name: &'static str, fields: Fields) -> Record {
        Record { name, fields }
    }

    fn warning(message: String) -> Record {
        Record::new("warning", vec![("message", message.into())])
    }
}

/// Returns the record of an event, or None if the log leaves the event out: one that only people need, such as a
/// remark or a success that is still to be confirmed (`--consecutive`), or whose news another event tells, too.
fn record(sentences: &Sentences<'_>, event: &Event<'_>) -> Option<Record> {
    Some(match event {
        Event::Started => Record::new("attempt_started", vec![]),
        // Without a verdict, a signal or a fault of backoff ended the run: `interrupted` or a warning tells.
        Event::Ended { outcome, verdict } => return ended(sentences.plan, outcome, (*verdict)?),
        Event::Retrying {
            delay,
            is_asked,
            attempt,
        } => {
            // Null unless the output made the wait longer, even if it asked for a shorter one.
            let asked_s = if *is_asked {
                asked_seconds(&attempt.outcome)
            } else {
                None
            };
            let delay_s = seconds(*delay);
            Record::new(
                "retrying",
                vec![("delay_s", delay_s.into()), ("asked_s", asked_s.into())],
            )
        }
        Event::Warning(text) => Record::warning(printable(text)),
        Event::Failed(why) => Record::warning(format!("backoff itself failed: {why}")),
        // None leaves out the number of calls, which only people need.
        Event::Nested(nesting) => Record::warning(text::nested_warning(nesting, None)),
        Event::Interrupted { signal, .. } => {
            Record::new("interrupted", vec![("signal", signal.number().into())])
        }
        event => return end_of_run(sentences.plan, event),
    })
}

/// Returns the record of an attempt's end. None for a success if success is the goal: that of the last attempt is the
/// end of the run, which has a line of its own, without the attempt's fields.
fn ended(plan: &Plan, outcome: &Outcome, verdict: &Verdict) -> Option<Record> {
    let name = match verdict {
        // The line `succeeded` reports it, or nothing if another success has to follow (`--consecutive`).
        Verdict::Success if plan.limits.until == Until::Success => return None,
        Verdict::Success => "attempt_succeeded",
        _ => "attempt_failed",
    };
    let fields = attempt_fields(plan, outcome, Some(verdict));
    Some(Record::new(name, fields))
}

/// Returns the record of the event that ends the run, which is named after the result; with the reasons if the run gave
/// up. None for any other event, which has no result, and no line.
fn end_of_run(plan: &Plan, event: &Event<'_>) -> Option<Record> {
    let Some(why) = gave_up(event) else {
        return Some(Record::new(result(event)?, vec![]));
    };
    let fields = vec![
        ("reason", why.into()),
        ("rule", rule::of_end(plan, event).into()),
        ("asked_s", last_asked(event).into()),
    ];
    Some(Record::new("gave_up", fields))
}

/// Returns the result of the run in one word, for the log and the report, or None if the event does not end it. The
/// words are part of the interface, and stand in `record`, `end_of_run` and the report, too. Not final: a signal or a
/// fault while output is still printed is another event, and outweighs this one in the report. A fault of backoff has
/// no result here: the log has a warning instead, and the report says "failed".
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

/// Returns the fields of an attempt, for the log and the report. `verdict` is None if a signal or a fault of backoff
/// ended the run before the attempt was judged. Absent values are null, so that the object has the same fields always;
/// only `survivors` is left out if there are none, as there almost never are.
pub(super) fn attempt_fields(plan: &Plan, outcome: &Outcome, verdict: Option<&Verdict>) -> Fields {
    let signal = outcome.end.signal();
    // `code` would be 128+N after a signal, which the field `signal` already tells. It is 126 or 127 after a failed
    // start, and None after a timeout or if the command could not be ended.
    let code = if signal.is_some() {
        None
    } else {
        outcome.end.code()
    };
    let rule = verdict.and_then(|verdict| rule::of_attempt(plan, outcome, verdict));
    let reason = verdict.and_then(|verdict| reason(outcome, verdict));
    let mut fields = vec![
        ("duration_s", seconds(outcome.ran).into()),
        ("exit", code.into()),
        ("signal", signal.map(Signal::number).into()),
        ("timed_out", matches!(outcome.end, End::TimedOut(_)).into()),
        ("verdict", verdict.map(verdict_name).into()),
        ("reason", reason.into()),
        ("rule", rule.into()),
        ("asked_s", asked_seconds(outcome).into()),
    ];
    if !outcome.survivors.is_empty() {
        let survivors = outcome.survivors.iter().map(survivor).collect();
        fields.push(("survivors", Value::Array(survivors)));
    }
    fields
}

/// Returns how the attempt failed and, if a predicate or hook decided by failing itself, how that failed; None for a
/// success. Not escaped, as JSON escapes it.
fn reason(outcome: &Outcome, verdict: &Verdict) -> Option<String> {
    let why = verdict.why()?;
    let failure = words::how_it_failed(outcome, verdict, str::to_owned);
    Some(match why.predicate_or_hook_failure() {
        Some(failed) => format!("{failure}; {failed}"),
        None => failure,
    })
}

/// Returns the word for a verdict in the log and the report.
fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Success => "success",
        Verdict::Transient(_) => "transient",
        // `Ask` is left only with `--until failure`, which ends the run without asking `--retry-if`.
        Verdict::Permanent(_) | Verdict::Ask(_) => "permanent",
    }
}

/// Returns an object about a process of the attempt that could not be ended, for the field `survivors`.
fn survivor(Survivor { pid, program, why }: &Survivor) -> Value {
    let why = match why {
        Survival::Protected => "not_permitted",
        Survival::Unkillable => "unkillable",
    };
    json!({ "pid": pid, "program": program, "why": why })
}

/// Returns the wait that the output of the last attempt asked for, in seconds, for the end of a run; None if it asked
/// for none, or there was no attempt.
fn last_asked(event: &Event<'_>) -> Option<f64> {
    match event {
        Event::Stopped { attempt, .. } => asked_seconds(&attempt.outcome),
        _ => None,
    }
}

/// Returns the wait that the output asked for, in seconds, even if it is longer than the run waits; None if it asked
/// for none, and without `--retry-after`, as the output is not searched then.
fn asked_seconds(outcome: &Outcome) -> Option<f64> {
    outcome.seen.wait_asked.map(seconds)
}

/// Returns the reason for giving up in one word, for programs; None if the event is not the end of a run that gave up.
/// Reasons that a program would treat alike share a word; the field `rule` tells them apart.
pub(super) fn gave_up(event: &Event<'_>) -> Option<&'static str> {
    let why = match event {
        Event::Stopped { stop, .. } => stop.gave_up()?,
        Event::NoTimeToStart(why) => *why,
        _ => return None,
    };
    Some(match why {
        GiveUp::Permanent => "permanent",
        GiveUp::Attempts => "attempts",
        GiveUp::Deadline => "deadline",
        GiveUp::StopAfter => "stop_after",
        GiveUp::Delay | GiveUp::RetryAfterTooLong => "delay",
        GiveUp::Budget { .. } | GiveUp::StoreDown => "budget",
        GiveUp::NotIdempotent => "not_idempotent",
        GiveUp::Nested => "nested",
        GiveUp::Stdin => "stdin",
    })
}
