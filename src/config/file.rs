//! Reads the configuration file, and checks its owner and mode: its options may name shell commands, so somebody else
//! who can write to it could run commands as this user.

use std::fs::Metadata;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::geteuid;

use super::setting::UsageError;
use crate::process::sys::small_files::open;
use crate::text::describe_error;

/// Rejects a log or a disk image given by mistake.
const LARGEST: u64 = 1 << 20;

/// How the user chose the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// `--config` or `BACKOFF_CONFIG` names it.
    Named,
    /// It is at the default place, and may be missing.
    Default,
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) bytes: Vec<u8>,
    /// Reason why someone else may have written it, for a message: `others can write to it (mode 0666)`. Only for a
    /// named file, as others may not write to the default one. Such a file may set only harmless options: any other is
    /// an error.
    pub(super) distrust: Option<String>,
}

/// Returns the content of a file, or None if the default file is missing, or its directory cannot be searched; a
/// missing file that the user named is an error. Follows symbolic links, which dotfile managers use. An error is the
/// rest of a sentence, which the caller begins with the file's name.
pub(super) fn read(path: &Path, choice: Choice) -> Result<Option<Content>, UsageError> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if choice == Choice::Default && is_missing(path, &error) => return Ok(None),
        Err(error) => {
            return Err(UsageError::new(format!(
                "cannot be opened: {}",
                describe_error(&error)
            )));
        }
    };
    // Checks the descriptor, so that the file cannot be exchanged between check and use.
    let distrust = check_writers(
        &file.metadata().map_err(|error| unreadable(&error))?,
        choice,
    )?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LARGEST {
        return Err(UsageError::new(
            "is larger than 1MiB, so it is not a configuration file",
        ));
    }
    Ok(Some(Content { bytes, distrust }))
}

fn unreadable(error: &Error) -> UsageError {
    UsageError(format!("cannot be read: {}", describe_error(error)))
}

/// Returns true if `error`, of opening the default file, means that there is none: no file is there, or its directory
/// cannot be searched, such as the home of another user (a service that inherited HOME). A file that is there but
/// cannot be read is not missing: its metadata can be read.
fn is_missing(path: &Path, error: &Error) -> bool {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => true,
        kind => kind == ErrorKind::PermissionDenied && path.metadata().is_err(),
    }
}

/// Checks that the file is a regular one, and who can have written it. A default file that someone else than this user
/// or root can write to is an error: the user has not asked for it. For a named file, returns why it is not to be
/// trusted, or None if it is. Its group may write to a named file, as in a clone with umask 002, but others may not.
fn check_writers(metadata: &Metadata, choice: Choice) -> Result<Option<String>, UsageError> {
    let own = geteuid().as_raw();
    let owner = metadata.uid();
    let mode = metadata.mode() & 0o7777;
    if !metadata.is_file() {
        return Err(UsageError::new("is not a regular file"));
    }
    let is_foreign = owner != own && owner != 0;
    if choice == Choice::Named {
        return Ok(if is_foreign {
            Some(format!(
                "it belongs to user {owner}, not to user {own} or root"
            ))
        } else if mode & 0o002 != 0 {
            Some(format!("others can write to it (mode {mode:04o})"))
        } else {
            None
        });
    }
    if is_foreign {
        return Err(UsageError::new(format!(
            "belongs to user {owner}, not to user {own} or root; tip: try --config none"
        )));
    }
    if mode & 0o022 != 0 {
        return Err(UsageError::new(format!(
            "can be written by others (mode {mode:04o}); tip: try chmod go-w"
        )));
    }
    Ok(None)
}
