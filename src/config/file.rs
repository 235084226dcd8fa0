//! Reads the config file. The default one is checked for its owner and mode. Its options may name shell commands, so
//! anyone who can write to it could run commands as this user. A file that the user names is trusted, as in `sh FILE`.

use std::fs::Metadata;
use std::io::{Error, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::geteuid;

use crate::process::sys::small_files::open;
use crate::text::describe_error;

/// Rejects a log or a disk image given by mistake.
const LARGEST: u64 = 1 << 20;

/// Returns the content of a file, or None if the default file is missing or its directory cannot be searched. A missing
/// file that the user named (not `is_default`) is an error. Follows symbolic links, which dotfile managers use. An
/// error completes a sentence that begins with the file's name.
pub(super) fn read(path: &Path, is_default: bool) -> Result<Option<Vec<u8>>, String> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_default && is_missing(path, &error) => return Ok(None),
        Err(error) => {
            return Err(format!("cannot be opened: {}", describe_error(&error)));
        }
    };
    // Checks the descriptor, so that the file cannot be replaced between check and use.
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if is_default {
        check_writers(&metadata)?;
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LARGEST {
        return Err("is larger than 1MiB, so it is not a configuration file".to_owned());
    }
    Ok(Some(bytes))
}

fn unreadable(error: &Error) -> String {
    format!("cannot be read: {}", describe_error(error))
}

/// Returns true if `error`, from opening the default file, means that there is none. No file is there, or its directory
/// cannot be searched, such as another user's home (a service that inherited HOME). A file that exists but cannot be
/// read is not missing, because its metadata can be read.
fn is_missing(path: &Path, error: &Error) -> bool {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => true,
        kind => kind == ErrorKind::PermissionDenied && path.metadata().is_err(),
    }
}

/// Returns an error if someone other than this user or root owns the default file, or if everyone can write to it. Its
/// group may write to it, because users with umask 002 have a group of their own.
fn check_writers(metadata: &Metadata) -> Result<(), String> {
    let own = geteuid().as_raw();
    let owner = metadata.uid();
    if owner != own && owner != 0 {
        return Err(format!(
            "belongs to user {owner}, not to user {own} or root; tip: try --config none"
        ));
    }
    let mode = metadata.mode() & 0o7777;
    if mode & 0o002 != 0 {
        return Err(format!(
            "can be written by others (mode {mode:04o}); tip: try chmod o-w"
        ));
    }
    Ok(())
}
