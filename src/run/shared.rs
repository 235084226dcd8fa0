//! What a run has to do with the budget it shares: a question now and then, and what to make of the answer.

use std::time::Duration;

use rand::Rng;

use super::{Cut, Event, Host, Run};
use crate::budget::Budget;
use crate::observe::{Observer, words::harmless};
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop};

/// The budget of a run, as long as it can be asked.
pub(super) type Shared<'p> = Option<&'p Budget>;

impl<H: Host, R: Rng, O: Observer> Run<'_, H, R, O> {
    /// Asks those who share the budget. Where there is none, or it cannot be asked, there is no answer; the
    /// latter is told, once, and the run goes on without it.
    pub(super) fn ask_others(&mut self, question: Question) -> Result<Option<Answer>, Cut> {
        let Some(budget) = self.shared else { return Ok(None) };
        let asked = budget.clone();
        let answered = self
            .host
            .aside(budget.timeout, move || asked.ask(question))?
            .unwrap_or_else(|why| Err(format!("{}: {why}", budget.place)));
        let warning = match &answered {
            Ok(answered) => answered.warning.clone(),
            Err(why) => {
                self.shared = None;
                Some(format!("{why}; going on without the budget \"{}\"", budget.name))
            }
        };
        if let Some(warning) = warning {
            self.tell(&Event::Warning(harmless(&warning)))?;
        }
        Ok(answered.ok().map(|answered| answered.answer))
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
