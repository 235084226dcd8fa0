//! State of a run, shared by the loop, the hooks and the budget.

use std::time::Duration;

use rand::Rng;

use super::event::{DescribeEvent, Event, JudgedAttempt, LINES_LOST, Moment};
use super::host::{Host, RunResult};
use super::plan::{Identity, Plan};
use crate::policy::exit::Exit;
use crate::policy::session::{GiveUp, Session};

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
    /// Attempt before the current one; None during the first.
    pub(super) previous: Option<JudgedAttempt>,
}

/// The continuation after a step of the loop.
pub(super) enum Step {
    /// Goes on with the next step.
    Continue,
    /// Ends the run with this status.
    End(Exit),
}

/// State from the answers of the budget.
#[derive(Debug, Default)]
pub(super) struct StoreState {
    /// The next attempt must not be counted when it begins: it was counted with the granted retry or by the outer run,
    /// or, as no store answered the request for the retry, it stays uncounted.
    pub(super) skips_next_count: bool,
    /// The one warning about the store that a run prints is printed.
    pub(super) has_warned: bool,
}

impl Run<'_> {
    /// Returns the limit on time that forbids an attempt after this wait, counted from now; None if it may begin.
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

    /// Tells the reporter about an event, and writes the lines that it returns, if any, to the log. They begin with a
    /// warning if earlier lines were lost. An error is a signal that ends the run; lines that cannot be written are no
    /// error, as a log must not end a run.
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
