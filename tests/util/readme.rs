//! The run at the top of the README. It shows the times of a real run.

use std::sync::LazyLock;

use regex::Regex;

use super::ended::TIME;

pub const README: &str = include_str!("../../README.md");

/// A time in a message, but not in an option.
static TIMES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&format!(r"\b(after|in) {TIME}\b")).unwrap());

/// Returns the content of the README's first console block.
pub fn first_block() -> &'static str {
    let block = README
        .split_once("```console\n")
        .and_then(|(_, rest)| rest.split_once("```"));
    block.expect("a console block").0
}

/// Replaces each time by the same word.
pub fn without_times(text: &str) -> String {
    TIMES.replace_all(text, "$1 TIME").into_owned()
}
