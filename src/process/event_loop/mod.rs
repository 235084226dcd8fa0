//! The only place where backoff sleeps, in one `poll(2)` over signals, the command's streams and deadlines. Used during
//! attempts and between them.

pub(crate) mod on_signal;
mod waits;

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};

use crate::process::signals::Signals;
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now, poll};
use crate::process::terminal::countdown::Countdown;
use crate::process::terminal::modes;
use crate::run::plan::When;

/// Time that readers of backoff's output have after the deadline. Once a limit or signal has ended the attempt, they
/// have it for each chunk.
pub(crate) const READERS_GRACE: Duration = Duration::from_secs(1);
/// Limit on reads and writes before a stop. It is enough for a full pipe or terminal, as other processes may keep
/// writing.
const MOST_LAST_MOVES: u32 = 32;

#[derive(Debug)]
pub(crate) struct EventLoop {
    pub(crate) signals: Signals,
    pub(crate) streams: Streams,
    pub(crate) modes_before: modes::Before,
    pub(crate) countdown: Countdown,
    /// A signal has ended the run. Readers now have little time, and further signals are dropped while a message is
    /// written.
    pub(crate) is_ending: bool,
    /// When to stop waiting for readers of backoff's output. Never without a deadline.
    pub(crate) readers_have_until: Deadline,
    /// SIGUSR1 arrived. It ends the current wait, or the next one unless an attempt begins first.
    pub(crate) skips_wait: bool,
}

impl EventLoop {
    /// Creates the event loop of a run. `progress` tells when waits show a countdown.
    pub(crate) fn new(
        signals: Signals,
        streams: Streams,
        deadline: Deadline,
        progress: When,
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

    /// Gives readers of backoff's output at least [`READERS_GRACE`] from now, even past the run's deadline. They need
    /// it after a program has exited, whose last output they could not read before, or after backoff was stopped.
    pub(crate) fn give_readers_time(&mut self, now: Instant) {
        self.readers_have_until = self.readers_have_until.or_later(now + READERS_GRACE);
    }

    /// Sleeps until a signal arrives, a stream is ready or the time is up. Then moves received signals to
    /// `signals.queue`, where the caller handles them, and moves data of the command's streams. Returns true if output
    /// was read from the command or written to its reader. May return early, so callers must check the clock.
    pub(crate) fn poll_once(&mut self, until: Deadline) -> bool {
        let wake = Deadline::maybe_after(now(), self.streams.wake_after());
        let ready = self.poll(until.or_earlier(wake), &self.streams.interests());
        self.signals.read();
        self.streams.work(&ready)
    }

    /// Forwards the output that is in the pipes now, without waiting for more. Used when backoff is about to stop
    /// (Ctrl-Z), or when a termination request cuts draining short. A slow reader has `readers_grace` for all of it, or
    /// until a signal arrives. After that, or after [`MOST_LAST_MOVES`], output may remain. Returns true if there was
    /// any.
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
            if !self.poll_once(Deadline::after(begun, grace)) {
                break;
            }
            has_moved = true;
        }
        has_moved
    }

    /// Waits for a signal, for one of `interests` or until the time is up. Returns at once if signals are already
    /// queued. Signals are unblocked only meanwhile, and the caller reads them. Returns the names of the interests that
    /// are ready. If polling fails, returns all of them, and the caller tries each without blocking.
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
            // None means no limit.
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
