//! The loop: attempt, verdict, decision, wait.

use std::cell::RefCell;
use std::time::Duration;

use rand::{Rng, RngExt};

use super::event::{Event, JudgedAttempt, Moment, Reporter, Wait, Warning};
use super::host::{Attempt, Host, RunError};
use super::plan::{Identity, Plan};
use super::state::Run;
use crate::policy::classifier::Verdict;
use crate::policy::exit::{self, Exit};
use crate::policy::outcome::{Bound, End, Outcome};
use crate::policy::session::{Decision, GiveUp, Stop, Until};
use crate::policy::signal::Signal;

/// How an attempt counts whose kept output the deadline has cut off.
const UNREAD: End = End::TimedOut(Bound::Deadline);

/// Runs the command until it succeeds, or until running it again is of no use or not allowed. What was
/// kept of the last attempt's output is printed on every way out.
pub(crate) fn run<'a>(
    plan: &'a Plan,
    identity: &'a Identity,
    host: &'a mut dyn Host,
    rng: &'a mut dyn Rng,
    reporter: &'a mut Reporter<'a>,
) -> Result<Exit, RunError> {
    let mut run = Run::new(plan, identity, host, rng, reporter);
    let mut result = run.until_decided();
    if result.is_err() {
        // Prints nothing where it has begun already.
        result = run.release(false).and(result);
    }
    match &result {
        Ok(_) => {}
        Err(RunError::Interrupted(signal)) => run.emit(&Event::Interrupted {
            signal: *signal,
            outcome: None,
        })?,
        Err(RunError::Fault(why)) => {
            // A signal in place of its reader changes nothing about the status.
            let _ = run.emit(&Event::Failed(why));
        }
    }
    result
}

impl Run<'_> {
    fn until_decided(&mut self) -> Result<Exit, RunError> {
        if let Some(exit) = self.before_the_first_attempt()? {
            self.release(false)?;
            return Ok(exit);
        }
        loop {
            if let Some(why) = self.out_of_time(Duration::ZERO) {
                return self.too_late(why);
            }
            let Attempt { outcome, interrupted } = self.make_attempt()?;
            if let Some(signal) = interrupted {
                return self.interrupted(signal, &outcome);
            }
            let attempt = self.judge(outcome)?;
            match self.decide(&attempt)? {
                Decision::Stop(stop) => return self.stop(stop, &attempt),
                Decision::Confirm(delay) => self.wait_to_confirm(delay, &attempt.outcome)?,
                Decision::Retry(delay) => {
                    if let Some(exit) = self.wait_to_retry(delay, &attempt)? {
                        return Ok(exit);
                    }
                }
            }
            self.previous = Some(attempt);
        }
    }

    /// An exit if there will be none.
    fn before_the_first_attempt(&mut self) -> Result<Option<Exit>, RunError> {
        for warning in &self.plan.warnings {
            self.emit(&Event::Warning(Warning::Text(warning)))?;
        }
        for remark in &self.plan.remarks {
            self.emit(&Event::Remark(remark))?;
        }
        if !self.plan.effective.is_empty() {
            self.emit(&Event::Settings(&self.plan.effective))?;
        }
        let wait = self.plan.initial_delay.saturating_add(splay(self.plan.splay, self.rng));
        self.wait(wait, Wait::Start)?;
        let exit = self.cool_off()?;
        self.first_attempt_at = self.host.elapsed();
        Ok(exit)
    }

    /// Waits out what an earlier run left to wait; an exit if that would pass the deadline, or the run is not to wait.
    fn cool_off(&mut self) -> Result<Option<Exit>, RunError> {
        // A run around this one that shares the budget has waited, and has itself to blame for what is left since.
        let budget = self.plan.budget.as_ref().filter(|budget| !budget.is_counted);
        let Some(cool_off) = budget.and_then(|budget| budget.cool_off) else {
            return Ok(None);
        };
        let answer = self.ask_for_cool_off()?;
        let left = answer.map_or(Duration::ZERO, |answer| answer.cool_off.min(cool_off.longest));
        if left.is_zero() {
            return Ok(None);
        }
        if cool_off.skips {
            self.emit(&Event::Skipped { left })?;
            return Ok(Some(exit::skipped(self.plan.overrides)));
        }
        // Random upwards only: many runs may have been told the same.
        let wait = self.plan.delays.at_least(left, left / 4, self.rng);
        if let Some(why) = self.out_of_time(wait) {
            let cool_off = Some(wait);
            self.emit(&Event::NoTime { why, cool_off })?;
            return Ok(Some(exit::no_attempt_in_time(self.plan.overrides)));
        }
        self.emit(&Event::CoolingOff(wait))?;
        self.wait(wait, Wait::CoolOff)?;
        Ok(None)
    }

    fn make_attempt(&mut self) -> Result<Attempt, RunError> {
        (self.attempt, self.total) = (self.session.attempt(), self.session.total() + 1);
        if !self.is_counted {
            self.begin_counting();
        }
        self.emit(&Event::Started)?;
        let spec = self.attempt_spec();
        let attempt = self.host.attempt(&spec)?;
        if attempt.outcome.seen.input_read_ahead {
            self.emit(&Event::ReadAhead)?;
        }
        if attempt.outcome.seen.reader_gone && attempt.outcome.end == End::Exited(0) && attempt.interrupted.is_none() {
            // It has said all it had to say into backoff's pipe; bare, it would have died of that.
            return Err(RunError::Interrupted(Signal::PIPE));
        }
        Ok(attempt)
    }

    fn judge(&mut self, outcome: Outcome) -> Result<JudgedAttempt, RunError> {
        let verdict = self.verdict(&outcome);
        self.emit(&Event::Ended {
            outcome: &outcome,
            verdict: verdict.as_ref().ok(),
        })?;
        let verdict = verdict?;
        let has_run_and_failed = verdict != Verdict::Success && !outcome.could_not_start();
        if has_run_and_failed && self.total == 1 {
            for remark in &self.plan.remarks_on_failure {
                self.emit(&Event::Remark(remark))?;
            }
        }
        Ok(JudgedAttempt { outcome, verdict })
    }

    /// The budget is asked last, as it counts what it grants.
    fn decide(&mut self, JudgedAttempt { outcome, verdict }: &JudgedAttempt) -> Result<Decision, RunError> {
        let mut decision = self.session.next(outcome, verdict, self.host.elapsed(), self.rng);
        // What follows a success is no retry.
        let has_failed = *verdict != Verdict::Success;
        if has_failed || !matches!(decision, Decision::Stop(_)) {
            // Before anything is waited for, which keys may end. Only what succeeds may have been to set the terminal.
            self.host.tidy_terminal();
        }
        if let Decision::Retry(delay) = decision
            && has_failed
        {
            self.planned_wait = Some(delay);
            decision = match self.ask_for_retry(delay)? {
                (Some(why), _) => Decision::Stop(Stop::GaveUp(why)),
                (None, left) => Decision::Retry(left),
            };
        }
        self.is_counted = has_failed && matches!(decision, Decision::Retry(_));
        Ok(decision)
    }

    fn wait_to_confirm(&mut self, delay: Duration, outcome: &Outcome) -> Result<(), RunError> {
        self.emit(&Event::Confirming { outcome, delay })?;
        self.wait(delay, Wait::Confirm)
    }

    fn wait(&mut self, delay: Duration, wait: Wait<'_>) -> Result<(), RunError> {
        let begin = self.moment();
        let end = begin.elapsed.saturating_add(delay);
        let reporter = RefCell::new(&mut *self.reporter);
        let shown = |left: Duration, columns| {
            let moment = Moment {
                elapsed: end.saturating_sub(left),
                ..begin
            };
            let countdown = Event::Countdown { wait, left, columns };
            reporter.borrow_mut()(&moment, &countdown).unwrap_or_default()
        };
        if self.host.wait(delay, Some(&shown))? {
            Ok(())
        } else {
            self.emit(&Event::WaitEnded)
        }
    }

    /// An exit if there is no time for it any more, or it is not to be.
    fn wait_to_retry(&mut self, delay: Duration, attempt: &JudgedAttempt) -> Result<Option<Exit>, RunError> {
        if let Some(why) = self.out_of_time(delay) {
            return self.stop_for(why, attempt).map(Some);
        }
        self.announce_retry(delay, attempt)?;
        // The store and the log may have taken their time, and so may a hook.
        if self.out_of_time(delay).is_none() {
            self.hook_on_retry(delay, attempt)?;
        }
        if let Some(why) = self.out_of_time(delay) {
            return self.stop_for(why, attempt).map(Some);
        }
        self.planned_wait = None;
        self.wait(delay, Wait::Retry(attempt))?;
        self.before_retry(attempt)
    }

    fn announce_retry(&mut self, delay: Duration, attempt: &JudgedAttempt) -> Result<(), RunError> {
        if self.plan.nesting.warn && self.session.retries() == 1 {
            self.emit(&Event::Nested(&self.plan.nesting))?;
        }
        let may_have_taken_effect = attempt.verdict.reason().is_some_and(|reason| !reason.is_safe_to_repeat);
        if let Some(remark) = &self.plan.remark_on_retry
            && self.session.retries() == 1
            && may_have_taken_effect
        {
            self.emit(&Event::Remark(remark))?;
        }
        // --reset-after may have started the count again with this attempt.
        self.attempt = self.session.attempt() - 1;
        self.emit(&Event::Retrying {
            attempt,
            delay,
            is_asked: self.session.is_wait_asked(),
        })
    }

    /// Returns the limit that forbids an attempt after this wait, if one does.
    pub(super) fn out_of_time(&self, wait: Duration) -> Option<GiveUp> {
        self.session.out_of_time(self.host.elapsed(), wait)
    }

    fn stop_for(&mut self, why: GiveUp, attempt: &JudgedAttempt) -> Result<Exit, RunError> {
        let stop = self.session.ended_by(why, &attempt.verdict);
        self.stop(stop, attempt)
    }

    pub(super) fn stop(&mut self, stop: Stop, attempt: &JudgedAttempt) -> Result<Exit, RunError> {
        let JudgedAttempt { outcome, verdict } = attempt;
        let until = self.plan.limits.until;
        let succeeded = match until {
            Until::Success | Until::Never => matches!(stop, Stop::Succeeded { .. } | Stop::Ended(_)),
            // Whatever that is for the run, the output is that of a success or of a failure.
            Until::Failure => *verdict == Verdict::Success,
        };
        let released = self.release(succeeded);
        if let Err(RunError::Interrupted(signal)) = released
            && signal != Signal::PIPE
        {
            return Err(RunError::Interrupted(signal));
        }
        if released == Ok(true) && matches!(stop, Stop::Succeeded { .. } | Stop::Ended(_)) {
            self.host.discard_held_messages();
        }
        // Whether this run's own output found a reader changes nothing of what the others should know.
        let told = self.report_end(stop, attempt);
        // A success that has been handed on is one, whatever signal comes while others are told.
        if !succeeded {
            told?;
        }
        if !released? {
            return self.unread(stop, attempt);
        }
        match stop {
            Stop::Succeeded { flaky } => self.emit(&Event::Succeeded { flaky, ended_by: None })?,
            Stop::Ended(why) => self.emit(&Event::Succeeded {
                flaky: false,
                ended_by: Some((why, attempt)),
            })?,
            Stop::FailureCame => self.emit(&Event::FailureCame(attempt))?,
            Stop::GaveUp(why) => self.give_up(why, attempt)?,
        }
        Ok(exit::status(until, stop, &outcome.end, self.plan.overrides))
    }

    /// The deadline has cut off kept output: whatever the command did, what the caller has of it is incomplete.
    fn unread(&mut self, stop: Stop, attempt: &JudgedAttempt) -> Result<Exit, RunError> {
        let cut_off;
        let (why, attempt) = match stop {
            Stop::GaveUp(why) => (why, attempt),
            Stop::Succeeded { .. } | Stop::Ended(_) | Stop::FailureCame => {
                let outcome = Outcome::new(UNREAD, attempt.outcome.ran);
                let verdict = attempt.verdict.clone();
                cut_off = JudgedAttempt { outcome, verdict };
                // It was carried out: an outer scheduler may try later only what it may do twice.
                match self.plan.limits.idempotent {
                    true => (GiveUp::Deadline, &cut_off),
                    false => (GiveUp::NotIdempotent, &cut_off),
                }
            }
        };
        self.give_up(why, attempt)?;
        Ok(exit::status(
            Until::Success,
            Stop::GaveUp(why),
            &UNREAD,
            self.plan.overrides,
        ))
    }

    fn give_up(&mut self, why: GiveUp, attempt: &JudgedAttempt) -> Result<(), RunError> {
        self.emit(&Event::GaveUp { why, attempt })?;
        self.hook_on_give_up(why, attempt)
    }

    /// Prints what was kept. Whether all of it was read; if not, that is told.
    fn release(&mut self, succeeded: bool) -> Result<bool, RunError> {
        let is_read = self.host.release(succeeded)?;
        if !is_read {
            self.emit(&Event::Warning(Warning::OutputCutOff))?;
        }
        Ok(is_read)
    }

    /// TERM, INT, HUP or QUIT came while the attempt ran: it was the last.
    fn interrupted(&mut self, signal: Signal, outcome: &Outcome) -> Result<Exit, RunError> {
        let succeeded = self.plan.classifier.has_good_code(&outcome.end);
        let is_read = self.release(succeeded)?;
        if is_read && succeeded {
            self.host.discard_held_messages();
        }
        self.emit(&Event::Ended { outcome, verdict: None })?;
        self.emit(&Event::Interrupted {
            signal,
            outcome: Some(outcome),
        })?;
        match exit::as_it_ended(if is_read { &outcome.end } else { &UNREAD }) {
            // It would say that a failure came.
            Exit::Code(0) if self.plan.limits.until == Until::Failure => Ok(Exit::Code(1)),
            exit => Ok(exit),
        }
    }

    /// Ends a run whose limit passed while backoff waited or was stopped (Ctrl-Z), or `--before-retry` ran.
    fn too_late(&mut self, why: GiveUp) -> Result<Exit, RunError> {
        match self.previous.take() {
            Some(attempt) => self.stop_for(why, &attempt),
            None => {
                self.release(false)?;
                self.emit(&Event::NoTime { why, cool_off: None })?;
                Ok(exit::no_attempt_in_time(self.plan.overrides))
            }
        }
    }
}

/// Uniform in [0, most].
fn splay(most: Duration, rng: &mut dyn Rng) -> Duration {
    if most.is_zero() {
        return most;
    }
    let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(rng.random_range(0..=most))
}
