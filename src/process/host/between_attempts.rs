//! backoff between two attempts: waits, messages and kept output. Handles signals meanwhile.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::PollFlags;

use super::fault;
use crate::policy::signal::Signal;
use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::on_signal::{Phase, SignalAction, on_signal};
use crate::process::signals::Target;
use crate::process::spawn::child::reap_orphans;
use crate::process::streams::NAMES;
use crate::process::streams::sink::Sink;
use crate::process::sys::clock::{Deadline, now, precisely};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;
use crate::process::terminal;
use crate::process::terminal::countdown::LineFor;
use crate::run::host::{RunError, RunResult};
use crate::run::text::describe;

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
                    terminal::stop(&mut self.signals, received.signal, Target::OwnProcess);
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
        let end = Deadline::after(now(), delay).or_earlier(deadline);
        self.countdown.begin(delay);
        let waited = precisely(|| self.sleep_until(end, shown));
        waited.and(self.end_countdown())?;
        Ok(!std::mem::take(&mut self.wait_is_over))
    }

    fn sleep_until(&mut self, end: Deadline, shown: LineFor<'_>) -> RunResult<()> {
        while !end.is_due(now()) && !self.wait_is_over {
            let next_line = self.countdown.show(now(), end, shown);
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
            let Some(source) = self.streams.input.source_to_read_first() else {
                return Ok(true);
            };
            let (signals, ready) = self.poll(deadline, &[((), source, PollFlags::POLLIN)]);
            if signals {
                self.receive_signals()?;
            }
            if !ready.is_empty() {
                self.streams.input.read_first().map_err(fault("standard input"))?;
            }
        }
        Ok(false)
    }

    /// Waits until `fd` has room for a message, as a pipe may be full. The wait is short once the run is ending.
    /// Returns false once readers have no more time.
    pub(super) fn has_room(&mut self, fd: BorrowedFd<'_>) -> RunResult<bool> {
        let limit = self.is_ending.then_some(FINAL_WRITE_TIMEOUT);
        let until = self.readers_have_until.or_earlier(Deadline::maybe_after(now(), limit));
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

    /// Writes all of a text. A fault is the reason why that was not possible.
    pub(super) fn write(&mut self, sink: &Sink, text: &str) -> RunResult<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            if !self.has_room(sink.fd())? {
                return Err(RunError::Fault("not read in time".into()));
            }
            match sink.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(errno) => return Err(RunError::Fault(describe(errno))),
            }
        }
        Ok(())
    }

    /// Prints kept output at the end of the run. Returns true if all of it was read in time.
    pub(super) fn print_kept(&mut self, succeeded: bool) -> RunResult<bool> {
        for output in &mut self.streams.outputs {
            output.drop_unless_wanted(succeeded);
        }
        let printed = self.print(0).and_then(|is_read| Ok(self.print(1)? && is_read));
        // Kept output is never printed twice.
        self.streams.forget_kept_output();
        printed
    }

    fn print(&mut self, i: usize) -> RunResult<bool> {
        let until = self.readers_have_until;
        while self.streams.outputs[i].print() {
            let is_stuck = self.streams.has_pending_output() && !self.wait(until);
            self.receive_signals()?;
            if is_stuck && until.is_due(now()) {
                let output = &mut self.streams.outputs[i];
                output.close();
                return Ok(!output.holds_output);
            }
        }
        let output = &mut self.streams.outputs[i];
        // A failure to print backoff's own lines is not an error.
        match output.fault.take() {
            _ if !output.holds_output => Ok(true),
            // The command would have ended by SIGPIPE.
            _ if output.reader_gone => Err(RunError::Interrupted(Signal::PIPE)),
            Some(why) => Err(RunError::Fault(format!("cannot print {}: {why}", NAMES[i]))),
            None => Ok(true),
        }
    }
}
