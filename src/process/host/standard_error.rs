//! Standard error: where backoff says what it has to say.

use std::borrow::Cow;

use super::between_attempts::BetweenAttempts;
use super::writer::{self, WriteError};
use crate::process::streams::sink::Sink;
use crate::process::sys::stdio;
use crate::run::host::RunError;

#[derive(Debug, Default)]
pub(super) struct StandardError {
    /// Opened when there is something to write.
    sink: Option<Sink>,
    /// Since the last lines that were written, some were not: there was no time to wait for their reader.
    pub(super) has_lost_lines: bool,
    /// Of a line that was lost the beginning is there.
    is_in_a_line: bool,
}

impl StandardError {
    /// Writes lines. That they cannot be written is no further error: nobody is left to be told. `is_in_line`: the command
    /// is known to have left a line without its end.
    pub(super) fn write(
        &mut self,
        between: &mut BetweenAttempts,
        is_in_line: bool,
        lines: &str,
    ) -> Result<(), RunError> {
        let sink = self.sink.get_or_insert_with(|| Sink::new(stdio::ERR));
        let lines = match (is_in_line || self.is_in_a_line) && !lines.starts_with('\n') {
            true => Cow::Owned(format!("\n{lines}")),
            false => Cow::Borrowed(lines),
        };
        let mut rest = lines.as_bytes();
        let result = writer::write(between, sink, &mut rest);
        if let Some(last) = lines.as_bytes()[..lines.len() - rest.len()].last() {
            self.is_in_a_line = *last != b'\n';
        }
        match result {
            Ok(()) => self.has_lost_lines = false,
            Err(WriteError::Unread) => self.has_lost_lines = true,
            Err(WriteError::Refused(_)) => {}
            Err(WriteError::RunError(error)) => {
                self.has_lost_lines = true;
                return Err(error);
            }
        }
        Ok(())
    }
}
