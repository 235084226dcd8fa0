//! Stops of a running attempt (Ctrl-Z, `kill -STOP`): stops the command where the terminal does not, stops backoff
//! after the command, so that the shell sees the whole job stop, and lets both go on together.

use super::running::Running;
use crate::policy::signal::Signal;
use crate::process::event_loop::on_signal::{Job, StopAction, on_stopped};
use crate::process::signals::Target;
use crate::process::spawn::Isolation;
use crate::process::sys::clock::now;
use crate::process::terminal;

impl Running<'_> {
    /// Stops a command that has a session of its own, as backoff got a request to stop (the caller has noted it in
    /// `stop_request`), which it follows once the kernel reports the command's stop. By STOP, as the command's group
    /// may be orphaned, and the kernel would ignore TSTP. If no shell could continue backoff, stops nothing and drops
    /// the request.
    pub(super) fn stop_command(&mut self) {
        if terminal::has_terminal() && terminal::leads_session() {
            // backoff leads a session itself, so that no shell would notice its stop and continue it. Without a
            // terminal a process sent the signal, and can also send CONT.
            self.stop_request = None;
        } else if self.child.is_stopped() {
            // The kernel reports a stop once, and this one was reported before: backoff can stop now.
            self.handle_stop(Signal::STOP);
        } else {
            let _ = self.child.signal(Signal::STOP);
        }
    }

    /// Called once the command has ended. If it did so before it answered a request to stop, keeps the request: backoff
    /// alone stops before it goes on. Drops a request after which the run is over, and an old one, which the command has
    /// ignored; and any without a terminal, as the end may be the command's answer, and no shell would continue backoff.
    pub(super) fn keep_unanswered_stop(&mut self) {
        if let Some(request) = self.stop_request.take()
            && self.interrupted.is_none()
            && request.is_recent()
            && terminal::has_terminal()
        {
            self.event_loop.unanswered_stop = Some(request.signal);
        }
    }

    /// Decides by [`on_stopped`] about a stop of the command by the signal `stopped_by`, and acts on it: stops backoff,
    /// too, continues the command, or lets its limits go on. The pending request to stop is used up.
    pub(super) fn handle_stop(&mut self, stopped_by: Signal) {
        let requested = self.stop_request.take();
        // The command may have been continued since.
        if !self.child.is_stopped() {
            return;
        }
        let answered_request = match requested {
            Some(request) if request.is_answered_by(stopped_by) => Some(request.signal),
            _ => None,
        };
        let is_in_job = self.isolation == Isolation::Shared;
        let job = if !terminal::has_terminal() {
            Job::NoTerminal
        } else if is_in_job && terminal::parent_controls_jobs() {
            Job::Controlled
        } else {
            Job::Uncontrolled
        };
        match on_stopped(stopped_by, answered_request, self.is_asked_to_end, job) {
            StopAction::Ignore => {}
            StopAction::ContinueCommand => {
                let _ = self.child.signal(Signal::CONT);
            }
            StopAction::StopBackoff(signal) => self.stop_after_command(signal),
        }
    }

    /// Stops backoff by `signal` until it is continued, after the command has stopped and its output is forwarded. With
    /// `--pty` then also continues the command, which is in another session than the job that the shell continues.
    fn stop_after_command(&mut self, signal: Signal) {
        // Output of the command comes before the shell's message about the stop.
        if self.event_loop.forward_last_output() {
            self.deadlines.on_output(now());
        }
        self.stop_backoff(signal);
    }

    /// Stops backoff by `signal` until it is continued, or not at all in an orphaned group ([`terminal::stop`]). All
    /// limits of the attempt are put off by the time for which it was stopped, and readers of output get new time. With
    /// `--pty` restores our terminal's modes before, and stops the rest of the job, too, unless `signal` is STOP, which
    /// the command alone got; the modes become raw again in [`Running::stop_after_command`], or once CONT is handled.
    pub(super) fn stop_backoff(&mut self, signal: Signal) {
        let stopped = now();
        terminal::stop(&mut self.event_loop.signals, signal, Target::OwnProcess);
        let continued = now();
        self.deadlines
            .on_pause(continued.saturating_duration_since(stopped));
        self.event_loop.give_readers_time(continued);
    }
}
