use super::*;
use crate::search::pattern::Pattern;

/// Limit on the part of a line that is searched at once for a short pattern, and the overlap of two such windows.
const WINDOW: usize = MOST_CALL;
const OVERLAP: usize = WINDOW / 8;

fn set(texts: &[&str]) -> Patterns {
    Patterns::new(
        texts
            .iter()
            .map(|text| Pattern::parse(text).unwrap())
            .collect(),
    )
}

/// Returns the matches, with pushes of the given size.
fn scan(texts: &[&str], stream: &[u8], size: usize) -> Vec<(usize, Vec<u8>)> {
    let mut scanner = Scanner::new(Arc::new(set(texts)));
    let mut all = Vec::new();
    let mut found = |index, text: &[u8]| all.push((index, text.to_vec()));
    for bytes in stream.chunks(size) {
        scanner.push(bytes, &mut found);
    }
    scanner.finish(&mut found);
    all.sort();
    all
}

/// Returns the match of one pattern, and checks that the size of the pushes does not matter.
fn first(text: &str, stream: &[u8]) -> Option<Vec<u8>> {
    let whole = scan(&[text], stream, usize::MAX);
    for size in 1..=stream.len().min(9) {
        assert_eq!(
            scan(&[text], stream, size),
            whole,
            "{text:?} in pushes of {size}"
        );
    }
    whole.into_iter().next().map(|(_, found)| found)
}

fn is(text: &str, stream: &[u8], expected: &str) {
    let found = first(text, stream);
    assert_eq!(
        found.as_deref(),
        Some(expected.as_bytes()),
        "{text:?} in {}",
        stream.escape_ascii()
    );
}

fn not(text: &str, stream: &[u8]) {
    assert_eq!(
        first(text, stream),
        None,
        "{text:?} in {}",
        stream.escape_ascii()
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
fn cr_ends_a_line_as_well() {
    is("^b", b"a\rb\nc\n", "b");
    is("a$", b"a\rb\nc\n", "a");
    is("a$", b"b\r\na\r\n", "a");
    // No line of its own, but of CR CR LF LF, the second LF is.
    not("^$", b"a\r\rb\nc\r\n");
    is("^$", b"a\r\r\n\nb\n", "");
    // The byte behind the CR at the end of a push is no LF, and the LF at the beginning of a later push not part of CR
    // LF.
    assert_eq!(scan(&["^$"], b"a\rb\n\n", 2), [(0, Vec::new())]);
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
fn bytes_that_are_not_text() {
    is("b.d", b"\xff\xfe\x00\nb\x00d\xff", "b\0d");
    assert_eq!(first("b.d", b"b\xffd").unwrap(), b"b\xffd");
    not("b.é", b"b\xff\xc3\xa9");
    is(r"\w+", "größe".as_bytes(), "gr");
    is(r"(?u)\w+", "größe".as_bytes(), "größe");
    is(r"\pL+", "größe".as_bytes(), "größe");
    is(r"\bbad\b", b"\xffbad\xe2\x82\nbad", "bad");
    assert_eq!(first(r"(?-u:b\xff.)", b"b\xff\xfe").unwrap(), b"b\xff\xfe");
    is(r"(?i)größe", "x\nGRÖSSE GRÖßE".as_bytes(), "GRÖßE");
}

#[test]
fn the_engine_for_blocks_does_not_decide() {
    is(r"\bok\b.*", b"token\nbroken ok?\nok!", "ok?");
    is("(ok|okay)$", b"ok \nokay\nok", "okay");
}

#[test]
fn a_pattern_is_found_once_and_a_settled_scanner_does_nothing() {
    let mut scanner = Scanner::new(Arc::new(set(&["a", "b", "c"])));
    let mut all = Vec::new();
    let mut found = |index, _: &[u8]| all.push(index);
    scanner.push(b"a\na\nb\nunfinished b", &mut found);
    assert!(!scanner.is_settled());
    scanner.close(2);
    assert!(scanner.is_settled());
    scanner.push(b"c\nb\na\nc", &mut found);
    scanner.finish(&mut found);
    assert_eq!(all, [0, 1]);
    assert!(Scanner::default().is_settled());
}

/// Returns a line of `length` bytes `x` with `text` at `at`.
fn long(length: usize, at: usize, text: &[u8]) -> Vec<u8> {
    let mut line = vec![b'x'; length];
    line[at..at + text.len()].copy_from_slice(text);
    line
}

#[test]
fn matches_are_seen_across_windows() {
    let size = 2 * WINDOW + 100;
    for at in (WINDOW - 20..WINDOW + 4)
        .chain([0, 2 * WINDOW - OVERLAP - 20, size - 6])
        .chain((WINDOW - OVERLAP - 24..WINDOW - OVERLAP).step_by(3))
    {
        let line = long(size, at, b" needl");
        assert_eq!(
            scan(&[r"\bneedl"], &line, 6_000),
            [(0, b"needl".to_vec())],
            "at {at}"
        );
    }
    let needle = [b"<".as_slice(), &vec![b'-'; OVERLAP - 2], b">"].concat();
    for at in [10, WINDOW - OVERLAP - 9, WINDOW - OVERLAP - 7, WINDOW - 1] {
        let line = long(size, at, &needle);
        assert_eq!(
            scan(&["<-+>"], &line, 6_000),
            [(0, needle.clone())],
            "at {at}"
        );
    }
}

#[test]
fn a_window_does_not_look_like_a_line() {
    let mut line = long(2 * WINDOW + 100, WINDOW, b"x");
    for anchored in [
        "^x", r"\Ax", "x$", r"x\z", r"\bx", r"x\b", "(?m)^x", "(?mR)x$",
    ] {
        line[0] = b'y';
        *line.last_mut().unwrap() = b'y';
        assert_eq!(scan(&[anchored], &line, 1 << 12), [], "{anchored}");
        line[0] = b'x';
        *line.last_mut().unwrap() = b'x';
        assert_eq!(
            scan(&[anchored], &line, 1 << 12),
            [(0, b"x".to_vec())],
            "{anchored}"
        );
        let ended = [line.as_slice(), b"\r\n"].concat();
        assert_eq!(
            scan(&[anchored], &ended, 1 << 12),
            [(0, b"x".to_vec())],
            "{anchored}"
        );
    }
}

#[test]
fn a_long_line_is_not_kept() {
    let mut scanner = Scanner::new(Arc::new(set(&["^end$"])));
    let mut all = Vec::new();
    let mut found = |index, text: &[u8]| all.push((index, text.to_vec()));
    for _ in 0..100 {
        scanner.push(&vec![b'x'; 30_000], &mut found);
        assert!(scanner.line.len() <= WINDOW && scanner.line.capacity() <= 2 * WINDOW);
    }
    scanner.push(b"\nend", &mut found);
    scanner.finish(&mut found);
    assert_eq!(all, [(0, b"end".to_vec())]);
}

/// Asserts the limit that keeps each call of an engine within some tens of milliseconds.
#[test]
fn the_more_places_patterns_have_the_fewer_bytes_are_searched_at_once() {
    for (text, places) in [
        ("connection refused", 18),
        ("(?i)abc{3}|x?", 6),
        (r"a{1,100}{1,10}b", 1001),
        (r"\w{1000}{1000}", 1_000_000),
        (r"(a{4294967295}){4294967295}{4294967295}", usize::MAX),
        (r"(?u)\d\b.", 10),
        ("a*b+", 3),
    ] {
        assert_eq!(Pattern::parse(text).unwrap().places(), places, "{text}");
    }
    let most = |text| Scanner::new(Arc::new(set(&[text]))).most();
    assert_eq!(
        [most("a"), most("a{999}"), most("a{4999}")],
        [64 << 10, 4000, 1 << 10]
    );
}

#[test]
fn streams_of_one_set_have_states_of_their_own() {
    let set = Arc::new(set(&["a", "b"]));
    let mut scanners = [Scanner::new(Arc::clone(&set)), Scanner::new(set)];
    let mut all = Vec::new();
    for (stream, bytes) in [(0, "a\n"), (1, "xa\n"), (0, "a\nb"), (1, "b\n")] {
        scanners[stream].push(bytes.as_bytes(), &mut |index, _: &[u8]| {
            all.push((stream, index));
        });
    }
    scanners[0].finish(&mut |index, _: &[u8]| all.push((0, index)));
    assert_eq!(all, [(0, 0), (1, 0), (1, 1), (0, 1)]);
}
