//! Explains why a program could not be started. Runs in the child, because looking at files may hang.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;

use crate::policy::outcome::StartFailure;
use crate::text::{describe, quoted};

/// How much of a script's first line the kernel reads, in bytes.
const FIRST_LINE_SIZE: u64 = 256;

/// Explains in a message why exec could run none of the `files` that it tried. `errno` alone says too little, as a
/// script whose interpreter is missing is also "no such file". `not_found` chooses exit status 127 over 126, as in a
/// shell. `errno` may also come from an earlier step of the child. Other code compares the message with the constants
/// of [`StartFailure`].
pub(super) fn explain(errno: Errno, words: &[CString], files: &[CString]) -> StartFailure {
    let is_path = name_of(words).contains(&b'/');
    let paths: Vec<&Path> = files
        .iter()
        .map(|file| Path::new(OsStr::from_bytes(file.to_bytes())))
        .collect();
    let existing = paths.iter().find(|path| path.exists());
    let message = match (errno, existing) {
        (Errno::ENOENT | Errno::ENOTDIR, Some(file)) => missing_interpreter(file),
        // A path is not looked up in PATH.
        (Errno::ENOENT, _) if is_path => StartFailure::NO_FILE.into(),
        (Errno::ENOTDIR, _) if is_path => describe(errno),
        (Errno::ENOENT | Errno::ENOTDIR, _) => StartFailure::NOT_FOUND.into(),
        (Errno::EACCES, _) if paths.iter().any(|path| path.is_dir()) => "it is a directory".into(),
        (errno, _) => describe(errno),
    };
    let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
    StartFailure { not_found, message }
}

/// Returns the program's name as given, perhaps a path. Empty without words.
pub(super) fn name_of(words: &[CString]) -> &[u8] {
    words.first().map_or(b"", |name| name.to_bytes())
}

/// Explains why exec returned "no such file" for `file`, the first one that exists. The interpreter that it names, or
/// its loader, is missing.
fn missing_interpreter(file: &Path) -> String {
    match interpreter(file) {
        Some(name) if name.as_bytes().ends_with(b"\r") => {
            format!(
                "its lines end in CRLF, and there is no interpreter {}",
                quoted(name)
            )
        }
        Some(name) => format!("its interpreter {} is missing", quoted(name)),
        // A binary, or an unreadable script.
        None => "it exists, but its interpreter or loader is missing".into(),
    }
}

/// Returns the interpreter named in the first line of a script, without its argument. Includes a CR at the end, which
/// the kernel takes as part of the name. Returns None if the file is not such a script or cannot be read.
fn interpreter(file: &Path) -> Option<OsString> {
    let mut start = Vec::new();
    File::open(file)
        .ok()?
        .take(FIRST_LINE_SIZE)
        .read_to_end(&mut start)
        .ok()?;
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    // As in `#! /bin/sh -e`.
    let name = line
        .trim_ascii_start()
        .split(|byte| b" \t".contains(byte))
        .next()?;
    if name.is_empty() {
        return None;
    }
    Some(OsStr::from_bytes(name).to_owned())
}
