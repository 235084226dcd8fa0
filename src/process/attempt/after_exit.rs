//! The end of an attempt after the command has ended: waits for the rest of its tree and drains its output.

use std::time::Duration;

use super::event_loop::{EventLoop, READERS_GRACE};
use super::on_signal::{Phase, SignalAction, on_signal};
use super::running::Running;
use crate::policy::signal::Signal;
use crate::process::streams::Streams;
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
pub(super) fn wait_for_tree(attempt: &mut Running<'_>, event_loop: &mut EventLoop) {
    let mut until = Deadline::after(attempt.own_time(), TREE_GRACE);
    let [mut pause, longest] = TREE_POLLS;
    loop {
        match attempt.tree.has_survivors(&attempt.child) {
            Some(false) => return,
            // Without a list of processes, the dead leader reserves the group until the time is up.
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

/// Drains the pipes of a command that has ended. If another process holds the pipes open, more output of a pipeline may
/// follow: draining continues while output keeps coming, up to a limit, as the other process may be a daemon. Output
/// already read is forwarded to a slow reader until the run's deadline has passed. After a timeout or a signal the
/// reader has to keep reading. Returns true if all output was read.
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
        // Nothing was read from the pipes while waiting for the reader.
        if waits_for_reader {
            end.put_off(now.saturating_duration_since(before));
        }
        if moved || waits_for_reader {
            silence = Deadline::after(now, DRAIN_GRACE);
        }
        if moved || !was_cut {
            stuck = Deadline::after(now, READERS_GRACE);
        }
        // A second request to end, or one after a timeout, ends draining at once.
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

/// Handles received signals. Returns true if one of them asks backoff to end.
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
