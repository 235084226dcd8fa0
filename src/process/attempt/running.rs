//! A running attempt of the command, or of a hook or predicate, which is called the command here, too: one loop over
//! signals, streams, timers and the child's end. The command is to feel no difference to a run without backoff, and a
//! limit is to end all of it.
//!
//! | event | action |
//! |---|---|
//! | the child ends | the loop ends |
//! | the child stops (Ctrl-Z) | `stops.rs` and `on_stopped` decide; if backoff stops too, the shell sees the stop, and the attempt's clock pauses |
//! | a signal | `on_signal` decides |
//! | output | forwarded, kept, searched (`process/streams`) |
//! | `--timeout`, `--idle-timeout`, `--deadline` | signal and CONT to the tree, later KILL |

use std::time::Duration;

use super::deadlines::Deadlines;
use super::tree::{ChildState, Kill, ProcessTree, survival};
use crate::policy::outcome::{End, Survivor, TimeLimit};
use crate::policy::signal::Signal;
use crate::process::event_loop::EventLoop;
use crate::process::event_loop::on_signal::{Phase, RunningCommand, SignalAction, on_signal};
use crate::process::signals::{Received, SignalClass, Target};
use crate::process::spawn::child::{Child, reap_orphans};
use crate::process::spawn::{Command, Isolation};
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::processes::program_name;
use crate::process::terminal;
use crate::run::event::Interruption;
use crate::run::host::Interrupted;

/// The purpose of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The command of the run.
    Command,
    /// A hook or a predicate.
    Helper,
}

/// An attempt from its start until all about its end is known.
pub(super) struct Running<'a> {
    pub(super) event_loop: &'a mut EventLoop,
    /// The command's own process. Its children are in `tree`.
    pub(super) child: Child,
    pub(super) tree: ProcessTree,
    pub(super) deadlines: Deadlines<'a>,
    /// The first signal that asked backoff to end ([`SignalClass::End`]).
    pub(super) interrupted: Option<Interrupted>,
    pub(super) role: Role,
    pub(super) isolation: Isolation,
    pub(super) command: &'a Command,
    /// The end of the command was noticed, or the system refuses to tell it, so that waiting is of no use. An ended
    /// child stays a zombie until it is reaped. Stays false once backoff has given up waiting ([`End::Unended`]), also
    /// if the command ends later.
    pub(super) has_ended: bool,
    /// A limit or a forwarded signal has asked the command to end.
    pub(super) is_asked_to_end: bool,
    /// backoff has forwarded a stop, which the command has not followed yet.
    pub(super) is_asked_to_stop: bool,
    /// backoff has forwarded a HUP that may have been meant as a reload.
    pub(super) got_hang_up: bool,
}

/// Work that [`Running::handle_signals`] leaves to its caller.
#[derive(Debug, Default)]
pub(super) struct HandledSignals {
    /// A child may have changed its state.
    pub(super) look_at_children: bool,
    /// Asked for as the attempt is to end, and no signal was forwarded, as the command has ended or has got it itself.
    /// Ignored while backoff waits for the end of the command or of its tree.
    pub(super) end_draining: bool,
    /// backoff was stopped at once, and not after the command ([`SignalAction::StopBackoff`]), and continued: the time
    /// in between does not count.
    pub(super) was_stopped: bool,
}

/// The state of the command, as far as a check of the limits has shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandState {
    /// It has ended, or the system refuses to tell.
    HasEnded,
    MayRun,
}

impl Running<'_> {
    /// Returns true if a limit or a signal has asked the attempt to end.
    pub(super) fn is_cut_short(&self) -> bool {
        self.deadlines.ended_by.is_some() || self.interrupted.is_some()
    }

    /// Handles events until the command has ended. Returns its end, or [`End::Unended`] once backoff gives up waiting
    /// for a command that cannot be ended, or an error if the system does not tell how it ended. Does not reap the
    /// command, whose number must not be reused while its group may get signals.
    pub(super) fn wait_for_end(&mut self) -> nix::Result<End> {
        loop {
            if self.enforce_limits() == CommandState::MayRun {
                if self.has_to_give_up() {
                    return self.found_end().unwrap_or(Ok(End::Unended));
                }
                self.wait_for_event(self.deadlines.earliest());
                let handled = self.handle_signals();
                // Without a CHLD no child has changed its state.
                if !handled.look_at_children {
                    continue;
                }
            }
            if let Some(end) = self.found_end() {
                return end;
            }
            if let Some(signal) = self.child.newly_stopped() {
                self.handle_stop(signal);
            }
            // As process 1, backoff inherits orphans, which no other process reaps.
            reap_orphans(Some(self.child.pid()));
        }
    }

    /// Returns the command's end, or an error if the system does not tell how it ended; None while it runs.
    fn found_end(&mut self) -> Option<nix::Result<End>> {
        let end = self.child.ended()?;
        self.has_ended = true;
        Some(end)
    }

    /// Sleeps until a signal or stream is ready or the time is up, and moves data of the streams. Output restarts the
    /// idle limit; so does output that waits for its slow reader, as the command is not to blame for that silence.
    fn wait_for_event(&mut self, until: Deadline) {
        if self.event_loop.wait(until) || self.event_loop.streams.has_pending_output() {
            self.deadlines.on_output(now());
        }
        // On a pipe, the command would get it from the kernel.
        if let Some(_dropped_later) = self.event_loop.streams.take_lost_pty() {
            let _ = self.child.signal(Signal::PIPE);
        }
    }

    /// Returns true if there is no use in waiting for a command that was asked to end: it did not die of KILL in time,
    /// or this user may not signal it (a command of `sudo`) and no KILL is to follow. Before such a request, backoff
    /// waits even for a command that it may not signal.
    fn has_to_give_up(&self) -> bool {
        let has_survived_kill = self.deadlines.give_up.is_due(now());
        let gets_no_kill = self.is_asked_to_end && self.deadlines.never_kills();
        has_survived_kill || gets_no_kill && self.child.is_protected()
    }

    /// Sends KILL to the tree if `--kill-after` has passed since the request to end; that sets the time to give up
    /// waiting (`give_up`). Notes for the message whether a process was there to be killed.
    pub(super) fn kill_if_due(&mut self) {
        if self.deadlines.take_kill(now()) {
            let child_state = if self.has_ended {
                ChildState::Ended
            } else {
                ChildState::Runs
            };
            if self.tree.kill(&self.child, child_state) == Kill::Needed {
                self.deadlines.forced_end.took_kill = true;
            }
        }
    }

    /// Returns the processes of the attempt that still run: the command itself, and members of its tree. An empty list
    /// means that all have ended. If the system lists no processes, only the command or its group is seen, and an
    /// ended command that led a group is reaped ([`ProcessTree::survivors`]).
    pub(super) fn survivors(&mut self) -> Vec<Survivor> {
        let mut survivors = Vec::new();
        let mut child_state = ChildState::Ended;
        if !self.has_ended && self.child.ended().is_none() {
            child_state = ChildState::Runs;
            survivors.push(self.command_as_survivor());
        }
        survivors.extend(self.tree.survivors(&mut self.child, child_state));
        survivors
    }

    /// Returns the processes that a forwarded signal, and KILL if it was to follow, could not end: the command, if
    /// backoff gave up waiting for it, and members of its tree that this user may not signal, as far as an earlier look
    /// has found them (`continue_group`, KILL). If there are any, an exit status of 0 counts as no success, and no
    /// retry follows: so processes that only outlive the command are left out.
    pub(super) fn processes_out_of_reach(&self) -> Vec<Survivor> {
        let mut survivors = Vec::new();
        if !self.has_ended {
            survivors.push(self.command_as_survivor());
        }
        survivors.extend(self.tree.protected());
        survivors
    }

    /// Describes the command, which still runs, for a message: number, program, and the reason why it could not be
    /// ended.
    fn command_as_survivor(&self) -> Survivor {
        let pid = self.child.pid();
        // Until exec, the system shows backoff's name.
        let name_in_system = if self.child.is_starting() {
            None
        } else {
            program_name(pid)
        };
        Survivor {
            pid,
            program: name_in_system.unwrap_or_else(|| self.command.program()),
            why: survival(Target::Process(pid)),
        }
    }

    /// Sends KILL if it is due. If a limit is reached, asks the whole tree to end (`--signal`, then CONT), records the
    /// limit and schedules KILL. If the command has just ended by itself, it has not
    /// timed out: returns `HasEnded` instead. `MayRun` also stands for an ended one while no limit is reached.
    fn enforce_limits(&mut self) -> CommandState {
        if self.deadlines.reached_limit(now()) == Some(TimeLimit::Idle) {
            // On a busy machine backoff may not have read yet what came in time: reading it restarts the limit.
            self.wait_for_event(Deadline::after(now(), Duration::ZERO));
        }
        self.kill_if_due();
        let mut reached = self.deadlines.reached_limit(now());
        // A command that waits for input which will not come is ended as by a timeout. No message says so: the fault
        // ends the run (`end_streams`).
        if reached.is_none()
            && self.deadlines.ended_by.is_none()
            && self.event_loop.streams.input.fault.is_some()
        {
            reached = Some(TimeLimit::Timeout);
        }
        let Some(limit) = reached else {
            return CommandState::MayRun;
        };
        if self.child.ended().is_some() {
            return CommandState::HasEnded;
        }
        self.deadlines.on_limit(limit, now());
        // A stopped process cannot act on a signal until CONT.
        let signals = [self.deadlines.attempt_limits.signal, Signal::CONT];
        self.tree.signal(&self.child, &signals);
        self.is_asked_to_end = true;
        self.is_asked_to_stop = false;
        CommandState::MayRun
    }

    /// Handles all received signals in order of arrival. Returns what is left to the caller.
    pub(super) fn handle_signals(&mut self) -> HandledSignals {
        let mut handled = HandledSignals::default();
        while let Some(received) = self.event_loop.signals.next() {
            match self.handle_signal(received) {
                SignalAction::LookAtChildren => handled.look_at_children = true,
                SignalAction::NoFurtherAttempt => handled.end_draining = true,
                SignalAction::StopBackoff => handled.was_stopped = true,
                _ => {}
            }
        }
        handled
    }

    /// Decides by [`on_signal`] what to do about a signal, and does it: forwards it, stops, or makes this attempt the
    /// last (then the first such signal is remembered, and KILL is scheduled if `--kill-after` was given). Returns the
    /// decision; `LookAtChildren` is left to the caller.
    fn handle_signal(&mut self, received: Received) -> SignalAction {
        let signal = received.signal;
        let has_new_size = signal == Signal::WINCH && self.event_loop.streams.copy_size();
        let action = on_signal(self.phase(received), received);
        match action {
            SignalAction::Forward => self.forward(received),
            SignalAction::NoFurtherAttempt | SignalAction::ForwardAndNoFurtherAttempt => {
                let by = Interruption::OfBackoff;
                self.interrupted.get_or_insert(Interrupted { signal, by });
                self.deadlines.on_interruption(now());
                if action == SignalAction::ForwardAndNoFurtherAttempt {
                    self.forward_request_to_end(signal);
                }
            }
            // USR1 during a hook: the next wait is skipped.
            SignalAction::EndWait => self.event_loop.skips_wait = true,
            SignalAction::StopBackoff => self.stop_backoff(signal),
            // The command got it before its pseudo-terminal had the new size.
            SignalAction::Ignore if has_new_size => self.child.forward(signal),
            // The caller looks at children, and `EndRun` comes only between two attempts.
            SignalAction::LookAtChildren | SignalAction::Ignore | SignalAction::EndRun => {}
        }
        action
    }

    /// Returns the state of the attempt, as far as it matters for what to do about this signal.
    fn phase(&mut self, Received { signal, class, .. }: Received) -> Phase {
        // A command that has ended cannot stop, even if its end is not noticed yet. Until the end is noticed, other
        // signals are forwarded, as processes of its group may still run.
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

    /// Forwards a signal that does not ask the command to end, as far as backoff knows.
    fn forward(&mut self, Received { signal, class, .. }: Received) {
        self.child.forward(signal);
        match class {
            SignalClass::StopJob => self.is_asked_to_stop = true,
            SignalClass::Continue => self.is_asked_to_stop = false,
            SignalClass::End => self.got_hang_up = true,
            SignalClass::Child | SignalClass::Inform => {}
        }
    }

    /// Forwards a signal that asks to end, and notes that (`is_asked_to_end`). Also continues a stopped recipient, so
    /// that it can handle the signal.
    fn forward_request_to_end(&mut self, signal: Signal) {
        self.child.forward(signal);
        // If the command is about to stop, CONT revokes the pending stop.
        if std::mem::take(&mut self.is_asked_to_stop) || self.child.is_stopped() {
            let _ = self.child.signal(Signal::CONT);
        } else {
            // Other processes of the group may be stopped.
            self.tree.continue_group(&self.child);
        }
        self.is_asked_to_end = true;
    }
}
