//! The loop of a run: attempt, verdict, decision, wait, until the run ends. It acts through `host` and reports events.
//! `policy` decides. The classifier turns an outcome into a verdict (success, transient or permanent failure), and the
//! session turns that into a decision, because it counts attempts and knows limits and delays.
//!
//! An error of a function here ends the run at once: a signal came, or backoff itself failed.

use std::cell::RefCell;
use std::time::Duration;

use rand::Rng;

use super::event::{DescribeEvent, Event, Interruption, JudgedAttempt, Moment, Wait};
use super::host::{Attempt, EndOfRun, Host, Interrupted, RunError, RunResult, WaitEnd};
use super::plan::{Identity, Plan};
use super::state::{Run, StoreState};
use crate::policy::classifier::Verdict;
use crate::policy::exit::Exit;
use crate::policy::outcome::{End, Outcome};
use crate::policy::retry_after;
use crate::policy::session::{Decision, Session, Stop};
use crate::policy::signal::Signal;

/// Runs the command until it succeeds, or until no retry is useful or allowed, and returns the exit status. In every
/// case, prints kept output or drops it as `--stdout` and `--stderr` say, and reports the end. An error is a signal
/// that ends the run, or a fault of backoff itself, which the caller also prints on standard error.
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
        previous: None,
    };
    // An outer run with the same budget has counted this run's first attempt.
    run.store.skips_next_count = matches!(&plan.budget, Some(budget) if budget.is_inherited);
    let mut result = run.loop_until_end();
    if let Err(error) = &result {
        // Prints nothing if printing has already begun (`Run::stop`), because nothing is kept then.
        let end = EndOfRun::Failed;
        let printed = match error {
            RunError::Interrupted(signal) => {
                run.print_kept_after_signal(end, *signal, Interruption::OfBackoff, None)
            }
            RunError::Fault(_) => run.print_kept(end),
        };
        // The later error counts, because it may be a signal.
        if let Err(error) = printed {
            result = Err(error);
        }
    }
    if let Err(error) = &result {
        // A signal while the line is written does not change the result.
        let _ = run.emit_error(error);
    }
    result
}

impl Run<'_> {
    /// Makes attempts until the run ends, and returns its exit status. Waits between two attempts, to retry or to
    /// confirm a success (`--consecutive`). Reports the end, except an error, which [`run`] reports.
    fn loop_until_end(&mut self) -> RunResult<Exit> {
        self.before_the_first_attempt()?;
        let mut last_attempt = None;
        loop {
            // Time may be up, because a wait ends at the deadline, and Ctrl-Z or `--before-retry` may lengthen one.
            if let Some(why) = self.out_of_time(Duration::ZERO) {
                return self.end_too_late(why, last_attempt.as_ref());
            }
            self.previous = last_attempt;
            let Attempt {
                outcome,
                interrupted,
            } = self.make_attempt()?;
            if let Some(Interrupted { signal, by }) = interrupted {
                return self.end_interrupted(signal, by, &outcome);
            }
            // SIGINT or SIGQUIT killed the command, and backoff received no signal.
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
                    if let Some(exit) = self.wait_to_retry(delay, &attempt)? {
                        return Ok(exit);
                    }
                }
            }
            last_attempt = Some(attempt);
        }
    }

    /// Prints warnings and remarks, and waits for `--initial-delay` and `--splay`.
    fn before_the_first_attempt(&mut self) -> RunResult<()> {
        let plan = self.plan;
        for warning in &plan.warnings {
            self.emit(&Event::Warning(warning))?;
        }
        self.remark(&plan.remarks)?;
        let wait = plan.initial_wait(self.rng);
        self.wait(wait, Wait::Start)?;
        // `BACKOFF_ELAPSED` counts from here.
        self.first_attempt_at = self.host.elapsed();
        Ok(())
    }

    /// Counts an attempt, runs the command once, and warns about what happened to its streams. An error ends the run
    /// without a verdict: the host failed, a signal came before the command started, or no reader took the output of an
    /// attempt that exited with 0 or another success code (for a failure, the classifier judges that). A signal while
    /// the command runs is not an error but part of the result.
    fn make_attempt(&mut self) -> RunResult<Attempt> {
        self.session.begin();
        let counted_in = self.budget_to_count_in()?;
        self.emit(&Event::Started)?;
        let limits = self.plan.limits_of_attempt(self.session.attempt);
        let mut spec = self.spec_without_variables(limits);
        self.set_variables_of_attempt(&mut spec);
        let attempt = self.host.attempt(&spec, counted_in)?;
        let outcome = &attempt.outcome;
        if outcome.seen.input_read_ahead {
            self.emit(&Event::ReadAhead)?;
        }
        if let Some(what) = &outcome.seen.not_kept {
            let warning = format!("{what}; it is printed as it comes");
            self.emit(&Event::Warning(&warning))?;
        }
        if attempt.interrupted.is_none() && self.has_lost_output_in_success(outcome) {
            // backoff's pipe took all output. Without backoff, SIGPIPE would have killed the command.
            self.emit(&Event::Ended {
                outcome,
                verdict: None,
            })?;
            return Err(RunError::Interrupted(Signal::PIPE));
        }
        Ok(attempt)
    }

    /// Returns true if an attempt exited like a success, but backoff found no reader for its output. False for 141 in
    /// `--success-exit`, with which the command itself reports that.
    fn has_lost_output_in_success(&self, outcome: &Outcome) -> bool {
        let exits_well = match outcome.end {
            // Even if `--success-exit` does not list it.
            End::Exited(0) => true,
            End::Exited(_) => {
                self.plan.classifier.has_good_code(&outcome.end) && !outcome.ended_by_sigpipe()
            }
            _ => false,
        };
        exits_well && outcome.seen.output_refused
    }

    /// Judges an attempt by rules and predicates, and reports its end. If the first attempt failed, also prints remarks
    /// on settings that may be mistakes. An error is a signal that ends the run, or a predicate that cannot be run.
    fn judge(&mut self, mut outcome: Outcome) -> RunResult<JudgedAttempt> {
        let examined = self.host.take_examined();
        let judged = self.verdict(&outcome, &examined);
        if judged != Ok(Verdict::Success) && self.plan.limits.max_retry_after.is_some() {
            outcome.seen.wait_asked = retry_after::wait_asked(examined.lines(), examined.at);
        }
        // The end is reported even if a signal interrupts a predicate.
        self.emit(&Event::Ended {
            outcome: &outcome,
            verdict: judged.as_ref().ok(),
        })?;
        let verdict = judged?;
        // A command that could not start has its own message.
        if verdict != Verdict::Success && !outcome.could_not_start() && self.session.total == 1 {
            self.remark(&self.plan.remarks_on_failure)?;
        }
        Ok(JudgedAttempt { outcome, verdict })
    }

    /// Decides the step after an attempt: the session by its limits, then the shared budget. The budget comes last,
    /// because it counts each retry that it grants. Asking it shortens the wait of the retry. Also restores the
    /// terminal, unless the run ends after a success, and notes for the budget whether the next attempt is already
    /// counted. An error is a signal that ends the run while the budget is asked.
    fn decide(
        &mut self,
        JudgedAttempt { outcome, verdict }: &JudgedAttempt,
    ) -> RunResult<Decision> {
        let mut decision =
            self.session
                .decide_next(outcome, verdict, self.host.elapsed(), self.rng);
        let has_failed = *verdict != Verdict::Success;
        if has_failed || !matches!(decision, Decision::Stop(_)) {
            // A command that ends the run with success may have changed the terminal on purpose.
            self.host.tidy_terminal();
        }
        // The budget counts an attempt after a success as a first one.
        if let Decision::Retry(delay) = decision
            && has_failed
        {
            decision = match self.ask_for_retry(delay)? {
                Ok(rest_of_delay) => Decision::Retry(rest_of_delay),
                Err(why) => Decision::Stop(Stop::GaveUp(why)),
            };
        }
        // The budget counts a retry when it grants one.
        self.store.skips_next_count = has_failed && matches!(decision, Decision::Retry(_));
        Ok(decision)
    }

    /// Waits with a countdown, whose text depends on the reason (`why`). Ends early on SIGUSR1, which is reported, or
    /// at the deadline, which the loop notices later. An error is a signal that ends the run.
    fn wait(&mut self, delay: Duration, why: Wait<'_>) -> RunResult<()> {
        let begin = Moment {
            attempt: self.session.next_attempt(),
            ..self.moment()
        };
        let end = begin.elapsed.saturating_add(delay);
        // The host takes a shared closure, but the reporter has to be borrowed mutably.
        let reporter = RefCell::new(&mut *self.reporter);
        let countdown_text = |left: Duration, columns| {
            // Computed, because the closure cannot ask the host, which is borrowed while it waits.
            let elapsed = end.saturating_sub(left);
            let countdown = Event::Countdown {
                wait: why,
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

    /// Announces a retry, runs `--on-retry`, waits for `delay`, and runs `--before-retry`. `attempt` is the last one: a
    /// failure or, with `--until`, possibly a success. Returns an exit if the run gives up, because the wait would not
    /// end in time or `--before-retry` failed. If time runs out after the wait, returns None, and the loop ends the
    /// run.
    fn wait_to_retry(
        &mut self,
        delay: Duration,
        attempt: &JudgedAttempt,
    ) -> RunResult<Option<Exit>> {
        // The budget, the log and the hook may each take time.
        if let Some(why) = self.out_of_time(delay) {
            return self.give_up(why, attempt).map(Some);
        }
        self.report_retry(delay, attempt)?;
        if self.out_of_time(delay).is_none() {
            self.hook_on_retry(delay, attempt)?;
        }
        if let Some(why) = self.out_of_time(delay) {
            return self.give_up(why, attempt).map(Some);
        }
        self.wait(delay, Wait::Retry(attempt))?;
        self.before_retry(attempt)
    }

    /// Reports a retry before `--on-retry` and the wait. Before the first retry of the run, also warns about nested
    /// runs, whose retries multiply.
    fn report_retry(&mut self, delay: Duration, attempt: &JudgedAttempt) -> RunResult<()> {
        let nesting = &self.plan.nesting;
        // The session has already counted this retry.
        if self.session.retries == 1 && nesting.warns {
            self.emit(&Event::Nested(nesting))?;
        }
        let is_asked = self.session.is_wait_asked;
        self.emit(&Event::Retrying {
            attempt,
            delay,
            is_asked,
        })
    }

    /// Reports that an error ended the run: a signal, or a fault of backoff itself. A signal during an attempt is not
    /// an error, and `Run::end_interrupted` reports it.
    fn emit_error(&mut self, error: &RunError) -> RunResult<()> {
        match error {
            RunError::Interrupted(signal) => self.emit(&Event::Interrupted {
                signal: *signal,
                by: Interruption::OfBackoff,
                outcome: None,
                exit: Exit::Signal(*signal),
            }),
            RunError::Fault(why) => self.emit(&Event::Failed(why)),
        }
    }

    /// Prints each remark on a line of its own.
    fn remark(&mut self, remarks: &[String]) -> RunResult<()> {
        for remark in remarks {
            self.emit(&Event::Remark(remark))?;
        }
        Ok(())
    }
}
