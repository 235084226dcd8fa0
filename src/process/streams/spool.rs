//! Keeps bytes (output to be printed later, input to be replayed) in memory up to a limit, and in an unnamed temporary
//! file beyond it. No other process can open the file, and it vanishes with the process. If the file cannot be written
//! (a full disk), further bytes stay in memory. An error that a function returns is one of such a file.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::write;

use super::sink::{CHUNK, set_chunk_length};
use crate::process::sys::system;
use crate::process::sys::temporary::unnamed;
use crate::run::uninterrupted;
use crate::text::describe_error;

/// Limit on bytes in memory of one spool, as long as there is a file for more.
const IN_MEMORY: usize = 1024 * 1024;
/// Limit on the bytes of one spool that stay in memory because the file cannot be written.
const MOST_IN_PLACE_OF_FILE: usize = 64 * 1024 * 1024;

/// A growing sequence of bytes, readable at any offset.
#[derive(Debug, Default)]
pub(crate) struct Spool {
    /// In order; all but the last are complete.
    parts: Vec<Part>,
    /// Bytes appended by this process.
    pub(super) len: u64,
    /// Set once the temporary file cannot be written.
    in_place_of_file: Option<InPlaceOfFile>,
}

#[derive(Debug)]
enum Part {
    Memory(Vec<u8>),
    /// Every write appends: children write to the file of a shared spool, and without `/proc` a reader moves the offset
    /// of any.
    File(File),
}

/// Bytes in memory that a file should hold.
#[derive(Debug)]
struct InPlaceOfFile {
    /// How many there are.
    bytes: usize,
    /// The directory, and why it cannot hold the file.
    why: String,
}

impl Spool {
    /// Returns an empty spool that is a file from the start, to which children may append, so that their output and
    /// backoff's lines stay in order. If the temporary directory cannot hold the file, it is one in memory; without
    /// that, children cannot append ([`Spool::shared_file`]).
    pub(super) fn shared() -> Spool {
        let mut spool = Spool::default();
        match unnamed().and_then(appending) {
            Ok(file) => spool.parts.push(Part::File(file)),
            Err(error) => spool.go_on_in_memory(&error),
        }
        spool
    }

    /// Appends all bytes, even to a full spool: it never loses any, and [`Spool::full`] tells the caller to stop.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.len += bytes.len() as u64;
        let mut not_in_file = bytes;
        if self.in_place_of_file.is_none() {
            let written = self.append_to_file(bytes);
            if let Some(error) = written.error {
                self.go_on_in_memory(&error);
            }
            not_in_file = &bytes[written.count..];
        }
        self.append_to_memory(not_in_file);
    }

    /// Returns the reason if the spool should hold no more bytes, for a message; None while there is room.
    pub(super) fn full(&self) -> Option<String> {
        let InPlaceOfFile { bytes, why } = self.in_place_of_file.as_ref()?;
        if *bytes <= MOST_IN_PLACE_OF_FILE {
            return None;
        }
        let mebibytes = MOST_IN_PLACE_OF_FILE >> 20;
        Some(format!("{why}, and {mebibytes} MiB of memory are full"))
    }

    /// Appends to memory while all fits there ([`IN_MEMORY`]), and else to a file, to which the first such call moves
    /// the bytes in memory. Returns how many bytes were appended; if not all, the file cannot be created or written.
    fn append_to_file(&mut self, bytes: &[u8]) -> Written {
        if self.parts.is_empty() {
            self.parts.push(Part::Memory(Vec::new()));
        }
        if let [Part::Memory(memory)] = &mut *self.parts {
            if memory.len() + bytes.len() <= IN_MEMORY {
                memory.extend_from_slice(bytes);
                return Written::all(bytes);
            }
            match file_with(memory) {
                Ok(file) => self.parts = vec![Part::File(file)],
                Err(error) => return Written::failed(error),
            }
        }
        match &self.parts[..] {
            [Part::File(file)] => write_to(file, bytes),
            // Not reached: once a file has failed, bytes go to memory.
            _ => Written::failed(io::ErrorKind::NotFound.into()),
        }
    }

    /// Begins a part in memory, as the file failed with `error`, which is remembered for the message about a full
    /// spool. The part is a file, to which children may append, if [`memory_file`] can make one; its bytes count as
    /// bytes in memory, wherever it lies.
    fn go_on_in_memory(&mut self, error: &io::Error) {
        let directory = std::env::temp_dir();
        let why = format!("{}: {}", directory.display(), describe_error(error));
        self.in_place_of_file = Some(InPlaceOfFile { bytes: 0, why });
        let file = memory_file().and_then(appending);
        self.parts
            .push(file.map_or_else(|_| Part::Memory(Vec::new()), Part::File));
    }

    /// Adds bytes to memory, in place of a file that cannot hold them, and counts them. Does nothing while the file can
    /// hold them. Does not check the limit.
    fn append_to_memory(&mut self, mut bytes: &[u8]) {
        let Some(in_place_of_file) = &mut self.in_place_of_file else {
            return;
        };
        in_place_of_file.bytes += bytes.len();
        if let Some(Part::File(file)) = self.parts.last() {
            // A limit on the size of files (`ulimit -f`) holds for one in memory, too: what it refuses is kept below.
            bytes = &bytes[write_to(file, bytes).count..];
        }
        if bytes.is_empty() {
            return;
        }
        if let Some(Part::Memory(memory)) = self.parts.last_mut() {
            memory.extend_from_slice(bytes);
        } else {
            self.parts.push(Part::Memory(bytes.to_vec()));
        }
    }

    /// Returns the file of a [`Spool::shared`] to which children may append; None if no file can hold more, so that
    /// bytes go to plain memory.
    pub(super) fn shared_file(&self) -> Option<&File> {
        match self.parts.last()? {
            Part::File(file) => Some(file),
            Part::Memory(_) => None,
        }
    }

    /// Reads into `chunk`, which it makes long enough, the bytes at the beginning of a range of offsets. Returns how
    /// many: at most a chunk, and only of one part, so the caller asks again for the rest; 0 if the spool has no byte
    /// at that offset.
    pub(crate) fn read_at(
        &self,
        chunk: &mut Vec<u8>,
        Range { start, end }: Range<u64>,
    ) -> io::Result<usize> {
        let mut part_start = 0;
        for part in &self.parts {
            let part_end = part_start + part.len()?;
            if start < part_end {
                let wanted = part_end.min(end).saturating_sub(start);
                set_chunk_length(chunk);
                let count = wanted.min(CHUNK as u64) as usize;
                part.read_at(&mut chunk[..count], start - part_start)?;
                return Ok(count);
            }
            part_start = part_end;
        }
        Ok(0)
    }

    /// Returns a file with all bytes, at offset 0, as the input of a predicate or hook. Each call returns a file with
    /// an offset of its own, except as in [`reopened`]. An error means that the system has no room for a copy, or no
    /// free descriptor.
    pub(crate) fn to_file(&self) -> io::Result<OwnedFd> {
        if let [Part::File(file)] = &self.parts[..] {
            return reopened(file).map(OwnedFd::from);
        }
        let mut file = memory_file()?;
        for part in &self.parts {
            part.write_to(&mut file)?;
        }
        file.rewind()?;
        Ok(file.into())
    }
}

impl Part {
    /// Returns the number of bytes; in a file also those that children have appended.
    fn len(&self) -> io::Result<u64> {
        match self {
            Part::Memory(memory) => Ok(memory.len() as u64),
            Part::File(file) => Ok(file.metadata()?.len()),
        }
    }

    /// Fills `chunk` from an offset of this part, behind which the part must have as many bytes.
    fn read_at(&self, chunk: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Part::Memory(memory) => {
                let begin = offset as usize;
                chunk.copy_from_slice(&memory[begin..begin + chunk.len()]);
                Ok(())
            }
            Part::File(file) => file.read_exact_at(chunk, offset),
        }
    }

    /// Appends all bytes to another file.
    fn write_to(&self, to: &mut File) -> io::Result<()> {
        match self {
            Part::Memory(memory) => to.write_all(memory),
            Part::File(file) => io::copy(&mut reopened(file)?, to).map(drop),
        }
    }
}

/// Opens an unnamed file again for reading, with an offset of its own, as several readers may read it. Without `/proc`,
/// it shares the offset of `file`, which is rewound.
fn reopened(file: &File) -> io::Result<File> {
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd())).or_else(|_| {
        let mut same = file.try_clone()?;
        same.rewind()?;
        Ok(same)
    })
}

/// Creates a temporary file with bytes that were kept in memory until now. Every later write to it appends, as a reader
/// may move its offset. An error means that it cannot hold them all; the caller still has them.
fn file_with(bytes: &[u8]) -> io::Result<File> {
    let file = appending(unnamed()?)?;
    match write_to(&file, bytes).error {
        Some(error) => Err(error),
        None => Ok(file),
    }
}

/// The result of a write.
struct Written {
    /// How many bytes were written.
    count: usize,
    /// Why these are not all.
    error: Option<io::Error>,
}

impl Written {
    /// Returns the result of a write of all these bytes.
    fn all(bytes: &[u8]) -> Written {
        Written {
            count: bytes.len(),
            error: None,
        }
    }

    /// Returns the result of a write that failed before the first byte.
    fn failed(error: io::Error) -> Written {
        Written {
            count: 0,
            error: Some(error),
        }
    }
}

/// Writes all bytes, in several steps if necessary. Unlike `write_all`, tells after an error how many were written.
fn write_to(file: &File, bytes: &[u8]) -> Written {
    let mut count = 0;
    while count < bytes.len() {
        let errno = match uninterrupted(|| write(file, &bytes[count..])) {
            // Without an error the loop would try for ever.
            Ok(0) => Errno::ENOSPC,
            Ok(written) => {
                count += written;
                continue;
            }
            Err(errno) => errno,
        };
        return Written {
            count,
            error: Some(errno.into()),
        };
    }
    Written::all(bytes)
}

/// Makes every write to a file append.
fn appending(file: File) -> io::Result<File> {
    fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
    Ok(file)
}

/// Creates a file in memory, or in the temporary directory if that fails.
fn memory_file() -> io::Result<File> {
    system::memory_file().or_else(|_| unnamed())
}

/// Bytes read from standard input, up to a limit.
#[derive(Debug, Default)]
pub(super) struct Replayable {
    pub(super) spool: Spool,
    /// `--stdin-limit`, in bytes.
    pub(super) limit: u64,
    /// The bytes exceeded the limit or could not be kept, so they cannot be replayed.
    pub(super) is_incomplete: bool,
    /// Why they could not be kept; None if they exceeded the limit.
    pub(super) error: Option<String>,
}

impl Replayable {
    /// Keeps more bytes, unless some are lost already: an input with a gap cannot be replayed. If they exceed the limit
    /// or cannot be kept, only notes that (`is_incomplete`): then no further attempt is made.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        self.is_incomplete |= self.spool.len + bytes.len() as u64 > self.limit;
        if self.is_incomplete || bytes.is_empty() {
            return;
        }
        self.error = self.spool.full();
        if self.error.is_some() {
            self.is_incomplete = true;
        } else {
            self.spool.append(bytes);
        }
    }
}
