//! Kept bytes: output to print later or to give to predicates and hooks, or input to replay. They are in an in-memory
//! file, and beyond [`IN_MEMORY`] in an unnamed file in the temporary directory. No other process can open either, and
//! both vanish with the process. Errors returned here come from such a file.

use std::fs::File;
use std::io::{self, Seek};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::write;

use super::sink::{CHUNK, set_chunk_length};
use crate::process::sys::system::memory_file;
use crate::run::uninterrupted;
use crate::text::describe_error;

/// Limit on bytes in memory.
const IN_MEMORY: u64 = 16 << 20;
/// The same if the temporary directory cannot be used.
const MOST_IN_MEMORY: u64 = 64 << 20;

/// A growing sequence of bytes, readable at any offset.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    /// Created at first use.
    file: Option<File>,
    /// Why the temporary directory cannot hold the file, which remains in memory.
    stays_in_memory: Option<String>,
    /// The file is in the temporary directory.
    is_on_disk: bool,
    /// Bytes appended by this process.
    pub(super) len: u64,
    /// Why no more should be appended.
    pub(super) full: Option<String>,
    /// Bytes that were appended once the file was full.
    overflow: Vec<u8>,
}

impl Spool {
    /// Appends all bytes, even to a full spool, so none is ever lost. `full` tells the caller to stop.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        let mut written = 0;
        if self.full.is_none()
            && let Err(error) = self.append_to_file(bytes, &mut written)
        {
            self.full = Some(describe_error(&error));
        }
        self.overflow.extend_from_slice(&bytes[written..]);
        self.len += bytes.len() as u64;
    }

    /// Appends to the file. Counts in `written` how many bytes it has taken, even if not all.
    fn append_to_file(&mut self, bytes: &[u8], written: &mut usize) -> io::Result<()> {
        let len = self.len + bytes.len() as u64;
        if len > IN_MEMORY && !self.is_on_disk && self.stays_in_memory.is_none() {
            self.move_to_disk();
        }
        if let Some(why) = &self.stays_in_memory
            && len > MOST_IN_MEMORY
        {
            let mebibytes = MOST_IN_MEMORY >> 20;
            let why = format!("{why}, and {mebibytes} MiB of memory are used up");
            return Err(io::Error::other(why));
        }
        let file = self.shared_file()?;
        while *written < bytes.len() {
            match uninterrupted(|| write(file, &bytes[*written..]))? {
                // Without an error the loop would never end.
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => *written += count,
            }
        }
        Ok(())
    }

    fn move_to_disk(&mut self) {
        match self.copy_on_disk() {
            Ok(file) => {
                self.file = Some(file);
                self.is_on_disk = true;
            }
            Err(error) => {
                let directory = std::env::temp_dir();
                let why = format!("{}: {}", directory.display(), describe_error(&error));
                self.stays_in_memory = Some(why);
            }
        }
    }

    fn copy_on_disk(&self) -> io::Result<File> {
        let mut on_disk = tempfile::tempfile()?;
        if let Some(file) = &self.file {
            io::copy(&mut reopened(file)?, &mut on_disk)?;
        }
        appending(on_disk)
    }

    /// Returns the file. Every write to it appends, because children may also write to it and a reader may move its
    /// offset. So their output and backoff's lines remain in order.
    pub(super) fn shared_file(&mut self) -> io::Result<&File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => appending(memory_file().or_else(|_| tempfile::tempfile())?)?,
        };
        Ok(self.file.insert(file))
    }

    /// Returns the number of bytes, including those that children have appended.
    pub(super) fn len_of_all(&self) -> io::Result<u64> {
        Ok(self.len_of_file()? + self.overflow.len() as u64)
    }

    fn len_of_file(&self) -> io::Result<u64> {
        match &self.file {
            Some(file) => Ok(file.metadata()?.len()),
            None => Ok(0),
        }
    }

    /// Reads the bytes at the beginning of a range of offsets into `chunk`, which it makes long enough. Returns how
    /// many, at most a chunk, so the caller asks again for the rest. Returns 0 if the spool has no byte at that offset.
    pub(crate) fn read_at(
        &self,
        chunk: &mut Vec<u8>,
        Range { start, end }: Range<u64>,
    ) -> io::Result<usize> {
        set_chunk_length(chunk);
        let wanted = end.saturating_sub(start).min(CHUNK as u64) as usize;
        let len_of_file = self.len_of_file()?;
        if let Some(file) = &self.file
            && start < len_of_file
        {
            let count = wanted.min((len_of_file - start) as usize);
            file.read_exact_at(&mut chunk[..count], start)?;
            return Ok(count);
        }
        let begin = (start - len_of_file) as usize;
        let rest = self.overflow.get(begin..).unwrap_or_default();
        let count = wanted.min(rest.len());
        chunk[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    /// Returns a file with all bytes, at offset 0, as the input of a predicate or hook. Each call returns a file with
    /// its own offset, except as in [`reopened`]. Returns an error if bytes are missing from it, or if no descriptor is
    /// free.
    pub(crate) fn input_of_child(&mut self) -> io::Result<OwnedFd> {
        match &self.full {
            Some(why) => Err(io::Error::other(why.as_str())),
            None => reopened(self.shared_file()?).map(OwnedFd::from),
        }
    }
}

/// Reopens an unnamed file for reading, with its own offset, as several readers may read it. Without `/proc`, it shares
/// the offset of `file`, which is rewound.
fn reopened(file: &File) -> io::Result<File> {
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd())).or_else(|_| {
        let mut same = file.try_clone()?;
        same.rewind()?;
        Ok(same)
    })
}

/// Makes every write to a file append.
fn appending(file: File) -> io::Result<File> {
    fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
    Ok(file)
}
