//! Files that backoff writes: the log, the report and the file of `$BACKOFF_ENV`.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
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

/// As many links as Linux follows.
const MOST_LINKS: u32 = 40;

/// The target of `--log-file` or `--report`.
#[derive(Debug)]
pub(super) struct FileTarget {
    path: PathBuf,
    /// The descriptor that the path stands for, if backoff was given it. Opened by its path, a file would be written at
    /// another place than the command writes at.
    descriptor: Option<Result<RawFd, Errno>>,
}

/// The path that the links of a path lead to.
struct Resolved {
    path: PathBuf,
    directory: PathBuf,
    directory_facts: Metadata,
    /// The path is a link of the kernel's own, whose text is no path (`/proc/1/fd/1`).
    is_magic: bool,
}

impl FileTarget {
    /// Has to be called before backoff opens descriptors of its own, as one of them may get the number in the path.
    pub(super) fn new(path: &Path) -> FileTarget {
        let is_given = |number: RawFd| is_open(number).then_some(number).ok_or(Errno::EBADF);
        FileTarget {
            path: path.to_owned(),
            descriptor: descriptor(path).map(is_given),
        }
    }

    /// Opens the target at its end; a new file is for this user only. A named pipe that nobody reads is an error. Without
    /// `create`, returns `None` if there is no file and one may be created, as far as that can be known.
    fn append(&self, create: bool) -> io::Result<Option<Sink>> {
        if let Some(fd) = self.descriptor {
            return Ok(Some(Sink::new(fd?)));
        }
        let target = Resolved::of(&self.path)?;
        let follow = if target.is_magic { 0 } else { O_NOFOLLOW };
        let mut options = OpenOptions::new();
        options.append(true).create(create).mode(0o600);
        match options.custom_flags(follow | O_NONBLOCK | O_NOCTTY).open(&target.path) {
            Ok(file) => {
                // As `fs.protected_regular` has it.
                if is_sticky(&target.directory_facts) {
                    require_own(&file.metadata()?)?;
                }
                Ok(Some(Sink::to_file(file)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && !create => {
                access(&target.directory, AccessFlags::W_OK | AccessFlags::X_OK)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Replaces a file: it is there with all of the text or as it was before. Returns a sink if the target is no file.
    pub(super) fn replace(&self, text: &str) -> io::Result<Option<Sink>> {
        if self.descriptor.is_some() {
            return self.append(true);
        }
        let target = Resolved::of(&self.path)?;
        let mut mode = 0o600;
        if let Some(facts) = target.facts()? {
            if !facts.is_file() {
                return self.append(true);
            }
            if target.is_shared() {
                require_own(&facts)?;
            }
            // A shell's `>` would be refused, too.
            access(&target.path, AccessFlags::W_OK)?;
            if is_own(&facts) {
                mode = facts.mode() & 0o777;
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
    /// Follows the links of the last name, as `open(2)` would, except in a directory where others may have put them. The
    /// file need not exist.
    fn of(path: &Path) -> io::Result<Resolved> {
        let mut path = path.to_owned();
        for _ in 0..=MOST_LINKS {
            let directory = match path.parent() {
                Some(parent) if parent == Path::new("") => PathBuf::from("."),
                Some(parent) => parent.to_owned(),
                None => path.clone(),
            };
            let mut resolved = Resolved {
                directory_facts: fs::metadata(&directory)?,
                directory,
                path,
                is_magic: false,
            };
            let Ok(text) = fs::read_link(&resolved.path) else {
                return Ok(resolved);
            };
            if resolved.is_shared() {
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

    fn facts(&self) -> io::Result<Option<Metadata>> {
        let facts = match self.is_magic {
            true => fs::metadata(&self.path),
            false => fs::symlink_metadata(&self.path),
        };
        match facts {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            facts => facts.map(Some),
        }
    }

    /// Returns true if others may have put links and files into the directory.
    fn is_shared(&self) -> bool {
        let facts = &self.directory_facts;
        is_sticky(facts) || !(is_own(facts) || facts.uid() == 0)
    }
}

/// Returns true for a directory in which others may create files and cannot remove those of this user, such as `/tmp`.
fn is_sticky(directory: &Metadata) -> bool {
    directory.mode() & 0o1000 != 0 && directory.mode() & 0o022 != 0
}

fn is_own(facts: &Metadata) -> bool {
    facts.uid() == geteuid().as_raw()
}

fn require_own(facts: &Metadata) -> io::Result<()> {
    if is_own(facts) {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "it belongs to user {}, in a directory that others may write to",
        facts.uid()
    )))
}

/// Returns the descriptor that a path stands for: `/dev/stdout`, `/dev/stderr`, `/dev/fd/3`.
fn descriptor(path: &Path) -> Option<RawFd> {
    let number = match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => {
            let number = path
                .strip_prefix("/dev/fd/")
                .or_else(|| path.strip_prefix("/proc/self/fd/"))?;
            number.parse().ok()
        }
    };
    number.filter(|number| *number >= 0)
}

/// The log of `--log-file`.
#[derive(Debug)]
pub(super) struct LogFile {
    target: FileTarget,
    /// Made when there is something to write.
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

    /// Opens the log if it exists, so that a log that will be missing is known before the run; a run without messages makes
    /// no file. Returns a warning if it cannot be opened.
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

    /// Writes lines. Returns a warning if they cannot be written; no later ones are.
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

/// The file that `$BACKOFF_ENV` names, for as long as `--before-retry` runs.
#[derive(Debug)]
pub(super) struct EnvFile(TempPath);

impl EnvFile {
    /// Creates an empty file for this user only. An error is a message.
    pub(super) fn new() -> Result<EnvFile, String> {
        let file = Builder::new().prefix(".backoff-env-").tempfile();
        let file = file.map_err(|error| cannot_be("made", &std::env::temp_dir(), &error))?;
        Ok(EnvFile(file.into_temp_path()))
    }

    pub(super) fn path(&self) -> &OsStr {
        self.0.as_os_str()
    }

    /// Returns the content, up to just over what is used of it, and removes the file. An error is a message.
    pub(super) fn take(self) -> Result<Vec<u8>, String> {
        let path = self.0.to_path_buf();
        let bytes = self.read();
        let removed = self.0.close();
        let bytes = bytes.map_err(|error| cannot_be("read", &path, &error))?;
        removed.map_err(|error| cannot_be("removed", &path, &error))?;
        Ok(bytes)
    }

    /// Reads the file by its name, as a program may have replaced it (`sed -i`). A link, a pipe and a file of another
    /// user are refused.
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
