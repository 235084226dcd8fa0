//! Keeps bytes in memory up to a limit, and in an unnamed temporary file beyond it. No other process can open the file,
//! and it vanishes with the process.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use crate::process::sys::fd::set_append;
use crate::process::sys::native::memory_file;
use crate::run::text::describe_error;

/// Limit on bytes in memory of one spool.
const IN_MEMORY: usize = 1024 * 1024;

/// A growing sequence of bytes, readable at any offset.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    memory: Vec<u8>,
    /// Holds all bytes once it exists. Every write appends, so that children may write to it, too.
    file: Option<File>,
}

impl Spool {
    pub(crate) fn len(&self) -> io::Result<u64> {
        match &self.file {
            Some(file) => Ok(file.metadata()?.len()),
            None => Ok(self.memory.len() as u64),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.file.is_none()
    }

    /// Appends bytes. After an error (a full disk) the spool is unchanged. The error names the directory of the file.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.memory.len() + bytes.len() <= IN_MEMORY {
            self.memory.extend_from_slice(bytes);
            return Ok(());
        }
        let appended = self.in_file(tempfile::tempfile).and_then(|file| append(file, bytes));
        appended.map_err(|error| {
            let place = std::env::temp_dir();
            io::Error::new(error.kind(), format!("{}: {}", place.display(), describe_error(&error)))
        })
    }

    /// Moves the bytes into a file, unless they are in one already.
    fn in_file(&mut self, create: fn() -> io::Result<File>) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let mut file = create()?;
                set_append(&file)?;
                file.write_all(&self.memory)?;
                self.memory = Vec::new();
                file
            }
        };
        Ok(self.file.insert(file))
    }

    /// Returns a descriptor for a child to append to.
    pub(crate) fn for_child(&mut self) -> io::Result<OwnedFd> {
        // Memory is the fallback if no directory is usable, as the output may be large.
        let file = self.in_file(|| tempfile::tempfile().or_else(|_| memory_file()))?;
        Ok(file.try_clone()?.into())
    }

    /// Reads from `offset` on; returns 0 at the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if let Some(file) = &self.file {
            loop {
                match file.read_at(buffer, offset) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => return read,
                }
            }
        }
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.memory.get(offset..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    /// Returns a file at offset 0.
    pub(crate) fn to_file(&self) -> io::Result<OwnedFd> {
        let Some(file) = &self.file else {
            return file_of(&self.memory);
        };
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok(file.into())
    }

    /// Drops all bytes and frees their space.
    pub(crate) fn clear(&mut self) {
        *self = Spool::default();
    }
}

/// Returns a file with these bytes, at offset 0.
pub(super) fn file_of(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = memory_file()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

fn append(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    file.write_all(bytes).inspect_err(|_| {
        let _ = file.set_len(before);
    })
}

/// Bytes read from standard input, up to a limit.
#[derive(Debug)]
pub(super) struct Replayable {
    pub(super) spool: Spool,
    limit: u64,
    /// The bytes exceeded the limit or could not be kept, so they cannot be replayed.
    pub(super) is_lost: bool,
}

impl Replayable {
    pub(super) fn new(limit: u64) -> Replayable {
        Replayable {
            spool: Spool::default(),
            limit,
            is_lost: false,
        }
    }

    pub(super) fn has_room_for(&self, count: usize) -> io::Result<bool> {
        Ok(self.spool.len()? + count as u64 <= self.limit)
    }

    /// Keeps more bytes, unless some are lost already.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() || self.is_lost {
            return Ok(());
        }
        match self.has_room_for(bytes.len()) {
            Ok(true) => self.spool.append(bytes),
            has_room => has_room.map(|_| self.lose()),
        }
        .inspect_err(|_| self.lose())
    }

    /// Drops all bytes, as an incomplete input cannot be replayed.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.spool.clear();
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
        assert_eq!(spool.len().unwrap(), all.len() as u64);
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
