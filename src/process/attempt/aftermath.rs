//! What is left of an attempt when the command has ended: the rest of its tree, and of its output.

use std::time::Duration;

use super::event_loop::{EventLoop, READERS_GRACE};
use super::on_signal::{Phase, SignalAction, on_signal};
use super::running::{Running, StopCause};
use crate::policy::signal::Signal;
use crate::process::streams::Streams;
use crate::process::sys::clock::now;
use crate::process::sys::deadline::Deadline;

/// Before the first look whether the rest of a timed-out tree has gone; each later one takes
/// twice as long to come, up to the last of these.
const TREE_POLLS: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(64)];
/// How long the rest of a tree may take to die once it got KILL (or, where KILL is not allowed, TERM).
const TREE_GRACE: Duration = Duration::from_secs(2);

/// How long the pipes of a command that has ended may be silent before they are closed.
const DRAIN_GRACE: Duration = Duration::from_millis(300);
/// How long they are emptied at most.
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
/// How long what they held is searched at most: far less than a second, unless the patterns are hostile.
const LONGEST_SEARCH: Duration = Duration::from_secs(3);

/// After a time-out. The attempt's own process has ended and is a zombie still, so that its number and its group
/// stay its own; waits for the rest of the tree, and ends it when its time is up.
pub(super) fn wait_for_tree(attempt: &mut Running<'_>, event_loop: &mut EventLoop) {
    attempt.deadlines.tree = Deadline::after(now(), TREE_GRACE);
    let [mut pause, longest] = TREE_POLLS;
    loop {
        match attempt.tree.has_survivors(&attempt.child) {
            Some(true) => {}
            Some(false) => return,
            // Nobody can say; the dead leader pins the group until its time is up.
            None if attempt.child.group().is_some() => {}
            None => return,
        }
        let now = now();
        if attempt.deadlines.take_kill(now) {
            attempt.deadlines.tree = Deadline::after(now, TREE_GRACE);
            attempt.tree.signal(&attempt.child, &[Signal::KILL]);
        }
        if !attempt.deadlines.kill.is_set() && attempt.deadlines.tree.is_due(now) {
            return;
        }
        event_loop.wait(Deadline::after(now, pause).or_earlier(attempt.deadlines.kill));
        pause = (pause * 2).min(longest);
        handle_signals(Phase::EndingTree, attempt, event_loop);
    }
}

/// What the command had written is still in the pipes. Where somebody else holds them
/// open, the last words of a pipeline may follow: goes on while output keeps coming, but not for ever,
/// as it may be a daemon that holds them. What was taken is passed on, however slow its reader is, until the run's deadline
/// has passed. After a bound or a signal the reader has to be one that reads. Returns true if all of it was read.
pub(super) fn drain(attempt: &mut Running<'_>, event_loop: &mut EventLoop) -> bool {
    let begun = now();
    event_loop.give_readers_time(begun);
    attempt.deadlines.drain = Deadline::after(begun, LONGEST_DRAIN);
    attempt.deadlines.silence = Deadline::after(begun, DRAIN_GRACE);
    attempt.deadlines.stuck = Deadline::after(begun, READERS_GRACE);
    if let Some(streams) = &mut event_loop.streams {
        streams.limit_search(LONGEST_SEARCH);
    }
    while event_loop.streams(Streams::is_open) {
        let is_cut = attempt.is_cut();
        let waits_for_reader = event_loop.streams(Streams::has_pending_output);
        let deadlines = &mut attempt.deadlines;
        let until = match (waits_for_reader, is_cut) {
            (true, true) => deadlines.stuck,
            (true, false) => Deadline::NEVER,
            (false, _) => deadlines.silence.or_earlier(deadlines.drain),
        };
        let begun = now();
        let moved = event_loop.wait(until.or_earlier(event_loop.readers_have_until));
        let now = now();
        if event_loop.readers_have_until.is_due(now) {
            return !event_loop.streams(Streams::has_pending_output);
        }
        // Nothing was taken meanwhile.
        if waits_for_reader {
            deadlines.drain.put_off(now.saturating_duration_since(begun));
        }
        if moved || waits_for_reader {
            deadlines.silence = Deadline::after(now, DRAIN_GRACE);
        }
        if moved || !is_cut {
            deadlines.stuck = Deadline::after(now, READERS_GRACE);
        }
        // A second one, or one after a bound, ends this at once.
        if handle_signals(Phase::Draining, attempt, event_loop) && is_cut {
            break;
        }
        let deadlines = &attempt.deadlines;
        let is_over = deadlines.silence.is_due(now) || deadlines.drain.is_due(now);
        let has_pending = event_loop.streams(Streams::has_pending_output);
        if has_pending && is_cut && deadlines.stuck.is_due(now) {
            break;
        }
        if is_over && !has_pending {
            break;
        }
    }
    !event_loop.streams(Streams::has_pending_output)
}

/// Handles the signals that have come. Returns true if one has asked to end.
fn handle_signals(phase: Phase, attempt: &mut Running<'_>, event_loop: &mut EventLoop) -> bool {
    let mut asked = false;
    while let Some(received) = event_loop.signals.take() {
        match on_signal(phase, received) {
            SignalAction::NoFurtherAttempt => {
                attempt.interrupted.get_or_insert(received.signal);
                asked = true;
            }
            SignalAction::StopBackoff => attempt.stop_backoff(event_loop, StopCause::Signal(received.signal)),
            _ => {}
        }
    }
    asked
}
