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
    /// For each pattern the text of its first match.
    matches: Vec<Option<String>>,
}

/// One output, if it is looked at.
#[derive(Default)]
struct Observed {
    is_watched: bool,
    lines: Lines,
    scanner: Option<Scanner>,
}

impl OutputObserver {
    pub(super) fn new(options: &StreamOptions) -> OutputObserver {
        let observed = |output| Observed::new(options, output);
        OutputObserver {
            outputs: [observed(0), observed(1)],
            copy: options.is_copied().then(Spool::default),
            tail: options.hook_output.map(Tail::new),
            retry_after: options.retry_after.then(RetryAfter::default),
            matches: vec![None; options.patterns.as_slice().len()],
        }
    }

    /// Returns the most bytes of an output to take in at once, so that the search in them ends soon.
    pub(super) fn most(&self, output: usize) -> usize {
        let scanner = self.outputs[output].scanner.as_ref();
        scanner.map_or(usize::MAX, Scanner::most)
    }

    /// Takes in a piece of an output.
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
        self.search(output, |scanner, found| scanner.push(bytes, found));
        Ok(())
    }

    /// Takes in last lines without their end, as all outputs are complete.
    pub(super) fn finish(&mut self, now: SystemTime) {
        for output in 0..2 {
            self.search(output, |scanner, found| scanner.finish(found));
            if let Some(retry_after) = &mut self.retry_after {
                self.outputs[output]
                    .lines
                    .finish(&mut |line| retry_after.read(line, now));
            }
        }
    }

    /// Looks for patterns no longer.
    pub(super) fn stop_search(&mut self) {
        for observed in &mut self.outputs {
            observed.scanner = None;
        }
    }

    /// Searches one output. A pattern that is found is not searched for in the other one either.
    fn search(&mut self, output: usize, search: impl FnOnce(&mut Scanner, &mut dyn FnMut(usize, &[u8]))) {
        let [one, other] = &mut self.outputs;
        let (this, other) = if output == 0 { (one, other) } else { (other, one) };
        let Some(scanner) = &mut this.scanner else { return };
        let matches = &mut self.matches;
        search(scanner, &mut |pattern, text| {
            let excerpt = &text[..text.len().min(EXCERPT)];
            matches[pattern].get_or_insert_with(|| String::from_utf8_lossy(excerpt).into_owned());
            if let Some(other) = &mut other.scanner {
                other.close(pattern);
            }
        });
    }

    /// For each pattern the text in which it was found first.
    pub(super) fn take_matches(&mut self) -> Vec<Option<String>> {
        std::mem::take(&mut self.matches)
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
        let looks = is_watched && options.is_observed(output) && !options.patterns.as_slice().is_empty();
        Observed {
            is_watched,
            lines: Lines::default(),
            scanner: looks.then(|| Scanner::new(Arc::clone(&options.patterns))),
        }
    }
}
