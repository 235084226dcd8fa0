//! Taking text apart, as bytes.

use std::borrow::Cow;

/// The line without its colours (`ESC [ ... letter`), which programs set even between a name and
/// its colon.
pub(super) fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&0x1b) {
        return Cow::Borrowed(line);
    }
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = match tail.strip_prefix(b"[") {
            Some(sequence) if byte == 0x1b => {
                let parameters = sequence.iter().take_while(|b| matches!(b, 0x20..=0x3f)).count();
                sequence.get(parameters + 1..).unwrap_or_default()
            }
            _ => {
                plain.push(byte);
                tail
            }
        };
    }
    Cow::Owned(plain)
}

/// The words of a text, last first.
pub(super) fn words_before(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.rsplit(|byte| !byte.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
}

/// The rest after `word`, which starts the text in any case.
pub(super) fn after_word<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

pub(super) fn after_quotes(text: &[u8]) -> &[u8] {
    let quotes = text.iter().take_while(|b| b"\"'`\\".contains(b)).count();
    &text[quotes..]
}

/// What follows quotes, brackets, blanks and a `:`, `=` or `=>`, at least one of them, and whether
/// there was such a sign. Backslashes are those of JSON within JSON.
pub(super) fn separated(text: &[u8]) -> Option<(&[u8], bool)> {
    let length = text.iter().take_while(|b| b" \t\"'`\\:=>[(".contains(b)).count();
    let (separator, rest) = text.split_at(length);
    let is_field = separator.iter().any(|b| b":=".contains(b));
    (length > 0).then_some((rest, is_field))
}
