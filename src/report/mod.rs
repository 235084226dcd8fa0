//! All output of backoff about a run, made of the plan (`--plan`) and of the events that the loop reports. Nothing here
//! writes it or affects the run: the `Host` writes the lines.

mod endings;
mod failure;
pub(crate) mod json;
pub(crate) mod plan_table;
mod records;
pub(crate) mod report_file;
pub(crate) mod reporter;
mod shell_words;
mod text;
mod verbosity;
