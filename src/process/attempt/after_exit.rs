//! The end of an attempt after the command has ended: waits for the rest of its tree and drains its output.

use std::time::Duration;

use super::event_loop::READERS_GRACE;
use super::on_signal::SignalAction;
use super::running::Running;
use crate::policy::signal::Signal;
use crate::process::sys::clock::{Deadline, now};

/// First and longest interval between two polls for survivors of a timed-out tree; the interval doubles.
const TREE_POLLS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(64)];
/// Time for survivors of a tree to die after KILL (or after TERM, if KILL is not allowed).
const TREE_GRACE: Duration = Duration::from_secs(2);

/// Longest silence of the pipes of a command that has ended; then they are closed.
const DRAIN_GRACE: Duration = Duration::from_millis(300);
/// Longest time spent on draining the pipes.
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
/// Longest time spent on searching drained output: far less than a second, unless the patterns are hostile.
const LONGEST_SEARCH: Duration = Duration::from_secs(3);

/// Waits for the rest of a timed-out tree, and kills it when its time is up. The attempt's own process has ended but
/// stays a zombie, so that its process number and group are not reused.
pub(super) fn wait_for_tree(attempt: &mut Running<'_>) {
    attempt.deadlines.tree = Deadline::after(now(), TREE_GRACE);
    let [mut pause, longest] = TREE_POLLS;
    while attempt.tree.may_have_survivors(&attempt.child) {
        if attempt.deadlines.take_kill(now()) {
            attempt.deadlines.tree = Deadline::after(now(), TREE_GRACE);
            attempt.tree.signal(&attempt.child, &[Signal::KILL]);
        }
        if !attempt.deadlines.kill.is_set() && attempt.deadlines.tree.is_due(now()) {
            return;
        }
        let next_poll = Deadline::after(now(), pause);
        attempt.event_loop.wait(next_poll.or_earlier(attempt.deadlines.kill));
        pause = (pause * 2).min(longest);
        attempt.handle_signals();
    }
}

/// Drains the pipes of a command that has ended. If another process holds the pipes open, more output of a pipeline may
/// follow: draining continues while output keeps coming, up to a limit, as the other process may be a daemon. Output
/// already read is forwarded to a slow reader until the run's deadline has passed. After a timeout or a signal the
/// reader has to keep reading. Returns true if all output was read.
pub(super) fn drain(attempt: &mut Running<'_>) -> bool {
    attempt.event_loop.give_readers_time(now());
    attempt.event_loop.streams.observer.search_left = LONGEST_SEARCH;
    let mut moved_at = now();
    let mut end = Deadline::after(moved_at, LONGEST_DRAIN);
    while attempt.event_loop.streams.is_open() {
        let (began, was_cut) = (now(), attempt.is_cut());
        let waits_for_reader = attempt.event_loop.streams.has_pending_output();
        let until = match (waits_for_reader, was_cut) {
            (false, _) => Deadline::after(moved_at, DRAIN_GRACE).or_earlier(end),
            (true, false) => Deadline::NEVER,
            (true, true) => Deadline::after(moved_at, READERS_GRACE),
        };
        let until = until.or_earlier(attempt.event_loop.readers_have_until);
        if until.is_due(began) {
            break;
        }
        let moved = attempt.event_loop.wait(until);
        let actions = attempt.handle_signals();
        let asked_to_end = actions.contains(&SignalAction::NoFurtherAttempt);
        let was_stopped = actions.contains(&SignalAction::StopBackoff);
        // A second request to end, or one after a timeout, ends draining at once.
        if asked_to_end && was_cut {
            break;
        }
        if moved || asked_to_end || was_stopped {
            moved_at = now();
        }
        // Nothing was read from the pipes meanwhile.
        if waits_for_reader || was_stopped {
            end.put_off(now().saturating_duration_since(began));
        }
    }
    !attempt.event_loop.streams.has_pending_output()
}
