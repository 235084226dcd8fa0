//! The event loop between two attempts, before the first and after the last: waits, messages and kept output. Each may
//! take long, as readers may be slow, so signals are handled meanwhile. A `RunError` ends the run: a signal has come,
//! or backoff itself has failed.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::PollFlags;

use super::on_signal::{Phase, SignalAction, on_signal};
use super::{EventLoop, Polled, READERS_GRACE};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, is_ignored};
use crate::process::spawn::child::reap_orphans;
use crate::process::streams::sink::Sink;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::fd::{access_mode, inherited};
use crate::process::sys::stdio;
use crate::process::terminal;
use crate::process::terminal::countdown::LineFor;
use crate::run::host::{KeptOutput, Printed, RunError, RunResult, WaitEnd};
use crate::run::streams::Channel;
use crate::text::describe;

/// Longest wait of a message for room, each time that its reader has none, once a signal has ended the run.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(250);

impl EventLoop {
    /// Acts on the signals that have come since the last call, without waiting. Returns an error if one ends the run.
    pub(crate) fn receive_signals(&mut self) -> RunResult<()> {
        self.signals.receive();
        self.handle_queued_signals()
    }

    /// Acts on the signals whose handlers have run in a poll. Returns an error if one ends the run.
    fn handle_polled_signals(&mut self) -> RunResult<()> {
        self.signals.read();
        self.handle_queued_signals()
    }

    /// Acts on signals that were received between two attempts: a stop erases the countdown and stops backoff here
    /// until it is continued, USR1 ends the current wait, or the next one. Returns [`RunError::Interrupted`] at the
    /// first signal that ends the run, and notes that the run is ending; later signals stay in the queue.
    fn handle_queued_signals(&mut self) -> RunResult<()> {
        while let Some(received) = self.signals.next() {
            match on_signal(Phase::BetweenAttempts, received) {
                SignalAction::EndRun => {
                    self.is_ending = true;
                    return Err(RunError::Interrupted(received.signal));
                }
                SignalAction::EndWait => self.skips_wait = true,
                SignalAction::StopBackoff => {
                    self.countdown.erase();
                    terminal::stop(&mut self.signals, received.signal, Target::OwnProcess);
                    self.give_readers_time(now());
                }
                SignalAction::LookAtChildren => reap_orphans(None),
                // Dropped: no command is running that could get them.
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits for `delay`, but not past the run's deadline: printing the message about the wait may have used up the
    /// time. Shows and erases a countdown, whose line `format_line` formats. Returns whether USR1 has ended the wait
    /// early, be it one that came before the wait began, or an error if a signal ends the run.
    pub(crate) fn sleep(
        &mut self,
        delay: Duration,
        deadline: Deadline,
        format_line: LineFor<'_>,
    ) -> RunResult<WaitEnd> {
        let end = Deadline::after(now(), delay).or_earlier(deadline);
        self.countdown.begin(delay);
        let waited = self.sleep_until(end, format_line);
        let erased = self.end_countdown();
        waited?;
        erased?;
        match std::mem::take(&mut self.skips_wait) {
            true => Ok(WaitEnd::Skipped),
            false => Ok(WaitEnd::Elapsed),
        }
    }

    /// Sleeps and redraws the countdown until the time is up or USR1 ends the wait. An error is a signal that ends the
    /// run.
    fn sleep_until(&mut self, end: Deadline, format_line: LineFor<'_>) -> RunResult<()> {
        while !end.is_due(now()) && !self.skips_wait {
            let next_line = self.countdown.show(now(), end, format_line);
            self.wait(end.or_earlier(next_line));
            self.handle_queued_signals()?;
        }
        Ok(())
    }

    /// Erases the countdown, so that other output does not follow in its line. Waits for a stopped terminal (Ctrl-S),
    /// as any message does; if that takes too long, the line stays. An error is a signal that ends the run.
    fn end_countdown(&mut self) -> RunResult<()> {
        while !self.countdown.erase() {
            if !self.wait_for_room(inherited(stdio::ERR))? {
                break;
            }
        }
        Ok(())
    }

    /// Reads standard input to its end or the limit of `--stdin-limit`, if that has to come before the first attempt
    /// (`--stdin replay`); handles signals meanwhile, as its writer may be slow. Later calls read nothing. Gives up at
    /// the run's deadline. An error is a signal that ends the run, or a failed read.
    pub(crate) fn read_input_first(&mut self, deadline: Deadline) -> RunResult<()> {
        while !deadline.is_due(now()) {
            let source = self.streams.input.source_to_read_first();
            let Some(source) = source.map_err(|error| cannot_read_input(&error))? else {
                return Ok(());
            };
            self.stop_if_in_background();
            let polled = self.poll_one(deadline, source, PollFlags::POLLIN);
            if polled.has_signals {
                self.handle_polled_signals()?;
            }
            if !polled.ready.is_empty() {
                let read = self.streams.input.read_first();
                read.map_err(|error| cannot_read_input(&error))?;
            }
        }
        Ok(())
    }

    /// Stops backoff's job by TTIN if another job has the terminal on standard input, as the kernel does with a process
    /// that reads from it: backoff has this signal blocked, and its read would fail. Returns once backoff is continued,
    /// perhaps in the background again. Does not stop if the caller ignores TTIN, or if no shell could continue the
    /// job: there the read fails without backoff, too.
    fn stop_if_in_background(&mut self) {
        if !terminal::may_use(stdio::IN) && !is_ignored(Signal::TTIN) {
            terminal::stop(&mut self.signals, Signal::TTIN, Target::OwnGroup);
            self.give_readers_time(now());
        }
    }

    /// Waits until `fd` has room for a message, as a pipe may be full. Once a signal has ended the run, the wait is
    /// short, and further signals are dropped. Returns false if readers have no more time: the message is to be
    /// dropped. An error is a signal that ends the run.
    fn wait_for_room(&mut self, fd: BorrowedFd<'_>) -> RunResult<bool> {
        // `poll` may never report room in a pipe that is open for reading only, where a write fails at once.
        if access_mode(fd) == Ok(OFlag::O_RDONLY) {
            return Ok(true);
        }
        let limit = self.is_ending.then_some(FINAL_WRITE_TIMEOUT);
        let until = self
            .readers_have_until
            .or_earlier(Deadline::maybe_after(now(), limit));
        self.wait_for(fd, PollFlags::POLLOUT, until)
    }

    /// Waits until `fd` is ready for one of `events`. Returns true then, and false if the time is up. Handles signals
    /// meanwhile, or drops them once one has ended the run, as its last messages must not be cut by a second Ctrl-C.
    /// Returns an error if a signal ends the run now.
    pub(crate) fn wait_for(
        &mut self,
        fd: BorrowedFd<'_>,
        events: PollFlags,
        mut until: Deadline,
    ) -> RunResult<bool> {
        loop {
            let polled = self.poll_one(until, fd, events);
            if polled.has_signals && self.is_ending {
                self.signals.read();
                self.signals.queue.clear();
            } else if polled.has_signals {
                // Time in which backoff was stopped does not count.
                let received = now();
                self.handle_polled_signals()?;
                until.put_off(now().saturating_duration_since(received));
            }
            if !polled.ready.is_empty() {
                return Ok(true);
            }
            if until.is_due(now()) {
                return Ok(false);
            }
        }
    }

    /// Polls one descriptor, which is ready if the list of ready ones is not empty.
    fn poll_one(&self, until: Deadline, fd: BorrowedFd<'_>, events: PollFlags) -> Polled<()> {
        self.poll(until, &[((), fd, events)])
    }

    /// Writes all of a text (a message, log lines or the report), and handles signals while its reader is slow. An
    /// error may come after a part was written.
    pub(crate) fn write(&mut self, sink: &Sink, text: &str) -> Result<(), WriteError> {
        let mut unwritten = text.as_bytes();
        while !unwritten.is_empty() {
            if !self.wait_for_room(sink.fd())? {
                return Err(WriteError::Failed("not read in time".into()));
            }
            match sink.write(unwritten) {
                Ok(written) => unwritten = &unwritten[written..],
                // Another writer has taken the room: wait again.
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(errno) => return Err(WriteError::Failed(describe(errno))),
            }
        }
        Ok(())
    }

    /// Prints the output that `--stdout` and `--stderr` have kept until the end of the run, first all of standard
    /// output, and drops what they do not want after a run that ended like this (`kept`). Returns `CutOff` if a reader
    /// did not take all in time. An error is a signal that ends the run, PIPE for a lost reader, or a fault. Nothing is
    /// kept afterwards.
    pub(crate) fn print_kept(&mut self, kept: KeptOutput) -> RunResult<Printed> {
        self.streams.drop_unless_wanted(kept);
        let mut printed = self.print_kept_output(Channel::Stdout);
        // Standard error follows even if standard output cannot be printed, unless a signal ends the run now.
        let is_ended_by_signal = match printed {
            Err(RunError::Interrupted(signal)) => signal != Signal::PIPE,
            _ => false,
        };
        if !is_ended_by_signal {
            let stderr_printed = self.print_kept_output(Channel::Stderr);
            // The later error counts, as it may be a signal.
            printed = match (stderr_printed, printed) {
                (Ok(Printed::Complete), of_stdout) => of_stdout,
                (Ok(Printed::CutOff), of_stdout) => of_stdout.map(|_| Printed::CutOff),
                (Err(error), _) => Err(error),
            };
        }
        // Kept output is never printed twice.
        self.streams.forget_kept_output();
        printed
    }

    /// Waits until the reader of printed output has room, and goes on writing to it. Returns true if the reader has
    /// taken nothing in the time that readers have: the rest is to be given up. False at once if no output waits. An
    /// error is a signal that ends the run.
    fn reader_is_late(&mut self) -> RunResult<bool> {
        // Once a signal has ended the run, the reader has to keep reading.
        let limit = self.is_ending.then_some(READERS_GRACE);
        let until = self
            .readers_have_until
            .or_earlier(Deadline::maybe_after(now(), limit));
        let mut is_late = false;
        if self.streams.has_pending_output() {
            let has_taken_some = self.wait(until);
            // The wait may have ended early, by a signal.
            is_late = !has_taken_some && until.is_due(now());
        }
        self.receive_signals()?;
        Ok(is_late)
    }

    /// Prints one kept output, if there is any, and waits for its reader; once readers have no more time, drops the
    /// rest. Results are as those of [`EventLoop::print_kept`]; but if only lines of backoff and of hooks were kept (no
    /// `holds_output`), losing them is no error, and `Complete`.
    fn print_kept_output(&mut self, channel: Channel) -> RunResult<Printed> {
        while self.streams.outputs[channel].print() {
            if self.reader_is_late()? {
                let output = &mut self.streams.outputs[channel];
                output.close();
                return Ok(if output.holds_output {
                    Printed::CutOff
                } else {
                    Printed::Complete
                });
            }
        }
        let output = &mut self.streams.outputs[channel];
        let fault = output.fault.take();
        if !output.holds_output {
            return Ok(Printed::Complete);
        }
        if output.reader_gone {
            // The command would have ended by SIGPIPE.
            return Err(RunError::Interrupted(Signal::PIPE));
        }
        match fault {
            Some(why) => Err(RunError::Fault(format!("cannot print {channel}: {why}"))),
            None => Ok(Printed::Complete),
        }
    }
}

fn cannot_read_input(error: &io::Error) -> RunError {
    RunError::of_system("standard input", error)
}

/// Why a text was not written.
#[derive(Debug)]
pub(crate) enum WriteError {
    /// A signal has ended the run.
    Interrupted(Signal),
    /// The reason, without the target.
    Failed(String),
}

impl From<RunError> for WriteError {
    /// Converts the error of a wait for room: a signal ends the run, a fault (none today) makes only the
    /// write fail.
    fn from(error: RunError) -> WriteError {
        match error {
            RunError::Interrupted(signal) => WriteError::Interrupted(signal),
            RunError::Fault(why) => WriteError::Failed(why),
        }
    }
}
