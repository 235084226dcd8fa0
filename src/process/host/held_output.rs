//! What backoff, a hook or a predicate says where standard error is held back (`--stderr failure`).

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use super::System;
use crate::process::streams::standard::Streams;
use crate::process::sys::native;
use crate::run::host::RunError;
use crate::run::text::describe_error;

/// What a hook or predicate prints: a file that nobody else can open.
#[derive(Debug)]
pub(super) struct HeldOutput {
    file: File,
}

impl HeldOutput {
    pub(super) fn new() -> Result<HeldOutput, RunError> {
        // Memory has no room for what may be much, but where there is no directory it has to do.
        let file = tempfile::tempfile().or_else(|_| native::memory_file());
        let file = file.map_err(|error| cannot_keep(&error))?;
        Ok(HeldOutput { file })
    }

    /// Both outputs write at one place, one after the other.
    pub(super) fn for_child(&self) -> Result<OwnedFd, RunError> {
        let file = self.file.try_clone().map_err(|error| cannot_keep(&error))?;
        Ok(file.into())
    }

    /// Hands on all that was printed.
    pub(super) fn read(&self, mut hand_on: impl FnMut(&[u8]) -> Result<bool, RunError>) -> Result<(), RunError> {
        let mut chunk = [0; 16 * 1024];
        let mut offset = 0;
        loop {
            match self.file.read_at(&mut chunk, offset) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    hand_on(&chunk[..count])?;
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(cannot_keep(&error)),
            }
        }
    }
}

impl System {
    /// What a shell command prints goes here first, where standard error is held back.
    pub(super) fn held_output(&self) -> Result<Option<HeldOutput>, RunError> {
        let streams = self.between.event_loop.streams.as_deref();
        streams
            .is_some_and(Streams::holds_lines)
            .then(HeldOutput::new)
            .transpose()
    }

    /// Holds back what would go to standard error, if the run is to (`--stderr failure`); whether it is.
    pub(super) fn hold(&mut self, bytes: &[u8]) -> Result<bool, RunError> {
        match &mut self.between.event_loop.streams {
            Some(streams) => streams.hold(bytes).map_err(RunError::Fault),
            None => Ok(false),
        }
    }

    pub(super) fn write_to_standard_error(&mut self, lines: &str) -> Result<(), RunError> {
        let begin = self.between.event_loop.streams.as_deref_mut().map(Streams::begin_line);
        let is_in_line = begin.unwrap_or(Ok(false)).map_err(RunError::Fault)?;
        if self.hold(lines.as_bytes())? {
            return Ok(());
        }
        self.standard_error.write(&mut self.between, is_in_line, lines)
    }
}

fn cannot_keep(error: &io::Error) -> RunError {
    let place = std::env::temp_dir();
    RunError::Fault(format!(
        "cannot keep the output of hooks in {}: {}",
        place.display(),
        describe_error(error)
    ))
}
