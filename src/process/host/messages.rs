//! Writes messages and kept output. Handles signals while a pipe has no room.

use std::io;

use nix::errno::Errno;

use crate::policy::signal::Signal;
use crate::process::attempt::event_loop::EventLoop;
use crate::process::streams::NAMES;
use crate::process::streams::sink::Sink;
use crate::process::sys::clock::now;
use crate::run::host::{RunError, RunResult};
use crate::run::text::describe_error;

/// The reason why a text was not written.
pub(super) enum WriteError {
    Failed(io::Error),
    /// The text has no reader, and the run is ending or its deadline has passed.
    Unread,
    /// A signal came first.
    Run(RunError),
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        WriteError::Failed(error)
    }
}

impl WriteError {
    pub(super) fn why(&self) -> String {
        match self {
            WriteError::Failed(error) => describe_error(error),
            WriteError::Unread => "nobody reads it".into(),
            WriteError::Run(_) => "interrupted".into(),
        }
    }
}

/// Writes all of a text.
pub(super) fn write(event_loop: &mut EventLoop, sink: &Sink, text: &str) -> Result<(), WriteError> {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        if !event_loop.has_room(sink.fd()).map_err(WriteError::Run)? {
            return Err(WriteError::Unread);
        }
        match sink.write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(errno) => return Err(WriteError::Failed(errno.into())),
        }
    }
    Ok(())
}

/// Prints kept output at the end of the run. Returns true if all of it was read in time.
pub(super) fn print_kept(event_loop: &mut EventLoop, succeeded: bool) -> RunResult<bool> {
    event_loop
        .streams
        .outputs
        .iter_mut()
        .for_each(|output| output.settle(succeeded));
    let printed = print(event_loop, 0).and_then(|is_read| Ok(print(event_loop, 1)? && is_read));
    // Kept output is never printed twice.
    event_loop.streams.release_messages();
    printed
}

fn print(event_loop: &mut EventLoop, i: usize) -> RunResult<bool> {
    let until = event_loop.readers_have_until;
    while event_loop.streams.outputs[i].print() {
        if event_loop.streams.has_pending_output() {
            event_loop.wait(until);
        }
        event_loop.receive_signals()?;
        if event_loop.streams.has_pending_output() && until.is_due(now()) {
            let output = &mut event_loop.streams.outputs[i];
            output.close();
            return Ok(!output.holds_output);
        }
    }
    let output = &mut event_loop.streams.outputs[i];
    // A failure to print backoff's own lines is not an error.
    match output.fault.take() {
        _ if !output.holds_output => Ok(true),
        // The command would have ended by SIGPIPE.
        _ if output.reader_gone => Err(RunError::Interrupted(Signal::PIPE)),
        Some(why) => Err(RunError::Fault(format!("cannot print {}: {why}", NAMES[i]))),
        None => Ok(true),
    }
}
