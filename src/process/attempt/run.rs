//! One attempt from its start to its outcome.

use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::aftermath;
use super::deadlines::Deadlines;
use super::event_loop::EventLoop;
use super::running::Running;
use crate::policy::outcome::{Bound, Cut, End, Outcome, Seen, StartFailure};
use crate::policy::signal::Signal;
use crate::process::spawn::child::{Child, Ended};
use crate::process::spawn::command::Command;
use crate::process::spawn::{ChildStdio, Isolation};
use crate::process::streams::Streams;
use crate::process::sys::clock::now;
use crate::process::sys::deadline::Deadline;
use crate::process::terminal::foreground::is_in_foreground;
use crate::process::terminal::job;
use crate::process::terminal::pty::Pty;
use crate::run::host::{Attempt, AttemptSpec, RunError};
use crate::run::text::describe;

/// What is to be started, and how.
pub(crate) struct Launch<'a> {
    pub(crate) command: &'a Command,
    pub(crate) isolation: Isolation,
    pub(crate) stdio: ChildStdio,
}

/// How the command ended.
struct CommandEnd {
    end: End,
    ran: Duration,
    cut: Cut,
    /// Output that a time-out has cut off was not read.
    unread: bool,
    interrupted: Option<Signal>,
}

/// Starts a program and waits for its end. What cannot be started is an outcome, too. `deadline` is the run's.
pub(crate) fn run(
    event_loop: &mut EventLoop,
    launch: Launch<'_>,
    spec: &AttemptSpec,
    deadline: Deadline,
) -> Result<Attempt, RunError> {
    let was_in_foreground = launch.isolation == Isolation::Shared && is_in_foreground();
    if !event_loop.is_beside {
        event_loop.modes_before.note();
    }
    let started = now();
    let Launch {
        command,
        isolation,
        stdio,
    } = launch;
    let child = command
        .start(&spec.variables, &event_loop.signals, isolation, &stdio)
        .map_err(|errno| RunError::Fault(format!("cannot start a process: {}", describe(errno))))?;
    drop(stdio);
    if let Some(pty) = event_loop.pty() {
        pty.started(child.pid());
    }
    let deadlines = Deadlines::new(&spec.bounds, started, deadline);
    let attempt = Running::new(child, isolation, deadlines, spec.bounds.signal);
    let over = to_its_end(attempt, event_loop, started, |child| {
        command.was_refused(child, &spec.variables)
    });
    if was_in_foreground {
        job::take_back();
    }
    let over = over?;
    // As its caller would find it after the bare command, if that had ended by itself.
    if !matches!(over.end, End::Exited(_) | End::NotStarted(_)) {
        event_loop.modes_before.put_back(true);
    }
    event_loop.is_ending |= over.interrupted.is_some();
    outcome(event_loop, over)
}

/// Waits for the end of the command, of its tree if a bound has ended it, and of its output. `was_refused` returns why exec
/// failed, if it did.
fn to_its_end(
    mut attempt: Running<'_>,
    event_loop: &mut EventLoop,
    started: Instant,
    was_refused: impl FnOnce(&Child) -> Option<StartFailure>,
) -> Result<CommandEnd, RunError> {
    let ended = attempt.until_it_ends(event_loop);
    if let Some(failure) = was_refused(&attempt.child) {
        let interrupted = attempt.interrupted;
        Child::reap(attempt.child);
        return Ok(CommandEnd {
            end: End::NotStarted(failure),
            ran: Duration::ZERO,
            cut: Cut::default(),
            unread: false,
            interrupted,
        });
    }
    let ran = attempt.deadlines.ran(started, now());
    let ended_by = attempt.deadlines.ended_by;
    // If it still runs, it gets TERM when backoff ends.
    let mut end = end(ended_by, ended).map_err(|errno| {
        let why = describe(errno);
        RunError::Fault(format!("cannot learn how the command ended: {why}"))
    })?;
    event_loop.pty().map(Pty::ended);
    if ended_by.is_some() {
        aftermath::wait_for_tree(&mut attempt, event_loop);
    }
    let is_read = aftermath::drain(&mut attempt, event_loop);
    if !is_read {
        // It has said what nobody has read; bare, it would be at it still.
        end = match (ended_by, attempt.interrupted) {
            (None, Some(signal)) => End::Signaled(signal),
            (bound, _) => End::TimedOut(bound.unwrap_or(Bound::Deadline)),
        };
    }
    let unread = !is_read && end != End::TimedOut(Bound::Deadline);
    let cut = attempt.deadlines.cut();
    Child::reap(attempt.child);
    event_loop.reap_orphans(None);
    Ok(CommandEnd {
        end,
        ran,
        cut,
        unread,
        interrupted: attempt.interrupted,
    })
}

fn end(ended_by: Option<Bound>, ended: Ended) -> Result<End, Errno> {
    match (ended_by, ended) {
        (Some(bound), _) => Ok(End::TimedOut(bound)),
        (None, Ended::Exited(code)) => Ok(End::Exited(code)),
        (None, Ended::Signaled(signal)) => Ok(End::Signaled(signal)),
        (None, Ended::Unknown(errno)) => Err(errno),
    }
}

fn outcome(event_loop: &mut EventLoop, over: CommandEnd) -> Result<Attempt, RunError> {
    let is_hung_up = event_loop.streams(Streams::is_hung_up);
    let mut seen = match &mut event_loop.streams {
        Some(streams) => streams.end().map_err(RunError::Fault)?,
        None => Seen::default(),
    };
    seen.unread = over.unread;
    let end = match over.end {
        // Its terminal was hung up since nobody reads what it shows: on a pipe, PIPE.
        End::Signaled(Signal::HUP) if is_hung_up => End::Signaled(Signal::PIPE),
        end => end,
    };
    Ok(Attempt {
        outcome: Outcome {
            end,
            ran: over.ran,
            cut: over.cut,
            seen,
        },
        interrupted: over.interrupted,
    })
}
