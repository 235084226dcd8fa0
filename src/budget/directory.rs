//! Budgets in a local directory: one file of fixed size for each name, changed under a lock that the kernel releases if
//! its holder dies.
//!
//! Only this user may write the state that decides about this user's runs: the directory and the files must be this
//! user's own and writable by no other user, and none may be a link. A file without a valid record is renamed, never
//! trusted.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::geteuid;

use super::record;
use crate::policy::budget::{Answer, Ledger};
use crate::run::host::BudgetAnswer;
use crate::run::interrupts::uninterrupted;
use crate::run::text::{describe, describe_error};

/// Limit on replacements of a file by other processes while it is opened.
const MOST_TRIES: u32 = 100;

/// Changes the ledger of `name` atomically. An error names the file.
pub(crate) fn update(
    directory: &Path,
    name: &str,
    change: impl FnOnce(&mut Ledger) -> Answer,
) -> Result<BudgetAnswer, String> {
    let at = |path: &Path, error: &io::Error| format!("{}: {}", path.display(), describe_error(error));
    let home = open_directory(directory).map_err(|error| at(directory, &error))?;
    let file_name = file_name(name);
    let path = directory.join(&file_name);
    let (answer, aside) = update_file(&home, &file_name, change).map_err(|error| at(&path, &error))?;
    Ok(BudgetAnswer {
        answer: Some(answer),
        warning: aside.map(|aside| {
            format!(
                "{}: does not hold what backoff wrote; set aside as {aside}",
                path.display()
            )
        }),
    })
}

/// Returns the answer, and the new name of a file that was set aside because it held no valid record.
fn update_file(
    home: &File,
    name: &str,
    change: impl FnOnce(&mut Ledger) -> Answer,
) -> io::Result<(Answer, Option<String>)> {
    let mut aside = None;
    for _ in 0..MOST_TRIES {
        let Some(file) = open_file(home, name)? else {
            continue;
        };
        let mut old = Vec::new();
        (&file.0).take(record::FILE as u64 + 1).read_to_end(&mut old)?;
        let Some(mut ledger) = record::read(&old) else {
            let bad = format!("{name}.bad");
            renameat(home, name, home, &*bad)
                .map_err(cannot("does not hold what backoff wrote, and cannot be set aside"))?;
            aside = Some(bad);
            continue;
        };
        let answer = change(&mut ledger);
        if let Err(error) = file.0.write_all_at(&record::write(&ledger), 0) {
            // Restores the old record, as a partial one would look like damage; the part that fitted has room for as
            // much of the old one.
            let _ = file
                .0
                .write_all_at(&old, 0)
                .and_then(|()| file.0.set_len(old.len() as u64));
            return Err(error);
        }
        return Ok((answer, aside));
    }
    Err(io::Error::other("is replaced all the time"))
}

fn open_directory(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let open = || uninterrupted(|| open(path, flags, Mode::empty()));
    let opened = match open() {
        Err(Errno::ENOENT) => {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
            made.map_err(|error| io::Error::other(format!("cannot make this directory: {}", describe_error(&error))))?;
            open()
        }
        opened => opened,
    };
    let directory = match opened {
        // Linux reports ENOTDIR for a symbolic link opened with O_DIRECTORY.
        Err(Errno::ELOOP | Errno::ENOTDIR) => {
            Err(io::Error::other("is not a directory (symbolic links are not followed)"))
        }
        opened => opened.map(File::from).map_err(cannot("cannot open this directory")),
    }?;
    private(&directory)?;
    Ok(directory)
}

/// A file under an exclusive lock. Drop unlocks it explicitly, as a child has a copy of the descriptor until exec.
struct Locked(File);

impl Locked {
    fn lock(file: File) -> io::Result<Locked> {
        loop {
            match file.lock() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let why = describe_error(&error);
                    return Err(io::Error::other(format!("cannot lock this file: {why}")));
                }
                Ok(()) => return Ok(Locked(file)),
            }
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Opens and locks the file of a name. Returns None if another file has replaced it meanwhile.
fn open_file(home: &File, name: &str) -> io::Result<Option<Locked>> {
    // Without O_NONBLOCK, opening a named pipe would block.
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = match uninterrupted(|| openat(home, name, flags, Mode::S_IRUSR | Mode::S_IWUSR)) {
        Err(Errno::ELOOP) => Err(io::Error::other("is a symbolic link")),
        opened => opened.map(File::from).map_err(cannot("cannot open this file")),
    }?;
    let facts = private(&file)?;
    if !facts.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    if facts.nlink() > 1 {
        return Err(io::Error::other(format!("has {} hard links", facts.nlink())));
    }
    let locked = Locked::lock(file)?;
    // The previous holder of the lock may have set the file aside.
    let is_current = fstatat(home, name, AtFlags::AT_SYMLINK_NOFOLLOW)
        .is_ok_and(|now| (now.st_dev as _, now.st_ino as _) == (facts.dev(), facts.ino()));
    Ok(is_current.then_some(locked))
}

fn cannot(what: &str) -> impl Fn(Errno) -> io::Error {
    move |errno| io::Error::other(format!("{what}: {}", describe(errno)))
}

/// Checks that only this user can change the file.
fn private(file: &File) -> io::Result<Metadata> {
    let (facts, own) = (file.metadata()?, geteuid().as_raw());
    let why = if facts.uid() != own {
        format!("belongs to user {}, not to user {own}", facts.uid())
    } else if facts.mode() & 0o022 != 0 {
        let mode = facts.mode() & 0o7777;
        format!("can be written by others (mode {mode:04o}); try chmod go-w")
    } else {
        return Ok(facts);
    };
    Err(io::Error::other(why))
}

/// Returns the name with each ASCII character that is special to a shell or a file system percent-encoded.
fn file_name(name: &str) -> String {
    let encoded = name.char_indices().map(|(i, c)| match c {
        '.' if i > 0 => c.to_string(),
        c if c.is_ascii_alphanumeric() || !c.is_ascii() || "-_+,=@".contains(c) => c.to_string(),
        c => format!("%{:02X}", u32::from(c)),
    });
    encoded.collect::<String>() + ".budget"
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
