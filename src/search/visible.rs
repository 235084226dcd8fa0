//! Makes of output what a person reads.
//!
//! Sources: ECMA-48 (the forms of sequences), xterm's "Control Sequences".

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

/// What is not plain text. `blank` is read as a space: a move over blanks, or a blank of Unicode. `end` ends the line,
/// as other text then stands in its place: a CR, a backspace, and sequences that move the cursor or erase. A match in
/// neither group vanishes: colors, modes, titles, links, and erasure of the rest of a line.
static SPECIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x-u)
          \x1b\[ [0:;]* K
        | (?<blank> \x1b\[ [0-;]* C
            | \xc2[\x85\xa0] | \xe1\x9a\x80 | \xe2\x80[\x80-\x8a\xa8\xa9\xaf] | \xe2\x81\x9f | \xe3\x80\x80 )
        | (?<end> \x1b\[ [0-;]* [@ABD-MPSTXZ`ad-fjkru] | \x1b\[ [\x20-?]* [JK]
            | \x1b[DEM8c] | \r+\n? | \x08 )
        | \x1b\[ [\x20-?]* [@-~\x18\x1a]?
        | \x1b\] [^\x07\x18\x1a\x1b\n]* (?: [\x07\x18\x1a] | \x1b\\ )?
        | \x1b[PX^_k] [^\x18\x1a\x1b\n]* (?: [\x18\x1a] | \x1b\\ )?
        | \x1b [\x20-/]* [0-~\x18\x1a]?",
    )
    .ok()
});

/// Returns the text that a person sees. Its lines end with `\n`; some may be empty where nothing was.
pub fn visible(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(special) = &*SPECIAL else {
        return Cow::Borrowed(text);
    };
    special.replace_all(text, |found: &Captures<'_>| -> &[u8] {
        if found.name("end").is_some() {
            b"\n"
        } else if found.name("blank").is_some() {
            b" "
        } else {
            b""
        }
    })
}

/// Returns the lines of a text in which something is.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests;
