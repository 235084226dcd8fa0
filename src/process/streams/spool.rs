//! Bytes that are kept: in memory up to a limit, beyond it in an unnamed temporary file, which
//! nobody else can open and which is gone with the process, however that ends.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use crate::process::sys::native;
use crate::run::text::describe_error;

/// What one spool keeps in memory.
pub(crate) const IN_MEMORY: usize = 1024 * 1024;

/// A growing sequence of bytes that can be read anywhere.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    memory: Vec<u8>,
    /// Everything, once it was more than [`IN_MEMORY`].
    file: Option<File>,
    length: u64,
}

impl Spool {
    /// How many bytes are kept.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Appends. On an error (a full disk) what was kept before is still there; the error names the
    /// directory of the file.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.memory.len() + bytes.len() <= IN_MEMORY {
            self.memory.extend_from_slice(bytes);
            self.length += bytes.len() as u64;
            return Ok(());
        }
        self.append_to_file(bytes).map_err(|error| {
            let place = std::env::temp_dir();
            io::Error::new(error.kind(), format!("{}: {}", place.display(), describe_error(&error)))
        })
    }

    fn append_to_file(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            let file = tempfile::tempfile()?;
            file.write_all_at(&self.memory, 0)?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        if let Some(file) = &self.file {
            file.write_all_at(bytes, self.length)?;
            self.length += bytes.len() as u64;
        }
        Ok(())
    }

    /// Reads what is kept from `offset` on into `buffer`; 0 at the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        match &self.file {
            Some(file) => loop {
                match file.read_at(&mut buffer[..left], offset) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => return read,
                }
            },
            None => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.memory.len());
                buffer[..left].copy_from_slice(&self.memory[start..start + left]);
                Ok(left)
            }
        }
    }

    /// What is kept, as a file to be read from its beginning.
    pub(crate) fn to_file(&self) -> io::Result<OwnedFd> {
        let mut file = match &self.file {
            Some(file) => file.try_clone()?,
            None => {
                let file = native::memory_file()?;
                file.write_all_at(&self.memory, 0)?;
                file
            }
        };
        file.rewind()?;
        Ok(file.into())
    }

    /// Forgets everything; the space is given back.
    pub(crate) fn clear(&mut self) {
        *self = Spool::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out_across_the_limit() {
        let mut spool = Spool::default();
        let all: Vec<u8> = (0..3 * IN_MEMORY).map(|i| (i * 7 % 251) as u8).collect();
        for part in all.chunks(100_003) {
            spool.append(part).unwrap();
        }
        assert_eq!(spool.len(), all.len() as u64);
        let mut back = Vec::new();
        let mut buffer = [0; 65_536];
        loop {
            let count = spool.read_at(&mut buffer, back.len() as u64).unwrap();
            if count == 0 {
                break;
            }
            back.extend_from_slice(&buffer[..count]);
        }
        assert!(back == all);
        spool.clear();
        assert!(spool.is_empty() && spool.read_at(&mut buffer, 0).unwrap() == 0);
    }
}
