//! Budgets in a local directory: one file of fixed size for each name, changed under a lock that the kernel releases if
//! its holder dies.
//!
//! Only this user may write the state that decides about this user's runs: the directory and the files must be this
//! user's own and writable by no other user, and none may be a link. A file without a valid record is renamed, never
//! trusted.

use std::fmt;
use std::fs::{DirBuilder, File, Metadata};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::geteuid;

use super::{StoreError, record};
use crate::policy::budget::{Answer, Ledger};
use crate::run::uninterrupted;
use crate::text::{describe, describe_error};

/// Limit on replacements of a file by other processes while it is opened.
const MOST_TRIES: u32 = 100;

/// An answer, and a warning; or an error.
type Updated = Result<(Answer, Option<String>), StoreError>;

/// Changes the ledger of `name` atomically. Returns the answer, and a warning if a file was set aside because it held
/// no valid record. Warning and error name the file.
pub(crate) fn update(
    directory: &Path,
    name: &str,
    change: impl FnOnce(&mut Ledger) -> Answer,
) -> Updated {
    let dir = open_directory(directory).map_err(|why| format!("{}: {why}", directory.display()))?;
    let file_name = file_name(name);
    let path = directory.join(&file_name);
    let at_file = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
    let (answer, warning) = update_file(&dir, &file_name, change).map_err(|why| at_file(&why))?;
    Ok((answer, warning.map(|why| at_file(&why))))
}

fn update_file(dir: &File, name: &str, change: impl FnOnce(&mut Ledger) -> Answer) -> Updated {
    let mut warning = None;
    for _ in 0..MOST_TRIES {
        let Some(file) = open_file(dir, name)? else {
            continue;
        };
        let mut old = Vec::new();
        // One byte more than a record, so that a longer file is not valid.
        let read = (&file)
            .take(record::FILE_SIZE as u64 + 1)
            .read_to_end(&mut old);
        read.map_err(|error| describe_error(&error))?;
        let Some(mut ledger) = record::read(&old) else {
            let bad = format!("{name}.bad");
            let moved = renameat(dir, name, dir, &*bad);
            moved.map_err(cannot(
                "does not hold what backoff wrote, and cannot be set aside",
            ))?;
            warning = Some(format!(
                "does not hold what backoff wrote; set aside as {bad}"
            ));
            // Makes a new file.
            continue;
        };
        let answer = change(&mut ledger);
        let written = file.write_all_at(&record::write(&ledger), 0);
        if written.is_err() {
            // Restores the old record, as a partial one would look like damage. Even a full disk has room for it.
            let _ = file
                .write_all_at(&old, 0)
                .and_then(|()| file.set_len(old.len() as u64));
        }
        // Explicitly, as a child that is being started has a copy of the descriptor until exec.
        let _ = file.unlock();
        written.map_err(|error| describe_error(&error))?;
        return Ok((answer, warning));
    }
    Err("is replaced all the time".into())
}

fn open_directory(path: &Path) -> Result<File, StoreError> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    // Opening shows all errors but those of a missing directory.
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    let opened = uninterrupted(|| open(path, flags, Mode::empty()));
    let directory = match (opened, made) {
        // Linux reports ENOTDIR for a symbolic link opened with O_DIRECTORY.
        (Err(Errno::ELOOP | Errno::ENOTDIR), _) => {
            Err("is not a directory (symbolic links are not followed)".into())
        }
        (Err(Errno::ENOENT), Err(error)) => {
            Err(format!("cannot make this directory: {}", describe_error(&error)).into())
        }
        (opened, _) => opened
            .map(File::from)
            .map_err(cannot("cannot open this directory")),
    }?;
    check_private(&directory).map(|_| directory)
}

/// Opens and locks a file in the directory; creates a missing one. Returns None if another file has replaced the file
/// before it was locked.
fn open_file(dir: &File, name: &str) -> Result<Option<File>, StoreError> {
    // Without O_NONBLOCK, opening a named pipe would block.
    let flags =
        OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = match uninterrupted(|| openat(dir, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)) {
        Err(Errno::ELOOP) => Err("is a symbolic link".into()),
        opened => opened
            .map(File::from)
            .map_err(cannot("cannot open this file")),
    }?;
    let facts = check_private(&file)?;
    if !facts.is_file() {
        return Err("is not a regular file".into());
    }
    if facts.nlink() > 1 {
        return Err(format!("has {} hard links", facts.nlink()).into());
    }
    let errno = |error| Errno::try_from(error).unwrap_or(Errno::UnknownErrno);
    uninterrupted(|| file.lock().map_err(errno)).map_err(cannot("cannot lock this file"))?;
    // The previous holder of the lock may have set the file aside.
    let is_current = fstatat(dir, name, AtFlags::AT_SYMLINK_NOFOLLOW)
        .is_ok_and(|now| (now.st_dev as _, now.st_ino as _) == (facts.dev(), facts.ino()));
    Ok(is_current.then_some(file))
}

fn cannot(what: &str) -> impl Fn(Errno) -> StoreError {
    move |errno| format!("{what}: {}", describe(errno)).into()
}

/// Returns the metadata of a file, or an error unless only this user can change the file.
fn check_private(file: &File) -> Result<Metadata, StoreError> {
    let facts = file.metadata().map_err(|error| describe_error(&error))?;
    let own = geteuid().as_raw();
    if facts.uid() != own {
        return Err(format!("belongs to user {}, not to user {own}", facts.uid()).into());
    }
    match facts.mode() & 0o7777 {
        mode if mode & 0o022 == 0 => Ok(facts),
        mode => Err(format!("can be written by others (mode {mode:04o}; chmod go-w)").into()),
    }
}

/// Returns the file for a budget's name: ASCII characters that may be special to a shell or a file system are
/// percent-encoded, and `.budget` is added.
fn file_name(name: &str) -> String {
    let encoded = name.char_indices().map(|(i, c)| match c {
        // A leading dot would hide the file.
        '.' if i > 0 => c.to_string(),
        c if c.is_ascii_alphanumeric() || !c.is_ascii() || "-_+,=@".contains(c) => c.to_string(),
        c => format!("%{:02X}", u32::from(c)),
    });
    encoded.collect::<String>() + ".budget"
}

#[cfg(test)]
mod tests;
