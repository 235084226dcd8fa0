//! The summary of a run, for programs. The form is in `docs/report.schema.json`.

use std::collections::VecDeque;
use std::time::Duration;

use super::json::Object;
use super::log::{facts, reason, timestamp};
use crate::policy::session::GiveUp;
use crate::run::event::{Event, Moment};

/// The most attempts that are kept, those of the end; a run may last for years.
const MOST_ATTEMPTS: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Report {
    run_id: String,
    command: String,
    label: Option<String>,
    began: Option<Duration>,
    attempts: VecDeque<String>,
    total: u64,
    /// The entry of the last attempt, while the delay after it is not known.
    last: Option<Object>,
    /// Of the last attempt.
    started: Duration,
    result: Option<&'static str>,
    gave_up: Option<&'static str>,
}

/// How backoff ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With what the last event said.
    Decided,
    /// By a signal.
    Interrupted,
    /// backoff itself failed.
    Failed,
}

impl Report {
    /// Only the command's own name is reported, no argument.
    pub(crate) fn new(run_id: &str, command: &str, label: Option<&str>) -> Report {
        Report {
            run_id: run_id.to_owned(),
            command: command.to_owned(),
            label: label.map(str::to_owned),
            began: None,
            attempts: VecDeque::new(),
            total: 0,
            last: None,
            started: Duration::ZERO,
            result: None,
            gave_up: None,
        }
    }

    pub(crate) fn observe(&mut self, moment: &Moment, event: &Event<'_>) {
        self.began
            .get_or_insert(moment.time_of_day.saturating_sub(moment.elapsed));
        match event {
            Event::Started => {
                self.end_entry(None);
                self.started = moment.time_of_day;
            }
            Event::Ended { outcome, verdict } => {
                self.total += 1;
                let entry = Object::new()
                    .raw("attempt", moment.attempt)
                    .string("started", &timestamp(self.started));
                self.last = Some(facts(entry, outcome, *verdict));
            }
            Event::Retrying { delay, .. } | Event::Confirming { delay, .. } => self.end_entry(Some(*delay)),
            Event::Succeeded { .. } => self.result = Some("succeeded"),
            Event::FailureCame { .. } => self.result = Some("failure_came"),
            Event::GaveUp { why, .. } | Event::NoTime { why, .. } => self.give_up(*why),
            Event::Skipped { .. } => self.result = Some("skipped"),
            Event::Interrupted { .. } => self.result = Some("interrupted"),
            Event::Settings(_)
            | Event::Remark(_)
            | Event::ReadAhead
            | Event::CoolingOff(_)
            | Event::WaitEnded
            | Event::Nested(_)
            | Event::Warning(_)
            | Event::Failed(_) => {}
        }
    }

    fn give_up(&mut self, why: GiveUp) {
        (self.result, self.gave_up) = (Some("gave_up"), Some(reason(why)));
    }

    fn end_entry(&mut self, delay: Option<Duration>) {
        if let Some(entry) = self.last.take() {
            self.attempts
                .push_back(entry.optional("delay_s", delay.map(super::json::seconds)).end());
        }
        if self.attempts.len() > MOST_ATTEMPTS {
            self.attempts.pop_front();
        }
    }

    /// The report, once the status is known. `now` and `elapsed` are for a run that ended before anything
    /// happened.
    pub(crate) fn end(mut self, ending: Ending, exit_status: u8, now: Duration, elapsed: Duration) -> String {
        self.end_entry(None);
        let result = match (ending, self.result) {
            (Ending::Interrupted, _) => "interrupted",
            (Ending::Failed, _) | (Ending::Decided, None) => "failed",
            (Ending::Decided, Some(result)) => result,
        };
        let attempts: Vec<String> = self.attempts.into();
        let report = Object::new()
            .raw("schema", 1)
            .string("run_id", &self.run_id)
            .string("command", &self.command)
            .optional_string("label", self.label.as_deref())
            .string("started", &timestamp(self.began.unwrap_or(now.saturating_sub(elapsed))))
            .seconds("duration_s", elapsed)
            .string("result", result)
            .optional_string("gave_up", self.gave_up.filter(|_| result == "gave_up"))
            .raw("exit_status", exit_status)
            .raw("attempts_made", self.total)
            .raw("attempts", format_args!("[{}]", attempts.join(",")));
        report.end() + "\n"
    }
}
