//! backoff between two attempts: handles signals during every wait.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::poll::PollFlags;

use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::on_signal::{Phase, SignalAction, on_signal};
use crate::process::spawn::child::reap_orphans;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;
use crate::process::terminal;
use crate::process::terminal::countdown::LineFor;
use crate::run::host::{RunError, RunResult};
use crate::run::text::describe_error;

/// Longest wait of messages for their reader once a signal has ended the run.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(250);

impl EventLoop {
    /// Receives and handles pending signals.
    pub(super) fn receive_signals(&mut self) -> RunResult<()> {
        self.signals.receive();
        while let Some(received) = self.signals.queue.pop_front() {
            match on_signal(Phase::BetweenAttempts, received) {
                SignalAction::EndRun => {
                    self.is_ending = true;
                    return Err(RunError::Interrupted(received.signal));
                }
                SignalAction::EndWait => self.wait_is_over = true,
                SignalAction::StopBackoff => {
                    self.countdown.erase();
                    terminal::stop(&mut self.signals, received.signal, false);
                }
                SignalAction::LookAtChildren => reap_orphans(None),
                // No command is running.
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits for `delay`, but not past the deadline: printing the message about the wait may have used up the time.
    /// `shown` is the countdown. Returns false if USR1 has ended the wait.
    pub(super) fn sleep(&mut self, delay: Duration, deadline: Deadline, shown: LineFor<'_>) -> RunResult<bool> {
        self.receive_signals()?;
        let end = Deadline::after(now(), delay).or_earlier(deadline);
        self.countdown.begin(delay);
        let waited = self.sleep_until(end, shown);
        waited.and(self.end_countdown())?;
        Ok(!std::mem::take(&mut self.wait_is_over))
    }

    fn sleep_until(&mut self, end: Deadline, shown: LineFor<'_>) -> RunResult<()> {
        while !end.is_due(now()) && !self.wait_is_over {
            let now = now();
            let next_line = self.countdown.show(now, end, shown);
            self.wait(end.or_earlier(next_line));
            self.receive_signals()?;
        }
        Ok(())
    }

    /// Erases the countdown before other output. Waits for a stopped terminal (Ctrl-S), as with any message.
    fn end_countdown(&mut self) -> RunResult<()> {
        while !self.countdown.erase() && self.has_room(inherited(stdio::ERR))? {}
        Ok(())
    }

    /// Reads standard input to its end, if required before the first attempt. Returns true if the deadline leaves time
    /// for an attempt: an earlier message may have waited for its reader.
    pub(super) fn fill_input(&mut self, deadline: Deadline) -> RunResult<bool> {
        while !deadline.is_due(now()) {
            let Some(source) = self.streams.input.unfilled() else {
                return Ok(true);
            };
            let (_, ready) = self.poll(deadline, &[((), source, PollFlags::POLLIN)]);
            if !ready.is_empty() {
                let filled = self.streams.input.fill();
                filled.map_err(|error| RunError::Fault(format!("standard input: {}", describe_error(&error))))?;
            }
            self.receive_signals()?;
        }
        Ok(false)
    }

    /// Waits until `fd` has room for a message, as a pipe may be full. The wait is short once the run is ending.
    /// Returns false once readers have no more time.
    pub(super) fn has_room(&mut self, fd: BorrowedFd<'_>) -> RunResult<bool> {
        let mut until = self.readers_have_until;
        if self.is_ending {
            until = until.or_earlier(Deadline::after(now(), FINAL_WRITE_TIMEOUT));
        }
        self.is_ready(fd, PollFlags::POLLOUT, until)
    }

    /// Waits until `fd` is ready, or until the time is up; then returns false. The time stands still while backoff is
    /// stopped. Handles signals, or drops them once the run is ending.
    pub(super) fn is_ready(&mut self, fd: BorrowedFd<'_>, events: PollFlags, mut until: Deadline) -> RunResult<bool> {
        loop {
            let (signals, ready) = self.poll(until, &[((), fd, events)]);
            if signals && self.is_ending {
                self.signals.receive();
                self.signals.queue.clear();
            } else if signals {
                let received = now();
                self.receive_signals()?;
                until.put_off(now().saturating_duration_since(received));
            }
            if !ready.is_empty() {
                return Ok(true);
            }
            if until.is_due(now()) {
                return Ok(false);
            }
        }
    }
}
