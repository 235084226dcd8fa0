//! The scanner against the naive way of doing the same.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::search::pattern::Pattern;

/// What the first line that matches has to show, for each pattern.
fn naive(patterns: &[String], stream: &[u8]) -> Vec<Option<Vec<u8>>> {
    let first = |text: &String| {
        let regex = regex::bytes::Regex::new(text).unwrap();
        stream.split_inclusive(|&byte| byte == b'\n').find_map(|line| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            Some(regex.find(line)?.as_bytes().to_vec())
        })
    };
    patterns.iter().map(first).collect()
}

/// How the stream is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    AsUsual,
    /// As where much has passed before.
    MuchHasPassed,
    /// In the shortest of steps, as what would take too long otherwise.
    InShortSteps,
}

/// The same by the scanner, the stream cut into pieces of these sizes in turn.
fn scanned(patterns: &[String], stream: &[u8], sizes: &[usize]) -> Vec<Option<Vec<u8>>> {
    scanned_as(How::AsUsual, patterns, stream, sizes)
}

fn scanned_as(how: How, patterns: &[String], stream: &[u8], sizes: &[usize]) -> Vec<Option<Vec<u8>>> {
    let compiled = patterns.iter().map(|text| {
        let mut pattern = Pattern::compile(text).unwrap();
        if how == How::InShortSteps {
            pattern.seem_slow();
        }
        pattern
    });
    let mut scanner = Scanner::new(Arc::new(Patterns::new(compiled.collect())));
    match how {
        How::AsUsual => {}
        How::MuchHasPassed => scanner.expect_much(),
        How::InShortSteps => scanner.fuel = if stream.len() > LONGEST_LINE { 100_000 } else { 3 },
    }
    let mut all = vec![None; patterns.len()];
    let mut found = |index: usize, text: &[u8]| {
        assert_eq!(all[index], None, "reported twice");
        all[index] = Some(text.to_vec());
    };
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
    assert_eq!(scanner.is_settled(), all.iter().all(Option::is_some));
    all
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = select(vec![
        "",
        "a",
        "b",
        "ab",
        "é",
        " ",
        ".",
        "x",
        r"\r",
        r"\n",
        r"\x00",
        r"\s",
        r"\S",
        r"\w",
        r"\W",
        r"\d",
        "[^a]",
        "[^b\n]",
        "[ab]",
        "[a\n]",
        "^",
        "$",
        r"\A",
        r"\z",
        r"\b",
        r"\B",
        r"\b{start}",
        r"\b{end}",
        r"\b{start-half}",
        r"\b{end-half}",
        r"(?-u:\b)",
        r"(?-u:\B)",
        r"(?-u:\b{start})",
        r"(?-u:\xff)",
        r"(?s-u:.)",
        "(?s:.)",
        r"(?-u:[^a])",
        "(?m:^)",
        "(?m:$)",
        "(?mR:^)",
        "(?mR:$)",
        "(?R:.)",
        r"\r?$",
        "a\nb",
    ])
    .prop_map(str::to_owned);
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

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = select(vec![
        "a", "b", "A", "ab", " ", "x", "é", "É", "\n", "\n", "\n", "\r", "\r\n", "\r\r\n", "\0", "1",
    ])
    .prop_map(|text| text.as_bytes().to_vec());
    let broken = select(vec![
        vec![0xff],
        vec![0xc3],
        vec![0xa9],
        vec![0xe2, 0x82],
        vec![0xf0, 0x9f],
    ]);
    vec(prop_oneof![8 => piece, 1 => broken], 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn finds_what_the_naive_way_finds(
        patterns in vec(pattern(), 1..4),
        stream in bytes(),
        sizes in vec(1_usize..20, 1..6),
    ) {
        let expected = naive(&patterns, &stream);
        prop_assert_eq!(&scanned(&patterns, &stream, &sizes), &expected);
        prop_assert_eq!(&scanned(&patterns, &stream, &[1]), &expected);
        prop_assert_eq!(&scanned(&patterns, &stream, &[usize::MAX]), &expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn finds_the_same_where_much_has_passed(patterns in vec(pattern(), 1..4), streams in vec(bytes(), 1..4)) {
        let stream = streams.join(&b'\n');
        prop_assert_eq!(scanned_as(How::MuchHasPassed, &patterns, &stream, &[usize::MAX]), naive(&patterns, &stream));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn finds_the_same_in_short_steps(patterns in vec(pattern(), 1..4), stream in bytes(), size in 1_usize..20) {
        let expected = naive(&patterns, &stream);
        prop_assert_eq!(&scanned_as(How::InShortSteps, &patterns, &stream, &[usize::MAX]), &expected);
        prop_assert_eq!(&scanned_as(How::InShortSteps, &patterns, &stream, &[size]), &expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn finds_it_in_long_lines_too(
        pattern in pattern(),
        pieces in vec((prop_oneof![0_usize..80, OVERLAP..OVERLAP + 80], bytes()), 1..4),
        begin in bytes(),
        end in bytes(),
        size in 10_000_usize..300_000,
    ) {
        // Around the border of the first window, and of the second.
        let mut stream = begin;
        stream.resize(stream.len() + LONGEST_LINE + 5000, b'x');
        for (back, mut bytes) in pieces {
            bytes.retain(|&byte| byte != b'\n');
            let at = LONGEST_LINE + 40 - back;
            stream[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        stream.extend(end);
        let expected = naive(std::slice::from_ref(&pattern), &stream);
        // What is longer than the overlap need not be found.
        if expected[0].as_ref().is_none_or(|found| found.len() <= OVERLAP) {
            let patterns = [pattern];
            prop_assert_eq!(&scanned(&patterns, &stream, &[size]), &expected);
            prop_assert_eq!(&scanned_as(How::InShortSteps, &patterns, &stream, &[size]), &expected);
        }
    }
}

#[test]
fn a_scanner_that_forgot_everything_is_settled_and_quiet() {
    let set = Arc::new(Patterns::new(
        ["a", "b"].iter().map(|text| Pattern::compile(text).unwrap()).collect(),
    ));
    let mut scanner = Scanner::new(Arc::clone(&set));
    let mut count = 0;
    let mut found = |_, _: &[u8]| count += 1;
    scanner.push(b"a", &mut found);
    scanner.forget(0);
    scanner.forget(0);
    scanner.push(b"\na\n", &mut found);
    assert!(!scanner.is_settled());
    scanner.forget(1);
    scanner.forget(7);
    assert!(scanner.is_settled());
    scanner.push(b"ab\n", &mut found);
    scanner.finish(&mut found);
    assert_eq!(count, 0);
}

/// Two streams, one set: what one has found the other still looks for.
#[test]
fn scanners_of_one_set_do_not_disturb_each_other() {
    let set = Arc::new(Patterns::new(vec![Pattern::compile("a").unwrap()]));
    let (mut one, mut other) = (Scanner::new(Arc::clone(&set)), Scanner::new(Arc::clone(&set)));
    let mut all = Vec::new();
    one.push(b"a\n", &mut |index, text| all.push((1, index, text.to_vec())));
    assert!(one.is_settled() && !other.is_settled());
    other.push(b"ba", &mut |index, text| all.push((2, index, text.to_vec())));
    other.finish(&mut |index, text| all.push((2, index, text.to_vec())));
    assert_eq!(all, [(1, 0, b"a".to_vec()), (2, 0, b"a".to_vec())]);
}
