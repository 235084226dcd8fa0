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
//!
//! It is done in steps that take a few milliseconds each, whatever the patterns and the stream are.

use std::sync::Arc;

use memchr::{memchr, memrchr};
use regex_automata::hybrid::dfa::Cache;

use super::fuel::{self, Fuel};
use super::patterns::Patterns;
use super::steps::{Progress, Text};
use super::walk::Search;

/// The most of an unfinished line that is kept, in bytes: a longer one is looked at in windows.
const LONGEST_LINE: usize = 1 << 20;

/// How much of a long line is looked at twice, in bytes: the longest match that is sure to be found.
const OVERLAP: usize = 64 << 10;

/// How much is looked at for one pattern before it is looked at for the next, in bytes.
const LARGEST_BLOCK: usize = 64 << 10;

/// Where more than this has passed, in bytes, more is sure to come.
const MUCH: usize = 1 << 20;

/// What an assertion may look at on each side of a window: more than a character of UTF-8 is long.
const CONTEXT: usize = 8;

/// Looks for the patterns of a set in one stream.
#[derive(Debug, Clone)]
pub struct Scanner {
    patterns: Arc<Patterns>,
    /// The indices of those still to be found, in their order.
    open: Vec<usize>,
    /// The unfinished line, or the last of it.
    line: Vec<u8>,
    /// How much of `line` is there to be looked back at only; 0 as long as `line` is the whole line.
    past: usize,
    /// How many bytes of whole lines there were.
    seen: usize,
    /// What is being looked at.
    task: Option<Task>,
    /// Which patterns may match in it, once that is known.
    candidates: Option<Vec<bool>>,
    /// The patterns before this one have been looked for in it.
    pattern: usize,
    /// How far this one has been.
    progress: Progress,
    /// For each pattern the states of its lazy automaton.
    states: Vec<Option<Cache>>,
    /// What a step may cost.
    fuel: u64,
}

/// Something in which each pattern is looked for.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// Whole lines at the begin of what comes next, up to the last `\n` of so many bytes.
    Block(usize),
    /// The line that is kept, and is complete.
    Line,
    /// As much of it as can be kept.
    Window,
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
            task: None,
            candidates: None,
            pattern: 0,
            progress: Progress::default(),
            states: Vec::new(),
            fuel: fuel::STEP,
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
        if index == self.pattern {
            self.progress = Progress::default();
        }
        self.open.retain(|&open| open != index);
        if let Some(states) = self.states.get_mut(index) {
            *states = None;
        }
        self.drop_all_if_settled();
    }

    fn drop_all_if_settled(&mut self) {
        if self.is_settled() {
            self.line = Vec::new();
            self.past = 0;
            self.task = None;
            self.candidates = None;
        }
    }

    /// Looks at the next bytes of the stream. Calls `found` with the index and the text of the first
    /// match of each pattern, as soon as its line is complete.
    pub fn push(&mut self, mut bytes: &[u8], found: &mut impl FnMut(usize, &[u8])) {
        while !bytes.is_empty() {
            let done = self.step(bytes, found);
            bytes = &bytes[done..];
        }
        while self.task.is_some() {
            self.step(&[], found);
        }
    }

    /// As [`Self::push`], for a few milliseconds at most. How many of the bytes are done with: the others are to be given
    /// again, as they are.
    pub fn step(&mut self, bytes: &[u8], found: &mut impl FnMut(usize, &[u8])) -> usize {
        let mut fuel = Fuel::new(self.fuel);
        let mut done = 0;
        while !self.is_settled() {
            let rest = &bytes[done..];
            if self.task.is_none() {
                done += self.begin_task(rest);
            } else if self.look(rest, &mut fuel, found) {
                done += self.end_task();
            } else {
                return done;
            }
            if self.task.is_none() && done == bytes.len() {
                return done;
            }
        }
        bytes.len()
    }

    /// Looks at a last line that no `\n` has ended. The scanner is then at the begin of a new stream,
    /// with what it has found found.
    pub fn finish(&mut self, found: &mut impl FnMut(usize, &[u8])) {
        while !self.finish_step(found) {}
    }

    /// As [`Self::finish`], for a few milliseconds at most. Whether it is done.
    pub fn finish_step(&mut self, found: &mut impl FnMut(usize, &[u8])) -> bool {
        self.step(&[], found);
        if self.task.is_none() && !self.line.is_empty() {
            self.task = Some(Task::Line);
            self.step(&[], found);
        }
        self.task.is_none()
    }

    /// Takes in what is to be looked at next, if there is enough of it. How many of the bytes are done with.
    fn begin_task(&mut self, bytes: &[u8]) -> usize {
        if self.line.is_empty() {
            let block = &bytes[..bytes.len().min(LARGEST_BLOCK)];
            let Some(end) = memrchr(b'\n', block) else {
                self.line.extend_from_slice(block);
                return block.len();
            };
            self.seen = self.seen.saturating_add(end);
            self.task = Some(Task::Block(end));
            return 0;
        }
        let end = memchr(b'\n', bytes);
        let more = &bytes[..end.unwrap_or(bytes.len())];
        // `line` holds no more than that, so that this cannot wrap.
        let room = LONGEST_LINE - self.line.len();
        if more.len() > room {
            self.line.extend_from_slice(&more[..room]);
            self.task = Some(Task::Window);
            return room;
        }
        self.line.extend_from_slice(more);
        if end.is_some() {
            self.task = Some(Task::Line);
        }
        more.len() + usize::from(end.is_some())
    }

    /// Each pattern has been looked for. How many more of the bytes are done with.
    fn end_task(&mut self) -> usize {
        self.pattern = 0;
        self.candidates = None;
        match self.task.take() {
            Some(Task::Block(end)) => return end + 1,
            Some(Task::Line) => {
                self.line.clear();
                self.past = 0;
            }
            Some(Task::Window) => {
                self.line.drain(..NEXT_WINDOW - CONTEXT);
                self.past = CONTEXT;
            }
            None => {}
        }
        0
    }

    /// Looks for the patterns until the fuel is spent. Whether that is done.
    fn look(&mut self, bytes: &[u8], fuel: &mut Fuel, found: &mut impl FnMut(usize, &[u8])) -> bool {
        let patterns = Arc::clone(&self.patterns);
        let line = std::mem::take(&mut self.line);
        let (text, next) = self.text(bytes, &line);
        let candidates = self.candidates.take().unwrap_or_else(|| {
            if text.is_much {
                return vec![true; patterns.len()];
            }
            fuel.spend_on_bytes(text.bytes.len());
            patterns.candidates(text.bytes)
        });
        self.states.resize_with(patterns.len(), || None);
        let mut is_done = true;
        while let Some(place) = self.open.iter().position(|&index| index >= self.pattern) {
            let index = self.open[place];
            self.pattern = index;
            if !candidates[index] {
                self.pattern = index + 1;
                continue;
            }
            let pattern = &patterns.as_slice()[index];
            match pattern.search(&mut self.progress, &text, &mut self.states[index], fuel) {
                Search::Unfinished => {
                    is_done = false;
                    break;
                }
                Search::Found(span) if span.start < next => {
                    self.open.remove(place);
                    self.states[index] = None;
                    found(index, &text.bytes[span]);
                }
                Search::Found(_) | Search::Nothing => {}
            }
            self.progress = Progress::default();
            self.pattern = index + 1;
        }
        self.line = line;
        self.candidates = Some(candidates);
        self.drop_all_if_settled();
        is_done
    }

    /// What is to be searched, and before which place a match has to begin.
    fn text<'a>(&self, bytes: &'a [u8], line: &'a [u8]) -> (Text<'a>, usize) {
        let is_much = self.seen > MUCH;
        match self.task {
            Some(Task::Block(end)) => (Text::of_lines(&bytes[..end], is_much), usize::MAX),
            Some(Task::Window) => (Text::of_window(line, self.past..LAST_OF_WINDOW), NEXT_WINDOW),
            Some(Task::Line) | None => (Text::of_window(line, self.past..line.len()), usize::MAX),
        }
    }
}

/// Where matches in a window end at the latest.
const LAST_OF_WINDOW: usize = LONGEST_LINE - CONTEXT;

/// Where the next window begins: an overlap before this one's end. A match from there on is left to it: that it is the
/// preferred one can only be said when there is room for both.
const NEXT_WINDOW: usize = LAST_OF_WINDOW - OVERLAP;

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
