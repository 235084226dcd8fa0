//! Printing what was kept of an output, when the run is over.

use std::io;

use super::destination::{Broken, OutputDestination};

/// Read at once.
const CHUNK: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Release {
    offset: u64,
    chunk: Vec<u8>,
    written: usize,
}

impl Release {
    /// Writes some more. Whether there is more to write, or why it cannot be printed wholly. That more could not be
    /// kept is told elsewhere; what was kept is printed all the same.
    pub(crate) fn work(&mut self, destination: &OutputDestination) -> io::Result<Result<bool, Broken>> {
        if self.written == self.chunk.len() {
            self.chunk.resize(CHUNK, 0);
            let count = destination.read_kept(&mut self.chunk, self.offset)?;
            self.chunk.truncate(count);
            self.offset += count as u64;
            self.written = 0;
        }
        if self.chunk.is_empty() {
            return Ok(Ok(false));
        }
        Ok(destination.try_write(&self.chunk[self.written..]).map(|count| {
            self.written += count;
            true
        }))
    }
}
