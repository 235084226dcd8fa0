//! Summary of a run, for programs. `docs/report.schema.json` is the schema.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;

use super::json::{self, seconds};
use super::log::{AttemptFacts, facts, reason};
use super::words::{command_name, timestamp};
use crate::policy::exit::Exit;
use crate::policy::session::GiveUp;
use crate::run::event::{Event, Moment};
use crate::run::host::RunError;
use crate::run::plan::{Identity, Plan};

/// Limit on the attempts in a report, as a run may last for years. The report keeps the last attempts.
const MOST_ATTEMPTS: usize = 10_000;

#[derive(Debug, Serialize)]
pub(crate) struct Report<'a> {
    schema: u8,
    run_id: &'a str,
    /// Without arguments, which may hold secrets.
    command: String,
    label: Option<&'a str>,
    started: Option<String>,
    duration_s: f64,
    result: Option<&'static str>,
    gave_up: Option<&'static str>,
    exit_status: u8,
    attempts_made: u64,
    attempts: VecDeque<Entry>,
    #[serde(skip)]
    attempt_started: Duration,
}

#[derive(Debug, Serialize)]
struct Entry {
    attempt: u64,
    started: String,
    #[serde(flatten)]
    facts: AttemptFacts,
    delay_s: Option<f64>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(plan: &'a Plan, identity: &'a Identity) -> Report<'a> {
        Report {
            schema: 1,
            run_id: &identity.run_id,
            command: command_name(plan),
            label: plan.output.label.as_deref(),
            started: None,
            duration_s: 0.0,
            result: None,
            gave_up: None,
            exit_status: 0,
            attempts_made: 0,
            attempts: VecDeque::new(),
            attempt_started: Duration::ZERO,
        }
    }

    pub(crate) fn observe(&mut self, moment: &Moment, event: &Event<'_>) {
        let started = || timestamp(moment.time_of_day.saturating_sub(moment.elapsed));
        self.started.get_or_insert_with(started);
        match event {
            Event::Started => self.attempt_started = moment.time_of_day,
            Event::Ended { outcome, verdict } => {
                self.attempts_made += 1;
                self.attempts.push_back(Entry {
                    attempt: moment.attempt,
                    started: timestamp(self.attempt_started),
                    facts: facts(outcome, *verdict),
                    delay_s: None,
                });
                if self.attempts.len() > MOST_ATTEMPTS {
                    self.attempts.pop_front();
                }
            }
            Event::Retrying { delay, .. } | Event::Confirming { delay, .. } => {
                if let Some(last) = self.attempts.back_mut() {
                    last.delay_s = Some(seconds(*delay));
                }
            }
            Event::Succeeded { .. } => self.result = Some("succeeded"),
            Event::FailureCame(_) => self.result = Some("failure_came"),
            Event::GaveUp { why, .. } | Event::NoTime { why, .. } => self.give_up(*why),
            Event::Skipped(_) => self.result = Some("skipped"),
            Event::Interrupted { .. } => self.result = Some("interrupted"),
            _ => {}
        }
    }

    fn give_up(&mut self, why: GiveUp) {
        (self.result, self.gave_up) = (Some("gave_up"), Some(reason(why)));
    }

    /// Returns the report of a run that ended with `result`, at `now` and after `elapsed`.
    pub(crate) fn end(
        mut self,
        result: &Result<Exit, RunError>,
        exit: Exit,
        now: Duration,
        elapsed: Duration,
    ) -> String {
        self.result = Some(match (result, self.result) {
            (Err(RunError::Interrupted(_)), _) => "interrupted",
            (Err(RunError::Fault(_)), _) | (Ok(_), None) => "failed",
            (Ok(_), Some(result)) => result,
        });
        if self.result != Some("gave_up") {
            self.gave_up = None;
        }
        self.started
            .get_or_insert_with(|| timestamp(now.saturating_sub(elapsed)));
        (self.duration_s, self.exit_status) = (seconds(elapsed), exit.shell_status());
        json::line(&self)
    }
}
