//! What a run has to do with the budget it shares: a question now and then, and what to make of the answer.

use super::{Cut, Event, Host, Moment, tell};
use crate::budget::Budget;
use crate::observe::{Observer, text::harmless};
use crate::policy::budget::{Answer, Question};
use crate::policy::classifier::Verdict;
use crate::policy::session::{GiveUp, Stop};

/// The budget of a run, as long as it can be asked.
pub(super) type Shared<'p> = Option<&'p Budget>;

/// Asks. Where there is no budget, or it cannot be asked, there is no answer; the latter is told, once, and
/// the run goes on without it.
pub(super) fn ask(
    shared: &mut Shared<'_>,
    host: &mut impl Host,
    observer: &mut impl Observer,
    moment: Moment,
    question: Question,
) -> Result<Option<Answer>, Cut> {
    let Some(budget) = *shared else { return Ok(None) };
    let asked = budget.clone();
    let answered = host
        .aside(budget.timeout, move || asked.ask(question))?
        .unwrap_or_else(|why| Err(format!("{}: {why}", budget.place)));
    let warning = match &answered {
        Ok(answered) => answered.warning.clone(),
        Err(why) => {
            *shared = None;
            Some(format!("{why}; going on without the budget \"{}\"", budget.name))
        }
    };
    if let Some(warning) = warning {
        tell(host, observer, moment, &Event::Warning(harmless(&warning)))?;
    }
    Ok(answered.ok().map(|answered| answered.answer))
}

/// What to tell the others at the end; `owed` gives the wait that would have come next.
pub(super) fn last_word(stop: Stop, verdict: &Verdict, owed: impl FnOnce() -> std::time::Duration) -> Option<Question> {
    match (stop, verdict) {
        (Stop::Succeeded { .. } | Stop::GaveUp(GiveUp::Permanent), _) => Some(Question::Recovered),
        // The outer run goes on and will say it.
        (Stop::GaveUp(GiveUp::Nested), _) => None,
        (Stop::GaveUp(_), Verdict::Transient(_)) => Some(Question::GaveUp(owed())),
        // Too few successes in a row: it neither failed nor is well.
        (Stop::GaveUp(_), _) => None,
    }
}
