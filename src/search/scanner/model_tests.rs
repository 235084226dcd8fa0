//! Compares the scanner with the naive search. `PROPTEST_CASES=100000` compares more cases than the default.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::bytes::{Regex, RegexBuilder};

use super::*;
use crate::search::clean::naive::cleaned;
use crate::search::pattern::Pattern;

type Hit = (usize, Vec<u8>);

fn regex(text: &str) -> Regex {
    let build = |unicode| RegexBuilder::new(text).unicode(unicode).build();
    build(!text.is_ascii()).or_else(|_| build(true)).unwrap()
}

/// Runs each open expression on each line.
fn naive(patterns: &[String], stream: &[u8]) -> Vec<Hit> {
    let mut open: Vec<(usize, Regex)> = patterns
        .iter()
        .map(|text| regex(text))
        .enumerate()
        .collect();
    let mut hits: Vec<Hit> = Vec::new();
    for line in cleaned(stream).split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        for (index, regex) in &open {
            hits.extend(
                regex
                    .find(line)
                    .map(|found| (*index, found.as_bytes().to_vec())),
            );
        }
        open.retain(|(index, _)| hits.iter().all(|(found, _)| found != index));
    }
    hits
}

fn set(patterns: &[String]) -> Patterns {
    Patterns::new(
        patterns
            .iter()
            .map(|text| Pattern::parse(text).unwrap())
            .collect(),
    )
}

/// Scans the stream in pieces of the given sizes in turn.
fn scanned(patterns: Patterns, stream: &[u8], sizes: &[usize]) -> Vec<Hit> {
    let mut scanner = Scanner::new(Arc::new(patterns));
    let mut hits = Vec::new();
    let mut found = |index: usize, text: &[u8]| hits.push((index, text.to_vec()));
    let mut rest = stream;
    for size in sizes.iter().cycle() {
        let (piece, after) = rest.split_at(rest.len().min(*size));
        scanner.push(piece, &mut found);
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    scanner.finish(&mut found);
    hits
}

#[rustfmt::skip]
const LEAVES: &[&str] = &[
    "", "a", "b", "ab", "aab", "aba", "abaab", "é", " ", ".", "x", r"\r", r"\n", r"\x00", r"\s", r"\S", r"\w", r"\W", r"\d", r"\pL", "[^a]",
    "[^b\n]", "[ab]", "[a\n]", "^", "$", r"\A", r"\z", r"\b", r"\B", r"\b{start}", r"\b{end}", r"\b{start-half}",
    r"\b{end-half}", r"(?u:\b)", r"(?u:\B)", r"(?u:\w)", r"(?-u:\b)", r"(?-u:\B)", r"(?-u:\b{start})", r"(?-u:\xff)",
    r"(?s-u:.)", "(?s:.)", r"(?-u:[^a])", "(?m:^)", "(?m:$)", "(?mR:^)", "(?mR:$)", "(?R:.)", r"\r?$", "a\nb",
];

fn pattern() -> impl Strategy<Value = String> {
    let leaf = select(LEAVES).prop_map(str::to_owned);
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            4 => vec(inner.clone(), 2..5).prop_map(|parts| parts.concat()),
            2 => vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => inner.clone().prop_map(|part| format!("({part})")),
            1 => inner.clone().prop_map(|part| format!("(?i:{part})")),
            2 => (inner, select(vec!["?", "*", "+", "??", "*?", "+?", "{2}", "{0,2}"]))
                .prop_map(|(part, often)| format!("(?:{part}){often}")),
        ]
    })
}

#[rustfmt::skip]
const PIECES: &[&[u8]] = &[
    b"a", b"b", b"A", b"ab", b"aab", b"abA", b" ", b"x", "é".as_bytes(), "É".as_bytes(), b"\n", b"\n", b"\n", b"\r", b"\r\n",
    b"\r\r\n", b"\0", b"1", b"\x1b[1m", b"\x1b[2K", b"\x1b]0;a\x07", b"\x08", "\u{2009}".as_bytes(), "\u{a0}".as_bytes(),
];
/// Invalid and incomplete characters in UTF-8.
const BROKEN: &[&[u8]] = &[b"\xff", b"\xc3", b"\xa9", b"\xe2\x82", b"\xf0\x9f"];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![8 => select(PIECES), 1 => select(BROKEN)], 0..40)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_naive_search_finds_the_same(
        patterns in vec(pattern(), 1..5),
        stream in bytes(),
        sizes in vec(1_usize..20, 1..6),
        block in 1_usize..60,
    ) {
        let expected = naive(&patterns, &stream);
        let set = set(&patterns);
        for sizes in [&sizes[..], &[1], &[usize::MAX]] {
            prop_assert_eq!(&scanned(set.clone(), &stream, sizes), &expected);
        }
        let mut short_blocks = set.clone();
        short_blocks.block = block;
        prop_assert_eq!(&scanned(short_blocks, &stream, &sizes), &expected);
        for sieved_bytes in [usize::MAX, block] {
            let mut sifted = set.clone();
            sifted.sieved_bytes = sieved_bytes;
            prop_assert_eq!(&scanned(sifted, &stream, &sizes), &expected);
        }
    }

    /// Asserts that the scanner finds matches up to the length of the overlap of two windows.
    #[test]
    fn windows_of_long_lines_find_the_same(
        text in pattern(),
        stream in vec(bytes(), 1..5),
        size in 1_usize..100,
        eighth in 4_usize..12,
    ) {
        let mut stream = stream.concat();
        stream.retain(|byte| *byte != b'\n' || size % 3 == 0);
        let patterns = [text];
        let expected = naive(&patterns, &stream);
        if expected.iter().all(|(_, found)| found.len() <= eighth) {
            let mut windows = set(&patterns);
            windows.window = 8 * eighth;
            prop_assert_eq!(&scanned(windows.clone(), &stream, &[size]), &expected);
            for sieved_bytes in [usize::MAX, size] {
                let mut sifted = windows.clone();
                sifted.sieved_bytes = sieved_bytes;
                prop_assert_eq!(&scanned(sifted, &stream, &[size]), &expected);
            }
        }
    }
}
