//! What is left of an attempt when the command has ended: the rest of its tree, and of its output.

use std::time::Duration;

use super::event_loop::{EventLoop, READERS_GRACE};
use super::on_signal::{Phase, SignalAction, on_signal};
use super::running::Running;
use crate::policy::signal::Signal;
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now};

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
    let mut until = Deadline::after(attempt.own_time(), TREE_GRACE);
    let [mut pause, longest] = TREE_POLLS;
    loop {
        match attempt.tree.has_survivors(&attempt.child) {
            Some(false) => return,
            // Without a list of processes, the dead leader pins the group until its time is up.
            None if attempt.child.group().is_none() => return,
            _ => {}
        }
        if attempt.deadlines.take_kill(now()) {
            until = Deadline::after(attempt.own_time(), TREE_GRACE);
            attempt.tree.signal(&attempt.child, &[Signal::KILL]);
        }
        if !attempt.deadlines.awaits_kill() && until.is_due(attempt.own_time()) {
            return;
        }
        event_loop.wait(Deadline::after(now(), pause).or_earlier(attempt.deadlines.next()));
        pause = (pause * 2).min(longest);
        handle_signals(Phase::EndingTree, attempt, event_loop);
    }
}

/// Reads what the command had written from the pipes. Where another process holds them open, the last words of a pipeline may
/// follow: goes on while output keeps coming, but not for ever, as it may be a daemon that holds them. What was taken is
/// passed on, however slow its reader is, until the run's deadline has passed. After a bound or a signal the reader has to
/// be one that reads. Returns true if all of it was read.
pub(super) fn drain(attempt: &mut Running<'_>, event_loop: &mut EventLoop) -> bool {
    event_loop.give_readers_time(now());
    if let Some(streams) = &mut event_loop.streams {
        streams.limit_search(LONGEST_SEARCH);
    }
    let began = attempt.own_time();
    let mut end = Deadline::after(began, LONGEST_DRAIN);
    let mut silence = Deadline::after(began, DRAIN_GRACE);
    let mut stuck = Deadline::after(began, READERS_GRACE);
    while event_loop.streams(Streams::is_open) {
        let was_cut = attempt.is_cut();
        let waits_for_reader = event_loop.streams(Streams::has_pending_output);
        let until = match (waits_for_reader, was_cut) {
            (true, true) => stuck,
            (true, false) => Deadline::NEVER,
            (false, _) => silence.or_earlier(end),
        };
        let before = attempt.own_time();
        let until = attempt.deadlines.machine_time(until);
        let moved = event_loop.wait(until.or_earlier(event_loop.readers_have_until));
        if event_loop.readers_have_until.is_due(now()) {
            break;
        }
        let now = attempt.own_time();
        // Nothing was taken meanwhile.
        if waits_for_reader {
            end.put_off(now.saturating_duration_since(before));
        }
        if moved || waits_for_reader {
            silence = Deadline::after(now, DRAIN_GRACE);
        }
        if moved || !was_cut {
            stuck = Deadline::after(now, READERS_GRACE);
        }
        // A second request to end, or one after a bound, ends this at once.
        if handle_signals(Phase::Draining, attempt, event_loop) && was_cut {
            break;
        }
        let is_over = match event_loop.streams(Streams::has_pending_output) {
            true => was_cut && stuck.is_due(now),
            false => silence.is_due(now) || end.is_due(now),
        };
        if is_over {
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
            SignalAction::StopBackoff => attempt.stop_backoff(event_loop, received.signal),
            _ => {}
        }
    }
    asked
}
