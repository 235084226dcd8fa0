//! A running attempt: one loop over signals, streams, timers and the child's end.
//!
//! | event | action |
//! |---|---|
//! | the child ends | the loop ends |
//! | the child stops (Ctrl-Z) | `on_stopped` decides; if backoff stops too, the shell sees the stop, and the attempt's clock pauses |
//! | a signal | `on_signal` decides |
//! | output | forwarded, kept, searched (`process/streams`) |
//! | `--timeout`, `--idle-timeout`, `--deadline` | signal and CONT to the tree, later KILL |

use std::time::{Duration, Instant};

use super::deadlines::Deadlines;
use super::event_loop::EventLoop;
use super::on_signal::{Asked, Facts, Job, Phase, SignalAction, Stop, StopAction, on_signal, on_stopped};
use super::tree::ProcessTree;
use crate::policy::outcome::Bound;
use crate::policy::signal::Signal;
use crate::process::signals::received::{Received, SignalClass};
use crate::process::spawn::Isolation;
use crate::process::spawn::child::{Child, Ended};
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now};
use crate::process::terminal::control;
use crate::process::terminal::pty::Pty;

/// Time for a command that was asked to stop to stop itself by STOP, as some do after tidying up.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The state of a running attempt.
pub(super) struct Running<'a> {
    pub(super) child: Child,
    pub(super) tree: ProcessTree,
    pub(super) deadlines: Deadlines<'a>,
    /// The first signal that asked backoff to end.
    pub(super) interrupted: Option<Signal>,
    isolation: Isolation,
    /// Sent on timeout.
    end_by: Signal,
    /// The last request to stop, unless the job was continued since.
    asked_to_stop: Option<StopRequest>,
    /// A limit or a forwarded signal has asked the command to end.
    asked_to_end: bool,
}

#[derive(Debug, Clone, Copy)]
struct StopRequest {
    signal: Signal,
    /// Until then, STOP counts as the command's response.
    until: Deadline,
}

impl<'a> Running<'a> {
    pub(super) fn new(child: Child, isolation: Isolation, deadlines: Deadlines<'a>, end_by: Signal) -> Running<'a> {
        Running {
            child,
            tree: ProcessTree::default(),
            deadlines,
            interrupted: None,
            isolation,
            end_by,
            asked_to_stop: None,
            asked_to_end: false,
        }
    }

    /// Returns true if a limit or a signal has ended the attempt; then its output has a time limit.
    pub(super) fn is_cut(&self) -> bool {
        self.deadlines.ended_by.is_some() || self.interrupted.is_some()
    }

    /// Returns the time on the attempt's clock.
    pub(super) fn own_time(&self) -> Instant {
        self.deadlines.own_time(now())
    }

    pub(super) fn until_it_ends(&mut self, event_loop: &mut EventLoop) -> Ended {
        loop {
            let mut look = self.end_what_is_due(event_loop);
            self.wait(event_loop, self.deadlines.next());
            while let Some(received) = event_loop.signals.take() {
                look |= received.class == SignalClass::Child;
                self.handle(event_loop, received);
            }
            if look {
                if let Some(ended) = self.child.ended() {
                    return ended;
                }
                if let Some(signal) = self.child.newly_stopped() {
                    self.on_stopped(event_loop, signal);
                }
                event_loop.reap_orphans(Some(self.child.pid()));
            }
        }
    }

    /// Sleeps until an event or until the time is up.
    fn wait(&mut self, event_loop: &mut EventLoop, until: Deadline) {
        event_loop.wait(until);
        let has_new_output = event_loop.streams.as_deref_mut().is_some_and(Streams::take_new_output);
        // Output that waits for its reader is not silence.
        if has_new_output || event_loop.streams(Streams::has_pending_output) {
            self.deadlines.on_output(now());
        }
    }

    /// Ends the attempt if a limit is reached. Returns true if the command has ended by itself by then, and so has not
    /// timed out.
    fn end_what_is_due(&mut self, event_loop: &mut EventLoop) -> bool {
        if self.deadlines.due(now()) == Some(Bound::Idle) {
            // The idle limit passed; poll once more before acting, as backoff may have been late on a busy machine.
            self.wait(event_loop, Deadline::after(now(), Duration::ZERO));
        }
        if self.deadlines.take_kill(now()) {
            self.tree.signal(&self.child, &[Signal::KILL]);
        }
        let stalled = || event_loop.streams(Streams::is_stalled).then_some(Bound::Timeout);
        let bound = self.deadlines.due(now()).or_else(stalled);
        let Some(bound) = bound.filter(|_| self.deadlines.ended_by.is_none()) else {
            return false;
        };
        if self.child.ended().is_some() {
            return true;
        }
        self.deadlines.on_bound(bound, now());
        // A stopped process cannot act on a signal.
        self.tree.signal(&self.child, &[self.end_by, Signal::CONT]);
        self.ask_to_end();
        false
    }

    /// Records the request to end, which revokes earlier requests to stop.
    fn ask_to_end(&mut self) {
        self.asked_to_end = true;
        self.asked_to_stop = None;
    }

    fn handle(&mut self, event_loop: &mut EventLoop, received: Received) {
        let signal = received.signal;
        let phase = self.phase(event_loop, received);
        match received.class {
            SignalClass::Continue => self.on_continue(event_loop),
            SignalClass::StopJob => self.asked_to_stop = Some(self.stop_request(signal)),
            _ => {}
        }
        match on_signal(phase, received) {
            SignalAction::Forward => self.child.signal(signal),
            SignalAction::NoFurtherAttempt => self.interrupt(signal),
            SignalAction::ForwardAndNoFurtherAttempt => {
                self.interrupt(signal);
                self.forward_end(signal);
            }
            SignalAction::StopCommand => self.stop_command(event_loop),
            SignalAction::CopySize => {
                if let Some(pty) = event_loop.pty() {
                    pty.copy_size();
                }
            }
            SignalAction::EndWait => event_loop.wait_is_over = true,
            SignalAction::StopBackoff => self.stop_backoff(event_loop, signal),
            SignalAction::LookAtChildren | SignalAction::Ignore | SignalAction::EndRun => {}
        }
    }

    fn phase(&mut self, event_loop: &mut EventLoop, received: Received) -> Phase {
        let Received { signal, class, .. } = received;
        // The command may have ended before the signal came, and cannot stop.
        if class == SignalClass::StopJob && self.child.ended().is_some() {
            return Phase::Draining;
        }
        // Facts that cost a system call are queried only if they matter.
        let asks_child =
            self.isolation == Isolation::Shared && matches!(class, SignalClass::StopJob | SignalClass::Continue);
        Phase::Running(Facts {
            isolation: self.isolation,
            is_hook: event_loop.is_hook,
            is_stopped: asks_child && self.child.is_stopped(),
            was_continued: asks_child && self.child.was_continued(),
            leads_session: signal == Signal::HUP && control::leads_session(),
            copies_size: signal == Signal::WINCH && event_loop.pty().is_some_and(|pty| pty.has_size_to_copy()),
        })
    }

    /// Forwards a signal that asks to end. Also continues a stopped recipient, or one about to stop, so that it can
    /// handle the signal.
    fn forward_end(&mut self, signal: Signal) {
        self.child.signal(signal);
        if self.asked_to_stop.is_some() || self.child.is_stopped() {
            self.child.signal(Signal::CONT);
        } else {
            self.tree.continue_group(&self.child);
        }
        self.ask_to_end();
    }

    /// Records a signal that asks the command to end; the command has received the signal or is about to.
    fn interrupt(&mut self, signal: Signal) {
        self.interrupted.get_or_insert(signal);
        self.deadlines.on_interrupt(now());
    }

    /// Handles CONT, which revokes a pending stop.
    fn on_continue(&mut self, event_loop: &mut EventLoop) {
        self.asked_to_stop = None;
        self.child.forget_continued();
        event_loop.pty().map(Pty::resume);
    }

    fn is_in_session(&self) -> bool {
        matches!(self.isolation, Isolation::Terminal | Isolation::Session)
    }

    fn stop_request(&self, signal: Signal) -> StopRequest {
        // A command in its own session is stopped by STOP.
        let until = match self.is_in_session() {
            true => Deadline::NEVER,
            false => Deadline::after(now(), STOP_GRACE),
        };
        StopRequest { signal, until }
    }

    /// Stops the command in its own session by STOP: its group may be orphaned, and the kernel would ignore TSTP.
    fn stop_command(&mut self, event_loop: &mut EventLoop) {
        if control::has_terminal() && control::leads_session() {
            // No shell would notice the stop and continue backoff.
            self.asked_to_stop = None;
        } else if self.child.is_stopped() {
            self.on_stopped(event_loop, Signal::STOP);
        } else {
            self.child.signal(Signal::STOP);
        }
    }

    fn on_stopped(&mut self, event_loop: &mut EventLoop, by: Signal) {
        let request = self.asked_to_stop.take();
        if !self.child.is_stopped() {
            return;
        }
        let request = request.filter(|request| by.stops_a_job() || !request.until.is_due(now()));
        let stop = Stop {
            by,
            asked: match request {
                Some(_) => Asked::Stop,
                None if self.asked_to_end => Asked::End,
                None => Asked::Nothing,
            },
            job: self.job(),
        };
        match on_stopped(stop) {
            StopAction::Ignore => {}
            StopAction::ContinueCommand => self.child.signal(Signal::CONT),
            StopAction::StopBackoff => {
                let request = request.filter(|_| self.is_in_session());
                self.stop_with_it(event_loop, request.map_or(by, |request| request.signal));
            }
        }
    }

    fn job(&self) -> Job {
        let is_in_job = matches!(self.isolation, Isolation::Shared | Isolation::Terminal);
        match control::has_terminal() {
            false => Job::None,
            true if is_in_job && control::parent_controls_jobs() => Job::Controlled,
            true => Job::Apart,
        }
    }

    /// Stops backoff, together with the command, until it is continued.
    fn stop_with_it(&mut self, event_loop: &mut EventLoop, signal: Signal) {
        // Output of the command comes before the shell's message about the stop.
        event_loop.pass_on_output();
        self.stop_backoff(event_loop, signal);
        if let Some(pty) = event_loop.pty() {
            pty.resume();
            // Another program may have drawn on the terminal meanwhile: WINCH makes full-screen programs redraw.
            self.child.signal(Signal::WINCH);
            // If backoff did not stop, as its group is orphaned, no CONT will come.
            if !event_loop.signals.has(Signal::CONT) {
                self.child.signal(Signal::CONT);
            }
        }
    }

    /// Stops backoff until it is continued. The attempt's clock pauses.
    pub(super) fn stop_backoff(&mut self, event_loop: &mut EventLoop, signal: Signal) {
        let stopped = now();
        let by_key = event_loop.pty().is_some_and(Pty::pause);
        control::stop(&mut event_loop.signals, signal, by_key);
        let continued = now();
        self.deadlines.on_pause(continued.saturating_duration_since(stopped));
        event_loop.give_readers_time(continued);
    }
}
