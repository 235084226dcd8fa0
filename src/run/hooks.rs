//! Runs hooks, which are command lines of the user: `--on-retry` and `--on-give-up`, which do not affect the run, and
//! `--before-retry`, which must succeed before the next attempt (to renew a token, for example). An error of a function
//! here ends the run at once: a signal came, or backoff itself failed (only a warning for the first two).

use std::time::Duration;

use super::event::{Event, JudgedAttempt};
use super::host::{Attempt, AttemptSpec, RunError, RunResult, ShellKind};
use super::state::Run;
use super::variables::Seconds;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::exit::Exit;
use crate::policy::limits::GiveUp;
use crate::policy::outcome::{End, TimeLimit};
use crate::policy::session::Stop;

/// Minimum time for `--on-give-up`, even after the deadline.
const LEAST_TIME_TO_GIVE_UP: Duration = Duration::from_secs(5);

impl Run<'_> {
    /// Runs `--on-retry`, if given, before the wait of `delay`. `attempt` is the last one: a failure or, with
    /// `--until`, possibly a success. The hook's time is added to the wait. A failure of the hook only causes a
    /// warning.
    pub(super) fn hook_on_retry(
        &mut self,
        delay: Duration,
        attempt: &JudgedAttempt,
    ) -> RunResult<()> {
        let Some(shell) = self.plan.on_retry.as_deref() else {
            return Ok(());
        };
        let mut spec = self.spec_about(&attempt.outcome, attempt.verdict.reason());
        spec.variables.set("BACKOFF_DELAY", Seconds(delay));
        self.run_hook_or_warn("--on-retry", shell, &spec)
    }

    /// Runs `--on-give-up`, if given and if the end is a failure for the user. It gets a few seconds even after the
    /// deadline, because it often sends an alert. Its own failure only causes a warning.
    pub(super) fn hook_on_give_up(&mut self, stop: Stop, attempt: &JudgedAttempt) -> RunResult<()> {
        let (Some(why), Some(shell)) = (stop.gave_up(), self.plan.on_give_up.as_deref()) else {
            return Ok(());
        };
        // Not a failure for the user: the outer run continues, or the reader of the output (`head`) closed it.
        if why == GiveUp::Nested || attempt.verdict.is_silent_end(&attempt.outcome) {
            return Ok(());
        }
        let mut spec = self.spec_about(&attempt.outcome, attempt.verdict.reason());
        let earliest = self.host.elapsed().saturating_add(LEAST_TIME_TO_GIVE_UP);
        spec.deadline = spec.deadline.map(|deadline| deadline.max(earliest));
        if attempt.outcome.end == End::Exited(0) {
            // 0 would tell an alert that nothing failed, but the run did. Output or `--success-if` denied the success,
            // it was one of too few in a row, or the goal was a failure. Any other status is the attempt's own, or that
            // of a timeout if its output was cut off, whatever backoff exits with.
            spec.variables.set("BACKOFF_EXIT", 1);
        }
        // No attempt follows.
        spec.variables.set("BACKOFF_DELAY", "");
        self.run_hook_or_warn("--on-give-up", shell, &spec)
    }

    /// Runs `--before-retry` after the wait. If the hook fails, the next attempt could not succeed, so it ends the run
    /// as after a permanent failure of `attempt`, the last one, and returns the exit. If the deadline ends the hook, or
    /// no time is left to start it, returns None, and the loop ends the run.
    pub(super) fn before_retry(&mut self, attempt: &JudgedAttempt) -> RunResult<Option<Exit>> {
        let Some(shell) = self.plan.before_retry.as_deref() else {
            return Ok(None);
        };
        if self.out_of_time(Duration::ZERO).is_some() {
            // The loop ends the run.
            return Ok(None);
        }
        let spec = self.spec_about(&attempt.outcome, attempt.verdict.reason());
        let ran = self.host.run_shell(ShellKind::BeforeRetry, shell, &spec)?;
        let hook = ran.outcome_unless_interrupted()?;
        match hook.end {
            End::Exited(0) => Ok(None),
            // The loop ends the run, because the deadline has passed.
            End::TimedOut(TimeLimit::Deadline) => {
                self.warn_failed("--before-retry", &hook.to_string())?;
                Ok(None)
            }
            _ => self.stop_unprepared(hook.to_string(), attempt).map(Some),
        }
    }

    /// Ends the run as after a permanent failure of `attempt`, the last one, because `--before-retry` failed. `why`
    /// says how, for the message.
    fn stop_unprepared(&mut self, why: String, attempt: &JudgedAttempt) -> RunResult<Exit> {
        // A success (`--until`) has no reason.
        let mut reason = attempt
            .verdict
            .reason()
            .cloned()
            .unwrap_or(Reason::new(Why::Default));
        reason.why = Why::Failed {
            option: "--before-retry",
            how: why,
        };
        let unprepared = JudgedAttempt {
            outcome: attempt.outcome.clone(),
            verdict: Verdict::Permanent(reason),
        };
        self.stop(Stop::GaveUp(GiveUp::Permanent), &unprepared)
    }

    /// Runs the hook of `option`. Its failure only causes a warning. So does a fault of backoff: no process, or an
    /// unknown end, in which case the hook may have run.
    fn run_hook_or_warn(&mut self, option: &str, shell: &str, spec: &AttemptSpec) -> RunResult<()> {
        let ran = self.host.run_shell(ShellKind::Hook, shell, spec);
        match ran.and_then(Attempt::outcome_unless_interrupted) {
            Ok(hook) if hook.end == End::Exited(0) => Ok(()),
            Ok(hook) => self.warn_failed(option, &hook.to_string()),
            Err(RunError::Fault(why)) => self.warn_failed(option, &why),
            Err(interrupted) => Err(interrupted),
        }
    }

    fn warn_failed(&mut self, option: &str, how: &str) -> RunResult<()> {
        self.emit(&Event::Warning(&format!("{option} failed: {how}")))
    }
}
