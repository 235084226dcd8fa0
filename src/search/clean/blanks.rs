//! Blanks of Unicode: they look like a space, so that a pattern with a space has to find them.
//!
//! Most output has none. So a piece of it is first examined as a whole, many bytes at once, and copied only if there is
//! one. For speed, the tests of bytes use `&` and `|`, which evaluate both sides without a jump.

use memchr::{memchr_iter, memchr3_iter};

/// Bytes that are examined at once, and those with the rest of a character that begins among them.
pub(super) const GROUP: usize = 64;
pub(super) const GROUP_AND_REST: usize = GROUP + 2;

/// The blanks of Unicode (`White_Space`) beyond ASCII, as ranges, each from its first character to its last. In UTF-8,
/// each has two or three bytes.
pub(in crate::search) const BLANKS: [(char, char); 8] = [
    ('\u{85}', '\u{85}'),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
];

/// Replaces each blank of Unicode by a space, in the bytes of an expression's literal: the cleaned output has only
/// spaces, and an expression with another blank would never match. Other bytes stay, whether they are UTF-8 or not.
pub(in crate::search) fn spaces_for_blanks(bytes: &[u8]) -> Vec<u8> {
    let mut spaced = Vec::with_capacity(bytes.len());
    let mut unread = bytes;
    while let Some((first, after)) = unread.split_first() {
        let length_of_blank = [2, 3]
            .into_iter()
            .find(|length| unread.get(..*length).is_some_and(is_blank));
        if let Some(length) = length_of_blank {
            spaced.push(b' ');
            unread = &unread[length..];
        } else {
            spaced.push(*first);
            unread = after;
        }
    }
    spaced
}

/// Returns true if these bytes are one of [`BLANKS`] in UTF-8, and nothing else.
pub(super) fn is_blank(character: &[u8]) -> bool {
    match *character {
        [first, second] => is_blank_of_two(first, second),
        [first, second, third] => is_blank_of_three(first, second, third),
        _ => false,
    }
}

/// Returns true for one of [`BLANKS`] of two bytes.
pub(super) fn is_blank_of_two(first: u8, second: u8) -> bool {
    (first == 0xc2) & ((second == 0x85) | (second == 0xa0))
}

/// Returns true for one of [`BLANKS`] of three bytes.
pub(super) fn is_blank_of_three(first: u8, second: u8, third: u8) -> bool {
    // Of those with `e2 80`: U+2000 to U+200A, U+2028 and U+2029, U+202F.
    let is_third_after_e2_80 =
        (third.wrapping_sub(0x80) <= 0x0a) | (third & 0xfe == 0xa8) | (third == 0xaf);
    // Then U+205F, U+1680 and U+3000.
    (first == 0xe2) & (second == 0x80) & is_third_after_e2_80
        | (first == 0xe2) & (second == 0x81) & (third == 0x9f)
        | (first == 0xe1) & (second == 0x9a) & (third == 0x80)
        | (first == 0xe3) & (second == 0x80) & (third == 0x80)
}

/// Returns true if these one or two bytes, the last that have come, may be the beginning of a blank: the next byte
/// decides. False for a complete blank, and for more than two bytes.
pub(super) fn may_become_blank(begun: &[u8]) -> bool {
    // The first bytes of [`BLANKS`] in UTF-8.
    match *begun {
        [first] => matches!(first, 0xc2 | 0xe1 | 0xe2 | 0xe3),
        [first, second] => matches!(
            (first, second),
            (0xe1, 0x9a) | (0xe2, 0x80 | 0x81) | (0xe3, 0x80)
        ),
        _ => false,
    }
}

/// Returns true if the bytes hold a blank of Unicode, or may end inside of one. False is the common answer, and lets
/// the caller pass the bytes on without a copy, if nothing else in them has to be cleaned.
pub(super) fn has_blank(bytes: &[u8]) -> bool {
    let mut unexamined = bytes;
    while let Some(group) = unexamined.first_chunk::<GROUP_AND_REST>() {
        if !group.is_ascii() && first_blank_in(group).is_some() {
            return true;
        }
        unexamined = &unexamined[GROUP..];
    }
    // The rest is too short for a group.
    let begins_blank = |start: usize| {
        [2, 3]
            .iter()
            .any(|length| unexamined.get(start..start + length).is_some_and(is_blank))
    };
    let last_two = &bytes[bytes.len().saturating_sub(2)..];
    (0..unexamined.len()).any(begins_blank) || has_begun_blank(last_two)
}

/// Returns the index of the first blank that begins among the first [`GROUP`] bytes, None if none does; it may end in
/// the two bytes behind them. Looks closer only where a byte could be the first of a blank: most texts have few of
/// these.
pub(super) fn first_blank_in(group: &[u8; GROUP_AND_REST]) -> Option<usize> {
    let is_blank_at = |index: &usize| {
        is_blank_of_two(group[*index], group[*index + 1])
            || is_blank_of_three(group[*index], group[*index + 1], group[*index + 2])
    };
    let examined = &group[..GROUP];
    // One search looks for three bytes at most. 0xe3 begins U+3000, the ideographic space.
    let common = memchr3_iter(0xc2, 0xe1, 0xe2, examined).find(is_blank_at);
    let ideographic = memchr_iter(0xe3, examined).find(is_blank_at);
    match (common, ideographic) {
        (Some(first), Some(second)) => Some(first.min(second)),
        (first, second) => first.or(second),
    }
}

/// Returns true if a blank may begin with the last two bytes, or with the last one of them: then the next bytes of the
/// stream decide.
fn has_begun_blank(last: &[u8]) -> bool {
    may_become_blank(last) || may_become_blank(last.last_chunk::<1>().map_or(&[], |byte| byte))
}
