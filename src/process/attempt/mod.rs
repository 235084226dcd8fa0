//! One attempt: start, event loop, timeouts, process tree, draining.

mod after_exit;
mod deadlines;
pub(crate) mod event_loop;
pub(crate) mod on_signal;
mod running;
mod tree;

use std::time::Duration;

use crate::policy::outcome::{End, Outcome, TimeLimit};
use crate::policy::signal::Signal;
use crate::process::spawn::child::{Child, reap_orphans};
use crate::process::spawn::{ChildStdio, Command, Isolation};
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::stdio;
use crate::process::terminal;
use crate::process::terminal::pty::Pty;
use crate::run::host::{Attempt, AttemptSpec, RunError, RunResult};
use crate::run::text::{describe, describe_error};
use deadlines::Deadlines;
use event_loop::EventLoop;
use running::Running;
use tree::ProcessTree;

/// Starts a program and waits for its end. A program that cannot be started is an outcome, too. `deadline` is the
/// run's.
pub(crate) fn run(
    event_loop: &mut EventLoop,
    command: &Command,
    isolation: Isolation,
    stdio: ChildStdio,
    spec: &AttemptSpec,
    deadline: Deadline,
) -> RunResult<Attempt> {
    let was_in_foreground = isolation == Isolation::Shared && terminal::is_in_foreground();
    if !event_loop.is_hook {
        event_loop.modes_before.note();
    }
    let started = now();
    let child = command
        .start(&spec.variables, &event_loop.signals, isolation, &stdio)
        .map_err(|error| RunError::Fault(format!("cannot start a process: {}", describe_error(&error))))?;
    drop(stdio);
    if let Some(pty) = &mut event_loop.streams.pty {
        pty.started(child.pid());
    }
    let mut running = Running {
        event_loop,
        child,
        tree: ProcessTree::default(),
        deadlines: Deadlines::new(&spec.attempt_limits, started, deadline),
        interrupted: None,
        isolation,
        has_ended: false,
        is_asked_to_end: false,
        stop_request: None,
    };
    let ended = running.until_it_ends();
    let finished = match command.was_refused(&running.child, &spec.variables) {
        Some(failure) => Ok(Outcome::new(End::NotStarted(failure), Duration::ZERO)),
        None => finish(&mut running, ended),
    };
    let interrupted = running.interrupted;
    if finished.is_ok() {
        Child::reap(running.child);
        reap_orphans(None);
    }
    if was_in_foreground {
        terminal::take_back();
    }
    let mut outcome = finished?;
    // Restores the modes that the terminal had before, unless the command ended by itself.
    if !matches!(outcome.end, End::Exited(_) | End::NotStarted(_)) {
        event_loop.modes_before.put_back();
    }
    event_loop.is_ending |= interrupted.is_some();
    if !event_loop.is_hook {
        settle(&mut event_loop.streams, &mut outcome)?;
    }
    Ok(Attempt { outcome, interrupted })
}

/// Waits for the rest of the tree after a timeout, and drains the output. After an error the command may still run; it
/// gets TERM when backoff ends.
fn finish(running: &mut Running<'_>, ended: nix::Result<End>) -> RunResult<Outcome> {
    let ran = running.deadlines.ran(now());
    let ended_by = running.deadlines.ended_by;
    let mut end = match (ended_by, ended) {
        (Some(limit), _) => End::TimedOut(limit),
        (None, Ok(end)) => end,
        (None, Err(errno)) => {
            let why = describe(errno);
            return Err(RunError::Fault(format!("cannot learn how the command ended: {why}")));
        }
    };
    running.event_loop.streams.pty.as_mut().map(Pty::ended);
    if ended_by.is_some() {
        after_exit::wait_for_tree(running);
    }
    let is_read = after_exit::drain(running);
    if !is_read && ended_by.is_none() {
        // Run directly, the command would still be writing.
        let interrupted = running.interrupted.map(End::Signaled);
        end = interrupted.unwrap_or(End::TimedOut(TimeLimit::Deadline));
    }
    let mut outcome = Outcome::new(end, ran);
    outcome.seen.unread = !is_read && outcome.end != End::TimedOut(TimeLimit::Deadline);
    outcome.cut = running.deadlines.cut;
    Ok(outcome)
}

/// Ends the streams of an attempt, and adds their results to the outcome.
fn settle(streams: &mut Streams, outcome: &mut Outcome) -> RunResult<()> {
    // The command's terminal was hung up because its output had no reader; on a pipe the signal would be PIPE.
    if streams.is_hung_up() && outcome.end == End::Signaled(Signal::HUP) {
        outcome.end = End::Signaled(Signal::PIPE);
    }
    let unread = outcome.seen.unread;
    outcome.seen = streams.end().map_err(RunError::Fault)?;
    outcome.seen.unread = unread;
    // A command that inherits standard output may end in any way if the reader is gone.
    let has_failed = outcome.end != End::Exited(0) && !outcome.could_not_start();
    outcome.seen.reader_gone |= has_failed && stdio::output_has_lost_its_reader();
    Ok(())
}
