//! Turns output into what a person reads.
//!
//! Sources: ECMA-48 (the forms of sequences), xterm's "Control Sequences".

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// Matches all but plain text: escape sequences (whole or cut off), CR, backspace, and Unicode blanks.
static SPECIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x-u)
          \x1b\[ [\x20-?]* [@-~\x18\x1a]?
        | \x1b\] [^\x07\x18\x1a\x1b\n]* (?: [\x07\x18\x1a] | \x1b\\ )?
        | \x1b[PX^_k] [^\x18\x1a\x1b\n]* (?: [\x18\x1a] | \x1b\\ )?
        | \x1b [\x20-/]* [0-~\x18\x1a]?
        | \r+\n? | \x08
        | \xc2[\x85\xa0] | \xe1\x9a\x80 | \xe2\x80[\x80-\x8a\xa8\xa9\xaf] | \xe2\x81\x9f | \xe3\x80\x80",
    )
    .ok()
});

/// The visible effect of a match of [`SPECIAL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Colors, modes, titles, links, and erasing the rest of a line.
    Nothing,
    /// A move over blanks, or a blank.
    Blank,
    /// Other text then takes the line's place.
    EndsLine,
}

fn effect(special: &[u8]) -> Effect {
    match special {
        [b'\r' | b'\x08', ..] => Effect::EndsLine,
        [0x1b, b'[', parameters @ .., end] => effect_of_control(parameters, *end),
        // Index, next line, reverse index, restore the cursor, reset.
        [0x1b, b'D' | b'E' | b'M' | b'8' | b'c'] => Effect::EndsLine,
        [0x1b, ..] => Effect::Nothing,
        _ => Effect::Blank,
    }
}

/// Returns the effect of a control sequence (`CSI`). Most that move the cursor or change text end the line.
fn effect_of_control(parameters: &[u8], end: u8) -> Effect {
    let is_private = !parameters.iter().all(|byte| matches!(byte, b'0'..=b';'));
    let is_zero = parameters.iter().all(|byte| b"0:;".contains(byte));
    match end {
        // Erases what follows the cursor, where there is nothing.
        b'K' if is_zero => Effect::Nothing,
        b'J' | b'K' => Effect::EndsLine,
        _ if is_private => Effect::Nothing,
        b'C' => Effect::Blank,
        b'@' | b'A' | b'B' | b'D'..=b'M' | b'P' | b'S' | b'T' | b'X' | b'Z' | b'`' => {
            Effect::EndsLine
        }
        b'a' | b'd'..=b'f' | b'j' | b'k' | b'r' | b'u' => Effect::EndsLine,
        _ => Effect::Nothing,
    }
}

/// Returns the text that a person sees, in lines that end with `\n`. Of the special texts, only CR LF makes an empty
/// line. Any other that ends a line is skipped if the line is empty.
pub fn visible(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(special) = &*SPECIAL else {
        return Cow::Borrowed(text);
    };
    let mut seen = Vec::new();
    let mut copied = 0;
    for found in special.find_iter(text) {
        seen.extend_from_slice(&text[copied..found.start()]);
        copied = found.end();
        let has_text = seen.last().is_some_and(|byte| *byte != b'\n');
        match effect(found.as_bytes()) {
            Effect::EndsLine if has_text || found.as_bytes().ends_with(b"\n") => seen.push(b'\n'),
            Effect::Blank => seen.push(b' '),
            Effect::EndsLine | Effect::Nothing => {}
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    seen.extend_from_slice(&text[copied..]);
    Cow::Owned(seen)
}

/// Returns the lines of a text, without newlines.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

#[cfg(test)]
#[path = "visible_tests.rs"]
mod tests;
