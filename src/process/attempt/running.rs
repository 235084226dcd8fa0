//! One attempt: one loop over signals, timers and the child's end.
//!
//! | what comes | what is done |
//! |---|---|
//! | the child ends | the loop ends |
//! | the child stops (Ctrl-Z) | backoff stops too, so that the shell sees it; time stands still |
//! | TERM, INT, HUP, QUIT | passed on unless the terminal did; no further attempt |
//! | any other signal | passed on unless the terminal did |
//! | output | passed on, kept, looked at (`io::plumbing`) |
//! | `--timeout`, `--idle-timeout`, `--deadline` | signal and CONT to the tree, later KILL |

use std::time::{Duration, Instant};

use super::tree::Tree;
use crate::policy::outcome::{Bound, End, Outcome};
use crate::policy::signal::Signal;
use crate::process::host::System;
use crate::process::signals::Received;
use crate::process::spawn::Place;
use crate::process::spawn::child::{Child, Ended};
use crate::process::streams::plumbing::Plumbing;
use crate::process::sys::timer::later;
use crate::process::terminal::job as terminal;
use crate::run::host::{Attempt, AttemptSpec, RunError};
use crate::run::plan::Bounds;
use crate::run::text::describe;

/// Before the first second look whether the rest of a timed-out tree has gone; each later one takes
/// twice as long to come, up to the last of these.
const TREE_POLLS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(64)];
/// How long the rest of a tree may take to die once it got KILL (or, where KILL is not allowed, TERM).
const TREE_GRACE: Duration = Duration::from_secs(2);

/// How long the pipes of a command that has ended may be silent before they are closed.
const DRAIN_GRACE: Duration = Duration::from_millis(300);
/// How long they are emptied at most.
const LONGEST_DRAIN: Duration = Duration::from_secs(10);

/// The state of a running attempt.
struct Running<'a> {
    bounds: &'a Bounds,
    place: Place,
    child: Child,
    tree: Tree,
    /// Time in which backoff was stopped.
    paused: Duration,
    timeout_at: Option<Instant>,
    deadline_at: Option<Instant>,
    /// When the silence has lasted too long.
    idle_at: Option<Instant>,
    /// It had, and a look at the streams since then has found nothing.
    is_silent: bool,
    kill_at: Option<Instant>,
    ended_by: Option<Bound>,
    interrupted: Option<Signal>,
    /// In a session of its own the command is stopped by STOP, in place of this.
    stopping: Option<Signal>,
    /// A signal came after the command had ended: its output is not waited for any longer.
    cut_short: bool,
}

/// Runs the attempt to its end.
pub(crate) fn run(
    system: &mut System,
    child: Child,
    place: Place,
    started: Instant,
    order: &AttemptSpec,
) -> Result<Attempt, RunError> {
    let mut running = Running {
        place,
        bounds: &order.bounds,
        child,
        tree: Tree::default(),
        paused: Duration::ZERO,
        timeout_at: order.bounds.timeout.and_then(|timeout| later(started, timeout)),
        deadline_at: order.deadline.and_then(|deadline| later(system.began(), deadline)),
        idle_at: order.bounds.idle.and_then(|idle| later(started, idle)),
        is_silent: false,
        kill_at: None,
        ended_by: None,
        interrupted: None,
        stopping: None,
        cut_short: false,
    };
    let ended = running.until_it_ends(system);
    let ran = System::now()
        .saturating_duration_since(started)
        .saturating_sub(running.paused);
    let end = match (running.ended_by, ended) {
        (Some(bound), _) => End::TimedOut(bound),
        (None, Ended::Exited(code)) => End::Exited(code),
        (None, Ended::Signaled(signal)) => End::Signaled(signal),
        // If it still runs, it gets TERM when backoff ends.
        (None, Ended::Unknown(errno)) => {
            let why = describe(errno);
            return Err(RunError::Fault(format!("cannot learn how the command ended: {why}")));
        }
    };
    if running.ended_by.is_some() {
        running.until_the_tree_is_gone(system);
    }
    running.until_its_output_is_over(system);
    running.child.reap();
    system.attempt_is_over();
    Ok(Attempt {
        outcome: Outcome::new(end, ran),
        interrupted: running.interrupted,
    })
}

impl Running<'_> {
    fn until_it_ends(&mut self, system: &mut System) -> Ended {
        loop {
            let now = System::now();
            let mut look = self.keep_time(now);
            let has_been_long = self.idle_at.is_some_and(|at| at <= now);
            system.listen(self.next_timer());
            if self.ended_by.is_none() && system.streams(Plumbing::is_stalled) {
                // Which bound is all the same: the run has failed.
                look |= self.end_it(Bound::Timeout, System::now());
            }
            // What waits for its reader is not silence.
            if system.has_moved() || system.streams(Plumbing::has_pending) {
                self.idle_at = self.bounds.idle.and_then(|idle| later(System::now(), idle));
            }
            // On a busy machine it may be backoff that was late: only who has looked since then can say.
            self.is_silent = has_been_long;
            while let Some(received) = system.signals.take() {
                if received.signal == Signal::CHLD {
                    look = true;
                } else {
                    self.hear(system, received);
                }
            }
            // After the signals: a CONT among them came before the key.
            if let Some(signal) = system.typed_stop {
                self.stop(system, signal);
            }
            if look {
                if let Some(ended) = self.child.ended() {
                    return ended;
                }
                if let Some(signal) = self.child.newly_stopped() {
                    self.stop_with_it(system, signal);
                }
                system.reap_orphans(Some(self.child.pid()));
            }
        }
    }

    fn next_timer(&self) -> Option<Instant> {
        let bounds = if self.ended_by.is_none() {
            [self.timeout_at, self.deadline_at, self.idle_at]
        } else {
            [None; 3]
        };
        bounds.into_iter().chain([self.kill_at]).flatten().min()
    }

    /// Does what is due. Whether it is time to look at the child: what has ended by itself by then
    /// has not timed out.
    fn keep_time(&mut self, now: Instant) -> bool {
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.kill_at) {
            self.kill_at = None;
            self.tree.signal(&self.child, Signal::KILL);
        }
        let bound = match self.ended_by {
            Some(_) => return false,
            None if due(self.deadline_at) => Bound::Deadline,
            None if due(self.timeout_at) => Bound::Timeout,
            None if self.is_silent && due(self.idle_at) => Bound::Idle,
            None => return false,
        };
        self.end_it(bound, now)
    }

    /// Ends the attempt, unless it has ended: then it is time to look at it.
    fn end_it(&mut self, bound: Bound, now: Instant) -> bool {
        if self.child.ended().is_some() {
            return true;
        }
        self.ended_by = Some(bound);
        self.kill_at = earlier(self.kill_at, self.bounds.kill_after.and_then(|after| later(now, after)));
        self.tree.signal(&self.child, self.bounds.signal);
        // What is stopped cannot act on a signal.
        self.tree.signal(&self.child, Signal::CONT);
        false
    }

    /// Passes a signal on, once.
    fn hear(&mut self, system: &mut System, received: Received) {
        let Received { signal, .. } = received;
        if let Some(pty) = system.pty() {
            match signal {
                Signal::WINCH if pty.resize() => return,
                Signal::CONT => {
                    pty.enter();
                    // It revokes a stop that is under way.
                    if self.stopping.take().is_some() {
                        system.typed_stop = None;
                    }
                }
                signal if signal.stops_a_job() => return self.stop(system, signal),
                _ => {}
            }
        }
        if self.place == Place::Session && signal.stops_a_job() {
            return self.stop(system, signal);
        }
        if received.asks_to_end() {
            self.interrupted.get_or_insert(signal);
        }
        if system.was_typed(signal) || self.has_it_already(received) {
            return;
        }
        self.child.signal(signal);
        if received.asks_to_end() {
            let kill_at = self
                .bounds
                .kill_passed_on_after
                .and_then(|after| later(System::now(), after));
            self.kill_at = earlier(self.kill_at, kill_at);
            if self.child.is_stopped() {
                self.child.signal(Signal::CONT);
            }
        }
    }

    /// Whether the command got the signal from where backoff got it, being in the same group.
    fn has_it_already(&mut self, received: Received) -> bool {
        if self.child.group().is_some() {
            return false;
        }
        match received.signal {
            // What continues a job continues all of it.
            Signal::CONT => self.child.newly_continued(),
            // What stops a job stops all of it, and must not stop it again after it was continued.
            signal if signal.stops_a_job() => {
                received.by_terminal() || self.child.is_stopped() || self.child.was_continued()
            }
            // Of a terminal that is gone, the kernel tells the leader of the session alone.
            Signal::HUP if terminal::leads_session() => false,
            _ => received.by_terminal(),
        }
    }

    /// Stops the command in its own session: its group is orphaned there, so that the kernel would not
    /// let `signal` do it.
    fn stop(&mut self, system: &mut System, signal: Signal) {
        // Nobody would notice and continue it.
        if system.has_terminal() && terminal::leads_session() {
            return;
        }
        let is_stopped = self.child.is_stopped();
        self.stopping = Some(signal);
        if is_stopped {
            self.stop_with_it(system, signal);
        } else {
            self.child.signal(Signal::STOP);
        }
    }

    /// The command was stopped. Where somebody watches backoff as a job, it stops as well. The CONT that
    /// ends this is heard like any other.
    fn stop_with_it(&mut self, system: &mut System, signal: Signal) {
        let has_pty = system.pty().is_some();
        let is_apart = self.child.group().is_some() && !has_pty;
        let signal = self.stopping.take().unwrap_or(signal);
        // A STOP in a script's own group was for the command alone, and so will be the CONT.
        let follow = signal.stops_a_job() || (signal == Signal::STOP && !is_apart && terminal::parent_controls_jobs());
        if !follow {
            return;
        }
        if !self.child.is_stopped() {
            return;
        }
        let stopped = System::now();
        if let Some(pty) = system.pty() {
            pty.leave();
        }
        if let Some(signal) = system.typed_stop.take() {
            terminal::stop_job(&mut system.signals, signal);
        } else {
            let insist = !system.has_terminal();
            terminal::stop_self(&mut system.signals, signal, insist);
        }
        if has_pty {
            self.go_on_with_it(system);
        }
        let pause = System::now().saturating_duration_since(stopped);
        self.paused = self.paused.saturating_add(pause);
        self.timeout_at = self.timeout_at.and_then(|at| later(at, pause));
        self.idle_at = self.idle_at.and_then(|at| later(at, pause));
    }

    /// backoff goes on, and the command on its own terminal has to.
    fn go_on_with_it(&mut self, system: &mut System) {
        if let Some(pty) = system.pty() {
            pty.enter();
            pty.resize();
        }
        // Something else may have been shown meanwhile: what fills a screen draws it again.
        self.child.signal(Signal::WINCH);
        // If backoff was not stopped at all, being an orphan, no CONT will be heard.
        if !system.signals.is_waiting(Signal::CONT) {
            self.child.signal(Signal::CONT);
        }
    }

    /// The command has ended; what it had written is still in the pipes. Where somebody else holds them
    /// open, the last words of a pipeline may follow: goes on while output keeps coming, but not for ever,
    /// as it may be a daemon that holds them. What was taken is passed on, however slow its reader is.
    fn until_its_output_is_over(&mut self, system: &mut System) {
        if let Some(pty) = system.pty() {
            pty.ended();
        }
        let now = System::now();
        let give_up_at = later(now, LONGEST_DRAIN);
        let mut silent_at = later(now, DRAIN_GRACE);
        while system.streams(Plumbing::is_open) && !self.cut_short {
            // After a bound or a signal the reader has no more time than the command had.
            let is_cut = self.ended_by.is_some() || self.interrupted.is_some();
            let waits_for_reader = system.streams(Plumbing::has_pending) && !is_cut;
            let until = if waits_for_reader {
                None
            } else {
                earlier(silent_at, give_up_at)
            };
            let moved = system.listen(until);
            let now = System::now();
            let is_over = |at: Option<Instant>| at.is_some_and(|at| at <= now);
            if moved {
                silent_at = later(now, DRAIN_GRACE);
            } else if is_over(silent_at) && !waits_for_reader {
                return;
            }
            if is_over(give_up_at) && !waits_for_reader {
                return;
            }
            while let Some(Received { signal, .. }) = system.signals.take() {
                if signal.asks_to_end() {
                    self.interrupted.get_or_insert(signal);
                    self.cut_short = true;
                }
            }
        }
    }

    /// The attempt's own process has ended and is a zombie still, so that its number and its group
    /// stay its own; waits for the rest of the tree, and ends it when its time is up.
    fn until_the_tree_is_gone(&mut self, system: &mut System) {
        let mut give_up_at = later(System::now(), TREE_GRACE);
        let [mut pause, longest] = TREE_POLLS;
        loop {
            match self.tree.has_survivors(&self.child) {
                Some(true) => {}
                Some(false) => return,
                // Nobody can say; the dead leader pins the group until its time is up.
                None if self.child.group().is_some() => {}
                None => return,
            }
            let now = System::now();
            if self.kill_at.is_some_and(|at| at <= now) {
                self.kill_at = None;
                give_up_at = later(now, TREE_GRACE);
                self.tree.signal(&self.child, Signal::KILL);
            }
            if self.kill_at.is_none() && give_up_at.is_some_and(|at| at <= now) {
                return;
            }
            system.listen(earlier(later(now, pause), self.kill_at));
            pause = (pause * 2).min(longest);
            while let Some(Received { signal, .. }) = system.signals.take() {
                if signal.asks_to_end() {
                    self.interrupted.get_or_insert(signal);
                }
            }
        }
    }
}

fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    [a, b].into_iter().flatten().min()
}
