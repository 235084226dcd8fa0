//! Runs predicates, commands whose exit status means yes or no: `--success-if`, which has to confirm each success, and
//! `--retry-if`, which judges a failure if no rule decides. An error of a function here ends the run at once: a signal
//! came while the predicate ran, or the predicate could not be run.

use super::host::{RunResult, ShellKind};
use super::state::Run;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::limits::Until;
use crate::policy::outcome::{End, Outcome, TimeLimit};
use crate::search::examined::Examined;

impl Run<'_> {
    /// Judges an attempt by the rules, then a success by `--success-if`, and a failure that the rules leave open
    /// (`Verdict::Ask`), including a denied success, by `--retry-if`. Returns `Ask` itself only with `--until failure`,
    /// because any failure then ends the run. A predicate exits with 0 (yes) or 1 (no). With any other end the
    /// predicate failed, and so did the attempt ([`predicate_failed`]). An error is a signal that ends the run, or a
    /// predicate that cannot be run.
    pub(super) fn verdict(&mut self, outcome: &Outcome, examined: &Examined) -> RunResult<Verdict> {
        let classifier = &self.plan.classifier;
        let mut verdict = classifier.judge(outcome, examined);
        if verdict == Verdict::Success
            && let Some(shell) = &self.plan.success_if
        {
            let answer = self.ask(shell, outcome, None)?;
            verdict = match answer.end {
                End::Exited(0) => Verdict::Success,
                End::Exited(1) => classifier.judge_denied(outcome, examined),
                _ => predicate_failed("--success-if", &answer, Reason::new(Why::Default)),
            };
        }
        let (Verdict::Ask(reason), Some(shell)) = (&verdict, &self.plan.retry_if) else {
            return Ok(verdict);
        };
        if self.plan.limits.until == Until::Failure {
            // Any failure is the goal of the run, transient or not.
            return Ok(verdict);
        }
        let answer = self.ask(shell, outcome, Some(reason))?;
        let decided = Reason {
            why: Why::Rule("--retry-if".to_owned()),
            // The user's yes allows a second run.
            is_safe_to_repeat: answer.end == End::Exited(0) || reason.is_safe_to_repeat,
            ..reason.clone()
        };
        match answer.end {
            End::Exited(0) => Ok(Verdict::Transient(decided)),
            End::Exited(1) => Ok(Verdict::Permanent(decided)),
            _ => Ok(predicate_failed("--retry-if", &answer, reason.clone())),
        }
    }

    /// Runs a predicate about the attempt that ended with `outcome`, for which the rules gave `reason` (None for a
    /// success). Returns the predicate's own outcome.
    fn ask(
        &mut self,
        shell: &str,
        outcome: &Outcome,
        reason: Option<&Reason>,
    ) -> RunResult<Outcome> {
        let spec = self.spec_about(outcome, reason);
        self.host
            .run_shell(ShellKind::Predicate, shell, &spec)?
            .outcome_unless_interrupted()
    }
}

/// Returns the verdict on an attempt whose predicate failed. It is permanent, because nobody knows whether a retry is
/// useful, unless the deadline ended the predicate. The deadline then ends the run, and has to be named. Replaces only
/// the `why` in `reason`. The rest is what the rules found, or nothing after a success by the rules.
fn predicate_failed(option: &'static str, predicate: &Outcome, reason: Reason) -> Verdict {
    let how = predicate.to_string();
    let why = Why::Failed { option, how };
    match predicate.end {
        End::TimedOut(TimeLimit::Deadline) => Verdict::Transient(Reason { why, ..reason }),
        _ => Verdict::Permanent(Reason { why, ..reason }),
    }
}
