//! The event loop outside of attempts. It waits, writes messages and prints kept output. A slow reader can make any of
//! these take long, so signals are handled meanwhile. A `RunError` ends the run, because a signal arrived or backoff
//! itself failed.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::PollFlags;

use super::on_signal::{Phase, SignalAction, on_signal};
use super::{EventLoop, READERS_GRACE};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, is_ignored};
use crate::process::spawn::child::reap_orphans;
use crate::process::streams::sink::Sink;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::fd::access_mode;
use crate::process::sys::stdio;
use crate::process::terminal;
use crate::process::terminal::countdown::LineFor;
use crate::run::host::{EndOfRun, Printed, RunError, RunResult, WaitEnd};
use crate::run::streams::Channel;
use crate::text::describe;

/// How long a message waits each time its reader has no room, once a signal has ended the run.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(250);

impl EventLoop {
    /// Handles pending signals without waiting.
    pub(crate) fn receive_signals(&mut self) -> RunResult<()> {
        self.signals.receive();
        self.handle_signals()
    }

    /// Handles received signals between two attempts. A stop erases the countdown and stops backoff until it is
    /// continued. SIGUSR1 ends the current wait or the next one. Returns [`RunError::Interrupted`] at the first signal
    /// that ends the run. Later signals are dropped, because a second Ctrl-C must not cut off the last messages.
    fn handle_signals(&mut self) -> RunResult<()> {
        while let Some(received) = self.signals.next() {
            if self.is_ending {
                continue;
            }
            match on_signal(Phase::NoAttempt, received) {
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
                // No command is running that could receive them.
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits for `delay` between attempts or before the first, but not past the run's deadline. Time spent stopped
    /// counts. Shows and erases a countdown, formatted by `format_line`. Returns whether SIGUSR1 ended the wait early,
    /// even if it arrived before the wait began.
    pub(crate) fn sleep(
        &mut self,
        delay: Duration,
        deadline: Deadline,
        format_line: LineFor<'_>,
    ) -> RunResult<WaitEnd> {
        let end = Deadline::after(now(), delay).or_earlier(deadline);
        self.countdown.begin(delay);
        let slept = self.sleep_until(end, format_line);
        self.countdown.erase();
        slept?;
        if std::mem::take(&mut self.skips_wait) {
            Ok(WaitEnd::Skipped)
        } else {
            Ok(WaitEnd::Elapsed)
        }
    }

    /// Sleeps and redraws the countdown until the time is up or SIGUSR1 ends the wait.
    fn sleep_until(&mut self, end: Deadline, format_line: LineFor<'_>) -> RunResult<()> {
        while !end.is_due(now()) && !self.skips_wait {
            let next_line = self.countdown.show(now(), end, format_line);
            self.poll_once(end.or_earlier(next_line));
            self.handle_signals()?;
        }
        Ok(())
    }

    /// With `--stdin replay`, reads standard input to its end or to `--stdin-limit` before the first attempt. Handles
    /// signals meanwhile, as the writer may be slow. Gives up at the run's deadline. Later calls read nothing.
    pub(crate) fn read_input_first(&mut self, deadline: Deadline) -> RunResult<()> {
        let fault = |error: io::Error| RunError::of_system("standard input", &error);
        while let Some(source) = self.streams.input.source_to_read_first().map_err(fault)? {
            self.stop_if_in_background();
            // The source may always be ready, so the deadline is checked separately.
            let is_ready = self.wait_for(source, PollFlags::POLLIN, deadline)?;
            if !is_ready || deadline.is_due(now()) {
                break;
            }
            self.streams.input.read_first().map_err(fault)?;
        }
        Ok(())
    }

    /// Stops backoff's job with SIGTTIN if another job has the terminal on standard input. The kernel does that to any
    /// process that reads from it, but backoff blocks SIGTTIN, so its read would fail instead. Returns once backoff is
    /// continued, perhaps in the background again. Does not stop if the caller ignores SIGTTIN or if no shell could
    /// continue the job. The read then fails, as it would without backoff.
    fn stop_if_in_background(&mut self) {
        if !terminal::may_use(stdio::IN) && !is_ignored(Signal::TTIN) {
            terminal::stop(&mut self.signals, Signal::TTIN, Target::OwnGroup);
            self.give_readers_time(now());
        }
    }

    /// Waits until `fd` is ready for one of `events`. Returns true if it is ready, and false if the time is up.
    pub(crate) fn wait_for(
        &mut self,
        fd: BorrowedFd<'_>,
        events: PollFlags,
        mut until: Deadline,
    ) -> RunResult<bool> {
        loop {
            let is_ready = !self.poll(until, &[((), fd, events)]).is_empty();
            let polled = now();
            self.signals.read();
            self.handle_signals()?;
            // Time while backoff was stopped does not count.
            until.put_off(now().saturating_duration_since(polled));
            if is_ready || until.is_due(now()) {
                return Ok(is_ready);
            }
        }
    }

    /// Returns when to stop waiting for the reader of a message or of kept output. Without a deadline that is never,
    /// but once a signal has ended the run, the reader has only `grace`.
    fn readers_limit(&self, grace: Duration) -> Deadline {
        let grace = self.is_ending.then_some(grace);
        self.readers_have_until
            .or_earlier(Deadline::maybe_after(now(), grace))
    }

    /// Writes a message, log lines or the report in full, and handles signals while the reader is slow. After an error,
    /// part of the text may have been written. A fault is the reason without the target's name, and need not end the
    /// run.
    pub(crate) fn write(&mut self, sink: &Sink, text: &str) -> RunResult<()> {
        let mut unwritten = text.as_bytes();
        while !unwritten.is_empty() {
            let until = self.readers_limit(FINAL_WRITE_TIMEOUT);
            // `poll` may never report room in a pipe that is open for reading only, where a write fails at once.
            let is_for_reading = access_mode(sink.fd()) == Ok(OFlag::O_RDONLY);
            if !is_for_reading && !self.wait_for(sink.fd(), PollFlags::POLLOUT, until)? {
                return Err(RunError::Fault("not read in time".into()));
            }
            match sink.write(unwritten) {
                Ok(written) => unwritten = &unwritten[written..],
                // Another writer took the room, so wait again.
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(errno) => return Err(RunError::Fault(describe(errno))),
            }
        }
        Ok(())
    }

    /// Prints the output that `--stdout` and `--stderr` have kept until the end of the run, standard output first.
    /// Drops what they do not want after this end of the run (`kept`). Returns `CutOff` if a reader did not take
    /// everything in time. Returns an error if a signal ends the run, with SIGPIPE for a lost reader, or if printing
    /// fails. Nothing is kept afterwards.
    pub(crate) fn print_kept(&mut self, end: EndOfRun) -> RunResult<Printed> {
        self.streams.drop_unless_wanted(end);
        let of_stdout = self.print_kept_output(Channel::Stdout);
        let printed = match of_stdout {
            Err(RunError::Interrupted(signal)) if signal != Signal::PIPE => of_stdout,
            // Standard error follows even if standard output cannot be printed.
            _ => match self.print_kept_output(Channel::Stderr) {
                Ok(Printed::Complete) => of_stdout,
                Ok(Printed::CutOff) => of_stdout.map(|_| Printed::CutOff),
                error => error,
            },
        };
        // Kept output is never printed twice.
        self.streams.forget_kept_output();
        printed
    }

    /// Prints one kept output, if there is any, and waits for its reader. Drops the rest once readers have no more
    /// time. Returns what [`EventLoop::print_kept`] does. If only lines of backoff and of hooks were kept (no
    /// `holds_output`), losing them still counts as `Complete`.
    fn print_kept_output(&mut self, channel: Channel) -> RunResult<Printed> {
        let mut is_cut_off = false;
        while !is_cut_off && self.streams.outputs[channel].print() {
            let until = self.readers_limit(READERS_GRACE);
            is_cut_off =
                self.streams.has_pending_output() && !self.poll_once(until) && until.is_due(now());
            self.receive_signals()?;
        }
        let output = &mut self.streams.outputs[channel];
        if is_cut_off {
            output.close();
        }
        let fault = output.fault.take();
        if !output.holds_output {
            return Ok(Printed::Complete);
        }
        if is_cut_off {
            return Ok(Printed::CutOff);
        }
        if output.reader_gone {
            // SIGPIPE would have killed the command.
            return Err(RunError::Interrupted(Signal::PIPE));
        }
        match fault {
            Some(why) => Err(RunError::Fault(format!("cannot print {channel}: {why}"))),
            None => Ok(Printed::Complete),
        }
    }
}
