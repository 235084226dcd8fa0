//! Runs `--success-if` and `--retry-if`, predicates that judge an attempt if no rule decides.

use super::host::RunError;
use super::state::Run;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::outcome::{Bound, End, Outcome};
use crate::policy::session::Until;

impl Run<'_> {
    pub(super) fn verdict(&mut self, outcome: &Outcome) -> Result<Verdict, RunError> {
        let classifier = &self.plan.classifier;
        let mut verdict = classifier.judge(outcome);
        if let (Verdict::Success, Some(shell)) = (&verdict, &self.plan.success_if) {
            verdict = match self.ask(shell, outcome, None)? {
                Answer::Yes => Verdict::Success,
                Answer::No => classifier.judge_denied(outcome),
                Answer::Neither(how) => unanswered("--success-if", &how, Reason::new(Why::ByDefault)),
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
        Ok(match self.ask(shell, outcome, Some(reason))? {
            Answer::Yes => Verdict::Transient(decided(true)),
            Answer::No => Verdict::Permanent(decided(false)),
            Answer::Neither(how) => unanswered("--retry-if", &how, reason.clone()),
        })
    }

    fn ask(&mut self, shell: &str, outcome: &Outcome, reason: Option<&Reason>) -> Result<Answer, RunError> {
        let spec = self.spec_about(outcome, reason);
        let asked = self.host.ask(shell, &spec)?;
        match (asked.interrupted, &asked.outcome.end) {
            (Some(signal), _) => Err(RunError::Interrupted(signal)),
            (None, End::Exited(0)) => Ok(Answer::Yes),
            (None, End::Exited(1)) => Ok(Answer::No),
            _ => Ok(Answer::Neither(asked.outcome)),
        }
    }
}

enum Answer {
    Yes,
    No,
    /// The predicate failed.
    Neither(Outcome),
}

/// Returns the verdict after a predicate failed: permanent, unless the deadline ended the predicate.
fn unanswered(option: &'static str, asked: &Outcome, reason: Reason) -> Verdict {
    let how = asked.to_string();
    let why = Why::PredicateFailed { option, how };
    match asked.end {
        End::TimedOut(Bound::Deadline) => Verdict::Transient(Reason { why, ..reason }),
        _ => Verdict::Permanent(Reason { why, ..reason }),
    }
}
