//! Runs within runs: what a run knows of those around it, and tells those within it.

/// Most attempts of all runs around a run, without the innermost of them, which has `BACKOFF_ATTEMPT_LIMIT`.
pub(crate) const AROUND: &str = "BACKOFF_AROUND";
/// The budget that has counted the attempt, and where it is kept.
pub(crate) const COUNTED: &str = "BACKOFF_COUNTED";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Nesting {
    /// 1 for an outermost run.
    pub(crate) depth: u64,
    /// `--nested warn`, and this run is the one to say it.
    pub(crate) warn: bool,
    /// Most attempts of all runs around this one together; None if they are unlimited or unknown.
    pub(crate) outer_attempts: Option<u64>,
    /// The budget that has counted the attempt of the run around this one: a run within it makes the same call.
    pub(crate) counted: Option<String>,
}
