//! The file of `$BACKOFF_ENV`, into which `--before-retry` writes variables for the next attempt, such as a new token.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::Path;

use tempfile::NamedTempFile;

use super::target::{is_own, open_safely};
use crate::process::sys::temporary;
use crate::run::before_retry_env::LIMIT;
use crate::text::describe_error;

/// Creates the file, empty and private to this user, in the temporary directory. It is removed when it is dropped. An
/// error is a message.
pub(crate) fn make() -> Result<NamedTempFile, String> {
    let directory = std::env::temp_dir();
    temporary::named(".backoff-env-", &directory)
        .map_err(|error| cannot_be("made", &directory, &error))
}

/// Reads the file and removes it, also if it cannot be read. Returns its bytes, of which there may be too many (see
/// [`read`]). An error is a message; a file that cannot be removed is one, too, as it may hold secrets. If both fail,
/// the message is about reading.
pub(crate) fn take(file: NamedTempFile) -> Result<Vec<u8>, String> {
    let path = file.path().to_owned();
    let bytes = read(&path).map_err(|error| cannot_be("read", &path, &error));
    let removed = file
        .close()
        .map_err(|error| cannot_be("removed", &path, &error));
    let bytes = bytes?;
    removed?;
    Ok(bytes)
}

/// Reads up to one byte over [`LIMIT`], so that the caller sees an excess and rejects it. Opens the file by its name,
/// as a program may have replaced it (`sed -i`), so that it could be anything now: only a regular file of this user is
/// read.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = open_safely(OpenOptions::new().read(true), path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || !is_own(&metadata) {
        return Err(io::Error::other(
            "it is no longer a regular file of this user",
        ));
    }
    let mut bytes = Vec::new();
    file.take(LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Formats the message about a failed step; `step` is a participle, such as "read".
fn cannot_be(step: &str, path: &Path, error: &io::Error) -> String {
    let path = path.display();
    let why = describe_error(error);
    format!("the file of BACKOFF_ENV cannot be {step}: {path}: {why}")
}
