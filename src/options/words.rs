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
    let tip = tip(text, words.iter().copied(), similar(&words, text));
    Err(Problem::new(format!(
        "is not one of {}{tip}",
        words.join(", ")
    )))
}

/// Returns the one of `words`, those of an option, that a text may mean: if the text is a word for on or off, the
/// option's own one for that (`always` for `true`, `never` for `forever`, `null` for `/dev/null`), or else one that
/// begins with the text (`exp`) or ends with it (`bash`). Returns an empty string if there is none.
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
    for group in [&ON[..], &OFF[..]] {
        if group.contains(&&*text)
            && let Some(word) = words.iter().find(|word| group.contains(*word))
        {
            return word;
        }
    }
    let of_part = words.iter().find(|word| is_part(&text, word));
    of_part.copied().unwrap_or_default()
}

/// Returns true for the beginning of a word (`exp`), or its end after a dash (`bash` of `complete-bash`). Shorter texts
/// would fit too many words.
fn is_part(text: &str, word: &str) -> bool {
    text.len() > 2 && (word.starts_with(text) || word.ends_with(&format!("-{text}")))
}
