//! The target of a path: links, owners and modes are looked at before a file is opened. In a directory such as `/tmp`
//! another user may put a link or file under the name of a log, so that backoff would write where that user wants.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::libc::{O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::geteuid;

const NOT_FOLLOWED: &str =
    "it is a symbolic link where others could have put it, and is not followed";
/// Limit on links, as in Linux.
const MOST_LINKS: u32 = 40;

/// The target of `--log-file` or `--report`, after links were followed.
pub(super) struct FileTarget {
    pub(super) path: PathBuf,
    /// The directory of `path`.
    pub(super) dir: PathBuf,
    pub(super) dir_meta: Metadata,
}

impl FileTarget {
    /// Follows links of the last component, as `open(2)` does, but returns an error for a link that another user may
    /// have put there ([`is_shared`]), as it could lead backoff to any file of this user. The file need not exist, its
    /// directory must. A link of `/proc` to an open file is not followed: such a target is the open file itself. Nor is
    /// a path of a descriptor of this process (`/dev/stdout`), even if `/dev` is another user's, as in a container.
    pub(super) fn follow(path: &Path) -> io::Result<FileTarget> {
        let mut path = path.to_owned();
        for _ in 0..=MOST_LINKS {
            // `.` is for a bare name, which has an empty parent.
            let dir = Path::new(".").join(path.parent().unwrap_or(&path));
            let dir_meta = fs::metadata(&dir)?;
            let is_own_descriptor = descriptor(&path).is_some();
            // The target of a magic link, such as `/proc/1/fd/1`, is not a path.
            let is_magic = path.starts_with("/proc") || is_own_descriptor;
            match fs::read_link(&path) {
                Ok(_) if is_shared(&dir_meta) && !is_own_descriptor => {
                    return Err(io::Error::other(NOT_FOLLOWED));
                }
                Ok(target) if !is_magic => path = dir.join(target),
                // A magic link, or no link, or nothing: opening the path tells if there is a problem.
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

    /// Returns the entry of a directory that the target is, which a report may replace; None for an open file
    /// (`/dev/stdout`, `/proc/1/fd/1`), which can only be written to, and for a path without a name (`/`, `..`).
    pub(super) fn entry(&self) -> Option<DirectoryEntry<'_>> {
        // The links that `follow` leaves are those of `/proc` and `/dev/stdout` to open files.
        let is_open_file = self.path.is_symlink() || descriptor(&self.path).is_some();
        if is_open_file {
            return None;
        }
        Some(DirectoryEntry {
            directory: FileIdentity::of(&self.dir_meta),
            name: self.path.file_name()?,
        })
    }
}

/// A name in a directory. Two paths with equal entries lead to one place, also if nothing is there yet.
#[derive(PartialEq, Eq)]
pub(super) struct DirectoryEntry<'t> {
    directory: FileIdentity,
    name: &'t OsStr,
}

/// The identity of a file or directory, which may have several names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity {
    pub(super) device: u64,
    pub(super) number: u64,
}

impl FileIdentity {
    /// Returns the identity of the file that these metadata describe, whatever its name.
    pub(super) fn of(facts: &Metadata) -> FileIdentity {
        FileIdentity {
            device: facts.dev(),
            number: facts.ino(),
        }
    }
}

/// Opens a file, as `options` say, without following a link, which another user could have put there since the path was
/// checked, and without waiting for another process: to open a named pipe without a reader for writing is an error, and
/// reads and writes of an opened one do not wait (EAGAIN).
pub(super) fn open_safely(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // The kernel's own links lead to open files, and have to be followed; no user can put one there.
    let link_flag = if path.starts_with("/proc") {
        0
    } else {
        O_NOFOLLOW
    };
    options
        .custom_flags(link_flag | O_NONBLOCK | O_NOCTTY)
        .open(path)
}

/// Returns true if other users may create files in the directory, but not remove this user's, as in `/tmp`: there a
/// file of any user may lie under the name of a log.
pub(super) fn is_sticky(directory: &Metadata) -> bool {
    const STICKY: u32 = 0o1000;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    directory.mode() & STICKY != 0 && directory.mode() & WRITABLE_BY_OTHERS != 0
}

/// Returns true if another user may have put a file or link there: the directory is neither this user's nor root's, or
/// is a sticky one that others can write to. One without the sticky bit counts as its owner's alone, even if others may
/// write to it, as in Linux's `fs.protected_symlinks`: the owner has trusted them with all of its files.
pub(super) fn is_shared(directory: &Metadata) -> bool {
    is_sticky(directory) || !(is_own(directory) || directory.uid() == 0)
}

pub(super) fn is_own(metadata: &Metadata) -> bool {
    metadata.uid() == geteuid().as_raw()
}

/// Returns an error, whose text says so, if a file is another user's: that user could have put it there to read what is
/// written. Only for files in a directory that others may write to, as the text says.
pub(super) fn require_own(metadata: &Metadata) -> io::Result<()> {
    if is_own(metadata) {
        return Ok(());
    }
    let user = metadata.uid();
    let why = format!("it belongs to user {user}, in a directory that others may write to");
    Err(io::Error::other(why))
}

/// Returns the number of the descriptor that a path names (`/dev/stdout`, `/dev/fd/3`); None for any other path.
pub(super) fn descriptor(path: &Path) -> Option<RawFd> {
    let path = path.to_str()?;
    let number = match path {
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        _ => path
            .strip_prefix("/dev/fd/")
            .or_else(|| path.strip_prefix("/proc/self/fd/"))?,
    };
    // Unsigned, as no descriptor is negative.
    let fd = RawFd::try_from(number.parse::<u32>().ok()?).ok()?;
    // For the system, names such as `+3` and `03` do not exist.
    (fd.to_string() == number).then_some(fd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_a_descriptor_has_its_number() {
        for (path, number) in [
            ("/dev/stderr", Some(2)),
            ("/dev/fd/70000", Some(70_000)),
            ("/proc/self/fd/2147483647", Some(RawFd::MAX)),
            ("/proc/self/fd/2147483648", None),
            ("/dev/fd/-1", None),
            ("/dev/fd/+3", None),
            ("/dev/fd/03", None),
            ("/dev/fd/0", Some(0)),
            ("/dev/fd/1/../2", None),
        ] {
            assert_eq!(descriptor(Path::new(path)), number, "{path}");
        }
    }
}
