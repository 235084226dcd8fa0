//! All output of backoff about a run. Does not affect the run.

mod explanation;
mod github;
pub(crate) mod json;
mod log;
pub(crate) mod plan_plot;
pub(crate) mod plan_table;
pub(crate) mod report_file;
pub(crate) mod reporter;
mod rule;
mod text;
mod words;
