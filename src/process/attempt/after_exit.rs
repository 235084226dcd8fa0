//! The end of an attempt after the command has ended: waits for the rest of its tree and drains its output.

use std::time::Duration;

use super::event_loop::READERS_GRACE;
use super::on_signal::SignalAction;
use super::running::Running;
use crate::policy::signal::Signal;
use crate::process::sys::clock::{Deadline, now};

/// First interval between two searches for survivors of a timed-out tree; it doubles up to the longest.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);
const LONGEST_INTERVAL: Duration = Duration::from_millis(64);
/// Time for survivors of a tree to die after KILL (or after TERM, if KILL is not allowed).
const TREE_GRACE: Duration = Duration::from_secs(2);

/// Longest silence of the pipes after the command has ended; then backoff closes the pipes.
const DRAIN_GRACE: Duration = Duration::from_millis(300);
/// Longest time spent on draining the pipes.
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
/// Longest time spent on searching drained output: far less than a second, unless the patterns are hostile.
const LONGEST_SEARCH: Duration = Duration::from_secs(3);

/// Waits for the rest of a timed-out tree, and sends KILL when KILL is due. The attempt's own process has ended but
/// stays a zombie, so that its process number and group are not reused.
pub(super) fn wait_for_tree(attempt: &mut Running<'_>) {
    attempt.deadlines.tree_end = Deadline::after(now(), TREE_GRACE);
    let mut interval = FIRST_INTERVAL;
    // No event reports the end of a process that is not backoff's child.
    while attempt.tree.may_have_survivors(&attempt.child) {
        if attempt.deadlines.take_kill(now()) {
            attempt.deadlines.tree_end = Deadline::after(now(), TREE_GRACE);
            attempt.tree.signal(&attempt.child, &[Signal::KILL]);
        }
        let awaits_kill = attempt.deadlines.kill.is_set();
        if !awaits_kill && attempt.deadlines.tree_end.is_due(now()) {
            return;
        }
        let next_search = Deadline::after(now(), interval);
        attempt
            .event_loop
            .wait(next_search.or_earlier(attempt.deadlines.kill));
        interval = (interval * 2).min(LONGEST_INTERVAL);
        attempt.handle_signals();
    }
}

/// Drains the pipes of a command that has ended. Returns true if all output that was read has reached its reader.
///
/// If another process holds the pipes open, more output of a pipeline may follow: draining continues while output keeps
/// coming, up to a limit, as the other process may be a daemon. A slow reader has time until after the run's deadline.
/// After a timeout or a signal the reader has to keep reading.
pub(super) fn drain(attempt: &mut Running<'_>) -> bool {
    attempt.event_loop.give_readers_time(now());
    attempt.event_loop.streams.observer.search_left = LONGEST_SEARCH;
    let mut moved_at = now();
    let mut longest = Deadline::after(moved_at, LONGEST_DRAIN);
    while attempt.event_loop.streams.is_open() {
        let (began, was_cut_short) = (now(), attempt.is_cut_short());
        let waits_for_reader = attempt.event_loop.streams.has_pending_output();
        let until = if !waits_for_reader {
            // More output may come.
            Deadline::after(moved_at, DRAIN_GRACE).or_earlier(longest)
        } else if was_cut_short {
            // The reader has to keep reading.
            Deadline::after(moved_at, READERS_GRACE)
        } else {
            Deadline::NEVER
        };
        let until = until.or_earlier(attempt.event_loop.readers_have_until);
        if until.is_due(began) {
            break;
        }
        let has_moved = attempt.event_loop.wait(until);
        let actions = attempt.handle_signals();
        let asked_to_end = actions.contains(&SignalAction::NoFurtherAttempt);
        let was_stopped = actions.contains(&SignalAction::StopBackoff);
        // A second request to end, or one after a timeout, ends draining at once.
        if asked_to_end && was_cut_short {
            break;
        }
        // A request to end gives the reader its full grace. Time in which backoff was stopped does not count.
        if has_moved || asked_to_end || was_stopped {
            moved_at = now();
        }
        // The longest drain counts only time in which the pipes were read.
        if waits_for_reader || was_stopped {
            longest.put_off(now().saturating_duration_since(began));
        }
    }
    !attempt.event_loop.streams.has_pending_output()
}
