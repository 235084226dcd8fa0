//! `--on-retry` and `--on-give-up`: told of what happens, they change nothing about it.

use std::time::Duration;

use super::event::Event;
use super::host::RunError;
use super::state::{Judged, Run};
use super::variables;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::outcome::End;
use crate::policy::session::GiveUp;

/// What `--on-give-up` has at the least: the deadline that it is to tell of may have passed.
const LEAST_TIME: Duration = Duration::from_secs(5);

impl Run<'_> {
    pub(super) fn hook_on_retry(&mut self, delay: Duration, attempt: &Judged) -> Result<(), RunError> {
        match self.plan.on_retry.as_deref() {
            Some(shell) => self.hook("--on-retry", shell, Some(delay), attempt),
            None => Ok(()),
        }
    }

    pub(super) fn hook_on_give_up(&mut self, why: GiveUp, attempt: &Judged) -> Result<(), RunError> {
        let reader_is_gone = matches!(
            &attempt.verdict,
            Verdict::Permanent(Reason {
                why: Why::ReaderGone,
                ..
            })
        );
        match self.plan.on_give_up.as_deref() {
            // Neither is a failure that a person is to hear of: the outer run goes on, or `head` has seen enough.
            Some(_) if why == GiveUp::Nested || reader_is_gone => Ok(()),
            Some(shell) => self.hook("--on-give-up", shell, None, attempt),
            None => Ok(()),
        }
    }

    fn hook(
        &mut self,
        option: &str,
        shell: &str,
        delay: Option<Duration>,
        Judged { outcome, verdict }: &Judged,
    ) -> Result<(), RunError> {
        let mut spec = self.spec_beside();
        if delay.is_none() {
            let least = self.host.elapsed().saturating_add(LEAST_TIME);
            spec.deadline = spec.deadline.map(|deadline| deadline.max(least));
        }
        spec.variables.extend(variables::of_failure(outcome, verdict.reason()));
        spec.variables
            .push(("BACKOFF_DELAY", delay.map_or_else(String::new, variables::seconds)));
        let failure = match self.host.hook(shell, &spec) {
            Ok(hook) => match (hook.interrupted, hook.outcome.end) {
                (Some(signal), _) => return Err(RunError::Interrupted(signal)),
                (None, End::Exited(0)) => return Ok(()),
                (None, end) => end.to_string(),
            },
            Err(RunError::Fault(why)) => why,
            Err(interrupted) => return Err(interrupted),
        };
        self.tell(&Event::Warning(format!("{option} failed: {failure}")))
    }
}
