//! Temporary files, private to this user whatever the umask.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use super::system::unnamed_file;

/// Limit on names that are tried. Random names are not taken; a file system that says so would say so for ever.
const MOST_NAMES: u32 = 100;
const MODE: u32 = 0o600;

/// Creates a file with a random name, which is removed when it is dropped.
pub(crate) fn named(prefix: &str, directory: &Path) -> io::Result<NamedTempFile> {
    let mut names = 0;
    let file = Builder::new().prefix(prefix).make_in(directory, |path| {
        names += 1;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(MODE);
        match options.open(path) {
            // Another kind, as for this one the next name is tried.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && names >= MOST_NAMES => {
                Err(io::Error::other(error))
            }
            opened => opened,
        }
    })?;
    file.as_file()
        .set_permissions(Permissions::from_mode(MODE))?;
    Ok(file)
}

/// Creates a file without a name in the temporary directory.
pub(crate) fn unnamed() -> io::Result<File> {
    unnamed_in(&std::env::temp_dir())
}

/// Creates a file without a name.
pub(crate) fn unnamed_in(directory: &Path) -> io::Result<File> {
    unnamed_file(directory, MODE).or_else(|_| {
        let (file, path) = named(".backoff-", directory)?.into_parts();
        path.close()?;
        Ok(file)
    })
}
