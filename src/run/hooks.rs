//! `--on-retry` and `--on-give-up`, which are told of what happens and change nothing about it, and `--before-retry`,
//! without which there is no next attempt.

use std::time::Duration;

use super::event::{Event, JudgedAttempt, Warning};
use super::host::{EnvLines, RunError};
use super::state::Run;
use super::text::printable;
use super::variables;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::exit::Exit;
use crate::policy::outcome::{Bound, End};
use crate::policy::session::{GiveUp, Stop};

/// What `--on-give-up` has at the least: the deadline that it is to tell of may have passed.
const LEAST_TIME: Duration = Duration::from_secs(5);

impl Run<'_> {
    pub(super) fn hook_on_retry(&mut self, delay: Duration, attempt: &JudgedAttempt) -> Result<(), RunError> {
        match self.plan.on_retry.as_deref() {
            Some(shell) => self.hook("--on-retry", shell, Some(delay), attempt),
            None => Ok(()),
        }
    }

    pub(super) fn hook_on_give_up(&mut self, why: GiveUp, attempt: &JudgedAttempt) -> Result<(), RunError> {
        let is_silent = why == GiveUp::Nested || attempt.verdict.is_silent_end(&attempt.outcome);
        match self.plan.on_give_up.as_deref() {
            // Neither is a failure that a person is to hear of: the outer run goes on, or `head` has seen enough.
            Some(_) if is_silent => Ok(()),
            Some(shell) => self.hook("--on-give-up", shell, None, attempt),
            None => Ok(()),
        }
    }

    /// Prepares the next attempt; an exit if there is to be none.
    pub(super) fn before_retry(&mut self, attempt: &JudgedAttempt) -> Result<Option<Exit>, RunError> {
        let Some(shell) = self.plan.before_retry.as_deref() else {
            return Ok(None);
        };
        if self.out_of_time(Duration::ZERO).is_some() {
            return Ok(None);
        }
        let spec = self.spec_about(&attempt.outcome, attempt.verdict.reason());
        let (hook, lines) = self.host.prepare(shell, spec)?;
        if let Some(signal) = hook.interrupted {
            return Err(RunError::Interrupted(signal));
        }
        let has_succeeded = hook.outcome.end == End::Exited(0);
        match lines {
            // Without its variables the next attempt would fail for sure.
            EnvLines::Unreadable(why) if has_succeeded => {
                return self.stop_unprepared(printable(&why), attempt).map(Some);
            }
            EnvLines::Read(lines) if has_succeeded => {
                if let Some(refused) = self.extra_env.take(&lines) {
                    self.emit(&Event::Warning(Warning::EnvLine(&refused)))?;
                }
            }
            EnvLines::NoFile(why) => self.emit(&Event::Warning(Warning::BeforeRetry(&why)))?,
            EnvLines::Read(_) | EnvLines::Unreadable(_) => {}
        }
        match hook.outcome.end {
            End::Exited(0) => Ok(None),
            // The loop sees that no time is left.
            End::TimedOut(Bound::Deadline) => {
                self.warn_failed("--before-retry", &hook.outcome.to_string())?;
                Ok(None)
            }
            _ => self.stop_unprepared(hook.outcome.to_string(), attempt).map(Some),
        }
    }

    /// Ends the run as after a permanent failure of this attempt, since the next one cannot be prepared.
    fn stop_unprepared(
        &mut self,
        why: String,
        JudgedAttempt { outcome, verdict }: &JudgedAttempt,
    ) -> Result<Exit, RunError> {
        let why = Why::BeforeRetryFailed(why);
        let reason = match verdict.reason() {
            Some(reason) => Reason { why, ..reason.clone() },
            None => Reason::new(why),
        };
        let attempt = JudgedAttempt {
            outcome: outcome.clone(),
            verdict: Verdict::Permanent(reason),
        };
        self.stop(Stop::GaveUp(GiveUp::Permanent), &attempt)
    }

    fn hook(
        &mut self,
        option: &'static str,
        shell: &str,
        delay: Option<Duration>,
        JudgedAttempt { outcome, verdict }: &JudgedAttempt,
    ) -> Result<(), RunError> {
        let mut spec = self.spec_about(outcome, verdict.reason());
        spec.variables.push(variables::variable(
            "BACKOFF_DELAY",
            delay.map_or_else(String::new, variables::seconds),
        ));
        if delay.is_none() {
            let least = self.host.elapsed().saturating_add(LEAST_TIME);
            spec.deadline = spec.deadline.map(|deadline| deadline.max(least));
            if outcome.end == End::Exited(0) {
                // The run has failed all the same, and so does backoff. A name stands once in an environment.
                spec.variables.retain(|(name, _)| name != "BACKOFF_EXIT");
                spec.variables.push(variables::variable("BACKOFF_EXIT", "1".to_owned()));
            }
            let failed_runs = self.store.failed_runs;
            spec.variables.push(variables::variable(
                "BACKOFF_FAILED_RUNS",
                failed_runs.map_or_else(String::new, |runs| runs.to_string()),
            ));
        }
        let failure = match self.host.hook(shell, &spec) {
            Ok(hook) => match (hook.interrupted, &hook.outcome.end) {
                (Some(signal), _) => return Err(RunError::Interrupted(signal)),
                (None, End::Exited(0)) => return Ok(()),
                _ => hook.outcome.to_string(),
            },
            Err(RunError::Fault(why)) => why,
            Err(interrupted) => return Err(interrupted),
        };
        self.warn_failed(option, &failure)
    }

    fn warn_failed(&mut self, option: &'static str, how: &str) -> Result<(), RunError> {
        self.emit(&Event::Warning(Warning::HookFailed { option, how }))
    }
}
