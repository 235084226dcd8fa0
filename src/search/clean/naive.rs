//! The naive cleaner, with which tests compare [`Cleaner`]: it is slow, but simple enough to be seen to be right. It
//! has the whole stream at once, where the other gets pieces, and asks one expression after the other what comes next.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::bytes::Regex;

use super::Cleaner;

/// Expressions for what may come next in a stream, and what a person sees of it: nothing, a space, or the end of the
/// line (`\n`), which counts only if something is on the line. The first that matches counts; a byte that none matches
/// is text.
static FORMS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let parameters = "[0-9:;]*";
    let forms = [
        ("\u{1b}".to_owned() + r"\[[0:;]*K", ""),
        (format!("\u{1b}\\[{parameters}C"), " "),
        (
            format!("\u{1b}\\[{parameters}[ABDEFGHIZ`adefjkuJKLMPSTX@r]"),
            "\n",
        ),
        (r"\x1b\[[ -?]*[JK]".to_owned(), "\n"),
        (r"\x1b\[[ -?]*(?:[@-~]|\x18|\x1a|\z)?".to_owned(), ""),
        (
            r"\x1b\](?:[^\x07\x1b\x18\x1a\n]{0,4096})(?:\x07|\x18|\x1a|\z)?".to_owned(),
            "",
        ),
        (
            r"\x1b[PX^_k](?:[^\x1b\x18\x1a\n]{0,4096})(?:\x18|\x1a|\z)?".to_owned(),
            "",
        ),
        (r"\x1b[DEM8c]|\x08|\r".to_owned(), "\n"),
        (
            r"\x1b(?:[ -/]+[0-~\x18\x1a]?|[0-~\x18\x1a]?)".to_owned(),
            "",
        ),
        (
            r"(?u)[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]".to_owned(),
            " ",
        ),
    ];
    let anchored = |text: &str| Regex::new(&format!("^(?s-u:{text})")).unwrap();
    forms
        .iter()
        .map(|(text, seen)| (anchored(text), *seen))
        .collect()
});

/// Returns the stream as [`Cleaner`] has to clean it, whatever the pieces in which a cleaner gets it.
pub(crate) fn cleaned(stream: &[u8]) -> Vec<u8> {
    let (mut clean, mut unread) = (Vec::new(), stream);
    // A CR has ended a line, and nothing was seen since: an LF would be part of the same line end.
    let mut after_cr = false;
    while let Some(&first) = unread.first() {
        let found = FORMS
            .iter()
            .find_map(|(form, seen)| Some((form.find(unread)?.len(), *seen)));
        let (length, seen) = found.unwrap_or((1, ""));
        let is_on_line = clean.last().is_some_and(|last| *last != b'\n');
        match (found, seen) {
            (None, _) if first == b'\n' && after_cr => after_cr = false,
            (None, _) => {
                clean.push(first);
                after_cr = false;
            }
            (Some(_), "\n") if is_on_line => {
                clean.push(b'\n');
                after_cr = first == b'\r';
            }
            (Some(_), "\n") => {}
            (Some(_), seen) => {
                clean.extend_from_slice(seen.as_bytes());
                after_cr &= seen.is_empty();
            }
        }
        unread = &unread[length..];
    }
    clean
}

/// Pieces of streams, so that sequences come about, whole and broken.
#[rustfmt::skip]
const PIECES: &[&[u8]] = &[
    b"a", b"error", b" ", b"\n", b"\r", b"\r\n", b"\x08", b"\x07", b"\x1b", b"\x1b[", b"\x1b]", b"\x1bP", b"\x1b(", b"\x1b\\",
    b"[", b"]", b"0", b"2", b";", b"?", b"m", b"K", b"J", b"C", b"G", b"H", b"u", b"B", b"h", b"\x18", b"\x1b[31m", b"\x1b[2K",
    b"\x1b]0;x\x07", b"\xe2", b"\x80", b"\x89", b"\xc2", b"\xa0", b"\xe3\x80", b"\xe2\x80\x89", b"\xe2\x94\x81", b"\xff",
    b"a line of more than a group of bytes, in which there is nothing to be cleaned at all",
];

/// Makes random streams for tests, of [`PIECES`].
pub(crate) fn stream() -> impl Strategy<Value = Vec<u8>> {
    vec(select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_cleaned_and_do_not_grow(pieces: Vec<Vec<u8>>) {
        let (mut cleaner, mut clean) = (Cleaner::default(), Vec::new());
        for piece in &pieces {
            clean.extend_from_slice(cleaner.clean(piece));
        }
        clean.extend_from_slice(cleaner.finish());
        prop_assert!(clean.len() <= pieces.concat().len());
        prop_assert!(!clean.iter().any(|byte| b"\x1b\r\x08".contains(byte)));
    }

    /// Asserts that both cleaners agree, into whatever pieces the stream is cut.
    #[test]
    fn the_naive_cleaner_agrees(stream in stream(), sizes in vec(1_usize..50, 1..6)) {
        let expected = cleaned(&stream);
        for sizes in [&sizes[..], &[1], &[usize::MAX]] {
            let (mut cleaner, mut clean, mut unread) = (Cleaner::default(), Vec::new(), &stream[..]);
            for size in sizes.iter().cycle() {
                let (piece, after) = unread.split_at(unread.len().min(*size));
                clean.extend_from_slice(cleaner.clean(piece));
                unread = after;
                if unread.is_empty() {
                    break;
                }
            }
            clean.extend_from_slice(cleaner.finish());
            prop_assert_eq!(
                clean.escape_ascii().to_string(),
                expected.escape_ascii().to_string(),
                "{}",
                stream.escape_ascii()
            );
        }
    }
}
