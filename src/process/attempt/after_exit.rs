//! The rest of an attempt after its command, hook or predicate has exited. After a limit, waits for the rest of its
//! process tree, which would disturb the next attempt. Then drains the output, within limits. That forwards what is
//! still in the pipes or still being written.

use std::time::{Duration, Instant};

use super::deadlines::TREE_GRACE;
use super::running::Running;
use crate::policy::outcome::{Survival, Survivor};
use crate::process::event_loop::READERS_GRACE;
use crate::process::sys::clock::{Deadline, now};
use crate::run::event::Interruption;

/// How often to look at a tree that must exit, which no event reports.
const TREE_POLL: Duration = Duration::from_millis(20);
/// Longest silence of the pipes after the command has exited. backoff then closes them.
const SILENCE: Duration = Duration::from_millis(300);
/// Limit on draining the pipes, as a daemon that the command started may write forever.
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
/// The same after a limit or a signal. Draining gets at least this long even if `--timeout` is over, for the last
/// output of a pipeline.
const SHORT_DRAIN: Duration = Duration::from_secs(1);

impl Running<'_> {
    /// Waits for the tree of an attempt that a limit has ended, and sends SIGKILL when it is due. Returns the processes
    /// that could not be killed, which make the failure permanent. If the user wants no SIGKILL (`--kill-after 0`), the
    /// first signal has as long as SIGKILL would, and processes that could be signalled may run on.
    pub(super) fn wait_for_tree(&mut self) -> Vec<Survivor> {
        let never_kills = self.deadlines.never_kills();
        if never_kills {
            self.deadlines.give_up = Deadline::after(now(), TREE_GRACE);
        }
        loop {
            self.kill_if_due();
            let mut survivors = self.survivors();
            if survivors.is_empty() {
                return survivors;
            }
            if self.deadlines.give_up.is_due(now()) {
                survivors.retain(|survivor| !never_kills || survivor.why == Survival::Protected);
                return survivors;
            }
            let until = Deadline::after(now(), TREE_POLL).or_earlier(self.deadlines.earliest());
            self.event_loop.poll_once(until);
            self.handle_signals();
        }
    }

    /// Drains the pipes of a command that has exited or could not be killed. Stops at their end, after [`SILENCE`] or
    /// at a limit, as another process, perhaps a daemon, may hold them. Waiting for a slow reader does not count
    /// against that limit, but has its own ([`Running::drains_until`]). A termination request reduces draining to what
    /// is in the pipes. If that is not all, the request ends the run ([`Interruption::AfterCommand`]). Returns true if
    /// the reader has not taken everything that was read.
    pub(super) fn drain(&mut self) -> bool {
        // The reader gets some time even past the deadline.
        self.event_loop.give_readers_time(now());
        let was_interrupted = self.interrupted.is_some();
        self.has_to_stop_draining = false;
        let longest = if self.is_cut_short() {
            SHORT_DRAIN
        } else {
            LONGEST_DRAIN
        };
        let mut last_moved = now();
        let timeout = self.deadlines.timeout.or_later(last_moved + SHORT_DRAIN);
        let mut end = Deadline::after(last_moved, longest).or_earlier(timeout);
        while self.event_loop.streams.is_open() && !self.has_to_stop_draining {
            let began = now();
            let waits_for_reader = self.event_loop.streams.has_pending_output();
            let until = self.drains_until(last_moved, end);
            if until.is_due(began) {
                return waits_for_reader;
            }
            if self.event_loop.poll_once(until) {
                last_moved = now();
            }
            if waits_for_reader {
                end.put_off(now().saturating_duration_since(began));
            }
            // Time while backoff was stopped does not count.
            let waited = now();
            self.handle_signals();
            let pause = now().saturating_duration_since(waited);
            end.put_off(pause);
            last_moved += pause;
        }
        if self.has_to_stop_draining {
            self.cut_off_draining(was_interrupted);
        }
        self.event_loop.streams.has_pending_output()
    }

    /// Forwards what is in the pipes. If more may come, the signal that cut off draining ends the run, unless one came
    /// before.
    fn cut_off_draining(&mut self, was_interrupted: bool) {
        self.event_loop.forward_rest(READERS_GRACE);
        if let Some(interrupted) = &mut self.interrupted
            && !was_interrupted
            && self.event_loop.streams.is_open()
        {
            interrupted.by = Interruption::AfterCommand;
        }
    }

    /// Returns when to stop waiting for more output or for a slow reader. A reader has the time from
    /// `give_readers_time`, which is unlimited without a deadline. After a limit or a signal it must also take
    /// something every second, as an attempt that was to end must not hang on its reader.
    fn drains_until(&self, last_moved: Instant, end: Deadline) -> Deadline {
        let readers = self.event_loop.readers_have_until;
        if !self.event_loop.streams.has_pending_output() {
            let silent = Deadline::after(last_moved, SILENCE);
            return silent.or_earlier(end).or_earlier(readers);
        }
        if self.is_cut_short() {
            return readers.or_earlier(Deadline::after(last_moved, READERS_GRACE));
        }
        readers
    }
}
