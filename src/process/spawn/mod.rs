//! Starts the command as `execvp(3)` does, with everything that backoff inherited: a command must not be able to tell
//! that it is wrapped. `std::process::Command` changes signal actions and drops odd variables.
//!
//! The child is made by `fork(2)`. All signals are blocked in it until just before exec.

pub(crate) mod child;
mod environment;
pub(crate) mod start;

use std::ffi::{CString, OsStr, OsString, c_char};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

use nix::errno::Errno;

use crate::policy::outcome::StartFailure;
use crate::policy::signal::Signal;
use crate::process::signals::Signals;
use crate::process::sys::environment::variable;
use crate::run::variable_list::VariableList;
use crate::text::{describe, quoted};
use child::Child;
use environment::Environment;
use start::{ChildSetup, SHELL, start_child};
pub(crate) use start::{ChildStdio, Isolation};

/// The search path if PATH is unset, as in the C library.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Bytes that the kernel reads of a script's first line.
const FIRST_LINE_SIZE: u64 = 256;

/// A command that can be started several times.
#[derive(Debug)]
pub(crate) struct Command {
    /// Program and arguments.
    words: Vec<CString>,
    /// [`SHELL`], pointers to the words, and a null pointer, as [`ChildSetup`] needs them.
    shell_argv: Vec<*const c_char>,
    /// The files to try, in the order of backoff's PATH.
    files: Vec<CString>,
    environment: Environment,
}

impl Command {
    /// Prepares what is the same for all attempts: words, inherited variables and the files that PATH offers for the
    /// name. Looks at no file yet: whether there is one is seen at each start.
    pub(crate) fn new(words: &[OsString]) -> Command {
        let name = words.first().map_or(b"".as_slice(), |name| name.as_bytes());
        let path = variable("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        let words: Vec<CString> = words.iter().map(|word| c_string(word.as_bytes())).collect();
        let mut shell_argv = vec![SHELL.as_ptr()];
        shell_argv.extend(words.iter().map(|word| word.as_ptr()));
        shell_argv.push(null());
        Command {
            words,
            shell_argv,
            files: candidates(name, &path),
            environment: Environment::inherited(),
        }
    }

    /// Returns the command's name without its directory, for messages while the system does not show it: before exec.
    pub(crate) fn program(&self) -> String {
        let name = Path::new(OsStr::from_bytes(name_of(&self.words)));
        let base = name.file_name().unwrap_or(name.as_os_str());
        base.to_string_lossy().into_owned()
    }

    /// Starts the command with `variables` in its environment. `never_ignored` is the signal that `--signal` names: it
    /// gets its default action even if the caller ignores it, as a limit could not end the command otherwise; None
    /// without that option. Returns an error if no process could be created; a failed exec is reported later, by
    /// [`Child::start_failure`].
    pub(crate) fn start(
        &mut self,
        variables: &VariableList,
        signals: &Signals,
        never_ignored: Option<Signal>,
        isolation: Isolation,
        stdio: &ChildStdio,
    ) -> io::Result<Child> {
        let name = name_of(&self.words);
        self.environment.fill(variables);
        let files = self.files.as_slice();
        start_child(ChildSetup {
            files,
            shell_argv: &self.shell_argv,
            environment: &mut self.environment,
            signals,
            never_ignored,
            isolation,
            stdio,
            explain: &|errno| explain(errno, name, files),
        })
    }
}

/// Returns the program's name as it was given, perhaps a path; empty without words.
fn name_of(words: &[CString]) -> &[u8] {
    words.first().map_or(b"", |name| name.to_bytes())
}

/// Explains for a message why none of the `files`, which exec has tried for `name`, could be executed, of which `errno`
/// alone says too little: a missing interpreter of a script is "no such file", too. `not_found` decides between the
/// exit statuses 127 and 126, as in a shell. Called in the child, as looking at files may hang. May also be about an
/// earlier step of the child, with any `errno`. Other code compares the message with the constants of [`StartFailure`].
fn explain(errno: Errno, name: &[u8], files: &[CString]) -> StartFailure {
    let paths: Vec<&Path> = files.iter().map(path_of).collect();
    let existing = paths.iter().find(|path| path.exists());
    let message = match (errno, existing) {
        (Errno::ENOENT | Errno::ENOTDIR, Some(file)) => missing_interpreter(file),
        (Errno::ENOENT, None) if paths.iter().any(|path| path.is_symlink()) => {
            "it is a symbolic link to nothing".into()
        }
        // A path is not looked for in PATH.
        (Errno::ENOENT, _) if name.contains(&b'/') => StartFailure::NO_FILE.into(),
        (Errno::ENOTDIR, _) if name.contains(&b'/') => describe(errno),
        (Errno::ENOENT | Errno::ENOTDIR, _) => StartFailure::NOT_FOUND.into(),
        (Errno::EACCES, _) if paths.iter().any(|path| path.is_dir()) => "it is a directory".into(),
        (errno, _) => describe(errno),
    };
    let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
    StartFailure { not_found, message }
}

/// Returns the files that exec has to try for a name, in the order of `path`, a value of PATH. They need not exist. A
/// name with a slash is itself the only one; so is an empty name, which exec then does not find.
fn candidates(name: &[u8], path: &OsStr) -> Vec<CString> {
    if name.is_empty() || name.contains(&b'/') {
        return vec![c_string(name)];
    }
    path.as_bytes()
        .split(|byte| *byte == b':')
        .map(|directory| file_in(directory, name))
        .collect()
}

/// Returns the file of this name in a directory that PATH lists; an empty entry of PATH stands for the working
/// directory, in which exec looks for a bare name.
fn file_in(directory: &[u8], name: &[u8]) -> CString {
    if directory.is_empty() {
        return c_string(name);
    }
    c_string(&[directory, b"/", name].concat())
}

fn path_of(file: &CString) -> &Path {
    Path::new(OsStr::from_bytes(file.to_bytes()))
}

/// Converts a word of a command line, or a path made of it, which cannot contain NUL.
fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
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
