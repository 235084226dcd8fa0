//! The budget that a run shares: asking it, and telling it how the run ended.

use std::time::Duration;

use super::event::Event;
use super::host::RunError;
use super::state::Run;
use super::text::printable;
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop};

impl Run<'_> {
    /// None where there is no budget. One that cannot be asked is warned of once, and the run goes on without it.
    pub(super) fn ask_budget(&mut self, question: Question) -> Result<Option<Answer>, RunError> {
        let Some(budget) = self.budget else { return Ok(None) };
        let (answer, warning) = match self.host.ask_budget(budget, question)? {
            Ok(answered) => (Some(answered.answer), answered.warning),
            Err(why) => {
                self.budget = None;
                let warning = format!("{why}; going on without the budget \"{}\"", budget.name);
                (None, Some(warning))
            }
        };
        if let Some(warning) = warning {
            self.tell(&Event::Warning(printable(&warning)))?;
        }
        Ok(answer)
    }
}

/// What the runs of the same budget should know of the end of this one. `next_wait` is the wait that would have followed.
pub(super) fn final_update(stop: Stop, verdict: &Verdict, next_wait: impl FnOnce() -> Duration) -> Option<Question> {
    match (stop, verdict) {
        (Stop::Succeeded { .. } | Stop::GaveUp(GiveUp::Permanent), _) => Some(Question::Recovered),
        // The outer run goes on and will say it.
        (Stop::GaveUp(GiveUp::Nested), _) => None,
        (Stop::GaveUp(_), Verdict::Transient(_)) => Some(Question::GaveUp(next_wait())),
        // Too few successes in a row: neither a failure nor a success.
        (Stop::GaveUp(_), _) => None,
    }
}
