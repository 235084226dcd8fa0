//! `--success-if` and `--retry-if`: asked what an attempt means where the rules do not say.

use super::host::RunError;
use super::state::Run;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::outcome::{Bound, End, Outcome};
use crate::policy::session::Until;

impl Run<'_> {
    pub(super) fn verdict(&mut self, outcome: &Outcome) -> Result<Verdict, RunError> {
        let classifier = &self.plan.classifier;
        let verdict = match (classifier.judge(outcome), &self.plan.success_if) {
            (Verdict::Success, Some(shell)) => match self.ask(shell, outcome, None)? {
                Ok(true) => Verdict::Success,
                Ok(false) => classifier.judge_denied(outcome),
                Err(asked) => unanswered("--success-if", &asked, Reason::new(Why::ByDefault)),
            },
            (verdict, _) => verdict,
        };
        let (Verdict::Ask(reason), Some(shell)) = (&verdict, &self.plan.retry_if) else {
            return Ok(verdict);
        };
        if self.plan.limits.until == Until::Failure {
            // Any failure is the one that the run waits for, transient or not.
            return Ok(verdict);
        }
        let answer = self.ask(shell, outcome, Some(reason))?;
        let decided = |why| Reason { why, ..reason.clone() };
        let rule = Why::Rule("--retry-if".to_owned());
        Ok(match answer {
            Ok(true) => Verdict::Transient(Reason {
                is_safe_to_repeat: true,
                ..decided(rule)
            }),
            Ok(false) => Verdict::Permanent(decided(rule)),
            Err(asked) => unanswered("--retry-if", &asked, reason.clone()),
        })
    }

    /// Whether the predicate says yes, or how it ended otherwise.
    fn ask(
        &mut self,
        shell: &str,
        outcome: &Outcome,
        reason: Option<&Reason>,
    ) -> Result<Result<bool, Outcome>, RunError> {
        let spec = self.spec_about(outcome, reason);
        let asked = self.host.ask(shell, &spec)?;
        match (asked.interrupted, &asked.outcome.end) {
            (Some(signal), _) => Err(RunError::Interrupted(signal)),
            (None, End::Exited(0)) => Ok(Ok(true)),
            (None, End::Exited(1)) => Ok(Ok(false)),
            _ => Ok(Err(asked.outcome)),
        }
    }
}

/// An error of the predicate is told, and makes the failure a permanent one. But that the run has no more time is nobody's
/// error.
fn unanswered(option: &'static str, asked: &Outcome, reason: Reason) -> Verdict {
    let how = asked.to_string();
    let reason = Reason {
        why: Why::PredicateFailed { option, how },
        ..reason
    };
    match asked.end {
        End::TimedOut(Bound::Deadline) => Verdict::Transient(reason),
        _ => Verdict::Permanent(reason),
    }
}
