//! `--success-if` and `--retry-if`: asked what an attempt means where the rules do not say.

use super::host::RunError;
use super::state::Run;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::outcome::{End, Outcome};

impl Run<'_> {
    pub(super) fn verdict(&mut self, outcome: &Outcome) -> Result<Verdict, RunError> {
        let classifier = &self.plan.classifier;
        let verdict = match (classifier.judge(outcome), &self.plan.success_if) {
            (Verdict::Success, Some(shell)) => match self.ask(shell, outcome, None)? {
                Ok(true) => Verdict::Success,
                Ok(false) => classifier.judge_denied(outcome),
                Err(how) => Verdict::Permanent(Reason::new(failed("--success-if", how))),
            },
            (verdict, _) => verdict,
        };
        let (Verdict::Ask(reason), Some(shell)) = (&verdict, &self.plan.retry_if) else {
            return Ok(verdict);
        };
        let answer = self.ask(shell, outcome, Some(reason))?;
        let decided = |why| Reason { why, ..reason.clone() };
        let rule = Why::Rule("--retry-if".to_owned());
        Ok(match answer {
            Ok(true) => Verdict::Transient(Reason {
                is_safe_to_repeat: true,
                ..decided(rule)
            }),
            Ok(false) => Verdict::Permanent(decided(rule)),
            Err(how) => Verdict::Permanent(decided(failed("--retry-if", how))),
        })
    }

    /// Whether the predicate says yes, or how it failed.
    fn ask(
        &mut self,
        shell: &str,
        outcome: &Outcome,
        reason: Option<&Reason>,
    ) -> Result<Result<bool, String>, RunError> {
        let spec = self.spec_about(outcome, reason);
        let asked = self.host.ask(shell, &spec)?;
        match (asked.interrupted, asked.outcome.end) {
            (Some(signal), _) => Err(RunError::Interrupted(signal)),
            (None, End::Exited(0)) => Ok(Ok(true)),
            (None, End::Exited(1)) => Ok(Ok(false)),
            (None, end) => Ok(Err(end.to_string())),
        }
    }
}

/// An error of the predicate, which is told and makes the failure a permanent one.
fn failed(option: &'static str, how: String) -> Why {
    Why::PredicateFailed { option, how }
}
