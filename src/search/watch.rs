//! Searches an output for the user's patterns, line by line, as it passes.

use std::borrow::Cow;
use std::cell::OnceCell;

use memchr::{memchr, memchr3, memrchr};
use regex::bytes::{RegexSet, RegexSetBuilder};

use super::pattern::Pattern;
use super::visible::{lines, visible};

/// Longer lines are searched in parts, to bound memory.
const LONGEST_LINE: usize = 64 << 10;

/// Overlap of two parts of a line, so that any text up to this length is whole in one of them.
const OVERLAP: usize = 4 << 10;

/// Replaces the rest of a line where a part begins or ends, so that `^` and `$` do not match there.
const REST_OF_LINE: &[u8] = "\u{fffd}".as_bytes();

/// The user's patterns, for which each output is searched.
#[derive(Debug, Default)]
pub struct WatchList {
    pub patterns: Vec<Pattern>,
    /// Finds too much in a block of lines, but never too little. Built for the first output. Contains None if there is
    /// no such set.
    block: OnceCell<Option<RegexSet>>,
}

impl WatchList {
    pub fn new(patterns: Vec<Pattern>) -> WatchList {
        WatchList {
            patterns,
            block: OnceCell::new(),
        }
    }

    /// Returns true if a pattern may match one of these whole lines.
    fn may_match(&self, lines: &[u8]) -> bool {
        let block = self.block.get_or_init(|| {
            let texts = self.patterns.iter().map(Pattern::text);
            if texts.clone().any(means_ends_of_text) {
                return None;
            }
            RegexSetBuilder::new(texts).multi_line(true).build().ok()
        });
        block.as_ref().is_none_or(|block| block.is_match(lines))
    }
}

/// Returns true if an expression may refer to the ends of the whole text, which in a block are not those of a line:
/// `\A`, `\z`, or a cleared flag (`(?-m)`).
fn means_ends_of_text(expression: &str) -> bool {
    let mut flags = expression.split("(?").skip(1);
    expression.contains(r"\A")
        || expression.contains(r"\z")
        || flags.any(|after| {
            after
                .split([')', ':'])
                .next()
                .is_some_and(|it| it.contains('-'))
        })
}

/// The search of one output.
#[derive(Debug, Default)]
pub struct Watch {
    /// The first match of each pattern.
    found: Vec<Option<String>>,
    /// The unfinished line, or the end of a long one.
    unfinished: Vec<u8>,
    /// The beginning of the unfinished line was already searched.
    is_continued: bool,
}

impl Watch {
    pub fn new(list: &WatchList) -> Watch {
        Watch {
            found: vec![None; list.patterns.len()],
            ..Watch::default()
        }
    }

    /// Searches the next bytes, which may end anywhere.
    pub fn push(&mut self, list: &WatchList, bytes: &[u8]) {
        if self.found.iter().all(Option::is_some) {
            return;
        }
        let begun = if self.unfinished.is_empty() {
            0
        } else {
            memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
        };
        self.continue_line(list, &bytes[..begun]);
        let end = memrchr(b'\n', &bytes[begun..]).map_or(begun, |end| begun + end + 1);
        self.search(list, &bytes[begun..end]);
        self.continue_line(list, &bytes[end..]);
    }

    /// Searches a last line without a newline. Returns the patterns that matched, each with the beginning of its first
    /// match.
    pub fn finish(&mut self, list: &WatchList) -> Vec<(String, String)> {
        self.search_unfinished(list, b"");
        let found = list.patterns.iter().zip(&mut self.found);
        let found =
            found.filter_map(|(pattern, found)| Some((pattern.text().to_owned(), found.take()?)));
        found.collect()
    }

    /// Adds the next part of a line, possibly with its newline.
    fn continue_line(&mut self, list: &WatchList, part: &[u8]) {
        self.unfinished.extend_from_slice(part);
        if part.ends_with(b"\n") {
            self.search_unfinished(list, b"");
            self.unfinished.clear();
            self.is_continued = false;
        } else if self.unfinished.len() > LONGEST_LINE {
            self.search_unfinished(list, REST_OF_LINE);
            self.unfinished.drain(..self.unfinished.len() - OVERLAP);
            self.is_continued = true;
        }
    }

    /// Searches the unfinished line, followed by `rest`.
    fn search_unfinished(&mut self, list: &WatchList, rest: &[u8]) {
        let before = if self.is_continued { REST_OF_LINE } else { b"" };
        let line = [before, &self.unfinished, rest].concat();
        self.search(list, &line);
    }

    fn search(&mut self, list: &WatchList, text: &[u8]) {
        let text = if is_plain(text) {
            Cow::Borrowed(text)
        } else {
            // `.` and classes match Unicode characters only.
            let valid = String::from_utf8_lossy(text);
            Cow::Owned(visible(valid.as_bytes()).into_owned())
        };
        if text.is_empty() || !list.may_match(&text) {
            return;
        }
        for line in lines(&text) {
            for (pattern, found) in list.patterns.iter().zip(&mut self.found) {
                if found.is_none() {
                    *found = pattern.find(line);
                }
            }
        }
    }
}

/// Returns true if a person reads exactly these bytes.
fn is_plain(text: &[u8]) -> bool {
    text.is_ascii() && memchr3(b'\x1b', b'\r', b'\x08', text).is_none()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(patterns: &[&str]) -> WatchList {
        let patterns = patterns.iter().map(|text| Pattern::parse(text).unwrap());
        WatchList::new(patterns.collect())
    }

    /// Returns the patterns that match in a stream that comes in pieces of this size.
    fn found(list: &WatchList, stream: &[u8], size: usize) -> Vec<String> {
        let mut watch = Watch::new(list);
        for piece in stream.chunks(size) {
            watch.push(list, piece);
        }
        let found = watch.finish(list);
        found.into_iter().map(|(pattern, _)| pattern).collect()
    }

    #[test]
    fn each_line_is_searched_however_it_comes() {
        let list = list(&[
            "^b$",
            r"\Ab\z",
            "(?i)ERROR: .* timed out",
            "(?-m)^c",
            "x$",
            "é",
            "[^a]x",
        ]);
        for (stream, matching) in [
            (&b"a\nb\nc"[..], &["^b$", r"\Ab\z", "(?-m)^c"][..]),
            (b"\x1b[31mb\x1b[0m\r\nbb", &["^b$", r"\Ab\z"]),
            (b"error: caf\xe9 timed out\n", &["(?i)ERROR: .* timed out"]),
            ("été\nax\n".as_bytes(), &["x$", "é"]),
            (b"10%\rb\r\n", &["^b$", r"\Ab\z"]),
            (b"a\nx\n", &["x$"]),
        ] {
            for size in 1..=stream.len() {
                assert_eq!(
                    found(&list, stream, size),
                    matching,
                    "{} by {size}",
                    stream.escape_ascii()
                );
            }
        }
    }

    #[test]
    fn a_long_line_is_searched_in_parts_that_are_not_lines() {
        let list = list(&["needle", "^x", "y$", "^begin", "end$"]);
        for size in [1000, 1 << 16, 12 << 20] {
            let line = [
                b"begin".as_slice(),
                &[b'x'; 6 << 20],
                b"needle",
                &[b'y'; 6 << 20],
                b"end\n",
            ]
            .concat();
            assert_eq!(found(&list, &line, size), ["needle", "^begin", "end$"]);
        }
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            stream in prop::collection::vec(prop::sample::select(&b"ab\n\r\x1b[mC\xc3\xa9"[..]), 0..60),
            size in 1_usize..60,
        ) {
            let list = list(&["^a", "b$", "a b", "é", "^ab$", r"\Ba", "a."]);
            prop_assert_eq!(found(&list, &stream, size), found(&list, &stream, 60));
        }
    }
}
