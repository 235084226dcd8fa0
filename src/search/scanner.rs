//! Looking for regular expressions in a stream of bytes, line by line, as the bytes pass.
//!
//! What is found is what the naive way finds: cut the whole stream behind every `\n`, take the `\n`
//! and then one `\r` off the end of each line, and run each expression on each line by itself, `^`,
//! `$`, `\A` and `\z` being the line's ends. How the stream was cut into pushes makes no difference.
//! (Nothing follows a final `\n`: a stream that ends in one has no empty line behind it.)
//!
//! The way it is done is faster: many lines at once ([`super::pattern`]).
//!
//! Memory is bounded: a line is kept while it is unfinished, and from [`LONGEST_LINE`] on it is
//! looked at in windows that overlap by [`OVERLAP`]. What the naive way finds in such a line is found
//! too if it is no longer than [`OVERLAP`]; in place of a longer match perhaps another one is found,
//! or none. Anchors and word boundaries do not take the border of a window for the end of the line.

use std::sync::Arc;

use memchr::{memchr, memrchr};

use super::pattern::{Pattern, Patterns, without_cr};

/// The most of an unfinished line that is kept, in bytes: a longer one is looked at in windows.
pub const LONGEST_LINE: usize = 1 << 20;

/// How much of a long line is looked at twice, in bytes: the longest match that is sure to be found.
pub const OVERLAP: usize = 64 << 10;

/// Where more than this has passed, in bytes, more is sure to come.
const MUCH: usize = 1 << 20;

/// What an assertion may look at on each side of a window: more than a character of UTF-8 is long.
const CONTEXT: usize = 8;

/// Looks for the patterns of a set in one stream.
#[derive(Debug, Clone)]
pub struct Scanner {
    patterns: Arc<Patterns>,
    /// The indices of those still to be found.
    open: Vec<usize>,
    /// The unfinished line, or the last of it.
    line: Vec<u8>,
    /// How much of `line` is there to be looked back at only; 0 as long as `line` is the whole line.
    past: usize,
    /// How many bytes of whole lines there were.
    seen: usize,
}

impl Scanner {
    /// A stream's begin. Every pattern of the set is looked for: [`Self::forget`] those that are not
    /// wanted.
    pub fn new(patterns: Arc<Patterns>) -> Self {
        Self {
            open: (0..patterns.len()).collect(),
            patterns,
            line: Vec::new(),
            past: 0,
            seen: 0,
        }
    }

    /// From now on does what it does by itself once much has passed: find the same, faster, after more preparation.
    pub fn expect_much(&mut self) {
        self.seen = MUCH;
    }

    /// Whether nothing is left to look for: pushes do nothing then, and need not be made.
    pub fn is_settled(&self) -> bool {
        self.open.is_empty()
    }

    /// Looks for a pattern no longer.
    pub fn forget(&mut self, index: usize) {
        self.open.retain(|&open| open != index);
        self.tidy();
    }

    /// Looks at the next bytes of the stream. Calls `found` with the index and the text of the first
    /// match of each pattern, as soon as its line is complete: in the order of the indices for the
    /// lines that end in one push.
    pub fn push(&mut self, bytes: &[u8], found: &mut impl FnMut(usize, &[u8])) {
        if self.is_settled() {
            return;
        }
        let mut rest = bytes;
        if !self.line.is_empty() {
            let end = memchr(b'\n', rest);
            self.keep(&rest[..end.unwrap_or(rest.len())], found);
            let Some(end) = end else { return };
            self.end_line(found);
            rest = &rest[end + 1..];
        }
        if let Some(end) = memrchr(b'\n', rest) {
            let block = &rest[..end];
            self.seen = self.seen.saturating_add(block.len());
            let is_much = self.seen > MUCH;
            self.look(found, |pattern| Some(&block[pattern.find_in_lines(block, is_much)?]));
            rest = &rest[end + 1..];
            self.tidy();
        }
        self.keep(rest, found);
    }

    /// Looks at a last line that no `\n` has ended. The scanner is then at the begin of a new stream,
    /// with what it has found found.
    pub fn finish(&mut self, found: &mut impl FnMut(usize, &[u8])) {
        if !self.line.is_empty() {
            self.end_line(found);
        }
    }

    /// Keeps more of the unfinished line, which has no `\n`, and looks at what is too long to keep.
    fn keep(&mut self, mut more: &[u8], found: &mut impl FnMut(usize, &[u8])) {
        while !self.is_settled() {
            // `line` holds no more than that, so that this cannot wrap.
            let room = LONGEST_LINE - self.line.len();
            if more.len() <= room {
                self.line.extend_from_slice(more);
                return;
            }
            self.line.extend_from_slice(&more[..room]);
            more = &more[room..];
            // The next window begins an overlap before where this one ends. A match from there on is
            // left to it: that it is the preferred one can only be said when there is room for both.
            let upto = LONGEST_LINE - CONTEXT;
            let next = upto - OVERLAP;
            self.look_at_line(LONGEST_LINE, upto, next, found);
            self.line.drain(..next - CONTEXT);
            self.past = CONTEXT;
            self.tidy();
        }
    }

    /// Looks at what is kept of a line that is now complete.
    fn end_line(&mut self, found: &mut impl FnMut(usize, &[u8])) {
        let end = without_cr(&self.line).len();
        self.look_at_line(end, end, usize::MAX, found);
        self.line.clear();
        self.past = 0;
        self.tidy();
    }

    /// Looks at the line that is kept, as if it ended at `end`, for matches that end by `upto` and
    /// begin before `next`.
    fn look_at_line(&mut self, end: usize, upto: usize, next: usize, found: &mut impl FnMut(usize, &[u8])) {
        let kept = std::mem::take(&mut self.line);
        let (line, span) = (&kept[..end], self.past..upto);
        self.look(found, |pattern| {
            let found = pattern.find_in_window(line, span.clone())?;
            (found.start < next).then(|| &line[found])
        });
        self.line = kept;
    }

    fn look<'b>(&mut self, found: &mut impl FnMut(usize, &[u8]), find: impl Fn(&Pattern) -> Option<&'b [u8]>) {
        let patterns = Arc::clone(&self.patterns);
        self.open.retain(|&index| match find(&patterns.as_slice()[index]) {
            Some(text) => {
                found(index, text);
                false
            }
            None => true,
        });
    }

    /// Lets go of the line when nobody will look at it.
    fn tidy(&mut self) {
        if self.is_settled() {
            self.line = Vec::new();
            self.past = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let size = 3 * LONGEST_LINE + 100;
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
            let line = long(2 * LONGEST_LINE, at, b"abcde");
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
        let mut line = long(4 * LONGEST_LINE, LONGEST_LINE, b"x");
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
                "is too large a regular expression (more than 10 MiB when compiled); try smaller repetitions",
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
}
