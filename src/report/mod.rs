//! All output of backoff about a run, made from the plan (`--plan`) and from the events of the loop. Nothing here
//! writes it or affects the run. The `Host` writes the lines.

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
