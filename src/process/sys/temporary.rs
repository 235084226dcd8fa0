//! Temporary files, private to this user whatever the umask, as they hold output and input of the command.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use super::system::unnamed_file;

/// Limit on names that are tried. A random name is practically never taken; a file system that says so again and again
/// would say so for ever.
const MOST_NAMES: u32 = 100;
const MODE: u32 = 0o600;

/// Creates a file in a directory, under a random name that begins with `prefix`. It is removed when the value is
/// dropped. Its mode is set again afterwards, as the umask may have taken away this user's own rights. Returns an error
/// if that is needed and the file system refuses it, or if the file cannot be created.
pub(crate) fn named(prefix: &str, directory: &Path) -> io::Result<NamedTempFile> {
    let mut names = 0;
    let file = Builder::new().prefix(prefix).make_in(directory, |path| {
        names += 1;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(MODE);
        match options.open(path) {
            // For an error of this kind `make_in` tries the next name, without end: an error of another kind ends that.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && names >= MOST_NAMES => {
                Err(io::Error::other(error))
            }
            opened => opened,
        }
    })?;
    let changed = file.as_file().set_permissions(Permissions::from_mode(MODE));
    if let Err(error) = changed {
        // Some file systems refuse even a change to the mode that the file has.
        let mode_now = file.as_file().metadata()?.mode() & 0o7777;
        if mode_now != MODE {
            return Err(error);
        }
    }
    Ok(file)
}

/// Creates a file without a name in the temporary directory.
pub(crate) fn unnamed() -> io::Result<File> {
    unnamed_in(&std::env::temp_dir())
}

/// Creates a file without a name in a directory, so that no other process can open it, and nothing has to be removed
/// later. If the file system has no such files, creates one with a name and removes the name at once.
pub(crate) fn unnamed_in(directory: &Path) -> io::Result<File> {
    unnamed_file(directory, MODE).or_else(|_| {
        let (file, path) = named(".backoff-", directory)?.into_parts();
        path.close()?;
        Ok(file)
    })
}
