//! An attempt while the command runs: one loop over signals, streams, timers and the child's end.
//!
//! | what comes | what is done |
//! |---|---|
//! | the child ends | the loop ends |
//! | the child stops (Ctrl-Z) | backoff stops too, so that the shell sees it; time stands still |
//! | a signal | what `on_signal.rs` says |
//! | output | passed on, kept, looked at (`process/streams`) |
//! | `--timeout`, `--idle-timeout`, `--deadline` | signal and CONT to the tree, later KILL |

use std::time::{Duration, Instant};

use super::deadlines::Deadlines;
use super::event_loop::EventLoop;
use super::on_signal::{Facts, Phase, SignalAction, on_signal};
use super::tree::ProcessTree;
use crate::policy::outcome::Bound;
use crate::policy::signal::Signal;
use crate::process::signals::received::{Received, SignalClass};
use crate::process::spawn::Isolation;
use crate::process::spawn::child::{Child, Ended};
use crate::process::streams::Streams;
use crate::process::sys::clock::now;
use crate::process::sys::deadline::Deadline;
use crate::process::terminal::job;
use crate::process::terminal::pty::Pty;

/// How long a command that is asked to stop may take until it stops itself by STOP, as some do once they have tidied up.
const STOP_GRACE: Duration = Duration::from_secs(1);

/// The state of a running attempt.
pub(super) struct Running<'a> {
    pub(super) child: Child,
    pub(super) tree: ProcessTree,
    pub(super) deadlines: Deadlines<'a>,
    /// The first signal that asked to end.
    pub(super) interrupted: Option<Signal>,
    isolation: Isolation,
    /// What a bound sends first.
    end_by: Signal,
    /// In a session of its own the command is being stopped by STOP, for this.
    stopping: Option<StopCause>,
    /// A signal has asked the job to stop, and nobody has continued it since. Until then a STOP of the command's own is
    /// taken for what it makes of that.
    asked_to_stop: Deadline,
    /// A bound, or a signal that was passed on, has asked the command to end.
    asked_to_end: bool,
}

/// Why backoff stops together with the command.
#[derive(Debug, Clone, Copy)]
pub(super) enum StopCause {
    /// This signal: of the command's own, or one that backoff was sent.
    Signal(Signal),
    /// A key on the command's own terminal: the whole job stops.
    Key,
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
            stopping: None,
            asked_to_stop: Deadline::NEVER,
            asked_to_end: false,
        }
    }

    /// Whether a bound or a signal has ended it: the reader of its output has to read on then.
    pub(super) fn is_cut(&self) -> bool {
        self.deadlines.ended_by.is_some() || self.interrupted.is_some()
    }

    pub(super) fn until_it_ends(&mut self, event_loop: &mut EventLoop) -> Ended {
        loop {
            let mut look = self.end_what_is_due(now());
            look |= self.wait(event_loop);
            while let Some(received) = event_loop.signals.take() {
                look |= self.handle(event_loop, received);
            }
            if event_loop.job.take_stop_key() {
                self.asked_to_stop = Deadline::after(now(), STOP_GRACE);
                self.stop_command(event_loop, StopCause::Key);
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

    /// Sleeps until something comes or is due. Whether it is time to look at the child.
    fn wait(&mut self, event_loop: &mut EventLoop) -> bool {
        let was_long = self.deadlines.is_idle_due(now());
        event_loop.wait(self.deadlines.next());
        let mut look = false;
        if self.deadlines.ended_by.is_none() && event_loop.streams(Streams::is_stalled) {
            // Which bound is all the same: the run has failed.
            look = self.end(Bound::Timeout, now());
        }
        let has_new_output = event_loop.streams.as_deref_mut().is_some_and(Streams::take_new_output);
        // What waits for its reader is not silence.
        if has_new_output || event_loop.streams(Streams::has_pending_output) {
            self.deadlines.on_output(now());
        }
        self.deadlines.on_look(was_long);
        look
    }

    /// Whether it is time to look at the child: what has ended by itself by then has not timed out.
    fn end_what_is_due(&mut self, now: Instant) -> bool {
        if self.deadlines.take_kill(now) {
            self.tree.signal(&self.child, &[Signal::KILL]);
        }
        self.deadlines.due(now).is_some_and(|bound| self.end(bound, now))
    }

    /// Ends the attempt, unless it has ended: then it is time to look at it.
    fn end(&mut self, bound: Bound, now: Instant) -> bool {
        if self.child.ended().is_some() {
            return true;
        }
        self.deadlines.on_bound(bound, now);
        // What is stopped cannot act on a signal.
        self.tree.signal(&self.child, &[self.end_by, Signal::CONT]);
        self.ask_to_end();
        false
    }

    /// From now on a stop is only one that was asked for later.
    fn ask_to_end(&mut self) {
        self.asked_to_end = true;
        self.asked_to_stop = Deadline::NEVER;
    }

    /// Whether it is time to look at the child.
    fn handle(&mut self, event_loop: &mut EventLoop, received: Received) -> bool {
        let signal = received.signal;
        let phase = self.phase(event_loop, received);
        match received.class {
            SignalClass::Continue => self.on_continue(event_loop),
            SignalClass::StopJob => self.asked_to_stop = Deadline::after(now(), STOP_GRACE),
            _ => {}
        }
        match on_signal(phase, received) {
            SignalAction::LookAtChildren => return true,
            SignalAction::PassOn => self.child.signal(signal),
            SignalAction::NoFurtherAttempt => self.interrupt(signal),
            SignalAction::PassOnAndNoFurtherAttempt => {
                self.interrupt(signal);
                self.pass_on_end(signal);
            }
            SignalAction::StopCommand => self.stop_command(event_loop, StopCause::Signal(signal)),
            SignalAction::CopySize => {
                if let Some(pty) = event_loop.pty() {
                    pty.copy_size();
                }
            }
            SignalAction::EndWait => event_loop.wait_is_over = true,
            SignalAction::StopBackoff => {
                self.stop_backoff(event_loop, StopCause::Signal(signal));
                return true;
            }
            SignalAction::Ignore | SignalAction::EndRun => {}
        }
        false
    }

    fn phase(&mut self, event_loop: &mut EventLoop, received: Received) -> Phase {
        let Received { signal, class, .. } = received;
        // The command may have ended before the signal came, and cannot stop any more.
        if class == SignalClass::StopJob && self.child.ended().is_some() {
            return Phase::Draining;
        }
        // What costs a system call is asked where it counts.
        let asks_child =
            self.isolation == Isolation::Shared && matches!(class, SignalClass::StopJob | SignalClass::Continue);
        Phase::Running(Facts {
            isolation: self.isolation,
            is_beside: event_loop.is_beside,
            by_key: event_loop.job.take_key(signal),
            is_stopped: asks_child && self.child.is_stopped(),
            was_continued: asks_child && self.child.was_continued(),
            leads_session: signal == Signal::HUP && job::leads_session(),
            copies_size: signal == Signal::WINCH && event_loop.pty().is_some_and(|pty| pty.has_size_to_copy()),
        })
    }

    /// Whoever gets it and is stopped, or about to stop, has to go on to act on it.
    fn pass_on_end(&mut self, signal: Signal) {
        self.child.signal(signal);
        if self.asked_to_stop.is_set() || self.child.is_stopped() {
            self.child.signal(Signal::CONT);
        } else {
            self.tree.continue_group(&self.child);
        }
        self.ask_to_end();
    }

    /// The command has got a signal that asks to end, or gets it now.
    fn interrupt(&mut self, signal: Signal) {
        self.interrupted.get_or_insert(signal);
        self.deadlines.on_interrupt(now());
    }

    /// backoff was continued.
    fn on_continue(&mut self, event_loop: &mut EventLoop) {
        self.asked_to_stop = Deadline::NEVER;
        self.child.forget_continued();
        if let Some(pty) = event_loop.pty() {
            pty.take_keyboard();
            // It revokes a stop that is under way.
            self.stopping = None;
        }
    }

    /// Stops the command in its own session by STOP: its group may be orphaned there, so that the kernel would ignore TSTP.
    fn stop_command(&mut self, event_loop: &mut EventLoop, cause: StopCause) {
        // No shell would notice and continue it.
        if event_loop.job.has_terminal() && job::leads_session() {
            return;
        }
        let is_stopped = self.child.is_stopped();
        self.stopping = Some(cause);
        if is_stopped {
            self.on_stopped(event_loop, Signal::STOP);
        } else {
            self.child.signal(Signal::STOP);
        }
    }

    /// The command was stopped. Where a shell watches the job, backoff stops as well, and the CONT that ends this is
    /// received like any other. Nowhere else may a stop that nobody asked for keep backoff from its bounds.
    fn on_stopped(&mut self, event_loop: &mut EventLoop, signal: Signal) {
        let asked = std::mem::take(&mut self.asked_to_stop);
        let cause = self.stopping.take();
        if !self.child.is_stopped() {
            return;
        }
        let was_asked = asked.is_set() && (signal.stops_a_job() || !asked.is_due(now()));
        let own = StopCause::Signal(signal);
        if was_asked || cause.is_some() {
            self.stop_with_it(event_loop, cause.unwrap_or(own));
        } else if self.asked_to_end {
            self.child.signal(Signal::CONT);
        } else if event_loop.job.has_terminal() {
            // A STOP in a script's own group was for the command alone, and so will be the CONT.
            if signal.stops_a_job() || (!self.is_apart(event_loop) && job::parent_controls_jobs()) {
                self.stop_with_it(event_loop, own);
            }
        } else if signal.stops_a_job() {
            // Without a terminal the bare command's group is an orphaned one, in which the kernel ignores these.
            self.child.signal(Signal::CONT);
        }
    }

    /// Whether the command is out of our terminal's reach: a hook.
    fn is_apart(&self, event_loop: &EventLoop) -> bool {
        self.child.group().is_some() && !event_loop.streams(Streams::has_pty)
    }

    /// Stops backoff, with the command, until it is continued.
    fn stop_with_it(&mut self, event_loop: &mut EventLoop, cause: StopCause) {
        // What the command has said before belongs before what the shell says of the stop.
        event_loop.pass_on_output();
        self.stop_backoff(event_loop, cause);
        if event_loop.streams(Streams::has_pty) {
            self.resume_on_pty(event_loop);
        }
    }

    /// Stops backoff until it is continued. Meanwhile the clocks of the attempt stand still.
    pub(super) fn stop_backoff(&mut self, event_loop: &mut EventLoop, cause: StopCause) {
        let stopped = now();
        event_loop.pty().map(Pty::release_keyboard);
        match cause {
            StopCause::Key => job::stop_job(&mut event_loop.signals),
            StopCause::Signal(signal) => event_loop.job.stop(&mut event_loop.signals, signal),
        }
        let continued = now();
        self.deadlines.on_pause(continued.saturating_duration_since(stopped));
        event_loop.give_readers_time(continued);
    }

    /// backoff goes on, and the command on its own terminal has to.
    fn resume_on_pty(&mut self, event_loop: &mut EventLoop) {
        if let Some(pty) = event_loop.pty() {
            pty.take_keyboard();
            pty.copy_size();
        }
        // Something else may have been shown meanwhile: what fills a screen draws it again.
        self.child.signal(Signal::WINCH);
        // If backoff was not stopped at all, being an orphan, no CONT will come.
        if !event_loop.signals.has(Signal::CONT) {
            self.child.signal(Signal::CONT);
        }
    }
}
