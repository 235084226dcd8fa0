//! Budgets in a local directory: one file of fixed size for each name, changed under a lock that the kernel releases if
//! its holder dies. A budget limits the retries of all runs that share its name, which its ledger counts.
//!
//! Only this user may write the state that decides about this user's runs: the directory and the files must be this
//! user's own and writable by no other user, and none may be a link. A file without a valid record is renamed, never
//! trusted.

use std::fmt;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use super::record;
use crate::policy::budget::{Answer, Ledger};
use crate::run::uninterrupted;
use crate::text::{describe, describe_error};

/// Limit on how often a file may be replaced by other processes while it is opened, so that opening ends.
const MOST_TRIES: u32 = 100;

/// The problem of a file that is set aside.
const NOT_OURS: &str = "does not hold what backoff wrote";

/// Problem of the directory or of a file in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryError {
    path: PathBuf,
    problem: DirectoryProblem,
}

/// Formats as `PATH: is a symbolic link`.
impl fmt::Display for DirectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}

impl std::error::Error for DirectoryError {}

/// A problem as a sentence without its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DirectoryProblem {
    NotADirectory,
    IsLink,
    NotRegular,
    HardLinks(u64),
    OtherOwner {
        owner: u32,
        own: u32,
    },
    /// With the mode.
    WritableByOthers(u32),
    /// Other processes replace the file again and again.
    ReplacedAllTheTime,
    /// A call failed: what cannot be done, and why.
    Cannot {
        action: String,
        why: String,
    },
    /// Reading or writing failed.
    Io(String),
}

/// Formats as the rest of a sentence that begins with the path.
impl fmt::Display for DirectoryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DirectoryProblem::NotADirectory => {
                f.write_str("is not a directory (symbolic links are not followed)")
            }
            DirectoryProblem::IsLink => f.write_str("is a symbolic link"),
            DirectoryProblem::NotRegular => f.write_str("is not a regular file"),
            DirectoryProblem::HardLinks(count) => write!(f, "has {count} hard links"),
            DirectoryProblem::OtherOwner { owner, own } => {
                write!(f, "belongs to user {owner}, not to user {own}")
            }
            DirectoryProblem::WritableByOthers(mode) => {
                write!(f, "can be written by others (mode {mode:04o}; chmod go-w)")
            }
            DirectoryProblem::ReplacedAllTheTime => f.write_str("is replaced all the time"),
            DirectoryProblem::Cannot { action, why } => write!(f, "{action}: {why}"),
            DirectoryProblem::Io(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DirectoryProblem {}

impl From<io::Error> for DirectoryProblem {
    fn from(error: io::Error) -> DirectoryProblem {
        DirectoryProblem::Io(describe_error(&error))
    }
}

/// The result of a change.
pub(crate) struct Update {
    pub(crate) answer: Answer,
    /// Tells that a file was set aside because it held no valid record; None if none was.
    pub(crate) warning: Option<String>,
}

/// Applies `change` to the ledger of the budget `name`, under a lock, and returns its answer once the changed ledger is
/// written. Makes directory and file if they are missing. Blocks as long as another run holds the lock. An error names
/// the directory or the file, and a warning the file.
pub(crate) fn update(
    directory: &Path,
    name: &str,
    change: impl FnOnce(&mut Ledger) -> Answer,
) -> Result<Update, DirectoryError> {
    let dir = open_directory(directory).map_err(|problem| DirectoryError {
        path: directory.to_owned(),
        problem,
    })?;
    let file_name = file_name(name);
    let path = directory.join(&file_name);
    match update_file(&dir, &file_name, change) {
        Ok(Update { answer, warning }) => Ok(Update {
            answer,
            warning: warning.map(|why| format!("{}: {why}", path.display())),
        }),
        Err(problem) => Err(DirectoryError { path, problem }),
    }
}

/// Applies `change` to the ledger in a file of the directory, under the file's lock. A file without a valid record is
/// set aside, and a new one takes its place, which the warning tells; the caller adds the file's name. A file that was
/// read is unlocked, as closing it would not do so while a child that is being started has a copy of the descriptor.
fn update_file(
    dir: &File,
    file_name: &str,
    change: impl FnOnce(&mut Ledger) -> Answer,
) -> Result<Update, DirectoryProblem> {
    let mut warning = None;
    for _ in 0..MOST_TRIES {
        let Some(file) = open_and_lock(dir, file_name)? else {
            // Another run has set the file aside, or a user has deleted it: tries the one that takes its place.
            continue;
        };
        let mut old = Vec::new();
        // One byte more than a record, so that a longer file is not valid.
        (&file)
            .take(record::FILE_SIZE as u64 + 1)
            .read_to_end(&mut old)?;
        let Some(mut ledger) = record::read(&old) else {
            let warning_of_renaming = set_aside(dir, file_name);
            let _ = file.unlock();
            warning = Some(warning_of_renaming?);
            // The next try makes a new, empty file, which is an unused budget.
            continue;
        };
        let answer = change(&mut ledger);
        let written = write_record(&file, &ledger, &old);
        let _ = file.unlock();
        written?;
        return Ok(Update { answer, warning });
    }
    Err(DirectoryProblem::ReplacedAllTheTime)
}

/// Renames a file without a valid record to `NAME.bad`, in place of an earlier one, so that its content can be looked
/// at, and returns the warning. The caller holds the file's lock, so that no other run renames what has just been made.
fn set_aside(dir: &File, file_name: &str) -> Result<String, DirectoryProblem> {
    let bad = format!("{file_name}.bad");
    let action = format!("{NOT_OURS}, and cannot be set aside");
    renameat(dir, file_name, dir, &*bad).map_err(|errno| cannot(&action, errno))?;
    Ok(format!("{NOT_OURS}; set aside as {bad}"))
}

/// Writes the ledger in place of `old`, the former content of the file. If that fails, writes `old` back, and returns
/// the error.
fn write_record(file: &File, ledger: &Ledger, old: &[u8]) -> io::Result<()> {
    let written = file.write_all_at(&record::write(ledger), 0);
    if written.is_err() {
        // Restores the old record, as a partial one would look like damage. Even a full disk has room for it.
        let _ = file
            .write_all_at(old, 0)
            .and_then(|()| file.set_len(old.len() as u64));
    }
    written
}

/// Opens the directory; if it is missing, makes it and those above it with mode 0700. Returns an error if the path is a
/// symbolic link, or the directory belongs to another user or can be written by others. Those above it are not checked.
fn open_directory(path: &Path) -> Result<File, DirectoryProblem> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    // An error counts only if the directory is missing then: all others show when it is opened.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    let opened = uninterrupted(|| open(path, flags, Mode::empty()));
    let directory = match (opened, made) {
        (Ok(directory), _) => File::from(directory),
        // The path is a file, leads through a file, or is a symbolic link: for all three, Linux reports ENOTDIR.
        (Err(Errno::ELOOP | Errno::ENOTDIR), _) => return Err(DirectoryProblem::NotADirectory),
        (Err(Errno::ENOENT), Err(error)) => {
            return Err(DirectoryProblem::Cannot {
                action: "cannot make this directory".to_owned(),
                why: describe_error(&error),
            });
        }
        (Err(errno), _) => return Err(cannot("cannot open this directory", errno)),
    };
    check_private(&directory)?;
    Ok(directory)
}

/// Opens and locks a file in the directory; creates a missing one, empty and with mode 0600. Waits for the lock,
/// however long. Returns None if the file was replaced or renamed before it was locked, as a change of it would be
/// lost; the caller tries again. Returns an error if the file is no regular one, or others could write to it: if it is
/// a symbolic link, or has a second hard link, another owner or such a mode.
fn open_and_lock(dir: &File, name: &str) -> Result<Option<File>, DirectoryProblem> {
    // Without O_NONBLOCK, opening a named pipe would block.
    let flags =
        OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = match uninterrupted(|| openat(dir, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)) {
        Ok(file) => File::from(file),
        Err(Errno::ELOOP) => return Err(DirectoryProblem::IsLink),
        Err(errno) => return Err(cannot("cannot open this file", errno)),
    };
    let metadata = check_private(&file)?;
    if !metadata.is_file() {
        return Err(DirectoryProblem::NotRegular);
    }
    // Another name may be that of another program's file, which would then be written here.
    if metadata.nlink() > 1 {
        return Err(DirectoryProblem::HardLinks(metadata.nlink()));
    }
    uninterrupted(|| file.lock().map_err(errno_of))
        .map_err(|errno| cannot("cannot lock this file", errno))?;
    // The previous holder of the lock may have set the file aside.
    let is_current = fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW).is_ok_and(|entry| {
        (entry.st_dev as _, entry.st_ino as _) == (metadata.dev(), metadata.ino())
    });
    if is_current { Ok(Some(file)) } else { Ok(None) }
}

fn errno_of(error: io::Error) -> Errno {
    Errno::try_from(error).unwrap_or(Errno::UnknownErrno)
}

/// Returns the problem that a system call failed: `cannot lock this file: No locks available`.
fn cannot(action: &str, errno: Errno) -> DirectoryProblem {
    DirectoryProblem::Cannot {
        action: action.to_owned(),
        why: describe(errno),
    }
}

/// Returns the metadata of a file or directory, or an error unless only this user can change it, by owner and mode:
/// others could otherwise decide about this user's retries. Takes an open file, as what a path names could be exchanged
/// after the check.
fn check_private(file: &File) -> Result<Metadata, DirectoryProblem> {
    let metadata = file.metadata()?;
    let own = geteuid().as_raw();
    if metadata.uid() != own {
        let owner = metadata.uid();
        return Err(DirectoryProblem::OtherOwner { owner, own });
    }
    let mode = metadata.mode() & 0o7777;
    // Group and others may not write.
    if mode & 0o022 != 0 {
        return Err(DirectoryProblem::WritableByOthers(mode));
    }
    Ok(metadata)
}

/// Returns the name of the file for a budget's name: ASCII characters that may be special to a shell or a file system,
/// such as the slash, are percent-encoded, and `.budget` is added. Different names have different files, unless the
/// file system ignores case. A budget's name has at most 80 bytes, so that the file's, with `.bad`, fits in the 255 of
/// file systems.
fn file_name(name: &str) -> String {
    let mut encoded = String::new();
    for c in name.chars() {
        // A leading dot would hide the file.
        let is_plain = match c {
            '.' => !encoded.is_empty(),
            '-' | '_' | '+' | ',' | '=' | '@' => true,
            _ => c.is_ascii_alphanumeric() || !c.is_ascii(),
        };
        if is_plain {
            encoded.push(c);
        } else {
            encoded += &format!("%{:02X}", u32::from(c));
        }
    }
    encoded + ".budget"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_names_stay_readable() {
        assert_eq!(file_name("api"), "api.budget");
        assert_eq!(file_name("api.example.org"), "api.example.org.budget");
        assert_eq!(file_name("../etc/passwd"), "%2E.%2Fetc%2Fpasswd.budget");
        assert_eq!(file_name("caf\u{e9}"), "caf\u{e9}.budget");
    }

    proptest! {
        #[test]
        fn no_name_leaves_the_directory(name in ".{1,100}") {
            let name = file_name(&name);
            prop_assert!(!name.starts_with('.') && !name.contains(['/', '\0', '\n']));
        }

        #[test]
        fn different_names_have_different_files(a in "[a./%~A]{1,4}", b in "[a./%~A]{1,4}") {
            prop_assert_eq!(a == b, file_name(&a) == file_name(&b));
        }
    }
}
