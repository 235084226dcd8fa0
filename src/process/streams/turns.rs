//! Turns of two outputs that are streamed to one file (`>log 2>&1`, a terminal), so that no line of one is torn by the
//! other. Decides only; `super` reads and writes.

use std::time::{Duration, Instant};

use crate::process::sys::clock::Deadline;
use crate::run::streams::{Channel, PerChannel};

/// Most bytes of an output that are read before the other one has its turn, if both have data: outputs that are
/// written alternately stay roughly in order.
pub(super) const CHUNK: usize = 4096;
/// Longest time for which an output waits for more of the other one's unfinished line. Each further piece of that line
/// begins the time again.
const LINE_GRACE: Duration = Duration::from_millis(100);

/// The order in which the two outputs are written.
#[derive(Debug)]
pub(super) struct Turns {
    /// The output whose unfinished line ends the file.
    unfinished: Option<Channel>,
    /// The output that was written last.
    last_written: Channel,
    /// The wait of the other output for the end of the unfinished line.
    wait: LineWait,
}

/// The wait of an output for the end of the other one's line.
#[derive(Debug, Clone, Copy)]
enum LineWait {
    /// It has not begun.
    No,
    Until(Deadline),
    /// It was in vain. Kept, as the output may have its turn for a long time before its reader has room.
    Over,
}

impl Default for Turns {
    /// Returns the turns of a new attempt: nothing was written, and standard output is first.
    fn default() -> Turns {
        Turns {
            unfinished: None,
            last_written: Channel::Stderr,
            wait: LineWait::No,
        }
    }
}

impl Turns {
    /// Returns the output to write now: the one with the unfinished line if it has bytes; without such a line, the one
    /// that was not written last, or the only one with bytes. Returns None if no output has bytes, or if those of one
    /// have to wait for the end of the other's line; the first such call begins the wait, which ends after
    /// [`LINE_GRACE`]. `waiting`: the outputs that have bytes to write. `may_go_on`: those to which the command may
    /// write more, so that it may still end a line there.
    pub(super) fn next(
        &mut self,
        waiting: PerChannel<bool>,
        may_go_on: PerChannel<bool>,
        now: Instant,
    ) -> Option<Channel> {
        if let LineWait::Until(end) = self.wait
            && end.is_due(now)
        {
            self.wait = LineWait::Over;
        }
        let not_written_last = self.last_written.other();
        let candidate = if waiting[not_written_last] {
            not_written_last
        } else if waiting[self.last_written] {
            self.last_written
        } else {
            return None;
        };
        let Some(unfinished) = self.unfinished else {
            return Some(candidate);
        };
        if waiting[unfinished] {
            return Some(unfinished);
        }
        let other = unfinished.other();
        match self.wait {
            LineWait::Over => Some(other),
            // The line will not be finished: the other output need not wait.
            _ if !may_go_on[unfinished] => Some(other),
            LineWait::Until(_) => None,
            LineWait::No => {
                self.wait = LineWait::Until(Deadline::after(now, LINE_GRACE));
                None
            }
        }
    }

    /// Notes that an output was written, and that `last_byte` was the last of its bytes: whether it ends a line. Ends
    /// the wait for a line.
    pub(super) fn on_written(&mut self, channel: Channel, last_byte: u8) {
        self.last_written = channel;
        self.wait = LineWait::No;
        self.unfinished = if last_byte == b'\n' {
            None
        } else {
            Some(channel)
        };
    }

    /// Returns true if bytes of an output wait for the end of the other one's line.
    pub(super) fn has_to_wait(&self, channel: Channel) -> bool {
        matches!(self.wait, LineWait::Until(_)) && self.unfinished == Some(channel.other())
    }

    /// Returns the time after which a waiting output has its turn, so that [`Turns::next`] has to be called; None if no
    /// output waits for the end of a line.
    pub(super) fn left(&self, now: Instant) -> Option<Duration> {
        match self.wait {
            LineWait::Until(end) => end.left(now),
            LineWait::No | LineWait::Over => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::sys::clock::now;

    use Channel::{Stderr, Stdout};

    const BOTH: PerChannel<bool> = PerChannel {
        stdout: true,
        stderr: true,
    };
    const NEITHER: PerChannel<bool> = PerChannel {
        stdout: false,
        stderr: false,
    };
    const ONLY_STDOUT: PerChannel<bool> = PerChannel {
        stdout: true,
        stderr: false,
    };
    const ONLY_STDERR: PerChannel<bool> = PerChannel {
        stdout: false,
        stderr: true,
    };

    #[test]
    fn outputs_alternate_at_line_ends() {
        let mut turns = Turns::default();
        assert_eq!(turns.next(BOTH, BOTH, now()), Some(Stdout));
        turns.on_written(Stdout, b'\n');
        assert_eq!(turns.next(BOTH, BOTH, now()), Some(Stderr));
        turns.on_written(Stderr, b'\n');
        assert_eq!(turns.next(ONLY_STDERR, BOTH, now()), Some(Stderr));
        assert_eq!(turns.next(NEITHER, BOTH, now()), None);
    }

    #[test]
    fn an_unfinished_line_goes_first_for_a_while() {
        let mut turns = Turns::default();
        let begun = now();
        turns.on_written(Stdout, b'x');
        assert_eq!(turns.next(BOTH, BOTH, begun), Some(Stdout));
        assert_eq!(turns.next(ONLY_STDERR, BOTH, begun), None);
        assert!(turns.has_to_wait(Stderr) && !turns.has_to_wait(Stdout));
        assert_eq!(turns.left(begun), Some(LINE_GRACE));
        let late = begun + LINE_GRACE;
        assert_eq!(turns.next(ONLY_STDERR, BOTH, late), Some(Stderr));
    }

    #[test]
    fn a_wait_that_is_over_wakes_nobody() {
        let begun = now();
        let late = begun + LINE_GRACE;
        // The reader has no room for the other output, or for the rest of the line, or is gone.
        for (waiting, has_its_turn) in [
            (ONLY_STDERR, Some(Stderr)),
            (BOTH, Some(Stdout)),
            (NEITHER, None),
        ] {
            let mut turns = Turns::default();
            turns.on_written(Stdout, b'x');
            assert_eq!(turns.next(ONLY_STDERR, BOTH, begun), None);
            assert_eq!(turns.next(waiting, BOTH, late), has_its_turn);
            assert!(!turns.has_to_wait(Stderr), "its reader is polled");
            assert_eq!(turns.left(late), None);
        }
    }

    #[test]
    fn a_line_that_cannot_be_finished_delays_nothing() {
        let mut turns = Turns::default();
        turns.on_written(Stderr, b'x');
        assert_eq!(turns.next(ONLY_STDOUT, ONLY_STDOUT, now()), Some(Stdout));
    }
}
