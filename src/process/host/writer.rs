//! What backoff itself writes: lines about a run, reports, output that was kept. It may go to a pipe that nobody
//! empties, and signals must get through all the same.

use nix::errno::Errno;

use super::between_attempts::BetweenAttempts;
use crate::policy::signal::Signal;
use crate::process::streams::destination::{Broken, OutputDestination};
use crate::process::streams::release::Release;
use crate::process::streams::sink::Sink;
use crate::run::host::RunError;
use crate::run::text::{describe, describe_error};

/// Why a text was not written.
pub(super) enum WriteError {
    /// The system says so.
    Refused(Errno),
    /// Nobody reads it, and the run is ending or its deadline has passed.
    Unread,
    /// A signal came first.
    RunError(RunError),
}

impl WriteError {
    /// What a person should read.
    pub(super) fn why(&self) -> String {
        match self {
            WriteError::Refused(errno) => describe(*errno),
            WriteError::Unread => "nobody reads it".into(),
            WriteError::RunError(_) => "interrupted".into(),
        }
    }
}

/// Writes all of a text, of which `rest` is what has not been written.
pub(super) fn write(between: &mut BetweenAttempts, sink: &Sink, rest: &mut &[u8]) -> Result<(), WriteError> {
    while !rest.is_empty() {
        if !between.has_room(sink.fd()).map_err(WriteError::RunError)? {
            return Err(WriteError::Unread);
        }
        match sink.write(rest) {
            Ok(written) => *rest = &rest[written..],
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(errno) => return Err(WriteError::Refused(errno)),
        }
    }
    Ok(())
}

/// Prints what was kept of both outputs, as the run ended. Whether all of it was read in time.
pub(super) fn print_kept(between: &mut BetweenAttempts, succeeded: bool) -> Result<bool, RunError> {
    let Some(mut streams) = between.event_loop.streams.take() else {
        return Ok(true);
    };
    let mut printed = Ok(true);
    for (output, name) in ["standard output", "standard error"].into_iter().enumerate() {
        let destination = streams.settle(output, succeeded);
        if let Ok(was_read) = printed
            && destination.has_kept()
        {
            printed = print(between, destination, name).map(|is_read| is_read && was_read);
        }
        // Printed, or nobody wants it any more: in no case a second time.
        destination.clear();
        streams.on_written(output);
    }
    streams.settle_lines();
    between.event_loop.streams = Some(streams);
    printed
}

fn print(between: &mut BetweenAttempts, destination: &OutputDestination, name: &str) -> Result<bool, RunError> {
    let fault = |why: String| RunError::Fault(format!("cannot print {name}: {why}"));
    let mut release = Release::default();
    loop {
        let worked = release.work(destination);
        match worked.map_err(|error| fault(describe_error(&error)))? {
            Ok(true) if between.wait_for_room(destination.sink_fd())? => {}
            Ok(true) => return Ok(!destination.holds_output()),
            Ok(false) => return Ok(true),
            // Lines of backoff's own that cannot be written are no further error.
            Err(_) if !destination.holds_output() => return Ok(true),
            // As the command itself would have ended.
            Err(Broken::ReaderGone) => return Err(RunError::Interrupted(Signal::PIPE)),
            Err(Broken::Fault(why)) => return Err(fault(why)),
        }
    }
}
