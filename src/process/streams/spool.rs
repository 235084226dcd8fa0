//! Keeps bytes in memory up to a limit, and in an unnamed temporary file beyond it. No other process can open the file,
//! and it vanishes with the process.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tempfile::tempfile;

use super::sink::{CHUNK, set_chunk_length};
use crate::run::text::describe_error;

/// Limit on bytes in memory of one spool.
const IN_MEMORY: usize = 1024 * 1024;

/// A growing sequence of bytes, readable at any offset.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    memory: Vec<u8>,
    /// Holds all bytes once it exists. Every write appends, so that children may write to it, too.
    pub(super) file: Option<File>,
    /// Bytes appended by this process.
    pub(super) len: u64,
}

impl Spool {
    /// Returns an empty spool with a file that children may append to.
    pub(super) fn shared() -> io::Result<Spool> {
        // The output may be large. Memory is the fallback if no directory is usable.
        let file = Some(appending(tempfile().or_else(|_| memory_file())?)?);
        Ok(Spool {
            file,
            ..Spool::default()
        })
    }

    /// Appends bytes. The error names the directory.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.memory.len() + bytes.len() <= IN_MEMORY {
            self.memory.extend_from_slice(bytes);
        } else {
            self.append_to_file(bytes).map_err(|error| {
                let (directory, why) = (std::env::temp_dir(), describe_error(&error));
                io::Error::new(error.kind(), format!("{}: {why}", directory.display()))
            })?;
        }
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Appends to the file. A new file gets the bytes in memory first; memory is freed once they are written.
    fn append_to_file(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            return file.write_all(bytes);
        }
        let mut file = appending(tempfile()?)?;
        file.write_all(&self.memory)?;
        self.memory = Vec::new();
        self.file.insert(file).write_all(bytes)
    }

    /// Reads a chunk at the beginning of a range of offsets; returns 0 at the end.
    pub(crate) fn read_at(
        &self,
        chunk: &mut Vec<u8>,
        Range { start, end }: Range<u64>,
    ) -> io::Result<usize> {
        let Some(file) = &self.file else {
            // Memory never holds bytes beyond `end`.
            *chunk = self
                .memory
                .get(start as usize..)
                .unwrap_or_default()
                .to_vec();
            return Ok(chunk.len());
        };
        // A failed append may have left bytes beyond `end`.
        let left = file.metadata()?.len().min(end).saturating_sub(start);
        let count = left.min(CHUNK as u64) as usize;
        set_chunk_length(chunk);
        file.read_exact_at(&mut chunk[..count], start)?;
        Ok(count)
    }

    /// Returns a file with all bytes, at offset 0.
    pub(crate) fn to_file(&self) -> io::Result<OwnedFd> {
        let mut file = self
            .file
            .as_ref()
            .map_or_else(memory_file, File::try_clone)?;
        // Memory is empty if there was a file.
        file.write_all(&self.memory)?;
        file.rewind()?;
        Ok(file.into())
    }
}

fn appending(file: File) -> io::Result<File> {
    fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
    Ok(file)
}

/// Creates a file in memory, or in the temporary directory if that fails.
#[cfg(not(portable))]
fn memory_file() -> io::Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    let fd = memfd_create(c"backoff", MFdFlags::MFD_CLOEXEC);
    fd.map(File::from).or_else(|_| tempfile())
}

/// Creates a file in the temporary directory, or in `/tmp`.
#[cfg(portable)]
fn memory_file() -> io::Result<File> {
    tempfile().or_else(|_| tempfile::tempfile_in("/tmp"))
}

/// Bytes read from standard input, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Replayable {
    pub(super) spool: Spool,
    pub(super) limit: u64,
    /// The bytes exceeded the limit or could not be kept, so they cannot be replayed.
    pub(super) is_incomplete: bool,
    /// Why they could not be kept.
    pub(super) error: Option<String>,
}

impl Replayable {
    /// Keeps more bytes, unless some are lost already.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        self.is_incomplete |= self.spool.len + bytes.len() as u64 > self.limit;
        if !self.is_incomplete {
            self.error = self
                .spool
                .append(bytes)
                .err()
                .map(|error| error.to_string());
            self.is_incomplete = self.error.is_some();
        }
    }
}
