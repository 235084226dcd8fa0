//! Turns of two outputs that are streamed to one file (`>log 2>&1`, a terminal), so that no line of one is torn by the
//! other. Decides only; `super` reads and writes.

use std::time::{Duration, Instant};

use crate::process::sys::clock::Deadline;

/// Most bytes of an output that are read before the other one has its turn, if both have data: outputs that are
/// written alternately stay roughly in order.
pub(super) const CHUNK: usize = 4096;
/// Longest time for which an output waits until the other one has finished its line.
const LINE_GRACE: Duration = Duration::from_millis(100);

/// 0 is standard output, 1 standard error.
#[derive(Debug)]
pub(super) struct Turns {
    /// The output whose unfinished line ends the file.
    unfinished: Option<usize>,
    /// The output that was written last.
    last: usize,
    /// End of the wait of the other output for the end of the unfinished line; never while it does not wait.
    until: Deadline,
}

impl Default for Turns {
    fn default() -> Turns {
        Turns {
            unfinished: None,
            last: 1,
            until: Deadline::NEVER,
        }
    }
}

impl Turns {
    /// Returns the output to write, if any: one that has bytes `waiting`. It is the one with the unfinished line, or
    /// else not the one that was written last. `may_go_on`: the command may write more of an output.
    pub(super) fn next(
        &mut self,
        waiting: [bool; 2],
        may_go_on: [bool; 2],
        now: Instant,
    ) -> Option<usize> {
        let other_of_last = 1 - self.last;
        let candidate = if waiting[other_of_last] {
            other_of_last
        } else if waiting[self.last] {
            self.last
        } else {
            return None;
        };
        let Some(unfinished) = self.unfinished else {
            return Some(candidate);
        };
        if waiting[unfinished] {
            return Some(unfinished);
        }
        if !may_go_on[unfinished] || self.until.is_due(now) {
            return Some(1 - unfinished);
        }
        if !self.until.is_set() {
            self.until = Deadline::after(now, LINE_GRACE);
        }
        None
    }

    /// Notes that the last byte written to the file is `last` of output `i`.
    pub(super) fn on_written(&mut self, i: usize, last: u8) {
        self.last = i;
        self.until = Deadline::NEVER;
        self.unfinished = (last != b'\n').then_some(i);
    }

    /// Returns true if bytes of output `i` wait for the end of the other one's line.
    pub(super) fn has_to_wait(&self, i: usize) -> bool {
        self.until.is_set() && self.unfinished == Some(1 - i)
    }

    /// Returns the time after which a waiting output has its turn, if one waits.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        self.until.left(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sys::clock::now;

    const BOTH: [bool; 2] = [true, true];

    #[test]
    fn outputs_alternate_at_line_ends() {
        let mut turns = Turns::default();
        assert_eq!(turns.next(BOTH, BOTH, now()), Some(0));
        turns.on_written(0, b'\n');
        assert_eq!(turns.next(BOTH, BOTH, now()), Some(1));
        turns.on_written(1, b'\n');
        assert_eq!(turns.next([false, true], BOTH, now()), Some(1));
        assert_eq!(turns.next([false, false], BOTH, now()), None);
    }

    #[test]
    fn an_unfinished_line_goes_first_for_a_while() {
        let mut turns = Turns::default();
        let begun = now();
        turns.on_written(0, b'x');
        assert_eq!(turns.next(BOTH, BOTH, begun), Some(0));
        assert_eq!(turns.next([false, true], BOTH, begun), None);
        assert!(turns.has_to_wait(1) && !turns.has_to_wait(0));
        assert_eq!(turns.left(begun), Some(LINE_GRACE));
        assert_eq!(turns.next([false, true], BOTH, begun + LINE_GRACE), Some(1));
    }

    #[test]
    fn a_line_that_cannot_be_finished_delays_nothing() {
        let mut turns = Turns::default();
        turns.on_written(1, b'x');
        assert_eq!(turns.next([true, false], [true, false], now()), Some(0));
    }
}
