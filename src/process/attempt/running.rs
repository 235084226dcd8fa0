//! A running attempt of the command, or of a hook or predicate, which is also called the command here. It is one loop
//! over signals, streams, limits and the child's exit.

use std::time::Duration;

use super::deadlines::Deadlines;
use super::tree::{ProcessTree, survivor};
use crate::policy::outcome::{End, Survival, Survivor, TimeLimit};
use crate::policy::signal::Signal;
use crate::process::event_loop::EventLoop;
use crate::process::event_loop::on_signal::{Phase, RunningCommand, SignalAction, on_signal};
use crate::process::signals::{Received, SignalClass, is_protected};
use crate::process::spawn::child::{Child, reap_orphans};
use crate::process::spawn::{Command, Isolation};
use crate::process::sys::clock::{Deadline, now};
use crate::process::terminal;
use crate::run::event::Interruption;
use crate::run::host::Interrupted;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The command of the run.
    Command,
    /// A hook or a predicate.
    Helper,
}

/// An attempt from its start until everything about its end is known.
pub(super) struct Running<'a> {
    pub(super) event_loop: &'a mut EventLoop,
    /// The command's own process. Its children are in `tree`.
    pub(super) child: Child,
    pub(super) tree: ProcessTree,
    pub(super) deadlines: Deadlines<'a>,
    /// The first signal that asked backoff to terminate ([`SignalClass::End`]).
    pub(super) interrupted: Option<Interrupted>,
    pub(super) role: Role,
    pub(super) isolation: Isolation,
    pub(super) command: &'a Command,
    /// The command was seen to exit. It remains a zombie until it is reaped. Remains false if backoff has given up
    /// waiting, or if the system does not tell.
    pub(super) has_ended: bool,
    /// A limit or a forwarded signal has asked the command to terminate.
    pub(super) is_asked_to_end: bool,
    /// backoff has forwarded a stop that the command has not followed yet.
    pub(super) is_asked_to_stop: bool,
    /// backoff has forwarded a SIGHUP that may have been meant as a reload.
    pub(super) got_hang_up: bool,
    /// A termination request arrived while output was drained.
    pub(super) has_to_stop_draining: bool,
}

impl Running<'_> {
    /// Returns true if a limit or a signal has asked the attempt to terminate.
    pub(super) fn is_cut_short(&self) -> bool {
        self.deadlines.ended_by.is_some() || self.interrupted.is_some()
    }

    /// Handles events until the command exits. Returns how it ended, or [`End::Unended`] once backoff gives up on a
    /// command that cannot be killed. Returns an error if the system does not tell how it ended. Does not reap the
    /// command, as its PID must not be reused while its group may be signalled.
    pub(super) fn wait_for_end(&mut self) -> nix::Result<End> {
        loop {
            if let Some(end) = self.child.ended() {
                self.has_ended = end.is_ok();
                return end;
            }
            if let Some(signal) = self.child.newly_stopped() {
                self.handle_stop(signal);
            }
            // As process 1, backoff inherits orphans, which no other process reaps.
            reap_orphans(Some(self.child.pid()));
            self.enforce_limits();
            if self.has_to_give_up() {
                return Ok(End::Unended);
            }
            self.wait(self.deadlines.earliest());
            self.handle_signals();
        }
    }

    /// Sleeps until a signal arrives, a stream is ready or the time is up, and moves data of the streams. Output
    /// restarts the idle limit. So does output that waits for a slow reader, as that silence is not the command's
    /// fault.
    fn wait(&mut self, until: Deadline) {
        if self.event_loop.poll_once(until) || self.event_loop.streams.has_pending_output() {
            self.deadlines.on_output(now());
        }
        // On a pipe, the kernel would send it SIGPIPE.
        if let Some(_dropped_later) = self.event_loop.streams.take_lost_pty() {
            let _ = self.child.signal(Signal::PIPE);
        }
    }

    /// Returns true if waiting for a command that was asked to terminate is pointless. Either it did not die of SIGKILL
    /// in time, or this user may not signal it (a command of `sudo`) and no SIGKILL will follow. Before such a request,
    /// backoff waits even for a command that it may not signal.
    fn has_to_give_up(&self) -> bool {
        let has_survived_kill = self.deadlines.give_up.is_due(now());
        let gets_no_kill = self.is_asked_to_end && self.deadlines.never_kills();
        has_survived_kill || gets_no_kill && is_protected(self.child.pid())
    }

    /// At a limit, asks the whole tree to terminate, with `--signal` and then SIGCONT. Sends SIGKILL once
    /// `--kill-after` has passed.
    fn enforce_limits(&mut self) {
        if self.deadlines.reached_limit(now()) == Some(TimeLimit::Idle) {
            // On a busy machine, output that came in time may still be unread. Reading it restarts the limit.
            self.wait(Deadline::after(now(), Duration::ZERO));
        }
        self.kill_if_due();
        // A command that waits for input that will not come is ended as by a timeout. No message says so, because the
        // fault ends the run (`end_streams`).
        let lacks_input = self.event_loop.streams.input.fault.is_some();
        let by_fault = lacks_input && self.deadlines.ended_by.is_none();
        let of_fault = by_fault.then_some(TimeLimit::Timeout);
        if let Some(limit) = self.deadlines.reached_limit(now()).or(of_fault) {
            self.deadlines.on_limit(limit, now());
            // A stopped process cannot act on a signal until SIGCONT.
            let signals = [self.deadlines.attempt_limits.signal, Signal::CONT];
            self.tree.signal(&self.child, &signals);
            self.is_asked_to_end = true;
            self.is_asked_to_stop = false;
        }
    }

    /// Sends SIGKILL to the tree if it is due, which sets the time to give up waiting. Notes for the message whether
    /// there was a process that it could kill.
    pub(super) fn kill_if_due(&mut self) {
        if self.deadlines.take_kill(now()) {
            let survivors = self.survivors();
            let mut reasons = survivors.iter().map(|survivor| survivor.why);
            self.deadlines.forced_end.took_kill = reasons.any(|why| why != Survival::Protected);
            self.tree.signal(&self.child, &[Signal::KILL]);
        }
    }

    /// Returns the processes of the attempt that still run, including the command itself.
    pub(super) fn survivors(&mut self) -> Vec<Survivor> {
        let mut survivors = Vec::new();
        survivors.extend(self.unended_command());
        survivors.extend(self.tree.survivors(&self.child));
        survivors
    }

    /// Describes the command for a message if it still runs.
    pub(super) fn unended_command(&self) -> Option<Survivor> {
        let runs = !self.has_ended && self.child.ended().is_none();
        runs.then(|| survivor(self.child.pid(), self.command.program()))
    }

    /// Handles all received signals in order of arrival, as [`on_signal`] decides.
    pub(super) fn handle_signals(&mut self) {
        while let Some(received) = self.event_loop.signals.next() {
            let signal = received.signal;
            let has_new_size = signal == Signal::WINCH && self.event_loop.streams.copy_size();
            match on_signal(self.phase(received), received) {
                SignalAction::Forward => self.forward(received),
                SignalAction::NoFurtherAttempt => {
                    self.interrupt(signal);
                    self.has_to_stop_draining = true;
                }
                SignalAction::ForwardAndNoFurtherAttempt => {
                    self.interrupt(signal);
                    self.forward_request_to_end(signal);
                }
                // SIGUSR1 during a hook skips the next wait.
                SignalAction::EndWait => self.event_loop.skips_wait = true,
                SignalAction::StopBackoff => self.stop_backoff(signal),
                // The command received it before its pseudo-terminal had the new size.
                SignalAction::Ignore if has_new_size => self.child.forward(signal),
                // The loop checks children, and `EndRun` occurs only between two attempts.
                SignalAction::LookAtChildren | SignalAction::Ignore | SignalAction::EndRun => {}
            }
        }
    }

    /// Makes this attempt the last. Keeps the first such signal. SIGKILL follows if `--kill-after` was given.
    fn interrupt(&mut self, signal: Signal) {
        let by = Interruption::OfBackoff;
        self.interrupted.get_or_insert(Interrupted { signal, by });
        self.deadlines.on_interruption(now());
    }

    /// Returns the state of the attempt, as far as it matters for this signal.
    fn phase(&mut self, Received { signal, class, .. }: Received) -> Phase {
        // A command that has exited cannot stop, even if its exit is not noticed yet. Until then other signals are
        // forwarded, as processes of its group may still run.
        if self.has_ended || class == SignalClass::StopJob && self.child.ended().is_some() {
            return Phase::AfterExit;
        }
        Phase::Running(RunningCommand {
            isolation: self.isolation,
            is_helper: self.role == Role::Helper,
            is_stopped: self.is_asked_to_stop
                || class == SignalClass::Continue && self.child.is_stopped(),
            leads_session: signal == Signal::HUP && terminal::leads_session(),
        })
    }

    /// Called once the command has ended (`end`). A SIGHUP without a terminal was a reload, unless it ended the
    /// command.
    pub(super) fn note_hang_up(&mut self, end: &End) {
        let is_of_hang_up = [
            End::Signaled(Signal::HUP),
            End::Exited(Signal::HUP.shell_status()),
        ]
        .contains(end);
        if self.got_hang_up && is_of_hang_up {
            self.interrupted.get_or_insert(Interrupted {
                signal: Signal::HUP,
                by: Interruption::OfBackoff,
            });
        }
    }

    /// Forwards a signal that, as far as backoff knows, does not ask the command to terminate.
    fn forward(&mut self, Received { signal, class, .. }: Received) {
        self.child.forward(signal);
        match class {
            SignalClass::StopJob => self.is_asked_to_stop = true,
            SignalClass::Continue => self.is_asked_to_stop = false,
            SignalClass::End => self.got_hang_up = true,
            SignalClass::Child | SignalClass::Inform => {}
        }
    }

    /// Forwards a termination request. Also continues a stopped command, so that it can handle the signal. If the
    /// command is about to stop, SIGCONT revokes the pending stop.
    fn forward_request_to_end(&mut self, signal: Signal) {
        self.child.forward(signal);
        if std::mem::take(&mut self.is_asked_to_stop) || self.child.is_stopped() {
            let _ = self.child.signal(Signal::CONT);
        }
        self.is_asked_to_end = true;
    }
}
