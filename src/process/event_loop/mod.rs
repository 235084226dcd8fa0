//! The only place where backoff sleeps: one `poll(2)` over signals, the command's streams and deadlines. Attempts and
//! the time between them use it.

pub(crate) mod on_signal;
pub(crate) mod waits;

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};

use crate::process::signals::Signals;
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now, poll};
use crate::process::terminal::countdown::Countdown;
use crate::process::terminal::modes;
use crate::run::plan::Progress;

/// Time for readers of backoff's output after the deadline, or after the end of a program or of a stop past the
/// deadline; for each chunk once a limit or signal has ended the attempt.
pub(crate) const READERS_GRACE: Duration = Duration::from_secs(1);
/// Time for the reader of the last output before a stop.
const LAST_OUTPUT_GRACE: Duration = Duration::from_millis(300);
/// Limit on reads and writes before a stop: enough for a full pipe or terminal, as other processes may go on writing.
const MOST_LAST_MOVES: u32 = 32;

#[derive(Debug)]
pub(crate) struct EventLoop {
    pub(crate) signals: Signals,
    pub(crate) streams: Streams,
    pub(crate) modes_before: modes::Before,
    /// The countdown of the current wait.
    pub(crate) countdown: Countdown,
    /// True once a signal has ended the run: from then on readers have little time, and further signals are dropped
    /// while a message is written.
    pub(crate) is_ending: bool,
    /// Latest time to wait for readers of backoff's output; never without a deadline.
    pub(crate) readers_have_until: Deadline,
    /// USR1 was received: the current wait ends, or the next one unless an attempt begins before.
    pub(crate) skips_wait: bool,
}

impl EventLoop {
    /// Creates the loop of a run with this deadline (never, without one). Waits show a countdown if `progress` is
    /// given.
    pub(crate) fn new(
        signals: Signals,
        streams: Streams,
        deadline: Deadline,
        progress: Option<Progress>,
    ) -> EventLoop {
        let mut readers_have_until = deadline;
        readers_have_until.put_off(READERS_GRACE);
        EventLoop {
            signals,
            streams,
            modes_before: modes::Before::default(),
            countdown: Countdown::new(progress),
            is_ending: false,
            readers_have_until,
            skips_wait: false,
        }
    }

    /// Gives readers of backoff's output at least [`READERS_GRACE`] from now, even past the run's deadline: a program
    /// has just ended, whose last output they could not read before, or backoff was stopped. Has no effect without a
    /// deadline.
    pub(crate) fn give_readers_time(&mut self, now: Instant) {
        self.readers_have_until = self.readers_have_until.or_later(now + READERS_GRACE);
    }

    /// Sleeps until a signal or a stream is ready or the time is up. Then moves received signals to `signals.queue`,
    /// where the caller handles them, and moves data of the command's streams. Returns true if output was moved: read
    /// from the command, or written to its reader. May return early, so callers look at the clock.
    pub(crate) fn wait(&mut self, until: Deadline) -> bool {
        // No event reports some changes, for example that the command has read its input.
        let wake = Deadline::maybe_after(now(), self.streams.wake_after());
        let ready = self.poll(until.or_earlier(wake), &self.streams.interests());
        self.signals.read();
        self.streams.work(&ready)
    }

    /// Forwards output that the command wrote before it stopped. Returns true if there was output.
    pub(crate) fn forward_last_output(&mut self) -> bool {
        self.forward_rest(LAST_OUTPUT_GRACE)
    }

    /// Forwards output that is in the pipes now, without waiting for more, as backoff is about to stop (Ctrl-Z) or a
    /// request to end cuts draining short. A slow reader has `readers_grace` for all of it, or until a signal comes;
    /// then, and after [`MOST_LAST_MOVES`], output may remain. Returns true if there was output.
    pub(crate) fn forward_rest(&mut self, readers_grace: Duration) -> bool {
        let begun = now();
        let mut has_moved = false;
        for _ in 0..MOST_LAST_MOVES {
            let waits_for_reader = self.streams.has_pending_output();
            let grace = if waits_for_reader {
                readers_grace
            } else {
                Duration::ZERO
            };
            if !self.wait(Deadline::after(begun, grace)) {
                break;
            }
            has_moved = true;
        }
        has_moved
    }

    /// Waits for signals, for one of `interests` or until the time is up; returns at once if signals are queued
    /// already. Signals are unblocked only meanwhile: the caller reads them. Each interest has a name, by which the
    /// result lists it if it is ready. If polling fails, all interests count as ready: the caller tries each without
    /// blocking.
    fn poll<T: Copy>(
        &self,
        until: Deadline,
        interests: &[(T, BorrowedFd<'_>, PollFlags)],
    ) -> Vec<T> {
        let of_interests = interests
            .iter()
            .map(|(_, fd, events)| PollFd::new(*fd, *events));
        let mut fds = vec![PollFd::new(self.signals.fd(), PollFlags::POLLIN)];
        fds.extend(of_interests);
        let timeout = if self.signals.queue.is_empty() {
            // None waits without limit.
            until.left(now())
        } else {
            Some(Duration::ZERO)
        };
        let has_polled = self.signals.unblocked(|| poll(&mut fds, timeout));
        let mut ready = Vec::new();
        for ((name, ..), fd) in interests.iter().zip(&fds[1..]) {
            if !has_polled || fd.any().unwrap_or(false) {
                ready.push(*name);
            }
        }
        ready
    }
}
