//! Reads small regular files: scripts, whose words decide whether a command may be repeated. Devices and pipes, which
//! might block or never end, are not read.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// Limit on the size of a script that is read.
const LARGEST: u64 = 64 << 10;
/// Number of bytes that are kept of a larger file: enough for its first line.
const BEGINNING: usize = 256;

/// The result of reading a file by its path.
#[derive(Debug)]
pub(crate) enum SmallFile {
    /// All of it.
    Bytes(Vec<u8>),
    Missing,
    /// The first bytes of a regular file that is larger than 64 KiB, or of one that grew while it was read.
    TooLarge(Vec<u8>),
    /// The file is not a regular one or cannot be read.
    NotRead,
}

/// Opens a file to read it (a script, the configuration). Opening a named pipe does not block.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits()).open(path)
}

/// Reads a regular file of at most 64 KiB, or the beginning of a larger one. Tells a file that is missing from one that
/// exists but is not read: the latter may contain anything, so the caller must assume the worst.
pub(crate) fn read(path: &Path) -> SmallFile {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return SmallFile::Missing;
        }
        Err(_) => return SmallFile::NotRead,
    };
    if !file.metadata().is_ok_and(|facts| facts.is_file()) {
        return SmallFile::NotRead;
    }
    let mut bytes = Vec::new();
    // One byte more shows that the file is too large.
    if file.take(LARGEST + 1).read_to_end(&mut bytes).is_err() {
        return SmallFile::NotRead;
    }
    if bytes.len() as u64 > LARGEST {
        bytes.truncate(BEGINNING);
        return SmallFile::TooLarge(bytes);
    }
    SmallFile::Bytes(bytes)
}
