//! Finds where plain text ends: the bytes of a stream that need no cleaning, and can be copied at once. ESC, CR and
//! backspace, the special bytes, end it, as each moves the cursor or begins what may, and so does a blank of Unicode.

use memchr::memchr3;

use super::blanks::{GROUP, GROUP_AND_REST, first_blank_in, is_blank, may_become_blank};

/// Begins an escape sequence.
pub(super) const ESC: u8 = 0x1b;
pub(super) const BACKSPACE: u8 = 0x08;

/// Returns how many leading bytes are plain text, which can be copied at once: up to a special byte, or a character
/// that is a blank or, at the end of the bytes, may become one. `may_have_blank` is false if the caller knows that
/// there is none: then only special bytes are looked for, which is faster.
pub(super) fn plain_length(bytes: &[u8], may_have_blank: bool) -> usize {
    if !may_have_blank {
        return memchr3(ESC, b'\r', BACKSPACE, bytes).unwrap_or(bytes.len());
    }
    let mut start = 0;
    while let Some(group) = bytes[start..].first_chunk() {
        if let Some(end) = end_of_plain_text_in(group) {
            return start + end;
        }
        start += GROUP;
    }
    // The rest is too short for a group.
    (start..bytes.len())
        .find(|index| ends_plain_text(&bytes[*index..]))
        .unwrap_or(bytes.len())
}

/// Returns the index at which plain text ends among the first [`GROUP`] bytes; None if all of them are plain.
fn end_of_plain_text_in(group: &[u8; GROUP_AND_REST]) -> Option<usize> {
    let special = memchr3(ESC, b'\r', BACKSPACE, &group[..GROUP]);
    // The common case is answered fast.
    let blank = if group.is_ascii() {
        None
    } else {
        first_blank_in(group)
    };
    match (special, blank) {
        (Some(first), Some(second)) => Some(first.min(second)),
        (first, second) => first.or(second),
    }
}

/// Returns true if plain text ends before these bytes, at least one: the first is special, or they begin with a blank,
/// or they are few and may be the beginning of one whose last bytes have not come yet.
fn ends_plain_text(bytes: &[u8]) -> bool {
    is_special(bytes[0])
        || bytes.get(..2).is_some_and(is_blank)
        || bytes.get(..3).is_some_and(is_blank)
        || may_become_blank(bytes)
}

fn is_special(byte: u8) -> bool {
    (byte == ESC) | (byte == b'\r') | (byte == BACKSPACE)
}
