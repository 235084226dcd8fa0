//! Reads the configuration file, and checks its owner and mode.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

use crate::run::text::describe_error;

/// Rejects a log or a disk image given by mistake.
const LARGEST: u64 = 1 << 20;

/// Returns the bytes of a file, or an error message.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    open(path).map_err(|error| cannot_open(&error)).and_then(content)
}

/// Returns the bytes of a file, None if the file is missing, or an error message.
pub(super) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match open(path) {
        Ok(file) => content(file).map(Some),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        // A home directory that cannot be searched belongs to another user (a service that inherited HOME).
        Err(error) if error.kind() == ErrorKind::PermissionDenied && path.metadata().is_err() => Ok(None),
        Err(error) => Err(cannot_open(&error)),
    }
}

fn cannot_open(error: &std::io::Error) -> String {
    format!("cannot be opened: {}", describe_error(error))
}

/// Opens a file and follows symbolic links, which dotfile managers use. The caller checks the descriptor, so that the
/// file cannot be exchanged between check and use.
fn open(path: &Path) -> std::io::Result<File> {
    // Without O_NONBLOCK, opening a named pipe would block.
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)
}

fn content(file: File) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {}", describe_error(&error));
    let facts = file.metadata().map_err(unreadable)?;
    trusted(&facts)?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err("is larger than 1MiB, so it is not a configuration file".into());
    }
    Ok(bytes)
}

/// Checks that only this user or root can have written the file: options may name shell commands.
fn trusted(facts: &Metadata) -> Result<(), String> {
    if !facts.is_file() {
        return Err("is not a regular file".into());
    }
    let own = geteuid().as_raw();
    if facts.uid() != own && facts.uid() != 0 {
        return Err(format!(
            "belongs to user {}, not to user {own} or root; try --config none",
            facts.uid()
        ));
    }
    if facts.mode() & 0o022 != 0 {
        return Err(format!(
            "can be written by others (mode {:04o}); try chmod go-w",
            facts.mode() & 0o7777
        ));
    }
    Ok(())
}
