//! Stops of a running attempt (Ctrl-Z, `kill -STOP`). backoff stops after the command, so that the shell sees the whole
//! job stop, and both are continued together.

use std::time::Duration;

use super::running::Running;
use crate::policy::signal::Signal;
use crate::process::signals::Target;
use crate::process::spawn::Isolation;
use crate::process::sys::clock::now;
use crate::process::terminal;

/// Time that a reader has for the last output before backoff stops.
const LAST_OUTPUT_GRACE: Duration = Duration::from_millis(300);

impl Running<'_> {
    /// Called when the signal `stopped_by` has stopped the command. Also stops backoff if it forwarded the stop, or if
    /// a shell can continue both. Continues a command that was asked to terminate, as it could not exit, unless the
    /// user stopped it by a key. Also continues one that stops itself as a job where no shell would continue it, as the
    /// kernel ignores that in the group that the command would be in without backoff. Otherwise the limits of the
    /// attempt keep running.
    pub(super) fn handle_stop(&mut self, stopped_by: Signal) {
        let is_forwarded = std::mem::take(&mut self.is_asked_to_stop) && stopped_by.stops_a_job();
        // It may have been continued since.
        if !self.child.is_stopped() {
            return;
        }
        if self.is_asked_to_end && stopped_by != Signal::TSTP {
            let _ = self.child.signal(Signal::CONT);
        } else if is_forwarded || self.can_be_continued(stopped_by) {
            // The command's output must come before the shell's message about the stop.
            if self.event_loop.forward_rest(LAST_OUTPUT_GRACE) {
                self.deadlines.on_output(now());
            }
            self.stop_backoff(stopped_by);
        } else if stopped_by.stops_a_job() && !terminal::has_terminal() {
            let _ = self.child.signal(Signal::CONT);
        }
    }

    /// Returns true if a shell will continue the command together with backoff. Keys stop whole jobs, and a parent with
    /// job control notices any stop of backoff.
    fn can_be_continued(&self, stopped_by: Signal) -> bool {
        let is_in_job = self.isolation == Isolation::Shared && terminal::has_terminal();
        is_in_job && (stopped_by.stops_a_job() || terminal::parent_controls_jobs())
    }

    /// Stops backoff with `signal` until it is continued, or not at all in an orphaned group ([`terminal::stop`]).
    /// Postpones all limits of the attempt by the time that it was stopped, and gives readers of output new time.
    pub(super) fn stop_backoff(&mut self, signal: Signal) {
        let stopped = now();
        terminal::stop(&mut self.event_loop.signals, signal, Target::OwnProcess);
        let continued = now();
        self.deadlines
            .on_pause(continued.saturating_duration_since(stopped));
        self.event_loop.give_readers_time(continued);
    }
}
