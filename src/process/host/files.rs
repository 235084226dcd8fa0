//! Files that backoff writes: the log, the report and the file of `$BACKOFF_ENV`.

use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::RawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::libc::{O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::{AccessFlags, access, geteuid};
use tempfile::{Builder, TempPath};

use super::messages::{WriteError, write};
use crate::process::attempt::event_loop::EventLoop;
use crate::process::streams::sink::Sink;
use crate::process::sys::fd::is_inherited;
use crate::run::before_retry_env::LIMIT;
use crate::run::text::describe_error;

/// Limit on links, as in Linux.
const MOST_LINKS: u32 = 40;

/// The target of `--log-file` or `--report`, after links were followed.
struct FileTarget {
    path: PathBuf,
    parent: PathBuf,
    /// Of the parent.
    facts: Metadata,
}

impl FileTarget {
    /// Follows links of the last component, as `open(2)` does, except in a directory where other users may have put
    /// them. The file need not exist.
    fn of(path: &Path) -> io::Result<FileTarget> {
        let mut path = path.to_owned();
        for _ in 0..=MOST_LINKS {
            let parent = path.parent().map(|parent| Path::new(".").join(parent));
            let parent = parent.unwrap_or_else(|| path.clone());
            let facts = fs::metadata(&parent)?;
            match fs::read_link(&path) {
                Ok(_) if is_shared(&facts) => {
                    let why = "it is a symbolic link where others could have put it, and is not followed";
                    return Err(io::Error::other(why));
                }
                // The text of a kernel link is not a path (`/proc/1/fd/1`).
                Ok(text) if !path.starts_with("/proc") && descriptor(&path).is_none() => path = parent.join(text),
                _ => return Ok(FileTarget { path, parent, facts }),
            }
        }
        Err(Errno::ELOOP.into())
    }

    /// Opens the target at its end; a new file is private to this user. A named pipe without a reader is an error.
    /// Without `create`, returns `None` if the file does not exist and can probably be created.
    fn append(&self, create: bool) -> io::Result<Option<Sink>> {
        // Opened by its path, a file would have an offset of its own, other than the command's.
        if let Some(fd) = descriptor(&self.path) {
            return is_inherited(fd).then(|| Some(Sink::new(fd))).ok_or(Errno::EBADF.into());
        }
        let follow = if self.path.starts_with("/proc") { 0 } else { O_NOFOLLOW };
        let mut options = OpenOptions::new();
        options.append(true).create(create).mode(0o600);
        match options.custom_flags(follow | O_NONBLOCK | O_NOCTTY).open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound && !create => {
                access(&self.parent, AccessFlags::W_OK | AccessFlags::X_OK)?;
                Ok(None)
            }
            opened => {
                let file = opened?;
                // Same check as `fs.protected_regular`.
                require_own(&file.metadata()?, is_sticky(&self.facts))?;
                Ok(Some(Sink::Own(file)))
            }
        }
    }
}

/// Replaces a file atomically. Writes to a target that is not a regular file.
pub(super) fn replace(event_loop: &mut EventLoop, path: &Path, text: &str) -> Result<(), WriteError> {
    let target = FileTarget::of(path)?;
    let mut mode = 0o600;
    if target.path.exists() {
        let facts = fs::metadata(&target.path)?;
        if !facts.is_file() || descriptor(&target.path).is_some() {
            let sink = target.append(true)?;
            return sink.map_or(Ok(()), |sink| write(event_loop, &sink, text));
        }
        require_own(&facts, is_shared(&target.facts))?;
        // A shell's `>` would fail, too.
        access(&target.path, AccessFlags::W_OK).map_err(io::Error::from)?;
        if is_own(&facts) {
            mode = facts.mode() & 0o777;
        }
    }
    let mut file = Builder::new().prefix(".backoff-report-").tempfile_in(&target.parent)?;
    file.write_all(text.as_bytes())?;
    // Some file systems (vfat) refuse any change of the mode.
    if mode != 0o600 {
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    file.persist(&target.path).map_err(io::Error::from)?;
    Ok(())
}

/// Returns true if other users may create files in the directory, but not remove this user's, as in `/tmp`.
fn is_sticky(directory: &Metadata) -> bool {
    directory.mode() & 0o1000 != 0 && directory.mode() & 0o022 != 0
}

/// Returns true if other users may put links and files into the directory.
fn is_shared(directory: &Metadata) -> bool {
    is_sticky(directory) || !(is_own(directory) || directory.uid() == 0)
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
    let after = |directory| path.strip_prefix(directory);
    let number = match path {
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        _ => after("/dev/fd/").or_else(|| after("/proc/self/fd/"))?,
    };
    number.parse::<u16>().ok().map(RawFd::from)
}

/// The log of `--log-file`.
#[derive(Debug, Default)]
pub(super) struct LogFile {
    path: PathBuf,
    /// Opened for the first line.
    sink: Option<Sink>,
    is_lost: bool,
}

impl LogFile {
    pub(super) fn new(path: &Path) -> LogFile {
        let path = path.to_owned();
        LogFile {
            path,
            ..LogFile::default()
        }
    }

    /// Writes lines. No lines only open the log if it exists: a run without messages creates no file.
    pub(super) fn write(&mut self, event_loop: &mut EventLoop, lines: &str) -> Result<(), WriteError> {
        if self.sink.is_none() && !self.is_lost {
            self.sink = FileTarget::of(&self.path)?.append(!lines.is_empty())?;
        }
        match &self.sink {
            Some(sink) => write(event_loop, sink, lines),
            None => Ok(()),
        }
    }

    /// Drops later lines. Returns a warning.
    pub(super) fn give_up(&mut self, error: &WriteError) -> String {
        (self.sink, self.is_lost) = (None, true);
        let (path, why) = (&self.path, error.why());
        format!("warning: cannot write to --log-file {path:?}: {why}; going on without it")
    }
}

/// Creates the file of `$BACKOFF_ENV`, empty and private to this user; it is removed on drop. An error is a message.
pub(super) fn new_env_file() -> Result<TempPath, String> {
    let file = Builder::new().prefix(".backoff-env-").tempfile();
    let file = file.map_err(|error| cannot_be("made", &std::env::temp_dir(), &error))?;
    Ok(file.into_temp_path())
}

/// Reads up to one byte over the limit, and removes the file. An error is a message.
pub(super) fn take_env_file(file: TempPath) -> Result<Vec<u8>, String> {
    let path = file.to_path_buf();
    let read = || {
        // Opened by its name, as a program may have replaced the file (`sed -i`).
        let mut options = OpenOptions::new();
        let options = options.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        let file = options.open(&path)?;
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
    };
    let bytes = read().map_err(|error| cannot_be("read", &path, &error));
    let removed = file.close().map_err(|error| cannot_be("removed", &path, &error));
    bytes.and_then(|bytes| removed.map(|()| bytes))
}

fn cannot_be(done: &str, path: &Path, error: &io::Error) -> String {
    let (path, why) = (path.display(), describe_error(error));
    format!("the file of BACKOFF_ENV cannot be {done}: {path}: {why}")
}
