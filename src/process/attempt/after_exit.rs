//! The end of an attempt after its command (or hook or predicate) has ended: waits for the rest of its tree after a
//! limit, as the next attempt would meet it, and drains the output: forwards what is still in the pipes or is still
//! being written, within limits.

use std::time::{Duration, Instant};

use super::deadlines::TREE_GRACE;
use super::running::Running;
use crate::policy::outcome::{Survival, Survivor};
use crate::process::event_loop::READERS_GRACE;
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now};
use crate::run::event::Interruption;

/// First interval between two searches for survivors of a timed-out tree; it doubles up to the longest.
const FIRST_INTERVAL: Duration = Duration::from_millis(1);
const LONGEST_INTERVAL: Duration = Duration::from_millis(64);
/// Longest silence of the pipes after the command has ended; then backoff closes the pipes.
const DRAIN_GRACE: Duration = Duration::from_millis(300);
/// Longest time spent on draining the pipes: a daemon that the command started may write for ever.
const LONGEST_DRAIN: Duration = Duration::from_secs(10);
/// Time for the last words of a pipeline, even if `--timeout` is over. After a limit or a signal, draining lasts no
/// longer.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Waits for the tree of an attempt that a limit has ended, and sends KILL when KILL is due. Returns the processes that
/// could not be ended, and make the failure permanent; an empty list if all have ended, or if those that go on could be
/// signalled and the user wants no KILL. The attempt's own process stays a zombie, or its group has members, so that
/// no other process gets its number.
pub(super) fn wait_for_tree(attempt: &mut Running<'_>) -> Vec<Survivor> {
    // `--kill-after 0`: TERM alone has to do, and has as long as KILL would. Asked before `give_up` is set, which
    // counts as a KILL.
    let never_kills = attempt.deadlines.never_kills();
    if never_kills {
        attempt.deadlines.give_up = Deadline::after(now(), TREE_GRACE);
    }
    let mut interval = FIRST_INTERVAL;
    // No event reports the end of a process that is not backoff's child.
    loop {
        let mut survivors = attempt.survivors();
        if survivors.is_empty() {
            return survivors;
        }
        attempt.kill_if_due();
        // Not set as long as KILL is to come.
        let is_over = attempt.deadlines.give_up.is_due(now());
        if never_kills && (is_over || survivors.iter().all(is_protected)) {
            // The user wants no KILL, so processes that did not end on TERM may go on: not a reason to end the run.
            // Those that this user may not signal are, and waiting for them is of no use.
            survivors.retain(is_protected);
            return survivors;
        }
        if is_over {
            return survivors;
        }
        let next_search = Deadline::after(now(), interval);
        let deadlines = &attempt.deadlines;
        let until = next_search
            .or_earlier(deadlines.kill)
            .or_earlier(deadlines.give_up);
        attempt.event_loop.wait(until);
        interval = (interval * 2).min(LONGEST_INTERVAL);
        // The rest of the work concerns children, which the next round looks at, and draining, which has not begun.
        attempt.handle_signals();
    }
}

/// How much of an attempt's output has reached its reader. `Completely` if none waits for the reader when draining
/// ends: also if the reader is gone (`Seen::reader_gone`), or if the output is kept for the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drained {
    Completely,
    InPart,
}

impl Drained {
    /// Returns how much has reached the reader by now: not all, if output that was read still waits for it. Bytes that
    /// are still in the pipes do not count: they may be a daemon's.
    fn by_now(streams: &Streams) -> Drained {
        if streams.has_pending_output() {
            Drained::InPart
        } else {
            Drained::Completely
        }
    }
}

/// Drains the pipes of a command that has ended or could not be ended. Returns how much their reader has got. If
/// another process holds the pipes open, more output of a pipeline may follow: draining continues while output keeps
/// coming, up to a limit ([`end_of_draining`]), as the other process may be a daemon. Waiting for a slow reader does not
/// count against that limit, but has its own ([`end_of_wait_for_reader`]). A request to end that comes meanwhile ends
/// draining with what is in the pipes, or at once if a limit or a signal has cut the attempt short before; a request
/// that is forwarded, to a command that could not be ended, does not.
pub(super) fn drain(attempt: &mut Running<'_>) -> Drained {
    // The reader gets some time even past the deadline.
    attempt.event_loop.give_readers_time(now());
    let was_cut_short = attempt.is_cut_short();
    let mut last_moved = now();
    let mut end_of_draining = end_of_draining(attempt, last_moved);
    while attempt.event_loop.streams.is_open() {
        let began = now();
        let waits_for_reader = attempt.event_loop.streams.has_pending_output();
        let until = if waits_for_reader {
            end_of_wait_for_reader(attempt, last_moved)
        } else {
            end_of_wait_for_output(attempt, last_moved).or_earlier(end_of_draining)
        };
        if until.is_due(began) {
            break;
        }
        let has_moved = attempt.event_loop.wait(until);
        let handled = attempt.handle_signals();
        if handled.end_draining {
            // A second request to end, or one after a timeout, ends draining at once.
            if !was_cut_short {
                attempt.event_loop.forward_rest(READERS_GRACE);
                note_cut_off(attempt);
            }
            break;
        }
        // Time in which backoff was stopped does not count.
        if has_moved || handled.was_stopped {
            last_moved = now();
        }
        // Only time in which the pipes were read counts against the longest drain.
        if waits_for_reader || handled.was_stopped {
            end_of_draining.put_off(now().saturating_duration_since(began));
        }
    }
    Drained::by_now(&attempt.event_loop.streams)
}

/// Notes that the signal which has ended draining came when the command had ended, if it has cut output off: another
/// process may go on writing.
fn note_cut_off(attempt: &mut Running<'_>) {
    if attempt.event_loop.streams.is_open()
        && let Some(interrupted) = &mut attempt.interrupted
    {
        interrupted.by = Interruption::AfterCommand;
    }
}

/// Returns the end of the wait for more output: [`DRAIN_GRACE`] after the last output (`last_moved`), but not past the
/// time that readers have.
fn end_of_wait_for_output(attempt: &Running<'_>, last_moved: Instant) -> Deadline {
    Deadline::after(last_moved, DRAIN_GRACE).or_earlier(attempt.event_loop.readers_have_until)
}

/// Returns the end of the wait for a slow reader: never, or with a deadline of the run the time that
/// `give_readers_time` gives readers. After a limit or a signal the reader also has to take something every second, as
/// an attempt that was to end must not hang on its reader. `last_moved`: when it took something last.
fn end_of_wait_for_reader(attempt: &Running<'_>, last_moved: Instant) -> Deadline {
    let until = if attempt.is_cut_short() {
        Deadline::after(last_moved, READERS_GRACE)
    } else {
        Deadline::NEVER
    };
    until.or_earlier(attempt.event_loop.readers_have_until)
}

fn is_protected(survivor: &Survivor) -> bool {
    survivor.why == Survival::Protected
}

/// Returns the end of draining that begins `now`, if the reader need not be waited for: [`LONGEST_DRAIN`] later, or when
/// `--timeout` is over, but not before [`LAST_WORDS`]. If a limit or a signal has cut the attempt short, just then.
fn end_of_draining(attempt: &Running<'_>, now: Instant) -> Deadline {
    if attempt.is_cut_short() {
        return Deadline::after(now, LAST_WORDS);
    }
    let timeout = attempt.deadlines.timeout.or_later(now + LAST_WORDS);
    timeout.or_earlier(Deadline::after(now, LONGEST_DRAIN))
}
