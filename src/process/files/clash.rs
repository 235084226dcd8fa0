//! Finds a log or report that would damage another file in use, before the run starts: a report would replace the
//! output of the command. Compares files, not their names.

use std::fs;
use std::os::fd::RawFd;
use std::path::{Path, absolute};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};

use super::target::{FileIdentity, FileTarget};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// How a run writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writing {
    /// The log is appended.
    Appends,
    /// The report takes the place of the file.
    Replaces,
}

/// Returns true if the paths of log and report lead to one entry of one directory, so that the report would replace the
/// log. Neither file needs to exist. Other names of a file (hard links) are other entries: replacing one does no harm
/// to the file. False for devices and open files (`/dev/stdout`), which a report does not replace. Paths that cannot be
/// followed are compared as they are: `./run.log` is `run.log`.
pub(crate) fn is_same_entry(log: &Path, report: &Path) -> bool {
    let (Ok(log), Ok(report)) = (FileTarget::follow(log), FileTarget::follow(report)) else {
        return absolute(log).ok() == absolute(report).ok();
    };
    let is_device = fs::metadata(&log.path).is_ok_and(|facts| !facts.is_file());
    !is_device && log.entry().is_some() && log.entry() == report.entry()
}

/// Returns what would be damaged if a run writes this file, and how to avoid that, as the end of a message that begins
/// with the option of `path`; None if nothing would. Also None for a path of an open file (`/dev/stdout`), and if the
/// file does not exist or cannot be examined. `config` is the configuration file, None if there is none.
pub(crate) fn clash(path: &Path, writing: Writing, config: Option<&Path>) -> Option<String> {
    let target = FileTarget::follow(path).ok()?;
    // An open file (`/dev/stdout`) is written by its descriptor, which shares its offset with the command: nothing is
    // overwritten.
    target.entry()?;
    let file = identity_of(&target.path)?;
    if identity_of_regular(stdio::OUT) == Some(file) {
        return clash_with_output(stdio::OUT, "standard output", writing);
    }
    if identity_of_regular(stdio::ERR) == Some(file) {
        return clash_with_output(stdio::ERR, "standard error", writing);
    }
    if config.and_then(identity_of) == Some(file) {
        return Some("is the configuration file".to_owned());
    }
    None
}

/// Returns what would be damaged if a run opens the file of an output by its path and writes it, while the command
/// writes the output `fd`, which messages call `name`. None for a log if the output is opened to append, too, as then
/// neither overwrites the other.
fn clash_with_output(fd: RawFd, name: &str, writing: Writing) -> Option<String> {
    match writing {
        Writing::Replaces => Some(format!("would replace the file of {name}")),
        Writing::Appends if is_appending(fd) => None,
        Writing::Appends => Some(format!(
            "is the file of {name}, which would overwrite the log unless opened with >>"
        )),
    }
}

fn identity_of(path: &Path) -> Option<FileIdentity> {
    Some(FileIdentity::of(&fs::metadata(path).ok()?))
}

/// Returns the identity of the file that a descriptor refers to; None unless it is a regular file, as only such a file
/// can be overwritten or replaced.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn identity_of_regular(fd: RawFd) -> Option<FileIdentity> {
    let facts = fstat(inherited(fd)).ok()?;
    let kind = SFlag::from_bits_truncate(facts.st_mode) & SFlag::S_IFMT;
    if kind != SFlag::S_IFREG {
        return None;
    }
    Some(FileIdentity {
        device: facts.st_dev as u64,
        number: facts.st_ino as u64,
    })
}

/// Returns true if every write to the descriptor goes to the end of its file.
fn is_appending(fd: RawFd) -> bool {
    fcntl(inherited(fd), FcntlArg::F_GETFL)
        .is_ok_and(|flags| OFlag::from_bits_retain(flags).contains(OFlag::O_APPEND))
}
