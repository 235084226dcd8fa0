//! What a run has to do with the budget that it shares: a question now and then, and what to make of the answer.

use std::time::Duration;

use super::event::Event;
use super::host::{Host, RunError};
use super::observer::Observer;
use super::state::Run;
use super::text::printable;
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop};

impl<H: Host, R, O: Observer> Run<'_, H, R, O> {
    /// Asks the budget. Where there is none, or it cannot be asked, there is no answer; the latter is told, once, and
    /// the run goes on without it.
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

/// What to tell the others at the end; `owed` gives the wait that would have come next.
pub(super) fn last_word(stop: Stop, verdict: &Verdict, owed: impl FnOnce() -> Duration) -> Option<Question> {
    match (stop, verdict) {
        (Stop::Succeeded { .. } | Stop::GaveUp(GiveUp::Permanent), _) => Some(Question::Recovered),
        // The outer run goes on and will say it.
        (Stop::GaveUp(GiveUp::Nested), _) => None,
        (Stop::GaveUp(_), Verdict::Transient(_)) => Some(Question::GaveUp(owed())),
        // Too few successes in a row: it neither failed nor is well.
        (Stop::GaveUp(_), _) => None,
    }
}
