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
use tempfile::NamedTempFile;

use crate::process::streams::sink::Sink;
use crate::process::sys::fd::is_inherited;
use crate::process::sys::temporary::named;
use crate::run::before_retry_env::LIMIT;
use crate::text::describe_error;

const NOT_FOLLOWED: &str =
    "it is a symbolic link where others could have put it, and is not followed";
/// Limit on links, as in Linux.
const MOST_LINKS: u32 = 40;

/// The target of `--log-file` or `--report`, after links were followed.
pub(super) struct FileTarget {
    pub(super) path: PathBuf,
    /// The directory of `path`.
    dir: PathBuf,
    dir_meta: Metadata,
}

impl FileTarget {
    /// Follows links of the last component, as `open(2)` does, but refuses links in a directory where other users
    /// can create them. The file need not exist.
    pub(super) fn follow(path: &Path) -> io::Result<FileTarget> {
        let mut path = path.to_owned();
        for _ in 0..=MOST_LINKS {
            // `.` is for a bare name, which has an empty parent.
            let dir = Path::new(".").join(path.parent().unwrap_or(&path));
            let dir_meta = fs::metadata(&dir)?;
            // The target of a magic link, such as `/proc/1/fd/1`, is not a path.
            let is_magic = path.starts_with("/proc") || descriptor(&path).is_some();
            match fs::read_link(&path) {
                Ok(_) if is_shared(&dir_meta) => return Err(io::Error::other(NOT_FOLLOWED)),
                Ok(target) if !is_magic => path = dir.join(target),
                _ => {
                    return Ok(FileTarget {
                        path,
                        dir,
                        dir_meta,
                    });
                }
            }
        }
        Err(Errno::ELOOP.into())
    }

    /// Returns the directory (its device and number) and the name in it; None for a descriptor, which is no entry.
    pub(super) fn entry(&self) -> Option<(u64, u64, &OsStr)> {
        // A link that `follow` has left is magic.
        let is_open_file = self.path.is_symlink() || descriptor(&self.path).is_some();
        let name = self.path.file_name()?;
        (!is_open_file).then_some((self.dir_meta.dev(), self.dir_meta.ino(), name))
    }
}

/// Opens a file for appending; a new file is private to this user. A named pipe without a reader is an error. Unless
/// `may_create`, returns `None` if the file does not exist and its directory is writable.
pub(super) fn open_to_append(path: &Path, may_create: bool) -> io::Result<Option<Sink>> {
    let target = FileTarget::follow(path)?;
    // Opened by its path, a file would have an offset of its own, other than the command's.
    if let Some(fd) = descriptor(&target.path) {
        return is_inherited(fd)
            .then(|| Some(Sink::new(fd)))
            .ok_or(Errno::EBADF.into());
    }
    if !may_create && !target.path.exists() {
        access(&target.dir, AccessFlags::W_OK | AccessFlags::X_OK)?;
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    let file = open_safely(
        options.append(true).create(may_create).mode(0o600),
        &target.path,
    )?;
    // Same check as `fs.protected_regular`.
    if is_sticky(&target.dir_meta) {
        require_own(&file.metadata()?)?;
    }
    Ok(Some(Sink::Own(file)))
}

/// Replaces a file by `text`, atomically. Returns a sink if the target is not a regular file; then the
/// caller has to write `text` to it.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<Option<Sink>> {
    let target = FileTarget::follow(path)?;
    let metadata = fs::metadata(&target.path).ok();
    if target.entry().is_none()
        || metadata
            .as_ref()
            .is_some_and(|metadata| !metadata.is_file())
    {
        return open_to_append(path, true);
    }
    let mut mode = 0o600;
    if let Some(metadata) = metadata {
        // `is_sticky` is not enough: unlike appending or a shell's `>`, replacing changes the owner of the file.
        if is_shared(&target.dir_meta) {
            require_own(&metadata)?;
        }
        // Replacing needs no such permission, but a shell's `>` would.
        access(&target.path, AccessFlags::W_OK)?;
        if is_own(&metadata) {
            mode = metadata.mode() & 0o777;
        }
    }
    let mut file = named(".backoff-report-", &target.dir)?;
    file.write_all(text.as_bytes())?;
    // Some file systems (vfat) refuse any change of the mode.
    if mode != 0o600 {
        file.as_file()
            .set_permissions(Permissions::from_mode(mode))?;
    }
    file.persist(&target.path)?;
    Ok(None)
}

/// Opens a file without following a link and without waiting for another process.
fn open_safely(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // O_NOFOLLOW would refuse the kernel's own links, too.
    let follow = if path.starts_with("/proc") {
        0
    } else {
        O_NOFOLLOW
    };
    options
        .custom_flags(follow | O_NONBLOCK | O_NOCTTY)
        .open(path)
}

/// Returns true if other users may create files in the directory, but not remove this user's, as in `/tmp`.
fn is_sticky(directory: &Metadata) -> bool {
    let (sticky, writable) = (0o1000, 0o022);
    directory.mode() & sticky != 0 && directory.mode() & writable != 0
}

/// Returns true if the directory is another user's, or a sticky one that others can write to.
fn is_shared(directory: &Metadata) -> bool {
    is_sticky(directory) || !(is_own(directory) || directory.uid() == 0)
}

fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == geteuid().as_raw()
}

/// Refuses another user's file.
fn require_own(metadata: &Metadata) -> io::Result<()> {
    if is_own(metadata) {
        return Ok(());
    }
    let user = metadata.uid();
    let why = format!("it belongs to user {user}, in a directory that others may write to");
    Err(io::Error::other(why))
}

/// Returns the descriptor that a path names: `/dev/stdout`, `/dev/fd/3`.
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

/// Reads the file of `$BACKOFF_ENV`, up to one byte over the limit to show an excess, and removes it. An error is a
/// message.
pub(super) fn take_env_file(file: NamedTempFile) -> Result<Vec<u8>, String> {
    let path = file.path().to_owned();
    let read = || {
        // Opened by its name, as a program may have replaced the file (`sed -i`).
        let file = open_safely(OpenOptions::new().read(true), &path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || !is_own(&metadata) {
            return Err(io::Error::other(
                "it is no longer a regular file of this user",
            ));
        }
        let mut bytes = Vec::new();
        file.take(LIMIT as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| env_file_cannot_be("read", &path, &error));
    let removed = file
        .close()
        .map_err(|error| env_file_cannot_be("removed", &path, &error));
    bytes.and_then(|bytes| removed.map(|()| bytes))
}

pub(super) fn env_file_cannot_be(done: &str, path: &Path, error: &io::Error) -> String {
    let (path, why) = (path.display(), describe_error(error));
    format!("the file of BACKOFF_ENV cannot be {done}: {path}: {why}")
}
