//! Looking for regular expressions in a stream of bytes, line by line, as the bytes pass.
//!
//! What is found is what the naive way finds: cut the whole stream behind every `\n`, take the `\n`
//! and then one `\r` off the end of each line, and run each expression on each line by itself, `^`,
//! `$`, `\A` and `\z` being the line's ends. How the stream was cut into pushes makes no difference.
//! (Nothing follows a final `\n`: a stream that ends in one has no empty line behind it.)
//!
//! The way it is done is faster: many lines at once ([`super::pattern`]).
//!
//! Memory is bounded: a line is kept while it is unfinished, and from `LONGEST_LINE` on it is
//! looked at in windows that overlap by `OVERLAP`. What the naive way finds in such a line is found
//! too if it is no longer than `OVERLAP`; in place of a longer match perhaps another one is found,
//! or none. Anchors and word boundaries do not take the border of a window for the end of the line.

use std::sync::Arc;

use memchr::{memchr, memrchr};

use super::pattern::{Pattern, Patterns, without_cr};

/// The most of an unfinished line that is kept, in bytes: a longer one is looked at in windows.
const LONGEST_LINE: usize = 1 << 20;

/// How much of a long line is looked at twice, in bytes: the longest match that is sure to be found.
const OVERLAP: usize = 64 << 10;

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
    /// Looks for every pattern of the set: [`Self::forget`] those that are not wanted.
    pub fn new(patterns: Arc<Patterns>) -> Self {
        Self {
            open: (0..patterns.len()).collect(),
            patterns,
            line: Vec::new(),
            past: 0,
            seen: 0,
        }
    }

    /// Prepares for much output, as happens by itself once much has passed: what is found is the same.
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
        self.drop_line_if_settled();
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
            self.drop_line_if_settled();
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
            self.drop_line_if_settled();
        }
    }

    /// Looks at what is kept of a line that is now complete.
    fn end_line(&mut self, found: &mut impl FnMut(usize, &[u8])) {
        let end = without_cr(&self.line).len();
        self.look_at_line(end, end, usize::MAX, found);
        self.line.clear();
        self.past = 0;
        self.drop_line_if_settled();
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

    fn drop_line_if_settled(&mut self) {
        if self.is_settled() {
            self.line = Vec::new();
            self.past = 0;
        }
    }
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
