//! Nested runs: facts about the outer runs, and variables for the inner ones.

/// Product of the attempt limits of all outer runs except the innermost, whose limit is `BACKOFF_ATTEMPT_LIMIT`.
pub(crate) const AROUND: &str = "BACKOFF_AROUND";
/// Name and place of the budget that has counted the attempt.
pub(crate) const COUNTED: &str = "BACKOFF_COUNTED";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Nesting {
    /// 1 for an outermost run.
    pub(crate) depth: u64,
    /// `--nested warn`, and this run prints the warning.
    pub(crate) warn: bool,
    /// Product of the attempt limits of all outer runs; None if unlimited or unknown.
    pub(crate) outer_attempts: Option<u64>,
    /// Budget that has counted the attempt of the outer run. The first attempt of this run is the same call.
    pub(crate) counted: Option<String>,
    /// `run_id` of the outermost run; None if this run is the outermost, or if it is unknown.
    pub(crate) root_id: Option<String>,
}
