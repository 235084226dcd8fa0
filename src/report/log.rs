//! Lines for programs: one JSON object each. The form is in `docs/log.schema.json`.

use std::ffi::OsString;
use std::time::Duration;

use super::json::Object;
use super::text::Text;
use super::words;
use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome};
use crate::policy::session::{GiveUp, Until};
use crate::run::event::{Event, Moment};
use crate::run::plan::{Identity, Plan};

#[derive(Debug)]
pub(crate) struct JsonLog<'a> {
    identity: &'a Identity,
    command: &'a [OsString],
    label: Option<&'a str>,
    until: Until,
    /// -1 for quiet, 1 and more for verbose.
    verbosity: i16,
    /// Lines that will be printed only if not all goes well.
    held: String,
    /// No attempt has failed so far, and nothing was to be warned of.
    is_uneventful: bool,
}

impl<'a> JsonLog<'a> {
    pub(super) fn new(identity: &'a Identity, plan: &'a Plan) -> JsonLog<'a> {
        JsonLog {
            identity,
            command: &plan.command,
            label: plan.output.label.as_deref(),
            until: plan.limits.until,
            verbosity: plan.output.verbosity,
            held: String::new(),
            is_uneventful: true,
        }
    }

    /// The lines about an event. A run that succeeds at once says nothing, unless asked to; the log of any
    /// other is complete.
    pub(crate) fn lines(&mut self, moment: &Moment, event: &Event<'_>) -> Option<String> {
        let lines = self.object(moment, event)?.end() + "\n";
        if self.verbosity < 0 {
            return is_an_error(event).then_some(lines);
        }
        self.is_uneventful &= matches!(
            event,
            Event::Started | Event::Succeeded { flaky: false, .. } | Event::Skipped { .. }
        );
        if self.is_uneventful && self.verbosity == 0 {
            self.held.push_str(&lines);
            return None;
        }
        Some(std::mem::take(&mut self.held) + &lines)
    }

    fn object(&self, moment: &Moment, event: &Event<'_>) -> Option<Object> {
        let begin = |name: &str| {
            Object::new()
                .string("ts", &timestamp(moment.time_of_day))
                .string("run_id", &self.identity.run_id)
                .string("command", &self.command.first().map(words::name).unwrap_or_default())
                .optional_string("label", self.label)
                .string("event", name)
                .raw("attempt", moment.attempt)
        };
        let end = |object: Object| {
            object
                .raw("attempts", moment.total)
                .seconds("elapsed_s", moment.elapsed)
        };
        let warning = |text: &str| begin("warning").string("message", text);
        Some(match event {
            Event::Started => begin("attempt_started"),
            Event::Ended {
                outcome,
                verdict: Some(verdict),
            } if **verdict != Verdict::Success => facts(begin("attempt_failed"), outcome, Some(verdict)),
            Event::Ended {
                outcome,
                verdict: Some(verdict),
            } if self.until != Until::Success => {
                let word = begin("attempt_succeeded");
                facts(word, outcome, Some(verdict))
            }
            Event::Settings(_)
            | Event::Remark(_)
            | Event::ReadAhead
            | Event::WaitEnded
            | Event::Ended { .. }
            | Event::Confirming { .. } => return None,
            Event::Retrying { delay, .. } => begin("retrying").seconds("delay_s", *delay),
            Event::FailureCame { .. } => end(begin("failure_came")),
            Event::Succeeded { .. } => end(begin("succeeded")),
            Event::GaveUp { why, .. } | Event::NoTime { why, .. } => {
                end(begin("gave_up").string("reason", reason(*why)))
            }
            Event::Skipped { left } => end(begin("skipped").seconds("left_s", *left)),
            Event::Interrupted { signal, .. } => end(begin("interrupted").raw("signal", signal.number())),
            Event::Warning(text) => warning(text),
            Event::Failed(why) => warning(&format!("backoff itself failed: {why}")),
            Event::CoolingOff(wait) => warning(&format!("cooling off for {}", words::span(*wait))),
            Event::Nested(nesting) => warning(&Text::nested(nesting, None)),
        })
    }
}

/// Returns true if the line is printed with `--quiet`: backoff's own errors, and why the command cannot be started.
fn is_an_error(event: &Event<'_>) -> bool {
    match event {
        Event::Warning(_) | Event::Failed(_) => true,
        Event::Ended { outcome, .. } | Event::GaveUp { outcome, .. } => matches!(outcome.end, End::NotStarted(_)),
        _ => false,
    }
}

/// How an attempt ended and what that means: what a line of the log and an entry of the report share.
pub(super) fn facts(object: Object, outcome: &Outcome, verdict: Option<&Verdict>) -> Object {
    let (exit, signal) = match &outcome.end {
        End::Exited(code) => (Some(*code), None),
        End::Signaled(signal) => (None, Some(signal.number())),
        End::NotStarted(failure) => (Some(failure.code()), None),
        End::TimedOut(_) => (None, None),
    };
    let word = verdict.map(|verdict| match verdict {
        Verdict::Success => "success",
        Verdict::Transient(_) => "transient",
        Verdict::Permanent(_) | Verdict::Ask(_) => "permanent",
    });
    let reason = verdict.filter(|verdict| **verdict != Verdict::Success).map(|verdict| {
        let failure = words::failure(outcome, verdict, str::to_owned);
        match verdict.reason().and_then(|reason| reason.why.failed_program()) {
            Some(failed) => format!("{failure}; {failed}"),
            None => failure,
        }
    });
    object
        .seconds("duration_s", outcome.ran)
        .optional("exit", exit)
        .optional("signal", signal)
        .raw("timed_out", matches!(outcome.end, End::TimedOut(_)))
        .optional_string("verdict", word)
        .optional_string("reason", reason.as_deref())
}

/// Why a run gave up, in one word.
pub(super) fn reason(why: GiveUp) -> &'static str {
    match why {
        GiveUp::Permanent => "permanent",
        GiveUp::Attempts => "attempts",
        GiveUp::Deadline => "deadline",
        GiveUp::StopAfter => "stop_after",
        // The delay that the output asked for is one, too.
        GiveUp::Delay | GiveUp::RetryAfterTooLong => "delay",
        GiveUp::Budget(_) => "budget",
        GiveUp::NotIdempotent => "not_idempotent",
        GiveUp::Nested => "nested",
        GiveUp::Stdin => "stdin",
    }
}

/// A time since the UNIX epoch in UTC (RFC 3339), down to the millisecond.
pub(super) fn timestamp(time: Duration) -> String {
    // Later than what humantime writes (the year 9999) is no time that a clock shows.
    let time = time.min(Duration::from_secs(253_402_300_799));
    humantime::format_rfc3339_millis(std::time::UNIX_EPOCH + time).to_string()
}
