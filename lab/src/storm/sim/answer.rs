//! The outcome of a simulated call, judged like that of a command.

use std::time::Duration;

use backoff_cli::policy::classifier::{Classifier, Verdict};
use backoff_cli::policy::outcome::{End, Outcome};
use backoff_cli::policy::sets::CodeSet;

/// An outcome and its verdict, shared by all calls that end alike.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    pub(super) verdict: Verdict,
}

impl Answer {
    /// Returns the answer of a successful call.
    pub(super) fn success() -> Answer {
        Answer::exited(0)
    }

    /// Returns the answer of a transient failure: without rules, any code but 0 is transient. The code is `EX_TEMPFAIL`
    /// of sysexits.
    pub(super) fn transient_failure() -> Answer {
        Answer::exited(75)
    }

    fn exited(code: u8) -> Answer {
        let outcome = Outcome::new(End::Exited(code), Duration::ZERO);
        let mut success_exit = CodeSet::default();
        success_exit.add(0..=0);
        let classifier = Classifier {
            success_exit,
            ..Classifier::default()
        };
        let verdict = classifier.judge(&outcome);
        Answer { outcome, verdict }
    }
}
