//! The run that the README begins with. It shows the times of a real one, which no other run has again.

use std::sync::LazyLock;

use regex::{Captures, Regex};

pub const README: &str = include_str!("../../README.md");

/// A time that a message tells. Those in options are not among them.
static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(after|in) <?([0-9]+(\.[0-9]+)?(ms|s|m|h))+\b").unwrap());

/// What stands between the fences of its first console block.
pub fn first_block() -> &'static str {
    let block = README
        .split_once("```console\n")
        .and_then(|(_, rest)| rest.split_once("```"));
    block.expect("a console block").0
}

/// Any time as the same word.
pub fn without_times(text: &str) -> String {
    TIME.replace_all(text, "$1 TIME").into_owned()
}

/// With the times of another text, as long as that has more of them.
pub fn with_times_of(other: &str, text: &str) -> String {
    let mut times = TIME.find_iter(other);
    let time = |found: &Captures<'_>| times.next().map_or(&found[0], |time| time.as_str()).to_owned();
    TIME.replace_all(text, time).into_owned()
}

/// The text of a picture, without its markup.
pub fn text_of(svg: &str) -> String {
    let mut text = String::new();
    for row in svg.lines().filter(|line| line.starts_with("<text")) {
        let parts = row.split('<').filter_map(|part| part.split_once('>'));
        text.extend(parts.map(|(_, shown)| shown));
        text.push(' ');
    }
    text.replace("&lt;", "<").replace("&quot;", "\"").replace("&amp;", "&")
}
