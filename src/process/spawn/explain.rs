//! Explains why a program could not be started.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;

use crate::policy::outcome::StartFailure;
use crate::text::{describe, quoted};

/// Bytes that the kernel reads of a script's first line.
const FIRST_LINE_SIZE: u64 = 256;

/// Explains for a message why none of the `files`, which exec has tried for a command, could be executed, of which `errno`
/// alone says too little: a missing interpreter of a script is "no such file", too. `not_found` decides between the
/// exit statuses 127 and 126, as in a shell. Called in the child, as looking at files may hang. May also be about an
/// earlier step of the child, with any `errno`. Other code compares the message with the constants of [`StartFailure`].
pub(super) fn explain(errno: Errno, words: &[CString], files: &[CString]) -> StartFailure {
    let is_path = name_of(words).contains(&b'/');
    let paths: Vec<&Path> = files.iter().map(path_of).collect();
    let existing = paths.iter().find(|path| path.exists());
    let message = match (errno, existing) {
        (Errno::ENOENT | Errno::ENOTDIR, Some(file)) => missing_interpreter(file),
        // A path is not looked for in PATH.
        (Errno::ENOENT, _) if is_path => StartFailure::NO_FILE.into(),
        (Errno::ENOTDIR, _) if is_path => describe(errno),
        (Errno::ENOENT | Errno::ENOTDIR, _) => StartFailure::NOT_FOUND.into(),
        (Errno::EACCES, _) if paths.iter().any(|path| path.is_dir()) => "it is a directory".into(),
        (errno, _) => describe(errno),
    };
    let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
    StartFailure { not_found, message }
}

/// Returns the program's name as it was given, perhaps a path; empty without words.
pub(super) fn name_of(words: &[CString]) -> &[u8] {
    words.first().map_or(b"", |name| name.to_bytes())
}

fn path_of(file: &CString) -> &Path {
    Path::new(OsStr::from_bytes(file.to_bytes()))
}

/// Explains why exec has returned "no such file" though `file`, the first of the tried ones that exists, does exist:
/// the interpreter that it names, or its loader, is missing. Called in the child, as opening a file may hang.
fn missing_interpreter(file: &Path) -> String {
    match interpreter(file) {
        Some(name) if name.as_bytes().ends_with(b"\r") => {
            format!(
                "its lines end in CRLF, and there is no interpreter {}",
                quoted(name)
            )
        }
        Some(name) => format!("its interpreter {} is missing", quoted(name)),
        // A binary, or a script that cannot be read.
        None => "it exists, but its interpreter or loader is missing".into(),
    }
}

/// Returns the interpreter that a script names in its first line, without its argument but with a CR at its end, if
/// any, which the kernel takes for a part of the name; None if the file is no such script or cannot be read. Called in
/// the child, as opening the file may hang.
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
