//! The file of `--log-file`.

use std::io;
use std::path::PathBuf;

use nix::errno::Errno;

use super::between_attempts::BetweenAttempts;
use super::writer::{self, WriteError};
use crate::process::streams::sink::{self, Sink};
use crate::process::sys::fd;
use crate::run::host::RunError;
use crate::run::text::describe_error;

#[derive(Debug)]
pub(super) struct LogFile {
    path: PathBuf,
    /// The path stands for a descriptor that backoff was not given. One of its own may get that number.
    is_not_given: bool,
    /// Opened when there is something to write.
    sink: Option<Sink>,
    is_lost: bool,
}

impl LogFile {
    /// Before backoff opens anything of its own.
    pub(super) fn new(path: PathBuf) -> LogFile {
        LogFile {
            is_not_given: sink::descriptor(&path).is_some_and(|number| !fd::is_open(number)),
            path,
            sink: None,
            is_lost: false,
        }
    }

    /// Writes lines. Where they cannot be written, no later ones are; a warning says so, once.
    pub(super) fn write(&mut self, between: &mut BetweenAttempts, lines: &str) -> Result<Option<String>, RunError> {
        if self.is_lost {
            return Ok(None);
        }
        let why = match self
            .sink()
            .map(|sink| writer::write(between, sink, &mut lines.as_bytes()))
        {
            Ok(Ok(())) => return Ok(None),
            Ok(Err(WriteError::RunError(error))) => return Err(error),
            Ok(Err(unwritten)) => unwritten.why(),
            Err(error) => describe_error(&error),
        };
        self.is_lost = true;
        Ok(Some(format!(
            "warning: cannot write to --log-file {:?}: {why}; going on without it",
            self.path
        )))
    }

    fn sink(&mut self) -> io::Result<&Sink> {
        if self.is_not_given {
            return Err(Errno::EBADF.into());
        }
        let sink = match self.sink.take() {
            Some(sink) => sink,
            None => Sink::append(&self.path)?,
        };
        Ok(self.sink.insert(sink))
    }
}
