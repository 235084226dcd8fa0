//! Opens the log, and replaces the report. Both are checked first, as others may be able to write to the directory.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use super::target::{
    FileTarget, descriptor, is_own, is_shared, is_sticky, open_safely, require_own,
};
use crate::process::streams::sink::Sink;
use crate::process::sys::fd::is_inherited;
use crate::process::sys::temporary::named;

/// The handling of a file that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Create,
    /// Leave it missing, but check that it could be created.
    Leave,
}

/// Opens a file for appending, without ever waiting; a new file is private to this user. A named pipe without a reader
/// is an error, as is a file that another user may have put there. Returns `None` only with [`IfMissing::Leave`], if
/// the file does not exist, but could be created, as its directory is writable.
pub(crate) fn open_to_append(path: &Path, if_missing: IfMissing) -> io::Result<Option<Sink>> {
    let target = FileTarget::follow(path)?;
    // `/dev/stdout`: is written to as it is. Opened by its path, a file would have an offset of its own, so that the
    // log and the command would overwrite each other.
    if let Some(fd) = descriptor(&target.path) {
        // The user cannot mean one of backoff's own descriptors.
        if !is_inherited(fd) {
            return Err(Errno::EBADF.into());
        }
        return Ok(Some(Sink::new(fd)));
    }
    if if_missing == IfMissing::Leave && !target.path.exists() {
        access(&target.dir, AccessFlags::W_OK | AccessFlags::X_OK)?;
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    let file = open_safely(
        options
            .append(true)
            .create(if_missing == IfMissing::Create)
            .mode(0o600),
        &target.path,
    )?;
    // Another user may have put the file there, to read the log. Same check as `fs.protected_regular` of Linux.
    if is_sticky(&target.dir_meta) {
        require_own(&file.metadata()?)?;
    }
    Ok(Some(Sink::Own(file)))
}

/// The outcome of [`replace`].
pub(crate) enum Replaced {
    Done,
    /// The target is no regular file, such as a pipe: the caller has to write the text to this sink.
    NotAFile(Sink),
}

/// Replaces a file by `text`, atomically: writes a new file beside it and renames that, so that a reader sees the old
/// text or the new one. The permissions of this user's file stay; a new file, or one in place of another user's, is
/// private to this user. Writes nothing to a target that is no regular file, such as a pipe, and returns a sink for it
/// instead. An error leaves the old file. It is an error if this user may not write the old file, or if it is another
/// user's in a directory where that user may have put it.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<Replaced> {
    let target = FileTarget::follow(path)?;
    let metadata = fs::metadata(&target.path).ok();
    let is_special = metadata.as_ref().is_some_and(|facts| !facts.is_file());
    if is_special || target.entry().is_none() {
        return match open_to_append(path, IfMissing::Create)? {
            Some(sink) => Ok(Replaced::NotAFile(sink)),
            // Not reached: only a file that may stay missing has no sink.
            None => Ok(Replaced::Done),
        };
    }
    let mut mode = 0o600;
    if let Some(metadata) = metadata {
        // In more directories than for a log (`is_sticky`): replacing, unlike appending or a shell's `>`, makes the
        // file this user's.
        if is_shared(&target.dir_meta) {
            require_own(&metadata)?;
        }
        // Replacing needs no permission for the old file, but a shell's `>` would: a file that is read-only stays.
        access(&target.path, AccessFlags::W_OK)?;
        if is_own(&metadata) {
            mode = metadata.mode() & 0o777;
        }
    }
    let mut file = named(".backoff-report-", &target.dir)?;
    file.write_all(text.as_bytes())?;
    // Some file systems (vfat) refuse any change of the mode.
    if mode != 0o600 {
        file.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
    }
    file.persist(&target.path)?;
    Ok(Replaced::Done)
}
