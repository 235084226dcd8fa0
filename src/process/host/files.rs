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
    directory: PathBuf,
    /// Other users may create files in the directory, but not remove this user's, as in `/tmp`.
    is_sticky: bool,
    /// Other users may put links and files into the directory.
    is_shared: bool,
}

impl FileTarget {
    /// Follows links of the last component, as `open(2)` does, except in a directory where other users may have put
    /// them. The file need not exist.
    fn of(path: &Path) -> io::Result<FileTarget> {
        let mut path = path.to_owned();
        for _ in 0..=MOST_LINKS {
            let parent = path.parent().map(|parent| Path::new(".").join(parent));
            let directory = parent.unwrap_or_else(|| path.clone());
            let facts = fs::metadata(&directory)?;
            let is_sticky = facts.mode() & 0o1000 != 0 && facts.mode() & 0o022 != 0;
            let is_shared = is_sticky || !(is_own(&facts) || facts.uid() == 0);
            match fs::read_link(&path) {
                Ok(_) if is_shared => {
                    let why = "it is a symbolic link where others could have put it, and is not followed";
                    return Err(io::Error::other(why));
                }
                // The text of a kernel link is not a path (`/proc/1/fd/1`).
                Ok(text) if !path.starts_with("/proc") && descriptor(&path).is_none() => path = directory.join(text),
                _ => {
                    return Ok(FileTarget {
                        path,
                        directory,
                        is_sticky,
                        is_shared,
                    });
                }
            }
        }
        Err(Errno::ELOOP.into())
    }

    /// Opens the target at its end; a new file is private to this user. A named pipe without a reader is an error.
    fn append(&self, create: bool) -> io::Result<Sink> {
        // Opened by its path, a file would have an offset of its own, other than the command's.
        if let Some(fd) = descriptor(&self.path) {
            return if is_inherited(fd) {
                Ok(Sink::new(fd))
            } else {
                Err(Errno::EBADF.into())
            };
        }
        let follow = if self.path.starts_with("/proc") { 0 } else { O_NOFOLLOW };
        let mut options = OpenOptions::new();
        options.append(true).create(create).mode(0o600);
        let file = options.custom_flags(follow | O_NONBLOCK | O_NOCTTY).open(&self.path)?;
        // Same check as `fs.protected_regular`.
        require_own(&file.metadata()?, self.is_sticky)?;
        Ok(Sink::to_file(file))
    }
}

/// Replaces a file atomically. Returns a sink if the target is not a regular file.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<Option<Sink>> {
    let target = FileTarget::of(path)?;
    let mut mode = 0o600;
    match fs::metadata(&target.path) {
        Ok(facts) if !facts.is_file() || descriptor(&target.path).is_some() => return target.append(true).map(Some),
        Ok(facts) => {
            require_own(&facts, target.is_shared)?;
            // A shell's `>` would fail, too.
            access(&target.path, AccessFlags::W_OK)?;
            if is_own(&facts) {
                mode = facts.mode() & 0o777;
            }
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
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
    let number = match path {
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        _ => ["/dev/fd/", "/proc/self/fd/"]
            .iter()
            .find_map(|directory| path.strip_prefix(directory))?,
    };
    number.parse::<u16>().ok().map(RawFd::from)
}

/// The log of `--log-file`.
#[derive(Debug)]
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    /// Opened for the first line.
    sink: Option<Sink>,
    /// An error was reported; later lines are dropped.
    pub(super) is_lost: bool,
}

impl LogFile {
    pub(super) fn new(path: &Path) -> LogFile {
        LogFile {
            path: path.to_owned(),
            sink: None,
            is_lost: false,
        }
    }

    /// Opens the log if it exists, so that errors show before the run; a run without messages creates no file.
    pub(super) fn open(&mut self) -> Result<(), WriteError> {
        let target = FileTarget::of(&self.path)?;
        match target.append(false) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                access(&target.directory, AccessFlags::W_OK | AccessFlags::X_OK).map_err(io::Error::from)?;
            }
            opened => self.sink = Some(opened?),
        }
        Ok(())
    }

    pub(super) fn write(&mut self, event_loop: &mut EventLoop, lines: &str) -> Result<(), WriteError> {
        if self.sink.is_none() {
            self.sink = Some(FileTarget::of(&self.path)?.append(true)?);
        }
        self.sink
            .as_ref()
            .map_or(Ok(()), |sink| write(event_loop, sink, lines.as_bytes()))
    }
}

/// Creates the file of `$BACKOFF_ENV`, empty and private to this user. An error is a message.
pub(super) fn new_env_file() -> Result<TempPath, String> {
    let file = Builder::new().prefix(".backoff-env-").tempfile();
    let file = file.map_err(|error| cannot_be("made", &std::env::temp_dir(), &error))?;
    Ok(file.into_temp_path())
}

/// Reads up to one byte over the limit, and removes the file. An error is a message.
pub(super) fn take_env_file(file: TempPath) -> Result<Vec<u8>, String> {
    let path = file.to_path_buf();
    let bytes = read_own(&path);
    let removed = file.close();
    let bytes = bytes.map_err(|error| cannot_be("read", &path, &error))?;
    removed.map_err(|error| cannot_be("removed", &path, &error))?;
    Ok(bytes)
}

/// Reads a file by its name, as a program may have replaced it (`sed -i`). Refuses a link, a pipe and another user's
/// file.
fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    let file = options.open(path)?;
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

fn cannot_be(done: &str, path: &Path, error: &io::Error) -> String {
    let why = describe_error(error);
    format!("the file of BACKOFF_ENV cannot be {done}: {}: {why}", path.display())
}
