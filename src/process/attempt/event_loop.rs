//! The only place where backoff sleeps: one `poll(2)` over signals, the command's streams and deadlines.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nix::libc;
use nix::poll::{PollFd, PollFlags};

use crate::process::signals::receive::Signals;
use crate::process::spawn::child;
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now, poll};
use crate::process::terminal::modes;
use crate::process::terminal::pty::Pty;

/// Descriptors to poll besides signals.
pub(crate) type Interests<'a> = [Option<(BorrowedFd<'a>, PollFlags)>; 3];

/// Time for readers after the deadline, or after the end of the program that ran at the deadline.
pub(super) const READERS_GRACE: Duration = Duration::from_secs(1);
/// Time for the reader of the last output before a stop.
const LAST_OUTPUT_GRACE: Duration = Duration::from_millis(300);
/// Limit on reads and writes before a stop: enough for a full pipe or terminal, as other processes may go on writing.
const MOST_LAST_MOVES: u32 = 32;

#[derive(Debug)]
pub(crate) struct EventLoop {
    pub(crate) signals: Signals,
    /// Streams that backoff handles; None if the command inherits all of them.
    pub(crate) streams: Option<Box<Streams>>,
    pub(crate) modes_before: modes::Before,
    /// True once a signal has ended the run.
    pub(crate) is_ending: bool,
    /// Latest time to wait for readers of backoff's output; never without a deadline.
    pub(crate) readers_have_until: Deadline,
    /// True while a hook or a predicate runs in place of an attempt.
    pub(crate) is_hook: bool,
    /// Ends the current wait, or the next one.
    pub(crate) wait_is_over: bool,
    is_init: bool,
}

impl EventLoop {
    /// Creates the loop of a run with this deadline.
    pub(crate) fn new(signals: Signals, streams: Option<Box<Streams>>, deadline: Deadline) -> EventLoop {
        let mut readers_have_until = deadline;
        readers_have_until.put_off(READERS_GRACE);
        EventLoop {
            signals,
            streams,
            modes_before: modes::Before::default(),
            is_ending: false,
            readers_have_until,
            is_hook: false,
            wait_is_over: false,
            is_init: std::process::id() == 1,
        }
    }

    /// Extends the time for readers after a program has ended, so that they can read its last output.
    pub(crate) fn give_readers_time(&mut self, now: Instant) {
        self.readers_have_until = self.readers_have_until.or_later(now + READERS_GRACE);
    }

    /// Sleeps until a signal or a stream is ready or the time is up. Receives signals and moves the command's streams.
    /// Returns true if a stream was ready.
    pub(crate) fn wait(&mut self, until: Deadline) -> bool {
        let wake_after = self.streams.as_deref().and_then(Streams::wake_after);
        let interests = self.streams.as_deref().map_or([None; 3], Streams::interests);
        let until = match wake_after {
            Some(after) => until.or_earlier(Deadline::after(now(), after)),
            None => until,
        };
        let (signals, ready) = self.poll(until, interests);
        if signals {
            self.signals.receive();
        }
        if let Some(streams) = &mut self.streams {
            streams.work(ready);
        }
        ready.contains(&true)
    }

    /// Moves output that is already there. A slow reader gets [`LAST_OUTPUT_GRACE`].
    pub(crate) fn pass_on_output(&mut self) {
        let begun = now();
        let [at_once, soon] = [Duration::ZERO, LAST_OUTPUT_GRACE].map(|grace| Deadline::after(begun, grace));
        for _ in 0..MOST_LAST_MOVES {
            let Some(streams) = &self.streams else { return };
            let until = if streams.has_pending_output() { soon } else { at_once };
            let [_, output, error] = streams.interests();
            let (_, ready) = self.poll(until, [None, output, error]);
            if !ready.contains(&true) {
                return;
            }
            if let Some(streams) = &mut self.streams {
                streams.work(ready);
            }
        }
    }

    /// Waits for signals, for one of `others` or until the time is up. Returns whether signals are waiting, and which
    /// of `others` are ready.
    pub(crate) fn poll(&self, until: Deadline, others: Interests<'_>) -> (bool, [bool; 3]) {
        if self.signals.has_taken_in() {
            return (true, [false; 3]);
        }
        let mut fds = vec![PollFd::new(self.signals.fd(), PollFlags::POLLIN)];
        fds.extend(others.iter().flatten().map(|(fd, flags)| PollFd::new(*fd, *flags)));
        let left = until.is_set().then(now).and_then(|now| until.left(now));
        if !self.signals.let_in(|| poll(&mut fds, left)) {
            return (true, others.map(|other| other.is_some()));
        }
        let mut ready = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let signals = ready.next().unwrap_or(false);
        (
            signals,
            others.map(|other| other.is_some() && ready.next().unwrap_or(false)),
        )
    }

    /// Returns the streams' answer, or false if backoff handles no streams.
    pub(crate) fn streams(&self, question: fn(&Streams) -> bool) -> bool {
        self.streams.as_deref().is_some_and(question)
    }

    /// Returns the attempt's own terminal, if it has one (`--pty`).
    pub(crate) fn pty(&mut self) -> Option<&mut Pty> {
        self.streams.as_deref_mut().and_then(Streams::pty)
    }

    /// Reaps every process that has ended except `attempt`, if backoff is process 1.
    pub(crate) fn reap_orphans(&self, attempt: Option<libc::pid_t>) {
        if self.is_init {
            child::reap_orphans(attempt);
        }
    }
}
