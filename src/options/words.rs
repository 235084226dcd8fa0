//! Parses one of a few words.

use super::problem::{Parsed, Problem};
use super::similar::tip;

/// Returns the words of pairs.
pub(super) const fn names<T, const N: usize>(pairs: &[(&'static str, T); N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = pairs[at].0;
        at += 1;
    }
    names
}

/// Returns the value of a word.
pub(super) fn word<T: Clone>(pairs: &[(&'static str, T)], text: &str) -> Parsed<T> {
    let known = pairs.iter().find(|(word, _)| *word == text);
    if let Some((_, value)) = known {
        return Ok(value.clone());
    }
    let words: Vec<&str> = pairs.iter().map(|(word, _)| *word).collect();
    let tip = tip(text, words.iter().copied(), similar(&words, text));
    Err(Problem::new(format!(
        "is not one of {}{tip}",
        words.join(", ")
    )))
}

/// Returns the word that a text may mean: another word for on or off, a beginning (`exp`), or an end (`bash`). Returns
/// an empty string if there is none.
fn similar<'w>(words: &[&'w str], text: &str) -> &'w str {
    const ON: [&str; 6] = ["yes", "always", "true", "on", "1", "enabled"];
    const OFF: [&str; 10] = [
        "no",
        "never",
        "none",
        "null",
        "false",
        "off",
        "0",
        "disabled",
        "forever",
        "/dev/null",
    ];
    let text = text.to_lowercase();
    let of_group = [&ON[..], &OFF[..]]
        .into_iter()
        .filter(|group| group.contains(&&*text))
        .find_map(|group| words.iter().find(|word| group.contains(*word)));
    of_group
        .or_else(|| words.iter().find(|word| is_part(&text, word)))
        .copied()
        .unwrap_or_default()
}

/// Returns true for the beginning of a word (`exp`), or its end after a dash (`bash`).
fn is_part(text: &str, word: &str) -> bool {
    text.len() > 2 && (word.starts_with(text) || word.ends_with(&format!("-{text}")))
}
