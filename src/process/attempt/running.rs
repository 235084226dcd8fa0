//! A running attempt: one loop over signals, streams, timers and the child's end.
//!
//! | event | action |
//! |---|---|
//! | the child ends | the loop ends |
//! | the child stops (Ctrl-Z) | `on_stopped` decides; if backoff stops too, the shell sees the stop, and the attempt's clock pauses |
//! | a signal | `on_signal` decides |
//! | output | forwarded, kept, searched (`process/streams`) |
//! | `--timeout`, `--idle-timeout`, `--deadline` | signal and CONT to the tree, later KILL |

use std::time::Duration;

use super::deadlines::Deadlines;
use super::tree::{ChildState, Kill, ProcessTree, survival};
use crate::policy::outcome::{End, Survivor, TimeLimit};
use crate::policy::signal::Signal;
use crate::process::event_loop::EventLoop;
use crate::process::event_loop::on_signal::{
    Job, Phase, RunningCommand, SignalAction, StopAction, on_signal, on_stopped,
};
use crate::process::signals::{Received, SignalClass, Target};
use crate::process::spawn::child::{Child, reap_orphans};
use crate::process::spawn::{Command, Isolation};
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::processes::program_name;
use crate::process::terminal;
use crate::process::terminal::pty::Pty;

/// Time in which a command that was asked to stop may tidy up and stop itself by STOP instead.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The purpose of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The command of the run.
    Command,
    /// A hook or a predicate.
    Hook,
}

/// An attempt from its start until all about its end is known.
pub(super) struct Running<'a> {
    pub(super) event_loop: &'a mut EventLoop,
    pub(super) child: Child,
    pub(super) tree: ProcessTree,
    pub(super) deadlines: Deadlines<'a>,
    /// The first signal that asked backoff to end.
    pub(super) interrupted: Option<Signal>,
    pub(super) role: Role,
    pub(super) isolation: Isolation,
    pub(super) command: &'a Command,
    /// The end of the command was noticed.
    pub(super) has_ended: bool,
    /// A limit or a forwarded signal has asked the command to end.
    pub(super) is_asked_to_end: bool,
    /// Set until the command has stopped or was continued.
    pub(super) stop_request: Option<StopRequest>,
}

/// A request to stop that the command has got.
#[derive(Debug, Clone, Copy)]
pub(super) struct StopRequest {
    signal: Signal,
    /// A stop by STOP counts as the response only before this time.
    stop_counts_until: Deadline,
}

impl StopRequest {
    /// Returns true if a stop by this signal is the response.
    fn is_answered_by(self, signal: Signal) -> bool {
        signal.stops_a_job() || !self.stop_counts_until.is_due(now())
    }
}

/// The state of the command, as far as a check of the limits has shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandState {
    HasEnded,
    MayRun,
}

impl Running<'_> {
    /// Returns true if a limit or a signal has asked the attempt to end.
    pub(super) fn is_cut_short(&self) -> bool {
        self.deadlines.ended_by.is_some() || self.interrupted.is_some()
    }

    /// Handles events until the command has ended. Returns its end, or [`End::Unended`] once backoff gives up waiting
    /// for a command that cannot be ended, or an error if the system does not tell.
    pub(super) fn wait_for_end(&mut self) -> nix::Result<End> {
        loop {
            if self.enforce_limits() == CommandState::MayRun {
                if self.has_to_give_up() && self.child.ended().is_none() {
                    return Ok(End::Unended);
                }
                self.wait_for_event(self.deadlines.earliest());
                let actions = self.handle_signals();
                if !actions.contains(&SignalAction::LookAtChildren) {
                    continue;
                }
            }
            if let Some(end) = self.child.ended() {
                self.has_ended = true;
                return end;
            }
            if let Some(signal) = self.child.newly_stopped() {
                self.handle_stop(signal);
            }
            reap_orphans(Some(self.child.pid()));
        }
    }

    /// Sleeps until an event or until the time is up. Output, also if it waits for its reader, restarts the idle limit.
    fn wait_for_event(&mut self, until: Deadline) {
        if self.event_loop.wait(until) || self.event_loop.streams.has_pending_output() {
            self.deadlines.on_output(now());
        }
    }

    /// Returns true if there is no use in waiting for the command: it did not die of KILL in time, or it may not be
    /// signalled and no KILL is to follow.
    fn has_to_give_up(&self) -> bool {
        let has_survived_kill = self.deadlines.give_up.is_due(now());
        let gets_no_kill = self.is_asked_to_end && self.deadlines.never_kills();
        has_survived_kill || gets_no_kill && self.child.is_protected()
    }

    /// Sends KILL to the tree if KILL is due.
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

    /// Returns the processes of the attempt that still run.
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

    /// Returns the processes that a forwarded signal could not reach: the command, or others of its group.
    pub(super) fn processes_out_of_reach(&mut self) -> Vec<Survivor> {
        let mut survivors = Vec::new();
        if !self.has_ended {
            survivors.push(self.command_as_survivor());
        }
        survivors.extend(self.tree.protected(&self.child));
        survivors
    }

    /// Describes the command, which still runs.
    fn command_as_survivor(&self) -> Survivor {
        let pid = self.child.pid();
        // Until exec, the system shows backoff's name.
        let shown = if self.child.is_starting() {
            None
        } else {
            program_name(pid)
        };
        Survivor {
            pid,
            program: shown.unwrap_or_else(|| self.command.program()),
            why: survival(pid),
        }
    }

    /// Signals the tree if a limit is reached or KILL is due, unless the command has ended by itself by then, and so has
    /// not timed out.
    fn enforce_limits(&mut self) -> CommandState {
        if self.deadlines.reached_limit(now()) == Some(TimeLimit::Idle) {
            // Poll once more before acting, as backoff may be late on a busy machine.
            self.wait_for_event(Deadline::after(now(), Duration::ZERO));
        }
        self.kill_if_due();
        // A command that waits for input which will not come is ended as by a timeout. The fault then ends the run.
        let input_failed =
            self.event_loop.streams.input.fault.is_some() && self.deadlines.ended_by.is_none();
        let input_limit = input_failed.then_some(TimeLimit::Timeout);
        let Some(limit) = self.deadlines.reached_limit(now()).or(input_limit) else {
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
        self.stop_request = None;
        CommandState::MayRun
    }

    /// Handles received signals. Returns the decisions.
    pub(super) fn handle_signals(&mut self) -> Vec<SignalAction> {
        let mut actions = Vec::new();
        while let Some(received) = self.event_loop.signals.queue.pop_front() {
            actions.push(self.handle_signal(received));
        }
        actions
    }

    /// Decides about a signal and acts on it.
    fn handle_signal(&mut self, received: Received) -> SignalAction {
        let signal = received.signal;
        // Decided before CONT resets the state below.
        let action = on_signal(self.phase(received), received);
        match received.class {
            SignalClass::Continue => {
                self.stop_request = None;
                self.child.forget_continued();
                if let Some(pty) = &mut self.event_loop.streams.pty {
                    pty.resume();
                }
            }
            SignalClass::StopJob => {
                self.stop_request = Some(StopRequest {
                    signal,
                    stop_counts_until: Deadline::after(now(), STOP_GRACE),
                });
            }
            _ => {}
        }
        match action {
            SignalAction::Forward => self.forward(signal),
            SignalAction::NoFurtherAttempt | SignalAction::ForwardAndNoFurtherAttempt => {
                self.interrupted.get_or_insert(signal);
                self.deadlines.on_interruption(now());
                if action == SignalAction::ForwardAndNoFurtherAttempt {
                    self.forward_request_to_end(signal);
                }
            }
            SignalAction::StopCommand => self.stop_command(),
            SignalAction::EndWait => self.event_loop.wait_is_over = true,
            SignalAction::StopBackoff => self.stop_backoff(signal),
            // The caller looks at children, and `EndRun` comes only between two attempts.
            SignalAction::LookAtChildren | SignalAction::Ignore | SignalAction::EndRun => {}
        }
        action
    }

    /// Returns the state of the attempt as far as it decides what to do about this signal.
    fn phase(&mut self, Received { signal, class, .. }: Received) -> Phase {
        // A command that has ended cannot stop, even if its end is not noticed yet. Until the end is noticed, other
        // signals are forwarded, as processes of its group may still run.
        if self.has_ended || class == SignalClass::StopJob && self.child.ended().is_some() {
            return Phase::AfterExit;
        }
        // Details that cost a system call are queried only if they matter.
        let is_job_control = matches!(class, SignalClass::StopJob | SignalClass::Continue);
        let command = RunningCommand {
            isolation: self.isolation,
            is_hook: self.role == Role::Hook,
            is_stopped: is_job_control && self.child.is_stopped(),
            was_continued: is_job_control && self.child.was_continued(),
            leads_session: signal == Signal::HUP && terminal::leads_session(),
        };
        if is_job_control && self.child.is_starting() {
            Phase::Starting(command)
        } else {
            Phase::Running(command)
        }
    }

    /// Forwards a signal that does not ask the command to end.
    fn forward(&mut self, signal: Signal) {
        // A new size makes the kernel send WINCH.
        let pty = self.event_loop.streams.pty.as_ref();
        let is_sent_by_kernel = signal == Signal::WINCH && pty.is_some_and(Pty::copy_size);
        if !is_sent_by_kernel {
            let _ = self.child.signal(signal);
        }
    }

    /// Forwards a signal that asks to end. Also continues a stopped recipient, or one about to stop, so that it can
    /// handle the signal.
    fn forward_request_to_end(&mut self, signal: Signal) {
        let _ = self.child.signal(signal);
        if self.stop_request.take().is_some() || self.child.is_stopped() {
            let _ = self.child.signal(Signal::CONT);
        } else {
            // Other processes of the group may be stopped.
            self.tree.continue_group(&self.child);
        }
        self.is_asked_to_end = true;
    }

    /// Stops a command that has a session of its own, so that backoff can stop after it. By STOP, as the command's
    /// group may be orphaned, and the kernel would ignore TSTP.
    fn stop_command(&mut self) {
        if terminal::has_terminal() && terminal::leads_session() {
            // backoff leads a session itself, so that no shell would notice its stop and continue it.
            self.stop_request = None;
        } else if self.child.is_stopped() {
            // An earlier stop is not reported again.
            self.handle_stop(Signal::STOP);
        } else {
            let _ = self.child.signal(Signal::STOP);
        }
    }

    /// Decides about a stop of the command by this signal, and acts on it.
    fn handle_stop(&mut self, by: Signal) {
        let requested = self.stop_request.take();
        // The command may have been continued since.
        if !self.child.is_stopped() {
            return;
        }
        let answered = requested.filter(|request| request.is_answered_by(by));
        let answered_request = answered.map(|request| request.signal);
        // With --pty the command has its own session, but backoff continues the command with the job.
        let is_in_job = matches!(self.isolation, Isolation::Shared | Isolation::Terminal);
        let job = if !terminal::has_terminal() {
            Job::NoTerminal
        } else if is_in_job && terminal::parent_controls_jobs() {
            Job::Controlled
        } else {
            Job::Uncontrolled
        };
        match on_stopped(by, answered_request, self.is_asked_to_end, job) {
            StopAction::Ignore => {}
            StopAction::ContinueCommand => {
                let _ = self.child.signal(Signal::CONT);
            }
            StopAction::StopBackoff(signal) => self.stop_after_command(signal),
        }
    }

    /// Stops backoff until it is continued, after the command has stopped.
    fn stop_after_command(&mut self, signal: Signal) {
        // Output of the command comes before the shell's message about the stop.
        if self.event_loop.forward_last_output() {
            self.deadlines.on_output(now());
        }
        self.stop_backoff(signal);
        if let Some(pty) = &mut self.event_loop.streams.pty {
            pty.resume();
            // Another program may have drawn on the terminal meanwhile: WINCH makes full-screen programs redraw.
            let _ = self.child.signal(Signal::WINCH);
            // If backoff did not stop, as its group is orphaned, no CONT will come to be forwarded.
            if !self.event_loop.signals.is_queued(Signal::CONT) {
                let _ = self.child.signal(Signal::CONT);
            }
        }
    }

    /// Stops backoff until it is continued. The attempt's clock pauses.
    fn stop_backoff(&mut self, signal: Signal) {
        let stopped = now();
        let mut target = Target::OwnProcess;
        if let Some(pty) = &mut self.event_loop.streams.pty {
            // Our terminal is raw and has stopped no other process of the job (a pipeline): backoff stops all of them.
            if signal.stops_a_job() {
                target = terminal::key_target();
            }
            pty.pause();
        }
        terminal::stop(&mut self.event_loop.signals, signal, target);
        let continued = now();
        self.deadlines
            .on_pause(continued.saturating_duration_since(stopped));
        self.event_loop.give_readers_time(continued);
    }
}
