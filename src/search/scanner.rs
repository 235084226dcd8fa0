//! Search for many regular expressions in a stream of bytes, line by line, as the bytes pass.
//!
//! The result is that of the naive search: clean the stream ([`Cleaner`]), cut it at each `\n`, and run each expression
//! on each line alone, so that `^`, `$`, `\A` and `\z` are the line's ends. The sizes of the pushes make no difference.
//! The scanner is faster, as one engine (`engine`) for the alternation of all patterns searches blocks of whole lines,
//! and each pattern by itself searches only lines that this engine finds.
//!
//! The expressions of presets are many and large, and most outputs short. So the scanner asks the sieve (`sieve`) about
//! the first lines of a stream, and builds only expressions that may match there. Later, the grams (`grams`) choose the
//! lines that the engine sees, as it is slow, and the sieve the patterns that are tried in a line that the engine
//! finds. `patterns` builds all three when they are first asked for; they know neither each other nor the scanner.
//!
//! Lines longer than a window are searched in windows that overlap by an eighth. A match up to the length of the
//! overlap is found; instead of a longer match another one may be found, or none.

use std::mem::take;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memrchr};
use regex_automata::Input;

use super::clean::Cleaner;
use super::engine::Engine;
use super::patterns::{MOST_CALL, Patterns};
use super::sieve::Built;

/// Bytes around a window that assertions such as `\b` may look at: longer than a UTF-8 character.
const CONTEXT: usize = 8;

/// Most expressions that are built for the lines that the sieve searches: beyond them, the engine is built.
const MOST_BUILT: usize = 256;

/// No limit on where a match begins.
const ANYWHERE: usize = usize::MAX;

/// Called once for each pattern that is found, with its index and the text of its first match.
type Found<'a> = &'a mut dyn FnMut(usize, &[u8]);

/// Searches for patterns in one stream.
#[derive(Debug, Clone, Default)]
pub struct Scanner {
    patterns: Arc<Patterns>,
    /// True for each pattern that is still searched for.
    open: Vec<bool>,
    cleaner: Cleaner,
    /// `None` before the first search, and once one of its patterns is closed.
    engine: Option<Engine>,
    /// How many bytes the sieve has searched in place of the engine.
    searched: usize,
    /// The expressions built for the lines with these bytes, and for later lines that the engine finds.
    built: Built,
    /// The bytes that the sieve has searched, until the literals of the grams are chosen by them.
    sample: Vec<u8>,
    /// The unfinished line, or the last window of it.
    line: Vec<u8>,
    /// Leading bytes of `line` that were searched with the last window, and are only context for assertions.
    context: usize,
}

impl Scanner {
    /// Begins the search in a new stream, for all patterns. Several streams share the patterns.
    pub fn new(patterns: Arc<Patterns>) -> Self {
        Self {
            open: vec![true; patterns.list.len()],
            patterns,
            ..Self::default()
        }
    }

    /// Returns true if no pattern is open, so that pushes do nothing and may be omitted.
    pub fn is_settled(&self) -> bool {
        !self.open.contains(&true)
    }

    /// Ends the search for a pattern, as it was found, here or in the attempt's other output. The engine, which would
    /// stop at each of its lines, is built again without it at the next search.
    pub fn close(&mut self, pattern: usize) {
        self.open[pattern] = false;
        self.engine = None;
    }

    /// Returns the most bytes to push at once: then a push takes tens of milliseconds at worst, or more if it fills a
    /// window of a long line.
    pub fn most(&self) -> usize {
        let block = self.patterns.block;
        if self.is_settled() { MOST_CALL } else { block }
    }

    /// Searches the next bytes of the stream. Reports each open pattern that is found, line by line, and within a line
    /// in the order of the patterns, and closes it: each is reported once.
    pub fn push(&mut self, bytes: &[u8], found: Found<'_>) {
        // In pieces, as the cleaner keeps a copy.
        for piece in bytes.chunks(MOST_CALL) {
            // Only whole lines may be searched before they are cleaned: not the end of one that has begun.
            let begun_line = match memchr(b'\n', piece) {
                Some(end) if !self.line.is_empty() => end + 1,
                _ => 0,
            };
            self.push_raw(&piece[..begun_line], found);
            let lines = self.lines_without_match(&piece[begun_line..]);
            self.push_raw(&piece[begun_line + lines..], found);
        }
    }

    /// Cleans and searches the next bytes. Drops them once no pattern is open, as none is ever opened again.
    fn push_raw(&mut self, bytes: &[u8], found: Found<'_>) {
        if !self.is_settled() {
            let mut cleaner = take(&mut self.cleaner);
            self.push_clean(cleaner.clean(bytes), found);
            self.cleaner = cleaner;
        }
    }

    /// Returns the length of the whole lines at the beginning of these bytes, if no pattern matches in them: they need
    /// not be cleaned, which takes longer than the search if they end with CR LF. Returns 0 if a pattern may match, and
    /// where this cannot be told: with more to clean than ends of lines, with more than one call of the engine may
    /// search, inside of a line, or with presets, whose sieve and grams see cleaned lines only.
    fn lines_without_match(&mut self, bytes: &[u8]) -> usize {
        let Some(last_end) = memrchr(b'\n', bytes) else {
            return 0;
        };
        let lines = &bytes[..=last_end];
        let is_engine_alone = self.patterns.sieved_bytes == 0;
        let begins_line = self.line.is_empty() && self.cleaner.has_only_lines(lines);
        if !is_engine_alone
            || !begins_line
            || self.is_settled()
            || lines.len() > self.patterns.block
        {
            return 0;
        }
        let Some(engine) = self.take_engine() else {
            return 0;
        };
        // Behind the last LF, an empty line would begin.
        let may_match = engine.may_match(lines, 0..last_end);
        self.engine = Some(engine);
        if may_match { 0 } else { lines.len() }
    }

    /// Takes the engine for the open patterns. The caller puts it back, unless it closes one. None as [`Engine::new`].
    fn take_engine(&mut self) -> Option<Engine> {
        let engine = self.engine.take();
        engine.or_else(|| self.patterns.engine(&self.open))
    }

    /// Searches the next cleaned bytes: blocks of whole lines, which are not copied. What completes a line that began
    /// in an earlier piece, a line longer than a block, and a last line without an end are gathered in `line`.
    fn push_clean(&mut self, mut bytes: &[u8], found: Found<'_>) {
        while !bytes.is_empty() && !self.is_settled() {
            let block = &bytes[..bytes.len().min(self.patterns.block)];
            match block.iter().rposition(|byte| *byte == b'\n') {
                Some(end) if self.line.is_empty() => {
                    self.search(&block[..end], 0..end, ANYWHERE, found);
                    bytes = &bytes[end + 1..];
                }
                _ => bytes = self.push_to_line(bytes, found),
            }
        }
    }

    /// Ends the stream: searches a last line without `\n`. Patterns that were found stay closed.
    pub fn finish(&mut self, found: Found<'_>) {
        let mut cleaner = take(&mut self.cleaner);
        self.push_clean(cleaner.finish(), found);
        self.search_unfinished(found);
    }

    /// Searches the line so far as a whole line, or as the last window of a long one, and empties it.
    fn search_unfinished(&mut self, found: Found<'_>) {
        let line = take(&mut self.line);
        let context = take(&mut self.context);
        if !line.is_empty() && !self.is_settled() {
            self.search(&line, context..line.len(), ANYWHERE, found);
        }
    }

    /// Adds bytes to the unfinished line, up to its end or to the size of a window, and searches it once one of these
    /// is reached. Keeps the overlap of a full window with the next one. Returns the bytes that were not taken.
    fn push_to_line<'a>(&mut self, bytes: &'a [u8], found: Found<'_>) -> &'a [u8] {
        let window = self.patterns.window;
        let room = bytes.len().min(window - self.line.len());
        let line_end = bytes[..room].iter().position(|byte| *byte == b'\n');
        let (taken, remaining) = bytes.split_at(line_end.unwrap_or(room));
        self.line.extend_from_slice(taken);
        if line_end.is_some() {
            self.search_unfinished(found);
            // Behind the `\n`.
            return &remaining[1..];
        }
        if self.line.len() == window {
            let mut line = take(&mut self.line);
            // The last bytes are context, which assertions at the end need.
            let end = window - CONTEXT;
            // The next window finds a match that begins in the overlap.
            let overlap_begin = end - window / 8;
            self.search(&line, self.context..end, overlap_begin, found);
            line.drain(..overlap_begin - CONTEXT);
            self.line = line;
            self.context = CONTEXT;
        }
        remaining
    }

    /// Searches whole lines (`part` is then all of them), or a part of one line, for matches that begin before `limit`;
    /// later ones are left to the next window. Calls `found` for each pattern that is found, and closes it. With
    /// presets, the sieve searches the first bytes, as an engine takes longer to build than these to search.
    fn search(&mut self, text: &[u8], part: Range<usize>, limit: usize, found: Found<'_>) {
        // If the lines differ much, building an expression for each costs more than the engine.
        if self.searched >= self.patterns.sieved_bytes || self.built.count() >= MOST_BUILT {
            self.search_with_engine(text, part, limit, found);
            return;
        }
        self.searched += text.len();
        self.sample.extend_from_slice(text);
        self.sample.push(b'\n');
        for line in text.split(|byte| *byte == b'\n') {
            self.search_line(line, part_of(line, &part), limit, found);
        }
    }

    /// As [`Self::search`], but first looks with the engine for all open patterns whether one may match, and tries each
    /// pattern by itself only in the lines that the engine finds.
    fn search_with_engine(
        &mut self,
        text: &[u8],
        part: Range<usize>,
        limit: usize,
        found: Found<'_>,
    ) {
        let Some(engine) = self.take_engine() else {
            // Never reached: building an engine fails only on its size, which `patterns::MOST_PLACES` limits.
            return;
        };
        let open = self.open.clone();
        // The lines to show to the engine, one by one. Without grams, it first searches all lines at once.
        let lines = match self.patterns.grams(&take(&mut self.sample)) {
            Some(grams) => grams.lines(text),
            None if engine.may_match(text, part_of(text, &part)) => {
                text.split(|byte| *byte == b'\n').collect()
            }
            None => Vec::new(),
        };
        for line in lines {
            let part = part_of(line, &part);
            if engine.may_match(line, part.clone()) {
                self.search_line(line, part, limit, found);
            }
        }
        // An engine with a found pattern would stop at each of the pattern's lines.
        if self.open == open {
            self.engine = Some(engine);
        }
    }

    /// Searches part of a line for each open pattern by itself, in the order of the patterns; with a sieve, only for
    /// those that may match with the literals in the line. Calls `found` for the first match of a pattern, if it begins
    /// before `limit`, and closes the pattern.
    fn search_line(&mut self, line: &[u8], part: Range<usize>, limit: usize, found: Found<'_>) {
        let sieve = self.patterns.sieve();
        let literals = sieve
            .as_ref()
            .map_or_else(Vec::new, |sieve| sieve.literals(&line[part.clone()]));
        let candidates = match &sieve {
            Some(sieve) => sieve.patterns(&literals),
            None => (0..self.open.len()).collect(),
        };
        for index in candidates {
            if !self.open[index] {
                continue;
            }
            let regex = match &sieve {
                Some(sieve) => self.built.regex(sieve, index, &literals),
                None => self.patterns.list[index].for_line(),
            };
            // None if, with a sieve, no part of the pattern can match with these literals, or if it is too large.
            let Some(regex) = regex else {
                continue;
            };
            if let Some(found_match) = regex.find(Input::new(line).range(part.clone()))
                && found_match.start() < limit
            {
                found(index, &line[found_match.range()]);
                self.close(index);
            }
        }
    }
}

/// Returns the part of a line to search: `part` of a single line; all of a line of a block, whose part begins at 0.
fn part_of(line: &[u8], part: &Range<usize>) -> Range<usize> {
    part.start..part.end.min(line.len())
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
