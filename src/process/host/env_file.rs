//! The file that `$BACKOFF_ENV` names, for as long as `--before-retry` runs.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use nix::unistd::geteuid;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::retry_on_intr;
use tempfile::{Builder, TempPath};

use crate::run::passed_on::MOST;
use crate::run::text::describe_error;

/// Removed when it is dropped.
#[derive(Debug)]
pub(super) struct EnvFile(TempPath);

impl EnvFile {
    /// An empty one, for this user only. An error is what a person should read.
    pub(super) fn new() -> Result<EnvFile, String> {
        let file = Builder::new().prefix(".backoff-env-").tempfile();
        file.map(|file| EnvFile(file.into_temp_path())).map_err(|error| {
            let place = std::env::temp_dir();
            format!(
                "the file of BACKOFF_ENV cannot be made: {}: {}",
                place.display(),
                describe_error(&error)
            )
        })
    }

    pub(super) fn path(&self) -> &OsStr {
        self.0.as_os_str()
    }

    /// Returns the content, up to just over what is used of it, and removes the file. An error is a message.
    pub(super) fn take(self) -> Result<Vec<u8>, String> {
        let path = self.0.to_path_buf();
        let wrong = |what: &str, error: &io::Error| {
            let why = describe_error(error);
            Err(format!(
                "the file of BACKOFF_ENV cannot be {what}: {}: {why}",
                path.display()
            ))
        };
        match (self.read(), self.0.close()) {
            (Err(error), _) => wrong("read", &error),
            (Ok(_), Err(error)) => wrong("removed", &error),
            (Ok(bytes), Ok(())) => Ok(bytes),
        }
    }

    /// Reads the file by its name, as a program may have replaced it (`sed -i`). A link, a pipe and a file of another
    /// user are refused.
    fn read(&self) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = retry_on_intr(|| openat(CWD, self.path().as_bytes(), flags, Mode::empty()))?;
        let file = File::from(file);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("it is not a file any more"));
        }
        if metadata.uid() != geteuid().as_raw() {
            return Err(io::Error::other("it belongs to another user"));
        }
        let mut bytes = Vec::new();
        file.take(MOST as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
