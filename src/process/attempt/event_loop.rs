//! The one place where backoff sleeps: signals, the command's streams and points in time, in one `poll(2)`.

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

/// What is waited for besides signals.
pub(crate) type Interests<'a> = [Option<(BorrowedFd<'a>, PollFlags)>; 3];

/// How long readers have once the deadline has passed, or the program that ran then has ended.
pub(super) const READERS_GRACE: Duration = Duration::from_secs(1);
/// How long the reader of the last output before a stop has.
const LAST_OUTPUT_GRACE: Duration = Duration::from_millis(300);
/// Reads and writes that take all that pipes and terminals hold; others than the command may go on writing.
const MOST_LAST_MOVES: u32 = 32;

#[derive(Debug)]
pub(crate) struct EventLoop {
    pub(crate) signals: Signals,
    /// The streams that backoff has a hand in; None if all are the caller's own.
    pub(crate) streams: Option<Box<Streams>>,
    /// The modes of the terminal before the first attempt.
    pub(crate) modes_before: modes::Before,
    /// A signal has ended the run.
    pub(crate) is_ending: bool,
    /// Until when readers of what backoff writes are waited for; without a deadline, as long as it takes.
    pub(crate) readers_have_until: Deadline,
    /// A hook or a predicate runs, and no attempt.
    pub(crate) is_hook: bool,
    /// The wait under way is to end, or the next one.
    pub(crate) wait_is_over: bool,
    is_init: bool,
}

impl EventLoop {
    /// `deadline` is the run's.
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

    /// A program has ended: what it has left is still to be read.
    pub(crate) fn give_readers_time(&mut self, now: Instant) {
        self.readers_have_until = self.readers_have_until.or_later(now + READERS_GRACE);
    }

    /// Sleeps until something comes or the time is up, takes in signals and moves the command's streams.
    /// Whether a stream was ready.
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

    /// Moves the output that is there already. A reader that is slow has a moment.
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

    /// Waits for signals, for one of the others or until the time is up. Whether signals are waiting, and
    /// which of the others are ready.
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

    /// Asks the streams that backoff has a hand in; false if there are none.
    pub(crate) fn streams(&self, question: fn(&Streams) -> bool) -> bool {
        self.streams.as_deref().is_some_and(question)
    }

    /// The attempt's own terminal, if it has one (`--pty`).
    pub(crate) fn pty(&mut self) -> Option<&mut Pty> {
        self.streams.as_deref_mut().and_then(Streams::pty)
    }

    /// As process 1: reaps every process that has ended, but for this one.
    pub(crate) fn reap_orphans(&self, attempt: Option<libc::pid_t>) {
        if self.is_init {
            child::reap_orphans(attempt);
        }
    }
}
