//! Writes messages and kept output. Handles signals while a pipe has no room.

use std::borrow::Cow;

use nix::errno::Errno;

use super::waits::BetweenAttempts;
use crate::policy::signal::Signal;
use crate::process::streams::output::Output;
use crate::process::streams::sink::Sink;
use crate::process::streams::{NAMES, Streams};
use crate::process::sys::stdio;
use crate::run::host::RunError;
use crate::run::text::describe;

/// The reason why a text was not written.
pub(super) enum WriteError {
    Refused(Errno),
    /// The text has no reader, and the run is ending or its deadline has passed.
    Unread,
    /// A signal came first.
    Run(RunError),
}

impl WriteError {
    pub(super) fn why(&self) -> String {
        match self {
            WriteError::Refused(errno) => describe(*errno),
            WriteError::Unread => "nobody reads it".into(),
            WriteError::Run(_) => "interrupted".into(),
        }
    }
}

/// Writes all of a text.
pub(super) fn write(between: &mut BetweenAttempts, sink: &Sink, mut rest: &[u8]) -> Result<(), WriteError> {
    while !rest.is_empty() {
        if !between.has_room(sink.fd()).map_err(WriteError::Run)? {
            return Err(WriteError::Unread);
        }
        match sink.write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(errno) => return Err(WriteError::Refused(errno)),
        }
    }
    Ok(())
}

/// Standard error, for messages.
#[derive(Debug, Default)]
pub(super) struct StandardError {
    /// Opened for the first line.
    sink: Option<Sink>,
    /// Earlier lines were lost, as there was no time to wait for their reader.
    pub(super) has_lost_lines: bool,
}

impl StandardError {
    /// Writes lines, ignoring write errors, as no place is left to report them. `is_in_line`: the command is known to
    /// have left an unfinished line.
    pub(super) fn write(
        &mut self,
        between: &mut BetweenAttempts,
        is_in_line: bool,
        lines: &str,
    ) -> Result<(), RunError> {
        let sink = self.sink.get_or_insert_with(|| Sink::new(stdio::ERR));
        let lines = match is_in_line && !lines.starts_with('\n') {
            true => Cow::Owned(format!("\n{lines}")),
            false => Cow::Borrowed(lines),
        };
        let result = write(between, sink, lines.as_bytes());
        if !matches!(result, Err(WriteError::Refused(_))) {
            self.has_lost_lines = result.is_err();
        }
        match result {
            Err(WriteError::Run(error)) => Err(error),
            _ => Ok(()),
        }
    }
}

/// Prints kept output at the end of the run. Returns true if all of it was read in time.
pub(super) fn print_kept(between: &mut BetweenAttempts, succeeded: bool) -> Result<bool, RunError> {
    let Some(mut streams) = between.event_loop.streams.take() else {
        return Ok(true);
    };
    let printed = print_outputs(between, &mut streams, succeeded);
    // Kept output is never printed twice.
    streams.release_messages();
    between.event_loop.streams = Some(streams);
    printed
}

fn print_outputs(between: &mut BetweenAttempts, streams: &mut Streams, succeeded: bool) -> Result<bool, RunError> {
    let mut is_read = true;
    for (i, name) in NAMES.into_iter().enumerate() {
        is_read &= print(between, streams.settle(i, succeeded), name)?;
    }
    Ok(is_read)
}

fn print(between: &mut BetweenAttempts, output: &mut Output, name: &str) -> Result<bool, RunError> {
    while output.print() {
        if !between.wait_for_room(output.sink_fd())? {
            return Ok(!output.holds_output);
        }
    }
    // A failure to print backoff's own lines is not an error.
    match output.fault.take() {
        _ if !output.holds_output => Ok(true),
        // The command would have ended by SIGPIPE.
        _ if output.reader_gone => Err(RunError::Interrupted(Signal::PIPE)),
        Some(why) => Err(RunError::Fault(format!("cannot print {name}: {why}"))),
        None => Ok(true),
    }
}
