//! Keeps bytes in memory up to a limit, and in an unnamed temporary file beyond it. No other process can open the file,
//! and it vanishes with the process.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tempfile::tempfile;

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
        let in_memory = Ok(self.memory.len() as u64);
        self.file.as_ref().map_or(in_memory, |file| Ok(file.metadata()?.len()))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.file.is_none()
    }

    /// Appends bytes. After an error (a full disk) the spool is unchanged. The error names the directory.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() && self.memory.len() + bytes.len() <= IN_MEMORY {
            self.memory.extend_from_slice(bytes);
            return Ok(());
        }
        self.append_to_file(bytes).map_err(|error| {
            let (directory, why) = (std::env::temp_dir(), describe_error(&error));
            io::Error::new(error.kind(), format!("{}: {why}", directory.display()))
        })
    }

    fn append_to_file(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            let mut file = appending(tempfile()?)?;
            file.write_all(&self.memory)?;
            *self = Spool {
                file: Some(file),
                memory: Vec::new(),
            };
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let before = file.metadata()?.len();
        file.write_all(bytes).inspect_err(|_| {
            let _ = file.set_len(before);
        })
    }

    /// Creates the file of an empty spool. Returns a descriptor for children to append to.
    pub(crate) fn for_children(&mut self) -> io::Result<OwnedFd> {
        // The output may be large. Memory is the fallback if no directory is usable.
        let file = appending(tempfile().or_else(|_| memory_file())?)?;
        Ok(self.file.insert(file).try_clone()?.into())
    }

    /// Reads from `offset` on; returns 0 at the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = self.len()?.saturating_sub(offset);
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        match &self.file {
            Some(file) => file.read_exact_at(&mut buffer[..count], offset)?,
            None => buffer[..count].copy_from_slice(&self.memory[offset as usize..][..count]),
        }
        Ok(count)
    }

    /// Returns a file at offset 0.
    pub(crate) fn to_file(&self) -> io::Result<OwnedFd> {
        let mut file = self.file.as_ref().map_or_else(memory_file, File::try_clone)?;
        file.write_all(&self.memory)?;
        file.rewind()?;
        Ok(file.into())
    }

    /// Drops all bytes and frees their space.
    pub(crate) fn clear(&mut self) {
        *self = Spool::default();
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
    pub(super) is_lost: bool,
    /// Why they could not be kept.
    pub(super) error: Option<String>,
}

impl Replayable {
    /// Keeps more bytes, unless some are lost already.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || self.is_lost {
            return;
        }
        let kept = match self.spool.len() {
            Ok(len) if len + bytes.len() as u64 > self.limit => Ok(false),
            Ok(_) => self.spool.append(bytes).map(|()| true),
            Err(error) => Err(error),
        };
        self.is_lost = !matches!(kept, Ok(true));
        self.error = kept.err().map(|error| error.to_string());
    }
}
