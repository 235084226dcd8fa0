//! All output of backoff about a run, made of the events that the loop reports. Pure functions of plan and events: the
//! `Host` writes the lines, and nothing here affects the run.

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
mod verbosity;
mod words;
