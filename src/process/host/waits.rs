//! backoff between two attempts: handles signals during every wait.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::background::Background;
use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::on_signal::{Phase, SignalAction, on_signal};
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, ExactTimers, first_part, now};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;
use crate::process::terminal::control;
use crate::process::terminal::countdown::{Countdown, LineFor};
use crate::run::host::RunError;
use crate::run::output::Progress;

/// Longest wait of messages for their reader once a signal has ended the run.
const FINAL_WRITE_TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct BetweenAttempts {
    pub(super) event_loop: EventLoop,
    countdown: Countdown,
}

impl BetweenAttempts {
    pub(super) fn new(event_loop: EventLoop) -> BetweenAttempts {
        BetweenAttempts {
            event_loop,
            countdown: Countdown::default(),
        }
    }

    /// Receives and handles pending signals.
    pub(super) fn receive_signals(&mut self) -> Result<(), RunError> {
        self.event_loop.signals.receive();
        while let Some(received) = self.event_loop.signals.take() {
            match on_signal(Phase::BetweenAttempts, received) {
                SignalAction::EndRun => {
                    self.event_loop.is_ending = true;
                    return Err(RunError::Interrupted(received.signal));
                }
                SignalAction::EndWait => self.event_loop.wait_is_over = true,
                SignalAction::StopBackoff => {
                    self.countdown.erase();
                    control::stop(&mut self.event_loop.signals, received.signal, false);
                }
                SignalAction::LookAtChildren => self.event_loop.reap_orphans(None),
                // No command is running.
                _ => {}
            }
        }
        Ok(())
    }

    /// Waits for `delay`, but not past the deadline: printing the message about the wait may have used up the time.
    /// Shows a countdown if `shown` is set. Returns false if USR1 has ended the wait.
    pub(super) fn sleep(
        &mut self,
        delay: Duration,
        deadline: Deadline,
        shown: Option<(LineFor<'_>, Progress)>,
    ) -> Result<bool, RunError> {
        self.receive_signals()?;
        let end = Deadline::after(now(), delay).or_earlier(deadline);
        let exact = ExactTimers::begin();
        if let Some((_, progress)) = shown {
            self.countdown = Countdown::new(delay, progress == Progress::Always);
        }
        let waited = self.sleep_until(end, shown.map(|(line, _)| line));
        drop(exact);
        waited.and(self.end_countdown())?;
        Ok(!std::mem::take(&mut self.event_loop.wait_is_over))
    }

    fn sleep_until(&mut self, end: Deadline, mut shown: Option<LineFor<'_>>) -> Result<(), RunError> {
        let mut nearly = Deadline::NEVER;
        loop {
            let now = now();
            if end.is_due(now) || self.event_loop.wait_is_over {
                return Ok(());
            }
            // Drawing another line would take longer than the remaining time.
            if nearly.is_due(now) {
                shown = None;
            }
            let left = end.left(now);
            let next_line = match (shown, left) {
                (Some(line), Some(left)) => self.countdown.show(now, left, line),
                _ => Deadline::NEVER,
            };
            nearly = Deadline::maybe_after(now, left.map(first_part));
            self.event_loop.wait(nearly.or_earlier(next_line));
            self.receive_signals()?;
        }
    }

    /// Erases the countdown before other output. Waits for a stopped terminal (Ctrl-S), as with any message.
    fn end_countdown(&mut self) -> Result<(), RunError> {
        while !self.countdown.erase() && self.has_room(inherited(stdio::ERR))? {}
        Ok(())
    }

    /// Reads standard input to its end, if required before the first attempt. Returns true if the deadline leaves time
    /// for an attempt: an earlier message may have waited for its reader.
    pub(super) fn fill_input(&mut self, deadline: Deadline) -> Result<bool, RunError> {
        while !deadline.is_due(now()) {
            if !self.event_loop.streams(Streams::needs_filling) {
                return Ok(true);
            }
            self.event_loop.wait(deadline);
            self.receive_signals()?;
            if let Some(why) = self.event_loop.streams.as_deref_mut().and_then(Streams::take_fault) {
                return Err(RunError::Fault(why));
            }
        }
        Ok(false)
    }

    /// Waits until `fd` is writable, as a pipe may be full. Once the run is ending, the wait is short, and signals are
    /// dropped. Returns false once readers have no more time.
    pub(super) fn has_room(&mut self, fd: BorrowedFd<'_>) -> Result<bool, RunError> {
        let is_ending = self.event_loop.is_ending;
        let mut until = self.event_loop.readers_have_until;
        if is_ending {
            until = until.or_earlier(Deadline::after(now(), FINAL_WRITE_TIMEOUT));
        }
        self.has_room_until(fd, until, is_ending)
    }

    /// Waits until `fd` is writable. Returns false once readers have no more time.
    pub(super) fn wait_for_room(&mut self, fd: BorrowedFd<'_>) -> Result<bool, RunError> {
        self.has_room_until(fd, self.event_loop.readers_have_until, false)
    }

    fn has_room_until(&mut self, fd: BorrowedFd<'_>, until: Deadline, drops_signals: bool) -> Result<bool, RunError> {
        loop {
            let writable = [Some((fd, PollFlags::POLLOUT)), None, None];
            let (signals, [has_room, ..]) = self.event_loop.poll(until, writable);
            if signals && drops_signals {
                self.event_loop.signals.discard();
            } else if signals {
                self.receive_signals()?;
            }
            if has_room {
                return Ok(true);
            }
            if until.is_due(now()) {
                return Ok(false);
            }
        }
    }

    /// Waits for background work, at most `limit` from its start. The inner error is a message: the limit has passed,
    /// or the work has failed.
    pub(super) fn result_of<T: Send + 'static>(
        &mut self,
        background: &Background<T>,
        limit: Duration,
    ) -> Result<Result<T, String>, RunError> {
        let mut until = Deadline::after(background.began(), limit);
        loop {
            let done = [Some((background.fd(), PollFlags::POLLIN)), None, None];
            let (signals, [is_over, ..]) = self.event_loop.poll(until, done);
            if signals {
                let received = now();
                self.receive_signals()?;
                // Ctrl-Z stops the work together with backoff.
                until.put_off(now().saturating_duration_since(received));
            }
            if is_over {
                return Ok(background.result().ok_or_else(|| "failed".to_owned()));
            }
            if until.is_due(now()) {
                return Ok(Err(format!("gives no answer within {}ms", limit.as_millis())));
            }
        }
    }
}
