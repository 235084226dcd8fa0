//! All output of backoff about a run, made of the plan (`--plan`) and of the events that the loop reports. Nothing here
//! writes it or affects the run: the `Host` writes the lines.

mod explanation;
mod github;
pub(crate) mod json;
mod log;
pub(crate) mod plan_table;
pub(crate) mod report_file;
pub(crate) mod reporter;
mod rule;
mod text;
mod verbosity;
mod words;
