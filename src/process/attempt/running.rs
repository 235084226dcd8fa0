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
use super::event_loop::EventLoop;
use super::on_signal::{Job, Phase, RunningCommand, SignalAction, StopAction, on_signal, on_stopped};
use super::tree::ProcessTree;
use crate::policy::outcome::{End, TimeLimit};
use crate::policy::signal::Signal;
use crate::process::signals::{Received, SignalClass, Target};
use crate::process::spawn::Isolation;
use crate::process::spawn::child::{Child, reap_orphans};
use crate::process::sys::clock::{Deadline, now};
use crate::process::terminal;
use crate::process::terminal::pty::Pty;

/// Time for a command that was asked to stop to stop itself by STOP, as some do after tidying up.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The state of a running attempt.
pub(super) struct Running<'a> {
    pub(super) event_loop: &'a mut EventLoop,
    pub(super) child: Child,
    pub(super) tree: ProcessTree,
    pub(super) deadlines: Deadlines<'a>,
    /// The first signal that asked backoff to end.
    pub(super) interrupted: Option<Signal>,
    pub(super) isolation: Isolation,
    /// The end of the command was noticed.
    pub(super) has_ended: bool,
    /// A limit or a forwarded signal has asked the command to end.
    pub(super) is_asked_to_end: bool,
    /// The signal that asked the command to stop, until it has stopped or was continued. Until the deadline, STOP counts
    /// as the response.
    pub(super) stop_request: Option<(Signal, Deadline)>,
}

impl Running<'_> {
    /// Returns true if a limit or a signal has ended the attempt; then its output has a time limit.
    pub(super) fn is_cut(&self) -> bool {
        self.deadlines.ended_by.is_some() || self.interrupted.is_some()
    }

    pub(super) fn until_it_ends(&mut self) -> nix::Result<End> {
        loop {
            let mut has_changed = self.end_what_is_due();
            self.wait(self.deadlines.next());
            has_changed |= self.handle_signals().contains(&SignalAction::LookAtChildren);
            if !has_changed {
                continue;
            }
            if let Some(ended) = self.child.ended() {
                self.has_ended = true;
                return ended;
            }
            if let Some(signal) = self.child.newly_stopped() {
                self.on_stopped(signal);
            }
            reap_orphans(Some(self.child.pid()));
        }
    }

    /// Sleeps until an event or until the time is up.
    fn wait(&mut self, until: Deadline) {
        // Output that waits for its reader is not silence.
        if self.event_loop.wait(until) || self.event_loop.streams.has_pending_output() {
            self.deadlines.on_output(now());
        }
    }

    /// Ends the attempt if a limit is reached. Returns true if the command has ended by itself by then, and so has not
    /// timed out.
    fn end_what_is_due(&mut self) -> bool {
        if self.deadlines.due(now()) == Some(TimeLimit::Idle) {
            // The idle limit passed; poll once more before acting, as backoff may have been late on a busy machine.
            self.wait(Deadline::after(now(), Duration::ZERO));
        }
        if self.deadlines.take_kill(now()) {
            self.tree.signal(&self.child, &[Signal::KILL]);
        }
        let is_stalled = self.deadlines.ended_by.is_none() && self.event_loop.streams.input.fault.is_some();
        let stalled = is_stalled.then_some(TimeLimit::Timeout);
        let Some(limit) = self.deadlines.due(now()).or(stalled) else {
            return false;
        };
        if self.child.ended().is_some() {
            return true;
        }
        self.deadlines.on_end(Some(limit), now());
        // A stopped process cannot act on a signal.
        let signals = [self.deadlines.attempt_limits.signal, Signal::CONT];
        self.tree.signal(&self.child, &signals);
        (self.is_asked_to_end, self.stop_request) = (true, None);
        false
    }

    /// Handles received signals. Returns the decisions.
    pub(super) fn handle_signals(&mut self) -> Vec<SignalAction> {
        let mut actions = Vec::new();
        while let Some(received) = self.event_loop.signals.queue.pop_front() {
            actions.push(self.handle(received));
        }
        actions
    }

    fn handle(&mut self, received: Received) -> SignalAction {
        let signal = received.signal;
        let action = on_signal(self.phase(received), received);
        match received.class {
            SignalClass::Continue => {
                self.stop_request = None;
                self.child.forget_continued();
                self.event_loop.streams.pty.as_mut().map(Pty::resume);
            }
            SignalClass::StopJob => self.stop_request = Some((signal, Deadline::after(now(), STOP_GRACE))),
            _ => {}
        }
        match action {
            SignalAction::Forward => self.forward(signal),
            SignalAction::NoFurtherAttempt | SignalAction::ForwardAndNoFurtherAttempt => {
                self.interrupted.get_or_insert(signal);
                self.deadlines.on_end(None, now());
                if action == SignalAction::ForwardAndNoFurtherAttempt {
                    self.forward_end(signal);
                }
            }
            SignalAction::StopCommand => self.stop_command(),
            SignalAction::EndWait => self.event_loop.wait_is_over = true,
            SignalAction::StopBackoff => self.stop_backoff(signal),
            SignalAction::LookAtChildren | SignalAction::Ignore | SignalAction::EndRun => {}
        }
        action
    }

    fn phase(&mut self, Received { signal, class, .. }: Received) -> Phase {
        // The command may have ended before the signal came, and cannot stop. Other signals are still for its group.
        if self.has_ended || class == SignalClass::StopJob && self.child.ended().is_some() {
            return Phase::AfterExit;
        }
        // Details that cost a system call are queried only if they matter.
        let is_of_job = matches!(class, SignalClass::StopJob | SignalClass::Continue);
        Phase::Running(RunningCommand {
            isolation: self.isolation,
            is_hook: self.event_loop.is_hook,
            is_stopped: is_of_job && self.child.is_stopped(),
            was_continued: is_of_job && self.child.was_continued(),
            leads_session: signal == Signal::HUP && terminal::leads_session(),
        })
    }

    fn forward(&mut self, signal: Signal) {
        let pty = self.event_loop.streams.pty.as_ref();
        // A new size makes the kernel send WINCH.
        if !(signal == Signal::WINCH && pty.is_some_and(Pty::copy_size)) {
            self.child.signal(signal);
        }
    }

    /// Forwards a signal that asks to end. Also continues a stopped recipient, or one about to stop, so that it can
    /// handle the signal.
    fn forward_end(&mut self, signal: Signal) {
        self.child.signal(signal);
        if self.stop_request.take().is_some() || self.child.is_stopped() {
            self.child.signal(Signal::CONT);
        } else {
            self.tree.continue_group(&self.child);
        }
        self.is_asked_to_end = true;
    }

    /// Stops the command in its own session by STOP: its group may be orphaned, and the kernel would ignore TSTP.
    fn stop_command(&mut self) {
        if terminal::has_terminal() && terminal::leads_session() {
            // No shell would notice the stop and continue backoff.
            self.stop_request = None;
        } else if self.child.is_stopped() {
            self.on_stopped(Signal::STOP);
        } else {
            self.child.signal(Signal::STOP);
        }
    }

    fn on_stopped(&mut self, by: Signal) {
        let requested = self.stop_request.take();
        if !self.child.is_stopped() {
            return;
        }
        let in_time = requested.filter(|(_, until)| by.stops_a_job() || !until.is_due(now()));
        let requested = in_time.map(|(signal, _)| signal);
        let is_in_job = matches!(self.isolation, Isolation::Shared | Isolation::Terminal);
        let job = match terminal::has_terminal() {
            false => Job::NoTerminal,
            true if is_in_job && terminal::parent_controls_jobs() => Job::Controlled,
            true => Job::Uncontrolled,
        };
        match on_stopped(by, requested, self.is_asked_to_end, job) {
            StopAction::Ignore => {}
            StopAction::ContinueCommand => self.child.signal(Signal::CONT),
            StopAction::StopBackoff(signal) => self.stop_with_it(signal),
        }
    }

    /// Stops backoff, together with the command, until it is continued.
    fn stop_with_it(&mut self, signal: Signal) {
        // Output of the command comes before the shell's message about the stop.
        if self.event_loop.pass_on_output() {
            self.deadlines.on_output(now());
        }
        self.stop_backoff(signal);
        if let Some(pty) = &mut self.event_loop.streams.pty {
            pty.resume();
            // Another program may have drawn on the terminal meanwhile: WINCH makes full-screen programs redraw.
            self.child.signal(Signal::WINCH);
            // If backoff did not stop, as its group is orphaned, no CONT will come.
            if !self.event_loop.signals.is_queued(Signal::CONT) {
                self.child.signal(Signal::CONT);
            }
        }
    }

    /// Stops backoff until it is continued. The attempt's clock pauses.
    fn stop_backoff(&mut self, signal: Signal) {
        let stopped = now();
        let pty = self.event_loop.streams.pty.as_mut();
        // Without --pty, the terminal has stopped the rest of the job.
        let target = match &pty {
            Some(_) if signal.stops_a_job() => terminal::key_target(),
            _ => Target::OwnProcess,
        };
        pty.map(Pty::pause);
        terminal::stop(&mut self.event_loop.signals, signal, target);
        let continued = now();
        self.deadlines.on_pause(continued.saturating_duration_since(stopped));
        self.event_loop.give_readers_time(continued);
    }
}
