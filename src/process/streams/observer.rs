//! Looking at what an attempt prints: its bytes, for predicates and hooks; its lines, for `--retry-after`; the patterns of
//! the rules.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::spool::Spool;
use super::tail::Tail;
use crate::policy::retry_after::RetryAfter;
use crate::run::streams::StreamOptions;
use crate::search::lines::Lines;
use crate::search::patterns::Patterns;
use crate::search::scanner::Scanner;

/// What is kept of a text that matched, for messages.
const EXCERPT: usize = 80;

/// What all that looks at the output of one attempt has found. What a terminal shows is one output.
pub(super) struct OutputObserver {
    outputs: [Observed; 2],
    /// For `--retry-if` and `--success-if`.
    copy: Option<Spool>,
    /// For hooks.
    tail: Option<Tail>,
    /// The longest wait that was asked for.
    retry_after: Option<RetryAfter>,
    matches: Matches,
}

/// One output, if it is looked at.
#[derive(Default)]
struct Observed {
    is_watched: bool,
    lines: Lines,
    scanner: Option<Scanner>,
}

/// The patterns that were found.
#[derive(Default)]
struct Matches {
    /// For each pattern the text in which it was found first.
    texts: Vec<Option<String>>,
    /// Those that need not be looked for any more, since the last look at this.
    settled: Vec<usize>,
}

impl OutputObserver {
    pub(super) fn new(options: &StreamOptions) -> OutputObserver {
        let observed = |output| Observed::new(options, output);
        OutputObserver {
            outputs: [observed(0), observed(1)],
            copy: options.is_copied().then(Spool::default),
            tail: options.hook_output.map(Tail::new),
            retry_after: options.retry_after.then(RetryAfter::default),
            matches: Matches {
                texts: vec![None; options.patterns.len()],
                settled: Vec::new(),
            },
        }
    }

    /// Takes in a piece of an output, as it came. It is to be searched, too: [`OutputObserver::search`].
    pub(super) fn take_in(&mut self, output: usize, bytes: &[u8], now: SystemTime) -> io::Result<()> {
        let observed = &mut self.outputs[output];
        if !observed.is_watched {
            return Ok(());
        }
        if let Some(copy) = &mut self.copy {
            copy.append(bytes)?;
        }
        if let Some(tail) = &mut self.tail {
            tail.push(bytes);
        }
        if let Some(retry_after) = &mut self.retry_after {
            observed.lines.push(bytes, &mut |line| retry_after.read(line, now));
        }
        Ok(())
    }

    /// Looks for patterns in what comes next of an output, for a short time. How many of the bytes are done with.
    pub(super) fn search(&mut self, options: &StreamOptions, output: usize, bytes: &[u8]) -> usize {
        let Some(scanner) = &mut self.outputs[output].scanner else {
            return bytes.len();
        };
        let matches = &mut self.matches;
        let done = scanner.step(bytes, &mut |pattern, text| matches.add(options, pattern, text));
        self.forget_settled();
        done
    }

    /// All outputs are complete: a last line without its end is searched, too, for a short time. Whether that is done.
    pub(super) fn finish_search(&mut self, options: &StreamOptions) -> bool {
        let mut is_done = true;
        for observed in &mut self.outputs {
            if let Some(scanner) = &mut observed.scanner {
                let matches = &mut self.matches;
                is_done &= scanner.finish_step(&mut |pattern, text| matches.add(options, pattern, text));
            }
        }
        self.forget_settled();
        is_done
    }

    /// All outputs are complete: a last line without its end is looked at, too.
    pub(super) fn finish(&mut self, now: SystemTime) {
        for observed in &mut self.outputs {
            if let Some(retry_after) = &mut self.retry_after {
                observed.lines.finish(&mut |line| retry_after.read(line, now));
            }
        }
    }

    /// Patterns that were found, or that can change nothing any more, are not looked for on either output.
    fn forget_settled(&mut self) {
        for pattern in self.matches.settled.drain(..) {
            for scanner in self.outputs.iter_mut().filter_map(|output| output.scanner.as_mut()) {
                scanner.forget(pattern);
            }
        }
    }

    /// For each pattern the text in which it was found first.
    pub(super) fn take_matches(&mut self) -> Vec<Option<String>> {
        std::mem::take(&mut self.matches.texts)
    }

    /// The longest wait that a line asked for.
    pub(super) fn wait_asked(&self) -> Option<Duration> {
        self.retry_after.as_ref().and_then(RetryAfter::wait)
    }

    /// What was printed on the streams that are looked at, and the end of it, as far as they are kept.
    pub(super) fn into_kept(self) -> (Option<Spool>, Option<Vec<u8>>) {
        (self.copy, self.tail.map(Tail::into_bytes))
    }
}

impl Observed {
    fn new(options: &StreamOptions, output: usize) -> Observed {
        let is_watched = options.watched[output] || (options.pty && options.watched.contains(&true));
        let looks = is_watched && options.is_observed(output) && !options.patterns.is_empty();
        let patterns: Option<Arc<Patterns>> = looks.then(|| Arc::clone(&options.patterns));
        Observed {
            is_watched,
            lines: Lines::default(),
            scanner: patterns.map(Scanner::new),
        }
    }
}

impl Matches {
    fn add(&mut self, options: &StreamOptions, pattern: usize, text: &[u8]) {
        let excerpt = &text[..text.len().min(EXCERPT)];
        self.texts[pattern].get_or_insert_with(|| String::from_utf8_lossy(excerpt).into_owned());
        self.settled.push(pattern);
        self.settled
            .extend(options.superseded.get(pattern).into_iter().flatten());
    }
}
