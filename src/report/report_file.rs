//! Summary of a run, for programs (`--report`): collected from the events, and written once at the end.
//! `docs/report.schema.json` is the schema, so that names and words here are part of the interface.

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

/// Limit on the attempts in a report, the last ones, as a run may last for years.
const MOST_ATTEMPTS: usize = 10_000;

/// The fields of the report, in their order. Those that are not known yet have defaults.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report<'a> {
    schema: u8,
    run_id: &'a str,
    /// Without arguments, which may hold secrets.
    command: String,
    label: Option<&'a str>,
    started: String,
    duration_s: f64,
    result: Option<&'static str>,
    /// The reason for giving up in one word; None if the run did not give up.
    gave_up: Option<&'static str>,
    /// What decided that the run gave up: an option, or a fixed word.
    rule: Option<String>,
    /// 128 + the number of the signal if backoff itself ends by one.
    exit_status: u8,
    /// All attempts that have ended, also those that `attempts` has dropped.
    attempts_made: u64,
    attempts: VecDeque<Entry>,
    /// The start of the current attempt, as time since the UNIX epoch, until its end adds it to `attempts`.
    #[serde(skip)]
    attempt_started: Duration,
}

/// An attempt that has ended.
#[derive(Debug, Serialize)]
struct Entry {
    attempt: u64,
    started: String,
    #[serde(flatten)]
    record: AttemptRecord,
    /// None if none followed.
    delay_s: Option<f64>,
}

impl<'a> Report<'a> {
    /// Returns the report of a run that has not begun. The other fields are set by events, and at the end.
    pub(crate) fn new(plan: &'a Plan, identity: &'a Identity) -> Report<'a> {
        Report {
            schema: 1,
            run_id: &identity.run_id,
            command: command_name(plan),
            label: plan.output.label.as_deref(),
            ..Report::default()
        }
    }

    /// Notes the time of day at which the run begins, since the UNIX epoch. Cannot be computed at the end, as the clock
    /// may be set during the run.
    pub(crate) fn begin(&mut self, now: Duration) {
        self.started = timestamp(now);
    }

    /// Adds what an event tells to the report: an entry for an attempt that ended, the delay that is to follow it, even
    /// if the run ends meanwhile, or the result of the run. Drops the oldest entry if there are too many. The events
    /// must come in order, as a delay is added to the last entry.
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

    /// Returns the text of the report of a run that ended after `elapsed`, and whose loop returned `result`. `exit` is
    /// the status of backoff, which an error has, too. An error outweighs the result that an event told before: a
    /// signal or a fault may have come after that.
    pub(crate) fn end(
        mut self,
        result: &Result<Exit, RunError>,
        exit: Exit,
        elapsed: Duration,
    ) -> String {
        self.result = Some(match (result, self.result) {
            (Err(RunError::Interrupted(_)), _) => "interrupted",
            // `(Ok, None)` is not reached: an event reports every end without a fault.
            (Err(RunError::Fault(_)), _) | (Ok(_), None) => "failed",
            (Ok(_), Some(result)) => result,
        });
        // A signal may end a run that gave up: then the reason to give up did not end it.
        if self.result != Some("gave_up") {
            self.gave_up = None;
            self.rule = None;
        }
        self.duration_s = seconds(elapsed);
        self.exit_status = exit.shell_status();
        json::line(&self)
    }
}
