//! One attempt: start, event loop, timeouts, process tree, draining.

mod after_exit;
mod deadlines;
pub(crate) mod event_loop;
pub(crate) mod on_signal;
mod running;
mod tree;

use std::time::Duration;

use crate::policy::outcome::{End, Outcome, Seen, TimeLimit};
use crate::policy::signal::Signal;
use crate::process::spawn::child::{Child, reap_orphans};
use crate::process::spawn::{ChildStdio, Command, Isolation};
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::stdio;
use crate::process::terminal;
use crate::process::terminal::pty::Pty;
use crate::run::host::{Attempt, AttemptSpec, RunError, RunResult};
use crate::text::{describe, describe_error};
use deadlines::Deadlines;
use event_loop::EventLoop;
use running::Running;
use tree::ProcessTree;

/// Runs the command, a hook or a predicate, until it has ended and its output is drained. A failed exec is an outcome,
/// too. `deadline` is `spec.deadline` as a point in time.
pub(crate) fn run(
    event_loop: &mut EventLoop,
    command: &Command,
    isolation: Isolation,
    stdio: ChildStdio,
    spec: &AttemptSpec,
    deadline: Deadline,
) -> RunResult<Attempt> {
    // A program in backoff's own group may be a shell that gives the terminal to its jobs.
    let may_lose_terminal = isolation == Isolation::Shared && terminal::is_in_foreground();
    if !event_loop.is_hook {
        event_loop.modes_before.note();
    }
    let started = now();
    let child = command
        .start(
            &spec.variables,
            &event_loop.signals,
            spec.attempt_limits.never_ignored,
            isolation,
            &stdio,
        )
        .map_err(|error| {
            RunError::Fault(format!(
                "cannot start a process: {}",
                describe_error(&error)
            ))
        })?;
    // Output ends once all writing ends of its pipes are closed.
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
        program: command.program(),
        has_ended: false,
        is_asked_to_end: false,
        stop_request: None,
    };
    let child_end = running.wait_for_end();
    let finished = match running.child.start_failure() {
        Some(failure) => Ok(Outcome::new(End::NotStarted(failure), Duration::ZERO)),
        None => finish(&mut running, child_end),
    };
    let interrupted = running.interrupted;
    // Reaping waits for the command, which may still run: after a fault, or if it could not be ended.
    if running.has_ended {
        Child::reap(running.child);
        reap_orphans(None);
    }
    if may_lose_terminal {
        terminal::take_back();
    }
    let mut outcome = finished?;
    // A killed program could not restore the modes of the terminal.
    if !matches!(outcome.end, End::Exited(_) | End::NotStarted(_)) {
        event_loop.modes_before.put_back();
    }
    event_loop.is_ending |= interrupted.is_some();
    if !event_loop.is_hook {
        end_streams(&mut event_loop.streams, &mut outcome)?;
    }
    Ok(Attempt {
        outcome,
        interrupted,
    })
}

/// Waits for the rest of the tree after a timeout, drains the output and describes the attempt. `child_end` is an error
/// if the system does not tell how the command ended. Then the command may still run; on Linux the kernel signals the
/// command when backoff ends (`set_death_signal`).
fn finish(running: &mut Running<'_>, child_end: nix::Result<End>) -> RunResult<Outcome> {
    let ran = running.deadlines.ran(now());
    let limit = running.deadlines.ended_by;
    let mut end = match (limit, child_end) {
        (Some(limit), _) => End::TimedOut(limit),
        (None, Ok(end)) => end,
        (None, Err(errno)) => {
            let why = describe(errno);
            return Err(RunError::Fault(format!(
                "cannot learn how the command ended: {why}"
            )));
        }
    };
    running
        .event_loop
        .streams
        .pty
        .as_mut()
        .map(Pty::stop_forwarding);
    let survivors = if limit.is_some() {
        after_exit::wait_for_tree(running)
    } else if running.interrupted.is_some() {
        running.out_of_reach()
    } else {
        Vec::new()
    };
    if limit.is_none() && end == End::Exited(0) && !survivors.is_empty() {
        // A process of the attempt goes on, which 0 would hide.
        end = End::Unended;
    }
    let is_drained = after_exit::drain(running);
    if !is_drained && limit.is_none() && end != End::Unended {
        // Without backoff, the command would still be writing at the signal or deadline.
        end = running
            .interrupted
            .map_or(End::TimedOut(TimeLimit::Deadline), End::Signaled);
    }
    let mut outcome = Outcome::new(end, ran);
    // Lost output would make the failure permanent. After the deadline the run ends anyway, and names the deadline.
    outcome.seen.unread = !is_drained && outcome.end != End::TimedOut(TimeLimit::Deadline);
    outcome.cut = running.deadlines.cut;
    outcome.survivors = survivors;
    Ok(outcome)
}

/// Ends the streams of the command. Adds their findings to the outcome, and corrects an end that `--pty` has changed.
fn end_streams(streams: &mut Streams, outcome: &mut Outcome) -> RunResult<()> {
    // With --pty, backoff hangs up if the output has no reader. On a pipe the command would have died of PIPE.
    if streams.is_hung_up() && outcome.end == End::Signaled(Signal::HUP) {
        outcome.end = End::Signaled(Signal::PIPE);
    }
    let seen = streams.end().map_err(RunError::Fault)?;
    let unread = outcome.seen.unread;
    outcome.seen = Seen { unread, ..seen };
    // Another attempt's output would have no reader either. After exit 0 the command has written all of its output.
    let has_failed = outcome.end != End::Exited(0) && !outcome.could_not_start();
    outcome.seen.reader_gone |= has_failed && stdio::output_has_lost_its_reader();
    Ok(())
}
