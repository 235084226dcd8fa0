//! Runs one program once. It is the command, a hook or a predicate, and is called the command where it makes no
//! difference. Starts it, enforces its limits, terminates its process tree after a limit, reads the rest of its output,
//! and describes all of this as one `Outcome`. `policy` decides whether the outcome is a failure.

mod after_exit;
mod deadlines;
mod running;
mod stops;
mod tree;

use std::time::Duration;

use crate::policy::outcome::{End, Outcome, Seen, TimeLimit};
use crate::process::event_loop::EventLoop;
use crate::process::spawn::child::{Child, reap_orphans};
use crate::process::spawn::{ChildStdio, Command, Isolation};
use crate::process::streams::Streams;
use crate::process::sys::clock::{Deadline, now};
use crate::process::sys::stdio;
use crate::run::event::Interruption;
use crate::run::host::{Attempt, AttemptSpec, Interrupted, RunError, RunResult};
use crate::text::describe;
use deadlines::Deadlines;
pub(crate) use running::Role;
use running::Running;
use tree::ProcessTree;

/// A program to run once.
#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub(crate) command: &'a Command,
    pub(crate) role: Role,
    pub(crate) isolation: Isolation,
    /// The command's come from [`Streams::begin`].
    pub(crate) stdio: ChildStdio,
    pub(crate) spec: &'a AttemptSpec,
    /// `spec.deadline` as a point in time.
    pub(crate) deadline: Deadline,
}

/// Runs the command, a hook or a predicate until it has exited and its output is read. Cleans up what it may have left,
/// such as its zombie or changed terminal modes. A failed exec is also an outcome. Returns an error if backoff itself
/// fails, because no process could be created, or the program's end or output is unknown. The error ends the run,
/// except for `--on-retry` and `--on-give-up`, where the run only warns. `after_fork` may start threads.
pub(crate) fn run(
    event_loop: &mut EventLoop,
    program: Program<'_>,
    after_fork: &mut dyn FnMut(),
) -> RunResult<Attempt> {
    let role = program.role;
    if role == Role::Command {
        event_loop.modes_before.save_once();
    }
    let mut running = start(event_loop, program)?;
    after_fork();
    let finished = finish(&mut running);
    let interrupted = running.interrupted;
    // A command that could not be killed still runs, and reaping would wait for its exit.
    if running.has_ended {
        Child::reap(running.child);
        reap_orphans(None);
    }
    let mut outcome = finished?;
    // A killed program could not restore the terminal modes. After an exit the run decides (`tidy_terminal`).
    if !matches!(outcome.end, End::Exited(_) | End::NotStarted(_)) {
        event_loop.modes_before.restore();
    }
    // A signal ends the run. From now on readers of messages have only a short time.
    event_loop.is_ending |= interrupted.is_some();
    if role == Role::Command {
        end_streams(&mut event_loop.streams, &mut outcome)?;
    }
    Ok(Attempt {
        outcome,
        interrupted,
    })
}

/// Forks the child that becomes the program. Its limits count from before the fork. Returns while exec may still be in
/// progress. Returns an error if no process could be created.
fn start<'a>(event_loop: &'a mut EventLoop, program: Program<'a>) -> RunResult<Running<'a>> {
    let limits = &program.spec.attempt_limits;
    let started = now();
    let child = program
        .command
        .start(
            &program.spec.variables,
            &event_loop.signals,
            limits.never_ignored,
            program.isolation,
            &program.stdio,
        )
        .map_err(|error| RunError::of_system("cannot start a process", &error))?;
    // Output ends once all write ends of its pipes are closed.
    drop(program.stdio);
    let deadlines = Deadlines::new(limits, started, program.deadline);
    Ok(Running {
        event_loop,
        child,
        tree: ProcessTree::default(),
        deadlines,
        interrupted: None,
        role: program.role,
        isolation: program.isolation,
        command: program.command,
        has_ended: false,
        is_asked_to_end: false,
        is_asked_to_stop: false,
        got_hang_up: false,
        has_to_stop_draining: false,
    })
}

/// Waits for the command and, after a limit, for the rest of its tree. Drains the output and describes the attempt,
/// whose running time ends with the command. If the program could not be started, only tells why. Returns an error if
/// the system does not tell how the command ended, unless a limit has ended it. If that command still runs when backoff
/// exits, the kernel signals it (`set_death_signal`).
fn finish(running: &mut Running<'_>) -> RunResult<Outcome> {
    let child_end = running.wait_for_end();
    if let Some(failure) = running.child.start_failure() {
        return Ok(Outcome::new(End::NotStarted(failure), Duration::ZERO));
    }
    let ran = running.deadlines.ran(now());
    let limit = running.deadlines.ended_by;
    let end = match (limit, child_end) {
        (Some(limit), _) => End::TimedOut(limit),
        (None, Ok(end)) => end,
        (None, Err(errno)) => {
            let why = describe(errno);
            return Err(RunError::Fault(format!(
                "cannot determine how the command ended: {why}"
            )));
        }
    };
    running.note_hang_up(&end);
    // Processes that outlive the attempt would disturb the next one. Those of a command that exited on its own may be
    // daemons.
    let survivors = if limit.is_some() {
        running.wait_for_tree()
    } else {
        running.unended_command().into_iter().collect()
    };
    let is_unread = running.drain();
    let end = if is_unread {
        end_of_unread(running, end)
    } else {
        end
    };
    let mut outcome = Outcome::new(end, ran);
    // Output that its reader did not take makes a failure permanent. After the deadline the run ends anyway, and the
    // message names the deadline instead.
    outcome.seen.unread = is_unread && !outcome.ended_by_deadline();
    outcome.forced_end = running.deadlines.forced_end;
    outcome.survivors = survivors;
    Ok(outcome)
}

/// Returns how an attempt ended whose output was not taken. The end of its command (`end`) must not hide the loss.
/// Without backoff the command itself would have waited for the reader, and the signal or deadline would have ended it.
/// A limit that has ended the attempt remains its end.
fn end_of_unread(running: &Running<'_>, end: End) -> End {
    match running.interrupted {
        _ if running.deadlines.ended_by.is_some() || end == End::Unended => end,
        // backoff itself dies of the signal.
        Some(Interrupted {
            by: Interruption::AfterCommand,
            ..
        }) => end,
        Some(Interrupted { signal, .. }) => End::Signaled(signal),
        // Without a signal, only the deadline ends the wait for a reader.
        None => End::TimedOut(TimeLimit::Deadline),
    }
}

/// Closes backoff's ends of the command's streams, and adds to the outcome what was seen in them (a lost reader, input
/// that cannot be replayed). Returns an error if a stream failed. That ends the run, as backoff cannot vouch for its
/// data.
fn end_streams(streams: &mut Streams, outcome: &mut Outcome) -> RunResult<()> {
    let seen = streams.end().map_err(RunError::Fault)?;
    // Known by `finish`, not by the streams.
    let unread = outcome.seen.unread;
    outcome.seen = Seen { unread, ..seen };
    // If the reader is gone, another attempt would have none either. A command that exited with 0 had already written
    // all of its output, and one that did not start has written none.
    let has_failed = outcome.end != End::Exited(0) && !outcome.could_not_start();
    outcome.seen.reader_gone |= has_failed && stdio::output_has_lost_its_reader();
    Ok(())
}
