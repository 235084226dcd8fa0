//! The run at the top of the README. It shows the times of a real run.

use std::sync::LazyLock;

use regex::{Captures, Regex};

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

/// Replaces the times by the times of another text, as long as that text has more.
pub fn with_times_of(other: &str, text: &str) -> String {
    let mut times = TIMES.find_iter(other);
    let time = |found: &Captures<'_>| {
        times
            .next()
            .map_or(&found[0], |time| time.as_str())
            .to_owned()
    };
    TIMES.replace_all(text, time).into_owned()
}

/// Returns the text of a picture without its markup.
pub fn text_of(svg: &str) -> String {
    let mut text = String::new();
    for row in svg.lines().filter(|line| line.starts_with("<text")) {
        let parts = row.split('<').filter_map(|part| part.split_once('>'));
        text.extend(parts.map(|(_, shown)| shown));
        text.push(' ');
    }
    text.replace("&lt;", "<")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}
