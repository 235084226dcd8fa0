//! State of a run, shared by the loop, the hooks and the budget.

use std::time::Duration;

use rand::Rng;

use super::event::{DescribeEvent, Event, JudgedAttempt, LINES_LOST, Moment};
use super::host::{Host, RunResult};
use super::plan::{Identity, Plan};
use crate::policy::limits::GiveUp;
use crate::policy::session::Session;

pub(super) struct Run<'a> {
    pub(super) plan: &'a Plan,
    pub(super) identity: &'a Identity,
    pub(super) host: &'a mut dyn Host,
    pub(super) rng: &'a mut dyn Rng,
    pub(super) reporter: &'a mut DescribeEvent<'a>,
    /// Decides after each attempt whether another follows.
    pub(super) session: Session<'a>,
    pub(super) store: StoreState,
    /// Time from the start of the run to its first attempt.
    pub(super) first_attempt_at: Duration,
    /// The attempt before the current one, None during the first.
    pub(super) previous: Option<JudgedAttempt>,
}

/// State from the answers of the budget.
#[derive(Debug, Default)]
pub(super) struct StoreState {
    /// The next attempt must not be counted when it begins. It was counted with the granted retry or by the outer run,
    /// or remains uncounted because no store answered the request for the retry.
    pub(super) skips_next_count: bool,
    /// The run has printed its only warning about the store.
    pub(super) has_warned: bool,
}

impl Run<'_> {
    /// Returns the time limit that forbids an attempt after this wait, counted from now, or None if it may begin.
    pub(super) fn out_of_time(&self, wait: Duration) -> Option<GiveUp> {
        self.session.exceeded_time_limit(self.host.elapsed(), wait)
    }

    /// Returns the time and the attempt of an event that happens now.
    pub(super) fn moment(&self) -> Moment {
        Moment {
            // Earlier events belong to the first attempt.
            attempt: self.session.attempt.max(1),
            total: self.session.total,
            elapsed: self.host.elapsed(),
            time_of_day: self.host.time_of_day(),
        }
    }

    /// Reports an event, and writes the lines about it, if any, to the log. A warning comes first if earlier lines were
    /// lost. An error is a signal that ends the run. Lines that cannot be written are not an error, because a log must
    /// not end a run.
    pub(super) fn emit(&mut self, event: &Event<'_>) -> RunResult<()> {
        let moment = self.moment();
        let Some(mut lines) = (self.reporter)(&moment, event) else {
            return Ok(());
        };
        if self.host.has_lost_lines() {
            let warning = (self.reporter)(&moment, &Event::Warning(LINES_LOST));
            lines.insert_str(0, &warning.unwrap_or_default());
        }
        self.host.write_log(&lines)
    }
}
