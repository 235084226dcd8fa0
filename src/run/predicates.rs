//! Runs `--success-if` and `--retry-if`, predicates that judge an attempt if no rule decides.

use super::host::{RunError, ShellKind};
use super::state::Run;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::outcome::{End, Outcome, TimeLimit};
use crate::policy::session::Until;

impl Run<'_> {
    pub(super) fn verdict(&mut self, outcome: &Outcome) -> Result<Verdict, RunError> {
        let classifier = &self.plan.classifier;
        let mut verdict = classifier.judge(outcome);
        if let (Verdict::Success, Some(shell)) = (&verdict, &self.plan.success_if) {
            let asked = self.ask(shell, outcome, None)?;
            verdict = match asked.end {
                End::Exited(0) => Verdict::Success,
                End::Exited(1) => classifier.judge_denied(outcome),
                _ => unanswered("--success-if", &asked, Reason::new(Why::ByDefault)),
            };
        }
        let (Verdict::Ask(reason), Some(shell)) = (&verdict, &self.plan.retry_if) else {
            return Ok(verdict);
        };
        if self.plan.limits.until == Until::Failure {
            // Any failure is the goal of the run, transient or not.
            return Ok(verdict);
        }
        let decided = |is_yes: bool| Reason {
            why: Why::Rule("--retry-if".to_owned()),
            is_safe_to_repeat: is_yes || reason.is_safe_to_repeat,
            ..reason.clone()
        };
        let asked = self.ask(shell, outcome, Some(reason))?;
        Ok(match asked.end {
            End::Exited(0) => Verdict::Transient(decided(true)),
            End::Exited(1) => Verdict::Permanent(decided(false)),
            _ => unanswered("--retry-if", &asked, reason.clone()),
        })
    }

    /// Returns the end of a predicate.
    fn ask(&mut self, shell: &str, outcome: &Outcome, reason: Option<&Reason>) -> Result<Outcome, RunError> {
        let spec = self.spec_about(outcome, reason);
        self.host.run_shell(ShellKind::Predicate, shell, &spec)?.uninterrupted()
    }
}

/// Returns the verdict after a predicate failed: permanent, unless the deadline ended the predicate.
fn unanswered(option: &'static str, asked: &Outcome, reason: Reason) -> Verdict {
    let how = asked.to_string();
    let why = Why::PredicateFailed { option, how };
    match asked.end {
        End::TimedOut(TimeLimit::Deadline) => Verdict::Transient(Reason { why, ..reason }),
        _ => Verdict::Permanent(Reason { why, ..reason }),
    }
}
