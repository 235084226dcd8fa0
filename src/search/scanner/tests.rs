use super::*;
use crate::search::pattern::Pattern;

fn set(texts: &[&str]) -> Patterns {
    Patterns::new(texts.iter().map(|text| Pattern::compile(text).unwrap()).collect())
}

/// What is found, in pushes of the given size.
fn scan(texts: &[&str], stream: &[u8], size: usize) -> Vec<(usize, Vec<u8>)> {
    let patterns = set(texts);
    let mut scanner = Scanner::new(Arc::new(patterns.clone()));
    let mut all = Vec::new();
    let mut found = |index, text: &[u8]| all.push((index, text.to_vec()));
    for bytes in stream.chunks(size) {
        scanner.push(bytes, &mut found);
    }
    scanner.finish(&mut found);
    all.sort();
    all
}

/// Whether and what one pattern matches, and that the size of the pushes does not matter.
fn first(text: &str, stream: &[u8]) -> Option<Vec<u8>> {
    let whole = scan(&[text], stream, usize::MAX);
    for size in 1..=stream.len().min(9) {
        assert_eq!(scan(&[text], stream, size), whole, "{text:?} in pushes of {size}");
    }
    whole.into_iter().next().map(|(_, found)| found)
}

fn is(text: &str, stream: &[u8], expected: &str) {
    assert_eq!(
        first(text, stream).as_deref(),
        Some(expected.as_bytes()),
        "{text:?} in {:?}",
        stream.escape_ascii().to_string()
    );
}

fn not(text: &str, stream: &[u8]) {
    assert_eq!(
        first(text, stream),
        None,
        "{text:?} in {:?}",
        stream.escape_ascii().to_string()
    );
}

#[test]
fn no_match_spans_lines() {
    not(r"a\sb", b"a\nb\na\r\nb");
    not("a[^x]b", b"a\nb\n");
    not("a\nb", b"a\nb\n");
    not("(?s)a.+b", b"a\nb\n");
    not(r"a\r?$\s*^b", b"a\nb\na\r\nb\n");
    not(r"(?-u)a[^x]b", b"a\nb\n");
    is(r"a\s*", b"a \n b", "a ");
    is(r"ab\nc|b", b"ab\nc\n", "b");
    is(r"ab[\n]c|b", b"ab\nc\n", "b");
}

#[test]
fn anchors_hold_at_the_ends_of_lines() {
    for anchored in ["^b$", r"\Ab\z", "(?m)^b$", "(?mR)^b$", r"\bb\b"] {
        is(anchored, b"a\nb\nc\n", "b");
        is(anchored, b"a\r\nb\r\nc\r\n", "b");
        is(anchored, b"a\nb", "b");
        is(anchored, b"b\r", "b");
        not(anchored, b"ab\nba\nbab");
    }
}

#[test]
fn one_carriage_return_belongs_to_the_end_of_a_line() {
    not(r"\r", b"a\r\n\r\nb\r");
    is(r"a\r$", b"a\r\r\n", "a\r");
    not("a$", b"a\r\r\na\rb\n");
    not("^b", b"a\rb\n");
    not(r"a\s", b"a\r\na\na\r");
    is(r"a\s", b"a\r\na\na\rb", "a\r");
}

#[test]
fn empty_lines_and_empty_matches() {
    is("", b"\n", "");
    is("^$", b"a\n\nb", "");
    is("^$", b"a\r\n\r\n", "");
    is("", b"a", "");
    not("", b"");
    not("^$", b"a\n");
    not("^$", b"a\r\nb");
    is("a*", b"\naa\n", "");
}

#[test]
fn bytes_that_are_not_text() {
    is("b.d", b"\xff\xfe\x00\nb\x00d\xff", "b\0d");
    not("b.d", b"b\xffd");
    is(r"\bbad\b", b"\xffbad\xe2\x82\nbad", "bad");
    assert_eq!(first(r"(?-u:b\xff.)", b"b\xff\xfe").unwrap(), b"b\xff\xfe");
    is(r"(?i)größe", "x\nGRÖSSE GRÖßE".as_bytes(), "GRÖßE");
}

#[test]
fn the_first_line_counts_whatever_was_pointed_out_before() {
    is(r"\bok\b.*", b"token\nbroken ok?\nok!", "ok?");
    is("(ok|okay)$", b"ok \nokay\nok", "okay");
}

#[test]
fn a_pattern_is_found_once_and_a_settled_scanner_does_nothing() {
    let patterns = set(&["a", "b", "c"]);
    let mut scanner = Scanner::new(Arc::new(patterns.clone()));
    let mut all = Vec::new();
    let mut found = |index, _: &[u8]| all.push(index);
    scanner.push(b"a\na\nb\nunfinished b", &mut found);
    assert!(!scanner.is_settled());
    scanner.forget(2);
    assert!(scanner.is_settled());
    assert_eq!(scanner.line.capacity(), 0);
    scanner.push(b"c\nb\na\nc", &mut found);
    assert_eq!(scanner.line.capacity(), 0);
    scanner.finish(&mut found);
    assert_eq!(all, [0, 1]);
    let none = Patterns::default();
    assert!(Scanner::new(Arc::new(none.clone())).is_settled());
}

/// A line of `length` bytes `x` with something in it.
fn long(length: usize, at: usize, text: &[u8]) -> Vec<u8> {
    let mut line = vec![b'x'; length];
    line[at..at + text.len()].copy_from_slice(text);
    line
}

#[test]
fn matches_are_seen_across_windows() {
    let size = 2 * LONGEST_LINE + 100;
    for at in (LONGEST_LINE - 20..LONGEST_LINE + 4)
        .chain([0, 2 * LONGEST_LINE - OVERLAP - 20, size - 6])
        .chain((LONGEST_LINE - OVERLAP - 24..LONGEST_LINE - OVERLAP).step_by(3))
    {
        let line = long(size, at, b" needl");
        assert_eq!(scan(&[r"\bneedl"], &line, 60_000), [(0, b"needl".to_vec())], "at {at}");
    }
    let needle = [b"<".as_slice(), &vec![b'-'; OVERLAP - 2], b">"].concat();
    for at in [
        10,
        LONGEST_LINE - OVERLAP - 9,
        LONGEST_LINE - OVERLAP - 7,
        LONGEST_LINE - 1,
    ] {
        let line = long(size, at, &needle);
        assert_eq!(scan(&["<-+>"], &line, 60_000), [(0, needle.clone())], "at {at}");
    }
}

#[test]
fn the_border_of_a_window_does_not_cut_a_match_short() {
    for at in LONGEST_LINE - CONTEXT - 6..LONGEST_LINE + 2 {
        let line = long(LONGEST_LINE + 2 * OVERLAP, at, b"abcde");
        for pattern in ["abcde|ab?", "ab?c?d?e?", "abcde|xabcd|xxa"] {
            let expected = if pattern.ends_with('a') { "xxa" } else { "abcde" };
            assert_eq!(
                scan(&[pattern], &line, 70_000),
                [(0, expected.into())],
                "{pattern} at {at}"
            );
        }
    }
}

#[test]
fn a_window_does_not_look_like_a_line() {
    let mut line = long(2 * LONGEST_LINE + 100, LONGEST_LINE, b"x");
    for anchored in ["^x", r"\Ax", "x$", r"x\z", r"\bx", r"x\b", "(?m)^x", "(?mR)x$"] {
        line[0] = b'y';
        *line.last_mut().unwrap() = b'y';
        assert_eq!(scan(&[anchored], &line, 1 << 16), [], "{anchored}");
        line[0] = b'x';
        *line.last_mut().unwrap() = b'x';
        assert_eq!(scan(&[anchored], &line, 1 << 16), [(0, b"x".to_vec())], "{anchored}");
        let ended = [line.as_slice(), b"\r\n"].concat();
        assert_eq!(scan(&[anchored], &ended, 1 << 16), [(0, b"x".to_vec())], "{anchored}");
    }
}

#[test]
fn a_long_line_is_not_kept() {
    let patterns = set(&["^end$"]);
    let mut scanner = Scanner::new(Arc::new(patterns.clone()));
    let mut all = Vec::new();
    let mut found = |index, text: &[u8]| all.push((index, text.to_vec()));
    for _ in 0..100 {
        scanner.push(&vec![b'x'; 300_000], &mut found);
        assert!(scanner.line.len() <= LONGEST_LINE && scanner.line.capacity() <= 2 * LONGEST_LINE);
    }
    scanner.push(b"\nend", &mut found);
    scanner.finish(&mut found);
    assert_eq!(all, [(0, b"end".to_vec())]);
}

#[test]
fn errors_are_one_line() {
    for (text, why) in [
        (
            "connection (refused",
            "is not a regular expression (unclosed group); try 'connection (refused|reset)'",
        ),
        (
            "*",
            "is not a regular expression (repetition operator missing expression); try 'connection (refused|reset)'",
        ),
        (
            r"\w{1000}{1000}",
            "is too large a regular expression (more than 10MiB when compiled); try smaller repetitions",
        ),
    ] {
        assert_eq!(Pattern::compile(text).unwrap_err(), why);
    }
    for text in [
        "(?=a)",
        r"a\1",
        r"\p{Nowhere}",
        "[b-a]",
        "(?P<a>.)(?P<a>.)",
        "a{2,1}",
        "\n(",
        "(?z)",
        &"(".repeat(300),
    ] {
        let error = Pattern::compile(text).unwrap_err();
        assert!(!error.contains('\n') && error.len() < 160, "{error}");
    }
    assert_eq!(Pattern::compile("(?i)Error").unwrap().as_str(), "(?i)Error");
}
#[test]
fn what_is_slow_is_left_and_gone_on_with() {
    let mut state = 1_u64;
    let mut stream: Vec<u8> = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            b"ab"[(state >> 63) as usize]
        })
        .collect();
    stream.push(b'\n');
    let mut scanner = Scanner::new(Arc::new(set(&["a[ab]{600}c", "b"])));
    let (mut rest, mut steps, mut all) = (stream.as_slice(), 0, Vec::new());
    while !rest.is_empty() {
        let done = scanner.step(rest, &mut |index, _| all.push(index));
        rest = &rest[done..];
        steps += 1;
    }
    assert!(steps > 20, "{steps}");
    assert_eq!(all, [1]);
}
