//! Reads scripts, whose words decide whether a command may be repeated. Only small regular files are read, as devices
//! and pipes might block or never end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;

/// Limit on the size of a script.
const LARGEST: u64 = 64 << 10;
/// Opens a file for reading (a script, the configuration). Opening a named pipe does not block.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits()).open(path)
}

/// Reads a regular file of at most 64 KiB. Returns None for any other file, or if it cannot be read.
pub(crate) fn read(path: &Path) -> Option<Vec<u8>> {
    let file = open(path).ok()?;
    let facts = file.metadata().ok()?;
    if !facts.is_file() || facts.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
