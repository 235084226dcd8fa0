//! Reads the configuration file, and checks its owner and mode.

use std::fs::{Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

use super::setting::UsageError;
use crate::run::text::describe_error;

/// Rejects a log or a disk image given by mistake.
const LARGEST: u64 = 1 << 20;

/// Returns the bytes of a file, or None if it is missing and may be. Follows symbolic links, which dotfile managers
/// use.
pub(super) fn read(path: &Path, may_be_missing: bool) -> Result<Option<Vec<u8>>, UsageError> {
    // Without O_NONBLOCK, opening a named pipe would block.
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = match OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits())
        .open(path)
    {
        Ok(file) => file,
        Err(error) if may_be_missing && is_missing(path, &error) => return Ok(None),
        Err(error) => return Err(format!("cannot be opened: {}", describe_error(&error)).into()),
    };
    let unreadable = |error| format!("cannot be read: {}", describe_error(&error));
    // Checks the descriptor, so that the file cannot be exchanged between check and use.
    check_writers(&file.metadata().map_err(unreadable)?)?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err("is larger than 1MiB, so it is not a configuration file".into());
    }
    Ok(Some(bytes))
}

/// Returns true if no file is there, or its directory cannot be searched, such as the home of another user (a service
/// that inherited HOME). If only the file itself cannot be read, its metadata can.
fn is_missing(path: &Path, error: &Error) -> bool {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => true,
        kind => kind == ErrorKind::PermissionDenied && path.metadata().is_err(),
    }
}

/// Checks that only this user or root can have written the file: options may name shell commands.
fn check_writers(facts: &Metadata) -> Result<(), UsageError> {
    let (own, owner, mode) = (geteuid().as_raw(), facts.uid(), facts.mode() & 0o7777);
    if !facts.is_file() {
        return Err("is not a regular file".into());
    }
    if owner != own && owner != 0 {
        return Err(format!(
            "belongs to user {owner}, not to user {own} or root; tip: try --config none"
        )
        .into());
    }
    if mode & 0o022 != 0 {
        return Err(
            format!("can be written by others (mode {mode:04o}); tip: try chmod go-w").into(),
        );
    }
    Ok(())
}
