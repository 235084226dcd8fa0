//! The end of a run: prints kept output, reports to the user and to `--on-give-up`, and asks the table of exit statuses
//! (`policy/exit.rs`). The order matters, because the command's output comes before the line about the end. Kept output
//! is what `--stdout` and `--stderr` hold back until then, because only the end tells whether it is wanted. An error of
//! a function here means that a signal ended the run meanwhile, or that backoff itself failed.

use super::event::{Event, Interruption, JudgedAttempt};
use super::host::{EndOfRun, Printed, RunError, RunResult};
use super::state::Run;
use crate::policy::classifier::Verdict;
use crate::policy::exit::{self, BY_DEADLINE, Ending, Exit};
use crate::policy::limits::{GiveUp, Until};
use crate::policy::outcome::Outcome;
use crate::policy::session::Stop;
use crate::policy::signal::Signal;

const OUTPUT_CUT_OFF: &str = "output was cut off because it was not read in time";

impl Run<'_> {
    /// Ends the run for the reason `why`. With `--until never`, that is not a failure after a success.
    pub(super) fn give_up(&mut self, why: GiveUp, attempt: &JudgedAttempt) -> RunResult<Exit> {
        let stop = self.session.stop_for(why, &attempt.verdict);
        self.stop(stop, attempt)
    }

    /// Ends the run as `stop` says: prints kept output, and reports the end to the user and to `--on-give-up`. Returns
    /// the exit status. An error is a signal that ended the run meanwhile, or output that could not be printed. In the
    /// latter case no line and no hook reports the end.
    pub(super) fn stop(&mut self, stop: Stop, attempt: &JudgedAttempt) -> RunResult<Exit> {
        let until = self.plan.limits.until;
        let has_succeeded = matches!(stop, Stop::Succeeded { .. } | Stop::EndedOnSuccess(_));
        // With `--until failure`, `--stderr failure` must print the output of a failure.
        let is_good = match until {
            Until::Failure => attempt.verdict == Verdict::Success,
            Until::Success | Until::Never => has_succeeded,
        };
        let printed = self.print_kept(end_of_run(is_good));
        match printed {
            // With `--stderr failure`, a run that succeeds prints nothing.
            Ok(Printed::Complete) if has_succeeded => self.host.drop_later_messages(),
            Err(RunError::Interrupted(signal)) if signal != Signal::PIPE => {
                return Err(RunError::Interrupted(signal));
            }
            // Continues even if printing failed, by a fault or with SIGPIPE, because the last attempt has to be
            // counted.
            _ => {}
        }
        // The caller has only part of the output, so no status of the command may vouch for it. It counts as a timeout,
        // whatever the goal. A run that gave up for another reason keeps that reason.
        let is_cut_off = printed == Ok(Printed::CutOff);
        let timed_out = JudgedAttempt {
            outcome: Outcome::new(BY_DEADLINE, attempt.outcome.ran),
            verdict: attempt.verdict.clone(),
        };
        let (stop, attempt) = if is_cut_off && stop.gave_up().is_none() {
            (Stop::GaveUp(self.why_cut_off()), &timed_out)
        } else {
            (stop, attempt)
        };
        let counted = self.finish_last_count();
        // A run that does not give up ends as decided, even if a signal comes while the last attempt is counted.
        if stop.gave_up().is_some() {
            counted?;
        }
        printed?;
        self.emit(&Event::Stopped { stop, attempt })?;
        self.hook_on_give_up(stop, attempt)?;
        let (end, until) = if is_cut_off {
            (&BY_DEADLINE, Until::Success)
        } else {
            (&attempt.outcome.end, until)
        };
        Ok(self.exit(Ending::Stopped { stop, end, until }))
    }

    /// Returns why a run whose kept output was cut off gives up. Its command took effect. Unless it is idempotent, a
    /// scheduler must not run it again, which `--exhausted-exit` might cause. `NotIdempotent` does not get that status.
    fn why_cut_off(&self) -> GiveUp {
        if self.plan.limits.idempotent {
            GiveUp::Deadline
        } else {
            GiveUp::NotIdempotent
        }
    }

    /// Prints kept output, or drops it if the options do not want it after such an end, and warns if it was
    /// cut off. Nothing is kept afterwards, even after an error, so a later call prints nothing.
    pub(super) fn print_kept(&mut self, end: EndOfRun) -> RunResult<Printed> {
        let printed = self.host.print_kept(end)?;
        if printed == Printed::CutOff {
            self.emit(&Event::Warning(OUTPUT_CUT_OFF))?;
        }
        Ok(printed)
    }

    /// Prints or drops kept output like [`Run::print_kept`] after `signal` ended the run, during an attempt with this
    /// outcome or while none ran. If the output cannot be printed, reports the signal first, because the status will be
    /// that of the fault.
    pub(super) fn print_kept_after_signal(
        &mut self,
        end: EndOfRun,
        signal: Signal,
        by: Interruption,
        outcome: Option<&Outcome>,
    ) -> RunResult<Printed> {
        let printed = self.print_kept(end);
        if matches!(printed, Err(RunError::Fault(_))) {
            // Another signal while the line is written does not change the result.
            let _ = self.emit(&Event::Interrupted {
                signal,
                by,
                outcome,
                exit: self.exit(Ending::Fault),
            });
        }
        printed
    }

    /// Ends the run after SIGTERM, SIGINT, SIGHUP, SIGQUIT or a timer's SIGALRM came during the attempt, or SIGINT or
    /// SIGQUIT killed the command (`by` tells which). The exit status follows from the attempt's end. It is that of a
    /// timeout if kept output is cut off, by the deadline or because the reader stalls after the signal. If the command
    /// exited before the signal came, backoff dies of the signal, as during a wait. The run found nothing out, so
    /// `--on-give-up` does not run, and no predicate judges the attempt.
    pub(super) fn end_interrupted(
        &mut self,
        signal: Signal,
        by: Interruption,
        outcome: &Outcome,
    ) -> RunResult<Exit> {
        // No predicate runs after a signal, so the exit status alone decides.
        let succeeded =
            by != Interruption::AfterCommand && self.plan.classifier.has_good_code(&outcome.end);
        self.emit(&Event::Ended {
            outcome,
            verdict: None,
        })?;
        let printed =
            self.print_kept_after_signal(end_of_run(succeeded), signal, by, Some(outcome))?;
        if printed == Printed::Complete && succeeded {
            // As in `stop`: with `--stderr failure`, the line about the signal is also dropped.
            self.host.drop_later_messages();
        }
        let end = match printed {
            Printed::Complete => &outcome.end,
            Printed::CutOff => &BY_DEADLINE,
        };
        let until = self.plan.limits.until;
        let exit = self.exit(match by {
            Interruption::AfterCommand => Ending::Interrupted(signal),
            Interruption::OfBackoff | Interruption::OfCommand => {
                Ending::AttemptInterrupted { end, until }
            }
        });
        self.emit(&Event::Interrupted {
            signal,
            by,
            outcome: Some(outcome),
            exit,
        })?;
        Ok(exit)
    }

    /// Ends a run whose time limit (`why`) passed before the next attempt could begin. `last_attempt` is None if that
    /// was the first one. Then there is no failure to report, only that there was no time.
    pub(super) fn end_too_late(
        &mut self,
        why: GiveUp,
        last_attempt: Option<&JudgedAttempt>,
    ) -> RunResult<Exit> {
        if let Some(attempt) = last_attempt {
            return self.give_up(why, attempt);
        }
        // Messages may also be kept (`--stderr failure`).
        self.print_kept(EndOfRun::Failed)?;
        self.emit(&Event::NoTimeToStart(why))?;
        Ok(self.exit(Ending::NoAttemptInTime))
    }

    pub(super) fn exit(&self, ending: Ending<'_>) -> Exit {
        exit::status(ending, self.plan.overrides)
    }
}

/// Returns the end by which `--stdout` and `--stderr` print or drop kept output. `is_good` is true if the run
/// succeeded or, with `--until failure` or if a signal ended the run during an attempt, its last attempt did.
fn end_of_run(is_good: bool) -> EndOfRun {
    if is_good {
        EndOfRun::Good
    } else {
        EndOfRun::Failed
    }
}
