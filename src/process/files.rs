//! Files that backoff creates, namely the log and the report. backoff opens a path as a shell does, so the kernel's
//! protections apply (`fs.protected_symlinks`, `fs.protected_regular`).

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::RawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, absolute};

use nix::errno::Errno;
use nix::libc;
use tempfile::Builder;

use super::streams::sink::Sink;
use super::sys::fd::is_inherited;

/// Opens a file for appending, without ever waiting. A new file is private to this user. A named pipe without a reader
/// is an error. A descriptor (`/dev/stdout`) is written to directly. Opened by its path, a file would have its own
/// offset, and backoff and the command would overwrite each other.
pub(crate) fn open_to_append(path: &Path) -> io::Result<Sink> {
    if let Some(fd) = descriptor(path) {
        // The user cannot mean one of backoff's own descriptors.
        return if is_inherited(fd) {
            Ok(Sink::new(fd))
        } else {
            Err(Errno::EBADF.into())
        };
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(path).map(Sink::Own)
}

/// Replaces a file with `text` atomically, so that a reader sees either the old text or the new one. Keeps links and
/// the mode. A new file is private to this user. If the target is not a regular file or is open already
/// (`/dev/stdout`), returns a sink to which the caller must write.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<Option<Sink>> {
    let target = match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => path.to_owned(),
        followed => followed?,
    };
    let before = fs::metadata(&target).ok();
    if is_device(path) || before.as_ref().is_some_and(|facts| !facts.is_file()) {
        return open_to_append(path).map(Some);
    }
    if before.is_some() {
        // Replacing needs no permission for the old file, but `>` in a shell does. A read-only file is kept.
        OpenOptions::new().write(true).open(&target)?;
    }
    // A bare name has an empty parent, hence `.`.
    let directory = Path::new(".").join(target.parent().unwrap_or(&target));
    let mut file = Builder::new()
        .prefix(".backoff-report-")
        .tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if let Some(before) = before {
        let mode = Permissions::from_mode(before.permissions().mode() & 0o777);
        // Some file systems (vfat) refuse any change of the mode.
        let _ = file.as_file().set_permissions(mode);
    }
    file.persist(&target)?;
    Ok(None)
}

/// Returns true if both paths lead to the same file, which need not exist. A report would then replace the log.
pub(crate) fn is_one_file(log: &Path, report: &Path) -> bool {
    let place = |path| fs::canonicalize(path).or_else(|_| absolute(path)).ok();
    !is_device(log) && place(log) == place(report)
}

fn is_device(path: &Path) -> bool {
    path.starts_with("/dev") || path.starts_with("/proc")
}

/// Returns the number of the descriptor that a path names (`/dev/stdout`, `/dev/fd/3`), or None for any other path.
fn descriptor(path: &Path) -> Option<RawFd> {
    match path.to_str()? {
        "/dev/stdout" => Some(1),
        "/dev/stderr" => Some(2),
        path => {
            let number: u16 = path.strip_prefix("/dev/fd/")?.parse().ok()?;
            Some(number.into())
        }
    }
}
