use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use regex::bytes::Regex;

use super::*;
use crate::search::pattern::Pattern;

fn grams(expressions: &[&str], sample: &str) -> Option<Grams> {
    let patterns = expressions.iter().map(|text| Pattern::parse(text).unwrap());
    let forms: Vec<Hir> = patterns.map(|pattern| pattern.for_literals()).collect();
    Grams::new(forms.into_iter(), sample.as_bytes())
}

/// Returns the lines that are found, with a sample in which everything is equally rare.
fn lines<'a>(expressions: &[&str], text: &'a str) -> Vec<&'a str> {
    let found = grams(expressions, "").unwrap().lines(text.as_bytes());
    found
        .into_iter()
        .map(|line| str::from_utf8(line).unwrap())
        .collect()
}

#[test]
fn lines_with_a_literal_are_found() {
    let text = "no route\nConnection reset by peer\n\nerror: TIMEOUT\ntime";
    assert_eq!(lines(&["connection"], text), ["Connection reset by peer"]);
    assert_eq!(
        lines(&["(?i)Timeout$", "peer"], text),
        ["Connection reset by peer", "error: TIMEOUT"]
    );
    assert_eq!(
        lines(&["route|time$"], text),
        ["no route", "error: TIMEOUT", "time"]
    );
    assert!(lines(&["refused"], text).is_empty());
}

#[test]
fn a_literal_at_the_begin_counts_only_there() {
    assert_eq!(
        lines(&["^abc"], "abc\nxabc\n abc\nabcabc"),
        ["abc", "abcabc"]
    );
}

#[test]
fn neighbours_count_together() {
    assert_eq!(
        lines(&["[:>] ?50[34]"], "503\n: 503\n>504\n> 505"),
        [": 503", ">504"]
    );
}

#[test]
fn no_help_is_no_filter() {
    // May match without a literal.
    for expression in ["", "a", "ab", "(abc)?", "abc|x", r"\d\d\d", "^$", ".*"] {
        assert!(grams(&["abc", expression], "").is_none(), "{expression}");
    }
    // In most lines.
    assert!(grams(&["abc"], "abc\nabc\nx\n").is_none());
    assert!(grams(&["abc"], "abc\nxxxxxxx\n").is_some());
}

#[test]
fn a_frequent_literal_needs_a_second_one() {
    let sample = "error 1\nreset\nlost\n".repeat(10) + &"x".repeat(999);
    let grams = grams(&["error.*(reset|lost)"], &sample).unwrap();
    let text = b"error 2\nreset\nerror: reset\nlost error";
    let expected: [&[u8]; 2] = [b"error: reset", b"lost error"];
    assert_eq!(grams.lines(text), expected);
}

const WORDS: &[&str] = &[
    "abc", "abcd", "bca", "503", "504", "cab: ", "ab", "a", "B", " ", "", "\n",
];

fn expression() -> impl Strategy<Value = String> {
    let others = [".*", r"\d", "[ab]", "^", "$", r"\b", "5[0-9]", r"\s*"];
    let leaf = prop_oneof![
        5 => select(WORDS),
        2 => select(others.to_vec()),
    ];
    leaf.prop_map(str::to_owned)
        .prop_recursive(4, 16, 4, |inner| {
            prop_oneof![
                4 => vec(inner.clone(), 2..5).prop_map(|parts| parts.concat()),
                2 => vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
                1 => inner.clone().prop_map(|part| format!("(?i:{part})")),
                2 => (inner, select(vec!["?", "*", "+", "{2}", "{0,2}"]))
                    .prop_map(|(part, often)| format!("(?:{part}){often}")),
            ]
        })
}

fn text() -> impl Strategy<Value = String> {
    let pieces =
        prop_oneof![3 => select(WORDS), 1 => Just("\n"), 1 => Just("ABC"), 1 => Just("xyz")];
    vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn no_line_with_a_match_is_left_out(
        expressions in vec(expression(), 1..4),
        sample in text(),
        text in text(),
    ) {
        let expressions: Vec<&str> = expressions.iter().map(String::as_str).collect();
        // A second half without any literal.
        let sample = sample.clone() + &"z".repeat(sample.len() + 1);
        if let Some(grams) = grams(&expressions, &sample) {
            let found = grams.lines(text.as_bytes());
            for line in text.split('\n').map(str::as_bytes) {
                let is_match = |text: &&str| Regex::new(text).unwrap().is_match(line);
                if expressions.iter().any(is_match) {
                    prop_assert!(found.contains(&line), "{:?}", str::from_utf8(line));
                }
            }
        }
    }
}
