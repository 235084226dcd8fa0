//! Summary of a run for programs (`--report`), collected from the events and written once at the end.
//! `docs/report.schema.json` is its schema, so names and words here are part of the interface.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use super::json::{self, seconds};
use super::records::{AttemptRecord, command_name, end_of_run};
use crate::policy::exit::Exit;
use crate::run::event::{Event, Moment};
use crate::run::host::RunError;
use crate::run::plan::{Identity, Plan};
use crate::text::timestamp;

/// Limit on the attempts in a report, because a run may last for years. The last ones are kept.
const MOST_ATTEMPTS: usize = 10_000;

/// The fields of the report, in order. Those not known yet have defaults.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report<'a> {
    schema: u8,
    run_id: &'a str,
    /// Without arguments, which may contain secrets.
    command: String,
    label: Option<&'a str>,
    started: String,
    duration_s: f64,
    result: Option<&'static str>,
    /// One-word reason for giving up, None if the run did not.
    gave_up: Option<&'static str>,
    /// What made the run give up: an option, or a fixed word.
    rule: Option<String>,
    /// 128+N if signal N kills backoff itself.
    exit_status: u8,
    /// All finished attempts, including those that `attempts` has dropped.
    attempts_made: u64,
    attempts: VecDeque<Entry>,
    /// Start of the current attempt since the UNIX epoch, until its end adds it to `attempts`.
    #[serde(skip)]
    attempt_started: Duration,
}

/// A finished attempt.
#[derive(Debug, Serialize)]
struct Entry {
    attempt: u64,
    started: String,
    #[serde(flatten)]
    record: AttemptRecord,
    /// None if no delay followed.
    delay_s: Option<f64>,
}

impl<'a> Report<'a> {
    /// Returns the report of a run that has not begun. Events and the end set the other fields.
    pub(crate) fn new(plan: &'a Plan, identity: &'a Identity) -> Report<'a> {
        Report {
            schema: 1,
            run_id: &identity.run_id,
            command: command_name(plan),
            label: plan.output.label.as_deref(),
            ..Report::default()
        }
    }

    /// Notes the time of day at which the run begins, since the UNIX epoch. It cannot be computed at the end, because
    /// the clock may be set during the run.
    pub(crate) fn begin(&mut self, now: Duration) {
        self.started = timestamp(now);
    }

    /// Adds what an event tells to the report: an entry for a finished attempt, the delay to follow it (even if the run
    /// ends meanwhile), or the result of the run. Drops the oldest entry if there are too many. Events must come in
    /// order, because a delay is added to the last entry.
    pub(super) fn observe(&mut self, plan: &Plan, moment: &Moment, event: &Event<'_>) {
        match event {
            Event::Started => self.attempt_started = moment.time_of_day,
            Event::Ended { outcome, verdict } => {
                self.attempts_made += 1;
                self.attempts.push_back(Entry {
                    attempt: moment.attempt,
                    started: timestamp(self.attempt_started),
                    record: AttemptRecord::new(plan, outcome, *verdict),
                    delay_s: None,
                });
                if self.attempts.len() > MOST_ATTEMPTS {
                    self.attempts.pop_front();
                }
            }
            Event::Retrying { delay, .. } | Event::Confirming { delay, .. } => {
                if let Some(entry) = self.attempts.back_mut() {
                    entry.delay_s = Some(seconds(*delay));
                }
            }
            event => {
                if let Some(end) = end_of_run(plan, event) {
                    self.result = Some(end.result);
                    self.gave_up = end.gave_up;
                    self.rule = end.rule;
                }
            }
        }
    }

    /// Returns the report of a run that took `elapsed` and whose loop returned `result`. `exit` is backoff's status,
    /// which an error also has. An error overrides the result that an event told before, because a signal or fault may
    /// have come later.
    pub(crate) fn end(
        mut self,
        result: &Result<Exit, RunError>,
        exit: Exit,
        elapsed: Duration,
    ) -> String {
        self.result = Some(match (result, self.result) {
            (Err(RunError::Interrupted(_)), _) => "interrupted",
            // `(Ok, None)` is not reached, because an event reports every end without a fault.
            (Err(RunError::Fault(_)), _) | (Ok(_), None) => "failed",
            (Ok(_), Some(result)) => result,
        });
        // If a signal ended a run that gave up, the reason to give up did not end it.
        if self.result != Some("gave_up") {
            self.gave_up = None;
            self.rule = None;
        }
        self.duration_s = seconds(elapsed);
        self.exit_status = exit.shell_status();
        json::line(&self)
    }
}
