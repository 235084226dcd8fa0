//! Parses one of a few words, as most options with words do: each has a static list of pairs, word and value.

use super::problem::{Parsed, Problem};
use super::similar::tip;

/// Returns the words of pairs for the constant of an option, at compile time, which knows no iterators.
pub(super) const fn names<T, const N: usize>(pairs: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut index = 0;
    while index < N {
        names[index] = pairs[index].0;
        index += 1;
    }
    names
}

/// Returns the value of a word. The problem of any other text lists the words, and suggests one that may be meant.
pub(super) fn word<T: Clone>(pairs: &[(&'static str, T)], text: &str) -> Parsed<T> {
    let known = pairs.iter().find(|(word, _)| *word == text);
    if let Some((_, value)) = known {
        return Ok(value.clone());
    }
    let words: Vec<&str> = pairs.iter().map(|(word, _)| *word).collect();
    let tip = tip(text, words.iter().copied());
    Err(Problem::new(format!(
        "is not one of {}{tip}",
        words.join(", ")
    )))
}
