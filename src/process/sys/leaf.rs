//! The entry of a directory that a path leads to, for a file that is to be written. Nobody else may lead it elsewhere:
//! the directory is held open, and every link on the way is looked at.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::geteuid;
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, RawMode, Stat, accessat, openat, readlinkat, statat};
use rustix::io::{Errno, retry_on_intr};

use super::native;

/// As many links as Linux follows.
const MOST_LINKS: u32 = 40;

#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) directory: File,
    pub(crate) name: OsString,
    /// Others may put links and files there.
    is_shared: bool,
    /// Other users' files in it cannot be removed by its owner's leave alone.
    is_sticky: bool,
    /// A link of the kernel's own, whose text is no path (`/proc/1/fd/1`).
    is_magic: bool,
}

impl Leaf {
    /// Follows the links of the last name, as `open(2)` would; but none in a directory where others may have put it.
    /// The file need not be there.
    pub(crate) fn of(path: &Path) -> io::Result<Leaf> {
        let mut leaf = Leaf::beside(CWD, path.as_os_str())?;
        for _ in 0..=MOST_LINKS {
            let next = match readlinkat(&leaf.directory, &leaf.name, Vec::new()) {
                Ok(next) => next,
                Err(Errno::INVAL | Errno::NOENT) => return Ok(leaf),
                Err(errno) => return Err(errno.into()),
            };
            if leaf.is_shared {
                return Err(io::Error::other(
                    "it is a symbolic link where others could have put it, and is not followed",
                ));
            }
            if is_magic(&leaf.directory) && !leaf.leads_to_a_file() {
                leaf.is_magic = true;
                return Ok(leaf);
            }
            leaf = Leaf::beside(&leaf.directory, OsStr::from_bytes(next.as_bytes()))?;
        }
        Err(Errno::LOOP.into())
    }

    fn beside(from: impl std::os::fd::AsFd, path: &OsStr) -> io::Result<Leaf> {
        let bytes = path.as_bytes();
        let begin = bytes
            .iter()
            .rposition(|byte| *byte == b'/')
            .map_or(0, |slash| slash + 1);
        let (parent, name) = bytes.split_at(begin);
        let parent = if parent.is_empty() { b"." } else { parent };
        let search = OFlags::from_bits_retain(native::PATH_ONLY.bits().cast_unsigned());
        let flags = search | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = retry_on_intr(|| openat(&from, parent, flags, Mode::empty()))?;
        if matches!(name, b"" | b"." | b"..") {
            return Err(Errno::ISDIR.into());
        }
        let directory = File::from(directory);
        let facts = directory.metadata()?;
        let is_sticky = facts.mode() & 0o1000 != 0 && facts.mode() & 0o022 != 0;
        let is_foreign = facts.uid() != geteuid().as_raw() && facts.uid() != 0;
        Ok(Leaf {
            directory,
            name: OsStr::from_bytes(name).to_owned(),
            is_shared: is_sticky || is_foreign,
            is_sticky,
            is_magic: false,
        })
    }

    fn leads_to_a_file(&self) -> bool {
        statat(&self.directory, &self.name, AtFlags::empty()).is_ok_and(|facts| is_file(&facts))
    }

    /// What is there now.
    fn facts(&self) -> io::Result<Option<Stat>> {
        let flags = if self.is_magic {
            AtFlags::empty()
        } else {
            AtFlags::SYMLINK_NOFOLLOW
        };
        match statat(&self.directory, &self.name, flags) {
            Ok(facts) => Ok(Some(facts)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The mode that a file has which takes the place of the one that is there: its own, if it is this user's, and
    /// else for this user only. None if what is there is no file. What a shell's `>` would refuse is refused, and so is
    /// to replace the file of another user in a directory that is not this user's alone.
    pub(crate) fn mode_of_a_replacement(&self) -> io::Result<Option<RawMode>> {
        const PRIVATE: RawMode = 0o600;
        let Some(facts) = self.facts()? else {
            return Ok(Some(PRIVATE));
        };
        if !is_file(&facts) {
            return Ok(None);
        }
        let is_own = facts.st_uid == geteuid().as_raw();
        if self.is_shared && !is_own {
            return Err(belongs_to(facts.st_uid));
        }
        match accessat(&self.directory, &self.name, Access::WRITE_OK, AtFlags::EACCESS) {
            Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(errno.into()),
            _ if is_own => Ok(Some(facts.st_mode & 0o777)),
            _ => Ok(Some(PRIVATE)),
        }
    }

    /// Opens it at its end; a new file is for this user only. A named pipe that nobody reads is an error. In a sticky
    /// directory no file of another user is written, as `fs.protected_regular` has it.
    pub(crate) fn append(&self) -> io::Result<File> {
        self.open(OFlags::CREATE)
    }

    /// The same, but nothing is made: None if it is not there and may be made, as far as that can be known before.
    pub(crate) fn append_if_there(&self) -> io::Result<Option<File>> {
        if self.facts()?.is_some() {
            return self.open(OFlags::empty()).map(Some);
        }
        accessat(
            &self.directory,
            ".",
            Access::WRITE_OK | Access::EXEC_OK,
            AtFlags::EACCESS,
        )?;
        Ok(None)
    }

    fn open(&self, more: OFlags) -> io::Result<File> {
        let mut flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
        flags.set(OFlags::NOFOLLOW, !self.is_magic);
        let open = || openat(&self.directory, &self.name, flags, Mode::RUSR | Mode::WUSR);
        let file = File::from(retry_on_intr(open)?);
        let facts = file.metadata()?;
        if self.is_sticky && facts.uid() != geteuid().as_raw() {
            return Err(belongs_to(facts.uid()));
        }
        Ok(file)
    }
}

fn is_file(facts: &Stat) -> bool {
    FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile
}

fn belongs_to(user: u32) -> io::Error {
    io::Error::other(format!(
        "it belongs to user {user}, in a directory that others may write to"
    ))
}

#[cfg(not(portable))]
fn is_magic(directory: &File) -> bool {
    rustix::fs::fstatfs(directory).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(portable)]
fn is_magic(_: &File) -> bool {
    false
}
