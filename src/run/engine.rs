//! The loop.

use std::time::Duration;

use rand::{Rng, RngExt};

use super::event::Event;
use super::host::{Attempt, Host, RunError};
use super::observer::Observer;
use super::plan::{Identity, Plan};
use super::state::Run;
use super::{budget, variables};
use crate::policy::budget::Question;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::exit::{self, Exit};
use crate::policy::outcome::{End, Outcome};
use crate::policy::session::{Decision, GiveUp, Session, Stop};
use crate::policy::signal::Signal;

/// A retry was decided on, and now there is no time for it.
const OUT_OF_TIME: Stop = Stop::GaveUp(GiveUp::Deadline);

/// Runs the command until it succeeds, or until running it again is of no use or not allowed. What was
/// kept of the last attempt's output is printed on every way out.
pub fn run(
    plan: &Plan,
    identity: &Identity,
    host: &mut impl Host,
    rng: &mut impl Rng,
    observer: &mut impl Observer,
) -> Result<Exit, RunError> {
    let mut run = Run {
        plan,
        identity,
        host,
        rng,
        observer,
        session: Session::new(&plan.limits, &plan.delays, &plan.classes),
        budget: plan.budget.as_ref(),
        first_began: Duration::ZERO,
        attempt: 1,
        total: 0,
        last: None,
    };
    let mut result = run.all_attempts();
    if result.is_err() {
        // Prints nothing where it has begun already.
        result = run.host.release(false).and(result);
    }
    match &result {
        Ok(_) => {}
        Err(RunError::Interrupted(signal)) => run.tell(&Event::Interrupted(*signal))?,
        Err(RunError::Fault(why)) => {
            // A signal in place of its reader changes nothing about the status.
            let _ = run.tell(&Event::Failed(why));
        }
    }
    result
}

impl<H: Host, R: Rng, O: Observer> Run<'_, H, R, O> {
    fn all_attempts(&mut self) -> Result<Exit, RunError> {
        for remark in &self.plan.remarks {
            self.tell(&Event::Remark(remark))?;
        }
        if !self.plan.effective.is_empty() {
            self.tell(&Event::Settings(&self.plan.effective))?;
        }
        let before = self.plan.initial_delay.saturating_add(splay(self.plan.splay, self.rng));
        self.host.wait(before, None)?;
        if let Some(exit) = self.cool_off()? {
            return Ok(exit);
        }
        self.first_began = self.host.elapsed();
        // A retry is counted when it is granted.
        let mut is_counted = false;
        loop {
            if self.session.passes_deadline(self.host.elapsed(), Duration::ZERO) {
                return self.too_late();
            }
            (self.attempt, self.total) = (self.session.attempt(), self.session.total() + 1);
            if !is_counted {
                self.ask_budget(Question::Attempt)?;
            }
            let Attempt { outcome, interrupted } = self.make_attempt()?;
            if let Some(signal) = interrupted {
                return self.interrupted(signal, &outcome);
            }
            let verdict = self.judge(&outcome)?;
            self.tell(&Event::Ended {
                outcome: &outcome,
                verdict: Some(&verdict),
            })?;
            let (decision, owed) = self.decide(&outcome, &verdict)?;
            is_counted = matches!(decision, Decision::Retry(_));
            match decision {
                Decision::Stop(stop) => return self.stop(stop, &outcome, &verdict, owed),
                Decision::Confirm(delay) => {
                    self.tell(&Event::Confirming { delay })?;
                    self.host.wait(delay, None)?;
                }
                Decision::Retry(delay) => {
                    self.announce(delay, &outcome, &verdict)?;
                    // The store, the log and a hook may have taken their time.
                    if self.session.passes_deadline(self.host.elapsed(), delay) {
                        return self.stop(OUT_OF_TIME, &outcome, &verdict, Some(delay));
                    }
                    self.wait_to_retry(delay, &outcome, &verdict)?;
                }
            }
            self.last = Some((outcome, verdict));
        }
    }

    fn make_attempt(&mut self) -> Result<Attempt, RunError> {
        self.tell(&Event::Started)?;
        let spec = self.attempt_spec(self.plan.bounds.clone());
        let attempt = self.host.attempt(&spec)?;
        if attempt.outcome.seen.reader_gone && attempt.outcome.end == End::Exited(0) && attempt.interrupted.is_none() {
            // It has said all it had to say into backoff's pipe; bare, it would have died of that.
            return Err(RunError::Interrupted(Signal::PIPE));
        }
        Ok(attempt)
    }

    /// What the attempt means; `--retry-if` is asked where the rules do not say.
    fn judge(&mut self, outcome: &Outcome) -> Result<Verdict, RunError> {
        match (self.plan.classifier.judge(outcome), &self.plan.retry_if) {
            (Verdict::Ask(reason), Some(shell)) => {
                let mut spec = self.attempt_spec(self.plan.bounds.without_those_of_an_attempt());
                spec.variables.extend(variables::of_failure(outcome, Some(&reason)));
                answered(reason, &self.host.ask(shell, &spec)?)
            }
            (verdict, _) => Ok(verdict),
        }
    }

    /// Stop, or go on after this wait? The budget has the last word. With it, the wait that it does not grant.
    fn decide(&mut self, outcome: &Outcome, verdict: &Verdict) -> Result<(Decision, Option<Duration>), RunError> {
        let decision = self.session.next(outcome, verdict, self.host.elapsed(), self.rng);
        if let Decision::Retry(delay) = decision
            && let Some(answer) = self.ask_budget(Question::Retry)?
            && !answer.allowed
        {
            let stop = Stop::GaveUp(GiveUp::Budget(answer.counts));
            return Ok((Decision::Stop(stop), Some(delay)));
        }
        Ok((decision, None))
    }

    fn announce(&mut self, delay: Duration, outcome: &Outcome, verdict: &Verdict) -> Result<(), RunError> {
        if self.plan.nesting.warn && self.session.retries() == 1 {
            self.tell(&Event::Nested(self.plan.nesting))?;
        }
        // --reset-after may have started the count again with this attempt.
        self.attempt = self.session.attempt() - 1;
        self.tell(&Event::Retrying {
            outcome,
            verdict,
            delay,
        })?;
        self.hook_on_retry(delay, outcome, verdict)
    }

    fn wait_to_retry(&mut self, delay: Duration, outcome: &Outcome, verdict: &Verdict) -> Result<(), RunError> {
        let moment = self.moment();
        let observer = &*self.observer;
        self.host
            .wait(delay, Some(&|left| observer.countdown(&moment, outcome, verdict, left)))
    }

    /// `not_begun` is a wait that was decided on; what a failed run owes is drawn where there is none.
    fn stop(
        &mut self,
        stop: Stop,
        outcome: &Outcome,
        verdict: &Verdict,
        not_begun: Option<Duration>,
    ) -> Result<Exit, RunError> {
        let succeeded = matches!(stop, Stop::Succeeded { .. });
        let released = self.host.release(succeeded);
        if let Err(RunError::Interrupted(signal)) = released
            && signal != Signal::PIPE
        {
            return Err(RunError::Interrupted(signal));
        }
        // Whether this run's own output found a reader changes nothing of what the others should know.
        let owed = || not_begun.unwrap_or_else(|| self.session.owed(outcome, self.rng));
        if let Some(word) = budget::last_word(stop, verdict, owed) {
            let told = self.ask_budget(word);
            // A success that has been handed on is one, whatever signal comes while others are told.
            if !succeeded {
                told?;
            }
        }
        released?;
        match stop {
            Stop::Succeeded { flaky } => self.tell(&Event::Succeeded { flaky })?,
            Stop::GaveUp(why) => {
                self.tell(&Event::GaveUp { why, outcome, verdict })?;
                self.hook_on_give_up(why, outcome, verdict)?;
            }
        }
        Ok(exit::status(stop, &outcome.end, self.plan.overrides))
    }

    /// TERM, INT, HUP or QUIT came while the attempt ran: it was the last.
    fn interrupted(&mut self, signal: Signal, outcome: &Outcome) -> Result<Exit, RunError> {
        self.host.release(outcome.end == End::Exited(0))?;
        self.tell(&Event::Ended { outcome, verdict: None })?;
        self.tell(&Event::Interrupted(signal))?;
        Ok(exit::as_it_ended(&outcome.end))
    }

    /// Waits out what an earlier run left to wait; the end of the run if that would pass the deadline.
    fn cool_off(&mut self) -> Result<Option<Exit>, RunError> {
        if !self.plan.budget.as_ref().is_some_and(|budget| budget.cool_off) {
            return Ok(None);
        }
        let answer = self.ask_budget(Question::CoolOff)?;
        let left = answer.map_or(Duration::ZERO, |answer| answer.cool_off);
        if left.is_zero() {
            return Ok(None);
        }
        // Random upwards only: many runs may have been told the same.
        let wait = self.plan.delays.at_least(left, left / 4, self.rng);
        if self.session.passes_deadline(self.host.elapsed(), wait) {
            self.tell(&Event::NoTime { cool_off: Some(wait) })?;
            return Ok(Some(exit::no_attempt_in_time(self.plan.overrides)));
        }
        self.tell(&Event::CoolingOff(wait))?;
        self.host.wait(wait, None)?;
        Ok(None)
    }

    /// backoff was stopped (Ctrl-Z) while it waited, for longer than the deadline allows.
    fn too_late(&mut self) -> Result<Exit, RunError> {
        match self.last.take() {
            Some((outcome, verdict)) => self.stop(OUT_OF_TIME, &outcome, &verdict, None),
            None => {
                self.host.release(false)?;
                self.tell(&Event::NoTime { cool_off: None })?;
                Ok(exit::no_attempt_in_time(self.plan.overrides))
            }
        }
    }
}

/// What the answer of `--retry-if` means: 0 is transient, 1 permanent, anything else an error of the
/// predicate, which is told and counts as permanent.
fn answered(reason: Reason, answer: &Attempt) -> Result<Verdict, RunError> {
    if let Some(signal) = answer.interrupted {
        return Err(RunError::Interrupted(signal));
    }
    let rule = Why::Rule("--retry-if".to_owned());
    Ok(match &answer.outcome.end {
        End::Exited(0) => Verdict::Transient(Reason { why: rule, ..reason }),
        End::Exited(1) => Verdict::Permanent(Reason { why: rule, ..reason }),
        end => Verdict::Permanent(Reason {
            why: Why::PredicateFailed(end.to_string()),
            ..reason
        }),
    })
}

/// Uniform in [0, most].
fn splay(most: Duration, rng: &mut impl Rng) -> Duration {
    if most.is_zero() {
        return most;
    }
    let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(rng.random_range(0..=most))
}
