//! Runs one program once: the command, a hook or a predicate, which are called the command, too, where it makes no
//! difference. Starts it, enforces its limits, ends its process tree after a limit, reads the rest of its output, and
//! describes all of this as one `Outcome`. `policy` decides whether the outcome is a failure.

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
    /// Those of the command are of [`Streams::begin`].
    pub(crate) stdio: ChildStdio,
    pub(crate) spec: &'a AttemptSpec,
    /// `spec.deadline` as a point in time.
    pub(crate) deadline: Deadline,
}

/// Runs the command, a hook or a predicate until it has ended and its output is read, and undoes what it may have left:
/// its zombie, changed terminal modes. A failed exec is an outcome, too. An error is a fault of backoff itself: no
/// process could be made, or its end or output is unknown. It ends the run, except for `--on-retry` and `--on-give-up`,
/// for which the run only warns. `after_fork` may start threads.
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
    // A command that could not be ended still runs, and reaping would wait for its end.
    if running.has_ended {
        Child::reap(running.child);
        reap_orphans(None);
    }
    let mut outcome = finished?;
    // A killed program could not restore the modes of the terminal. After an exit the run decides (`tidy_terminal`).
    if !matches!(outcome.end, End::Exited(_) | End::NotStarted(_)) {
        event_loop.modes_before.restore();
    }
    // A signal that ends the run: from now on messages have only a short time to be read.
    event_loop.is_ending |= interrupted.is_some();
    if role == Role::Command {
        end_streams(&mut event_loop.streams, &mut outcome)?;
    }
    Ok(Attempt {
        outcome,
        interrupted,
    })
}

/// Forks the child that becomes the program, and sets up what the event loop needs to follow it: limits, which count
/// from before the fork, streams and pseudo-terminal. Returns while exec may still be under way. An error means that no
/// process could be made.
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
    // Output ends once all writing ends of its pipes are closed.
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

/// Waits for the end of the command and, after a limit, of the rest of its tree. Drains the output, that is forwards
/// what is still in the pipes, and describes the attempt, whose running time ends with the command. If the program
/// could not be started, only tells why. Returns a fault if the system does not tell how the command ended, unless a
/// limit has ended it: the kernel signals a command that still runs when backoff ends (`set_death_signal`).
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
                "cannot learn how the command ended: {why}"
            )));
        }
    };
    running.note_hang_up(&end);
    // Processes that outlive the attempt would meet the next one. Those of a command that ended by itself may be
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

/// Returns how an attempt ended whose output was not taken, given how its command ended (`end`), which must not hide the
/// loss. Without backoff the command itself would have waited for the reader, and so would have been ended by the signal
/// or deadline. A limit that has ended the attempt stays its end.
fn end_of_unread(running: &Running<'_>, end: End) -> End {
    match running.interrupted {
        _ if running.deadlines.ended_by.is_some() || end == End::Unended => end,
        // backoff itself dies of the signal.
        Some(Interrupted {
            by: Interruption::AfterCommand,
            ..
        }) => end,
        Some(Interrupted { signal, .. }) => End::Signaled(signal),
        // Without a signal, nothing but the deadline ends the wait for a reader.
        None => End::TimedOut(TimeLimit::Deadline),
    }
}

/// Closes backoff's ends of the command's streams, and adds to the outcome what was seen in them (a
/// lost reader, input that cannot be replayed). An error means that a stream failed,
/// which ends the run: backoff cannot vouch for its data.
fn end_streams(streams: &mut Streams, outcome: &mut Outcome) -> RunResult<()> {
    let seen = streams.end().map_err(RunError::Fault)?;
    // The streams do not know it, and `finish` does.
    let unread = outcome.seen.unread;
    outcome.seen = Seen { unread, ..seen };
    // If the reader is gone, another attempt's output would have none either. After exit 0 the command had written all
    // of its output before, and a command that did not start has written none.
    let has_failed = outcome.end != End::Exited(0) && !outcome.could_not_start();
    outcome.seen.reader_gone |= has_failed && stdio::output_has_lost_its_reader();
    Ok(())
}
