//! The loop: attempt, verdict, decision, wait.

use std::cell::RefCell;
use std::time::Duration;

use rand::Rng;

use super::before_retry_env::ExtraEnv;
use super::budget::RetryAnswer;
use super::event::{DescribeEvent, Event, Interruption, JudgedAttempt, Moment, Wait};
use super::host::{Attempt, Host, KeptOutput, Printed, RunError, RunResult, WaitEnd};
use super::plan::{Identity, Plan};
use super::state::{Run, Step, StoreState};
use crate::policy::classifier::Verdict;
use crate::policy::exit::{self, BY_DEADLINE, Ending, Exit};
use crate::policy::outcome::{End, Outcome};
use crate::policy::session::{Decision, GiveUp, Session, Stop, Until};
use crate::policy::signal::Signal;

const OUTPUT_CUT_OFF: &str = "kept output is cut off, as it was not read in time";

/// Runs the command until it succeeds, or until no retry is useful or allowed. Kept output of the last attempt is
/// printed on every way out.
pub(crate) fn run<'a>(
    plan: &'a Plan,
    identity: &'a Identity,
    host: &'a mut dyn Host,
    rng: &'a mut dyn Rng,
    reporter: &'a mut DescribeEvent<'a>,
) -> RunResult<Exit> {
    let mut run = Run {
        plan,
        identity,
        host,
        rng,
        reporter,
        session: Session::new(&plan.limits, &plan.delays),
        store: StoreState::default(),
        first_attempt_at: Duration::ZERO,
        planned_wait: None,
        previous: None,
        extra_env: ExtraEnv::default(),
    };
    run.store.is_next_counted = plan.shares_budget_of_outer_run();
    let mut result = run.loop_until_end();
    if result.is_err() {
        // Prints nothing if printing has already begun.
        result = run.print_kept(KeptOutput::OfFailure).and(result);
    }
    // A signal while the line is written does not change the result.
    let _ = match &result {
        Ok(_) => Ok(()),
        Err(RunError::Interrupted(signal)) => run.emit(&Event::Interrupted {
            signal: *signal,
            by: Interruption::OfBackoff,
            outcome: None,
        }),
        Err(RunError::Fault(why)) => run.emit(&Event::Failed(why)),
    };
    result
}

impl Run<'_> {
    /// Makes attempts until the run ends.
    fn loop_until_end(&mut self) -> RunResult<Exit> {
        if let Step::End(exit) = self.before_the_first_attempt()? {
            // Messages may have been kept (`--stderr failure`).
            self.print_kept(KeptOutput::OfFailure)?;
            return Ok(exit);
        }
        let mut last = None;
        loop {
            // Ctrl-Z or `--before-retry` may have lengthened the wait.
            if let Some(why) = self.out_of_time(Duration::ZERO) {
                return self.end_too_late(why, last.as_ref());
            }
            self.previous = last;
            let Attempt {
                outcome,
                interrupted,
            } = self.make_attempt()?;
            if let Some(signal) = interrupted {
                return self.end_interrupted(signal, Interruption::OfBackoff, &outcome);
            }
            if let Some(signal) = self.plan.classifier.interruption(&outcome) {
                return self.end_interrupted(signal, Interruption::OfCommand, &outcome);
            }
            let attempt = self.judge(outcome)?;
            match self.decide(&attempt)? {
                Decision::Stop(stop) => return self.stop(stop, &attempt),
                Decision::Confirm(delay) => {
                    let outcome = &attempt.outcome;
                    self.emit(&Event::Confirming { outcome, delay })?;
                    self.wait(delay, Wait::Confirm)?;
                }
                Decision::Retry(delay) => {
                    if let Step::End(exit) = self.wait_to_retry(delay, &attempt)? {
                        return Ok(exit);
                    }
                }
            }
            last = Some(attempt);
        }
    }

    /// Prints warnings, and waits for `--initial-delay`, `--splay` and the cool-off.
    fn before_the_first_attempt(&mut self) -> RunResult<Step> {
        let plan = self.plan;
        for warning in &plan.warnings {
            self.emit(&Event::Warning(warning))?;
        }
        self.remark(&plan.remarks)?;
        let wait = plan.initial_wait(self.rng);
        self.wait(wait, Wait::Start)?;
        let step = self.wait_for_cool_off()?;
        self.first_attempt_at = self.host.elapsed();
        Ok(step)
    }

    /// Waits until the cool-off of an earlier run ends. Ends this run if it has no time for that, or is to skip.
    fn wait_for_cool_off(&mut self) -> RunResult<Step> {
        // An outer run that shares the budget has already waited.
        let own_budget = self.plan.own_budget();
        let Some(options) = own_budget.and_then(|budget| budget.cool_off) else {
            return Ok(Step::Continue);
        };
        let left = self.ask_for_cool_off()?.min(options.longest);
        if left.is_zero() {
            return Ok(Step::Continue);
        }
        if let Some(code) = options.skipped_exit {
            self.emit(&Event::Skipped(left))?;
            return Ok(Step::End(self.exit(Ending::Skipped { code })));
        }
        // Many runs may wait for the same end. Up to a quarter is added at random to spread them.
        let wait = self.plan.delays.at_least(left, left / 4, self.rng);
        if let Some(why) = self.out_of_time(wait) {
            let cool_off = Some(wait);
            self.emit(&Event::NoTime { why, cool_off })?;
            return Ok(Step::End(self.exit(Ending::NoAttemptInTime)));
        }
        self.emit(&Event::CoolingOff(wait))?;
        self.wait(wait, Wait::CoolOff)?;
        Ok(Step::Continue)
    }

    /// Runs the command once. Returns an error if the run ends without a verdict: no reader has taken the output.
    fn make_attempt(&mut self) -> RunResult<Attempt> {
        self.session.begin();
        self.begin_counting()?;
        self.emit(&Event::Started)?;
        let spec = self.attempt_spec();
        let attempt = self.host.attempt(&spec)?;
        let outcome = &attempt.outcome;
        if outcome.seen.input_read_ahead {
            self.emit(&Event::ReadAhead)?;
        }
        if let Some(what) = &outcome.seen.not_kept {
            let warning = format!("{what}; it is printed as it comes");
            self.emit(&Event::Warning(&warning))?;
        }
        if outcome.seen.reader_gone
            && outcome.end == End::Exited(0)
            && attempt.interrupted.is_none()
        {
            // backoff's pipe took all output; without backoff the command would have died of SIGPIPE.
            self.emit(&Event::Ended {
                outcome,
                verdict: None,
            })?;
            return Err(RunError::Interrupted(Signal::PIPE));
        }
        Ok(attempt)
    }

    /// Judges an attempt by rules and predicates, and reports its end.
    fn judge(&mut self, outcome: Outcome) -> RunResult<JudgedAttempt> {
        let judged = self.verdict(&outcome);
        // The end is reported even if a signal interrupts a predicate.
        self.emit(&Event::Ended {
            outcome: &outcome,
            verdict: judged.as_ref().ok(),
        })?;
        let verdict = judged?;
        if verdict != Verdict::Success && !outcome.could_not_start() && self.session.total == 1 {
            self.remark(&self.plan.remarks_on_failure)?;
        }
        Ok(JudgedAttempt { outcome, verdict })
    }

    /// Decides the step after an attempt. The budget comes last, as it counts each retry that it grants.
    fn decide(
        &mut self,
        JudgedAttempt { outcome, verdict }: &JudgedAttempt,
    ) -> RunResult<Decision> {
        let mut decision = self
            .session
            .next(outcome, verdict, self.host.elapsed(), self.rng);
        let has_failed = *verdict != Verdict::Success;
        if has_failed || !matches!(decision, Decision::Stop(_)) {
            // A command that ends the run with success may have set the terminal on purpose.
            self.host.tidy_terminal();
        }
        // An attempt after a success is not a retry.
        if let Decision::Retry(delay) = decision
            && has_failed
        {
            self.planned_wait = Some(delay);
            decision = match self.ask_for_retry(delay)? {
                RetryAnswer::Granted { rest_of_delay } => Decision::Retry(rest_of_delay),
                RetryAnswer::Denied(why) => Decision::Stop(Stop::GaveUp(why)),
            };
        }
        // The budget counts a retry as it grants one.
        self.store.is_next_counted = has_failed && matches!(decision, Decision::Retry(_));
        Ok(decision)
    }

    /// Waits with a countdown. SIGUSR1 may end the wait early.
    fn wait(&mut self, delay: Duration, wait: Wait<'_>) -> RunResult<()> {
        let begin = Moment {
            attempt: self.session.next_attempt(),
            ..self.moment()
        };
        let end = begin.elapsed.saturating_add(delay);
        // The host takes a shared closure, and the reporter has to be borrowed mutably.
        let reporter = RefCell::new(&mut *self.reporter);
        let countdown_text = |left: Duration, columns| {
            // Computed, as the closure cannot ask the waiting host, which is borrowed.
            let elapsed = end.saturating_sub(left);
            let countdown = Event::Countdown {
                wait,
                left,
                columns,
            };
            reporter.borrow_mut()(&Moment { elapsed, ..begin }, &countdown).unwrap_or_default()
        };
        match self.host.wait(delay, &countdown_text)? {
            WaitEnd::Elapsed => Ok(()),
            WaitEnd::Skipped => self.emit(&Event::WaitSkipped),
        }
    }

    /// Announces a retry, runs `--on-retry`, waits, and runs `--before-retry`. Gives up if time runs out meanwhile.
    fn wait_to_retry(&mut self, delay: Duration, attempt: &JudgedAttempt) -> RunResult<Step> {
        // The budget, the log and the hook may each take time.
        if let Some(why) = self.out_of_time(delay) {
            return self.give_up(why, attempt).map(Step::End);
        }
        self.announce_retry(delay, attempt)?;
        if self.out_of_time(delay).is_none() {
            self.hook_on_retry(delay, attempt)?;
        }
        if let Some(why) = self.out_of_time(delay) {
            return self.give_up(why, attempt).map(Step::End);
        }
        self.planned_wait = None;
        self.wait(delay, Wait::Retry(attempt))?;
        self.before_retry(attempt)
    }

    /// Reports a retry; at the first one, warns about a nested run, and remarks that the command may take effect twice.
    fn announce_retry(&mut self, delay: Duration, attempt: &JudgedAttempt) -> RunResult<()> {
        let nesting = &self.plan.nesting;
        if self.session.retries == 1 {
            if nesting.warns {
                self.emit(&Event::Nested(nesting))?;
            }
            let may_have_taken_effect = attempt
                .verdict
                .reason()
                .is_some_and(|reason| !reason.is_safe_to_repeat);
            // An inner run is silent, as the outermost one remarks on the same command.
            if may_have_taken_effect && nesting.depth == 0 {
                self.remark(self.plan.remark_on_retry.as_slice())?;
            }
        }
        let asked = self.session.is_wait_asked;
        self.emit(&Event::Retrying {
            attempt,
            delay,
            asked,
        })
    }

    /// Prints remarks, each on a line.
    fn remark(&mut self, remarks: &[String]) -> RunResult<()> {
        for remark in remarks {
            self.emit(&Event::Remark(remark))?;
        }
        Ok(())
    }

    /// Ends the run for this reason, with `--until never` as a success if its last attempt was one.
    fn give_up(&mut self, why: GiveUp, attempt: &JudgedAttempt) -> RunResult<Exit> {
        let stop = self.session.ended_by(why, &attempt.verdict);
        self.stop(stop, attempt)
    }

    /// Ends the run: prints kept output, reports the end to the shared budget, then to the user.
    pub(super) fn stop(&mut self, stop: Stop, attempt: &JudgedAttempt) -> RunResult<Exit> {
        let until = self.plan.limits.until;
        let has_succeeded = matches!(stop, Stop::Succeeded { .. } | Stop::EndedOnSuccess(_));
        let is_good = match until {
            Until::Success | Until::Never => has_succeeded,
            // The failure is the goal, but `--stderr failure` must print its output.
            Until::Failure => attempt.verdict == Verdict::Success,
        };
        let printed = self.print_kept(kept_output(is_good));
        match printed {
            // With `--stderr failure`, a run that succeeds prints nothing.
            Ok(Printed::Complete) if has_succeeded => self.host.drop_later_messages(),
            Err(RunError::Interrupted(signal)) if signal != Signal::PIPE => {
                return Err(RunError::Interrupted(signal));
            }
            // Goes on after a fault or without a reader, too, so that runs with the same budget learn of the end.
            _ => {}
        }
        let reported = self.report_end(stop, attempt);
        // A run that does not give up ends as decided, even if a signal comes during the report to the budget.
        if stop.gave_up().is_some() {
            reported?;
        }
        if printed? == Printed::CutOff {
            return self.stop_cut_off(stop, attempt);
        }
        self.announce_end(stop, attempt)?;
        let end = &attempt.outcome.end;
        Ok(self.exit(Ending::Stopped { stop, end, until }))
    }

    /// Ends a run whose kept output was cut off by the deadline: like a timeout, as the caller has only a part.
    fn stop_cut_off(&mut self, stop: Stop, attempt: &JudgedAttempt) -> RunResult<Exit> {
        let timed_out = JudgedAttempt {
            outcome: Outcome::new(BY_DEADLINE, attempt.outcome.ran),
            verdict: attempt.verdict.clone(),
        };
        let stop = if stop.gave_up().is_some() {
            self.announce_end(stop, attempt)?;
            stop
        } else {
            // The command took effect: unless it is idempotent, an outer scheduler must not try it again.
            let why = if self.plan.limits.idempotent {
                GiveUp::Deadline
            } else {
                GiveUp::NotIdempotent
            };
            let stop = Stop::GaveUp(why);
            self.announce_end(stop, &timed_out)?;
            stop
        };
        Ok(self.exit(Ending::CutOff { stop }))
    }

    /// Reports the end of the run, and runs `--on-give-up` if the run gave up.
    fn announce_end(&mut self, stop: Stop, attempt: &JudgedAttempt) -> RunResult<()> {
        self.emit(&Event::Stopped { stop, attempt })?;
        match stop.gave_up() {
            Some(why) => self.hook_on_give_up(why, attempt),
            None => Ok(()),
        }
    }

    /// Prints kept output, and warns if it was cut off.
    fn print_kept(&mut self, kept: KeptOutput) -> RunResult<Printed> {
        let printed = self.host.print_kept(kept)?;
        if printed == Printed::CutOff {
            self.emit(&Event::Warning(OUTPUT_CUT_OFF))?;
        }
        Ok(printed)
    }

    /// Ends the run after TERM, INT, HUP or QUIT came while the attempt ran, or after INT or QUIT ended the command. The
    /// run has found nothing out, so neither `--on-give-up` nor the cool-off follows.
    fn end_interrupted(
        &mut self,
        signal: Signal,
        by: Interruption,
        outcome: &Outcome,
    ) -> RunResult<Exit> {
        // No predicate runs after a signal, so the exit status alone decides.
        let succeeded = self.plan.classifier.has_good_code(&outcome.end);
        self.emit(&Event::Ended {
            outcome,
            verdict: None,
        })?;
        let printed = self.print_kept(kept_output(succeeded))?;
        if printed == Printed::Complete && succeeded {
            self.host.drop_later_messages();
        }
        self.emit(&Event::Interrupted {
            signal,
            by,
            outcome: Some(outcome),
        })?;
        let end = match printed {
            Printed::Complete => &outcome.end,
            Printed::CutOff => &BY_DEADLINE,
        };
        let until = self.plan.limits.until;
        Ok(self.exit(Ending::AttemptInterrupted { end, until }))
    }

    /// Ends a run whose limit on time passed before an attempt could begin. `last` is the attempt before that, if any.
    fn end_too_late(&mut self, why: GiveUp, last: Option<&JudgedAttempt>) -> RunResult<Exit> {
        if let Some(attempt) = last {
            return self.give_up(why, attempt);
        }
        self.print_kept(KeptOutput::OfFailure)?;
        self.emit(&Event::NoTime {
            why,
            cool_off: None,
        })?;
        Ok(self.exit(Ending::NoAttemptInTime))
    }

    fn exit(&self, ending: Ending<'_>) -> Exit {
        exit::status(ending, self.plan.overrides)
    }
}

/// Returns the kind of kept output. `is_good` tells if the command has done what the user wants of it.
fn kept_output(is_good: bool) -> KeptOutput {
    if is_good {
        KeptOutput::Good
    } else {
        KeptOutput::OfFailure
    }
}
