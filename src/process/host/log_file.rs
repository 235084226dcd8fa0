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
    /// Made when there is something to write.
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

    /// Opens it, if it is there already: that there will be no log is to be known before it is missed, and a run that has
    /// nothing to say makes no file. The warning, if it cannot be opened.
    pub(super) fn open(&mut self) -> Option<String> {
        let sink = match self.is_not_given {
            true => Err(Errno::EBADF.into()),
            false => Sink::append_if_there(&self.path),
        };
        match sink {
            Ok(sink) => {
                self.sink = sink;
                None
            }
            Err(error) => Some(self.give_up(&describe_error(&error))),
        }
    }

    fn give_up(&mut self, why: &str) -> String {
        self.is_lost = true;
        format!(
            "warning: cannot write to --log-file {:?}: {why}; going on without it",
            self.path
        )
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
        Ok(Some(self.give_up(&why)))
    }

    fn sink(&mut self) -> io::Result<&Sink> {
        let sink = match self.sink.take() {
            Some(sink) => sink,
            None => Sink::append(&self.path)?,
        };
        Ok(self.sink.insert(sink))
    }
}
