//! Files that backoff writes: the log, the report and the file of `$BACKOFF_ENV`.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::RawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::libc::{O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::{AccessFlags, access, geteuid};
use tempfile::{Builder, TempPath};

use super::messages::{WriteError, write};
use super::waits::BetweenAttempts;
use crate::process::streams::sink::Sink;
use crate::process::sys::fd::is_open;
use crate::run::before_retry_env::LIMIT;
use crate::run::host::RunError;
use crate::run::text::describe_error;

/// Limit on links, as in Linux.
const MOST_LINKS: u32 = 40;

/// The target of `--log-file` or `--report`.
#[derive(Debug)]
pub(super) struct FileTarget {
    path: PathBuf,
    /// The inherited descriptor that the path names. A file opened by its path would have an offset of its own, other
    /// than the command's.
    descriptor: Option<Result<RawFd, Errno>>,
}

/// A path after its links were followed.
struct Resolved {
    path: PathBuf,
    directory: PathBuf,
    /// Other users may create files in the directory, but not remove this user's, as in `/tmp`.
    is_sticky: bool,
    /// Other users may put links and files into the directory.
    is_shared: bool,
    /// The path is a kernel link, whose text is not a path (`/proc/1/fd/1`).
    is_magic: bool,
}

impl FileTarget {
    /// Creates the target. Call before backoff opens descriptors, as one may get the number in the path.
    pub(super) fn new(path: &Path) -> FileTarget {
        let is_given = |number: RawFd| is_open(number).then_some(number).ok_or(Errno::EBADF);
        FileTarget {
            path: path.to_owned(),
            descriptor: descriptor(path).map(is_given),
        }
    }

    /// Opens the target at its end; a new file is private to this user. A named pipe without a reader is an error.
    /// Without `create`, returns `None` if the file does not exist and can probably be created.
    fn append(&self, create: bool) -> io::Result<Option<Sink>> {
        if let Some(fd) = self.descriptor {
            return Ok(Some(Sink::new(fd?)));
        }
        let target = Resolved::of(&self.path)?;
        let follow = if target.is_magic { 0 } else { O_NOFOLLOW };
        let mut options = OpenOptions::new();
        options.append(true).create(create).mode(0o600);
        match options.custom_flags(follow | O_NONBLOCK | O_NOCTTY).open(&target.path) {
            Err(error) if error.kind() == ErrorKind::NotFound && !create => {
                access(&target.directory, AccessFlags::W_OK | AccessFlags::X_OK)?;
                Ok(None)
            }
            opened => {
                let file = opened?;
                // Same check as `fs.protected_regular`.
                require_own(&file.metadata()?, target.is_sticky)?;
                Ok(Some(Sink::to_file(file)))
            }
        }
    }

    /// Replaces a file atomically. Returns a sink if the target is not a regular file.
    pub(super) fn replace(&self, text: &str) -> io::Result<Option<Sink>> {
        if self.descriptor.is_some() {
            return self.append(true);
        }
        let target = Resolved::of(&self.path)?;
        let mut mode = 0o600;
        match fs::metadata(&target.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Ok(facts) if !facts.is_file() => return self.append(true),
            facts => {
                let facts = facts?;
                require_own(&facts, target.is_shared)?;
                // A shell's `>` would fail, too.
                access(&target.path, AccessFlags::W_OK)?;
                if is_own(&facts) {
                    mode = facts.mode() & 0o777;
                }
            }
        }
        let mut file = Builder::new()
            .prefix(".backoff-report-")
            .tempfile_in(&target.directory)?;
        file.write_all(text.as_bytes())?;
        if mode != 0o600 {
            file.as_file().set_permissions(Permissions::from_mode(mode))?;
        }
        file.persist(&target.path)?;
        Ok(None)
    }
}

impl Resolved {
    /// Follows links of the last component, as `open(2)` does, except in a directory where other users may have put
    /// them. The file need not exist.
    fn of(path: &Path) -> io::Result<Resolved> {
        let mut path = path.to_owned();
        for _ in 0..=MOST_LINKS {
            let directory = path
                .parent()
                .map_or_else(|| path.clone(), |parent| Path::new(".").join(parent));
            let facts = fs::metadata(&directory)?;
            let is_sticky = facts.mode() & 0o1000 != 0 && facts.mode() & 0o022 != 0;
            let mut resolved = Resolved {
                is_shared: is_sticky || !(is_own(&facts) || facts.uid() == 0),
                is_sticky,
                is_magic: false,
                directory,
                path,
            };
            let Ok(text) = fs::read_link(&resolved.path) else {
                return Ok(resolved);
            };
            if resolved.is_shared {
                return Err(io::Error::other(
                    "it is a symbolic link where others could have put it, and is not followed",
                ));
            }
            path = resolved.directory.join(text);
            if fs::symlink_metadata(&path).is_err() && resolved.path.exists() {
                resolved.is_magic = true;
                return Ok(resolved);
            }
        }
        Err(Errno::ELOOP.into())
    }
}

fn is_own(facts: &Metadata) -> bool {
    facts.uid() == geteuid().as_raw()
}

/// Refuses another user's file in a shared directory.
fn require_own(facts: &Metadata, is_shared: bool) -> io::Result<()> {
    if !is_shared || is_own(facts) {
        return Ok(());
    }
    let user = facts.uid();
    let why = format!("it belongs to user {user}, in a directory that others may write to");
    Err(io::Error::other(why))
}

/// Returns the descriptor that a path names: `/dev/stdout`, `/dev/stderr`, `/dev/fd/3`.
fn descriptor(path: &Path) -> Option<RawFd> {
    let path = path.to_str()?;
    let number = path
        .strip_prefix("/dev/fd/")
        .or_else(|| path.strip_prefix("/proc/self/fd/"));
    match path {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        _ => number?.parse::<u16>().ok().map(RawFd::from),
    }
}

/// The log of `--log-file`.
#[derive(Debug)]
pub(super) struct LogFile {
    target: FileTarget,
    /// Opened for the first line.
    sink: Option<Sink>,
    is_lost: bool,
}

impl LogFile {
    pub(super) fn new(path: &Path) -> LogFile {
        LogFile {
            target: FileTarget::new(path),
            sink: None,
            is_lost: false,
        }
    }

    /// Opens the log if it exists, so that errors show before the run; a run without messages creates no file. Returns
    /// a warning if the log cannot be opened.
    pub(super) fn open(&mut self) -> Option<String> {
        match self.target.append(false) {
            Ok(sink) => {
                self.sink = sink;
                None
            }
            Err(error) => Some(self.give_up(&describe_error(&error))),
        }
    }

    fn give_up(&mut self, why: &str) -> String {
        self.is_lost = true;
        let path = &self.target.path;
        format!("warning: cannot write to --log-file {path:?}: {why}; going on without it")
    }

    /// Writes lines. Returns a warning if that fails; later lines are dropped.
    pub(super) fn write(&mut self, between: &mut BetweenAttempts, lines: &str) -> Result<Option<String>, RunError> {
        if self.is_lost {
            return Ok(None);
        }
        if self.sink.is_none() {
            match self.target.append(true) {
                Ok(sink) => self.sink = sink,
                Err(error) => return Ok(Some(self.give_up(&describe_error(&error)))),
            }
        }
        let written = self
            .sink
            .as_ref()
            .map_or(Ok(()), |sink| write(between, sink, lines.as_bytes()));
        match written {
            Ok(()) => Ok(None),
            Err(WriteError::Run(error)) => Err(error),
            Err(unwritten) => Ok(Some(self.give_up(&unwritten.why()))),
        }
    }
}

/// The file named by `$BACKOFF_ENV` while `--before-retry` runs.
#[derive(Debug)]
pub(super) struct EnvFile(TempPath);

impl EnvFile {
    /// Creates an empty file, private to this user. An error is a message.
    pub(super) fn new() -> Result<EnvFile, String> {
        let file = Builder::new().prefix(".backoff-env-").tempfile();
        let file = file.map_err(|error| cannot_be("made", &std::env::temp_dir(), &error))?;
        Ok(EnvFile(file.into_temp_path()))
    }

    pub(super) fn path(&self) -> &OsStr {
        self.0.as_os_str()
    }

    /// Reads up to one byte over the limit, and removes the file. An error is a message.
    pub(super) fn take(self) -> Result<Vec<u8>, String> {
        let path = self.0.to_path_buf();
        let bytes = self.read();
        let removed = self.0.close();
        let bytes = bytes.map_err(|error| cannot_be("read", &path, &error))?;
        removed.map_err(|error| cannot_be("removed", &path, &error))?;
        Ok(bytes)
    }

    /// Reads the file by its name, as a program may have replaced it (`sed -i`). Refuses a link, a pipe and another
    /// user's file.
    fn read(&self) -> io::Result<Vec<u8>> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        let file: File = options.open(&self.0)?;
        let facts = file.metadata()?;
        if !facts.is_file() {
            return Err(io::Error::other("it is not a file any more"));
        }
        if !is_own(&facts) {
            return Err(io::Error::other("it belongs to another user"));
        }
        let mut bytes = Vec::new();
        file.take(LIMIT as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn cannot_be(done: &str, path: &Path, error: &io::Error) -> String {
    let why = describe_error(error);
    format!("the file of BACKOFF_ENV cannot be {done}: {}: {why}", path.display())
}
