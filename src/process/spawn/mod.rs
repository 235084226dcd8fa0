//! Starts the command as `execvp(3)` does, with everything that backoff inherited.
//!
//! On Linux the child shares the parent's memory, and the parent waits until exec, as with `posix_spawn(3)`; elsewhere
//! the child is a copy. All signals are blocked until just before exec.

pub(crate) mod child;
mod environment;
pub(crate) mod start;

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

use nix::errno::Errno;

use crate::policy::outcome::StartFailure;
use crate::process::signals::Signals;
use crate::process::sys::environment::variable;
use crate::report::words::quoted;
use crate::run::host::Variable;
use crate::run::text::describe;
use child::Child;
use environment::Environment;
use start::{ChildSetup, SHELL, start};
pub(crate) use start::{ChildStdio, Isolation};

/// The search path if PATH is unset, as in the C library.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Bytes that the kernel reads of a script's first line.
const FIRST_LINE: u64 = 256;

/// Program and arguments.
#[derive(Debug)]
pub(crate) struct Command(Vec<CString>);

impl Command {
    pub(crate) fn new(words: &[OsString]) -> Command {
        Command(words.iter().map(|word| c_string(word.as_bytes())).collect())
    }

    fn name(&self) -> &[u8] {
        self.0.first().map_or(b"", |name| name.to_bytes())
    }

    /// Starts the command with `variables` in its environment. Returns an error if no process could be created.
    pub(crate) fn start(
        &self,
        variables: &[Variable],
        signals: &Signals,
        isolation: Isolation,
        stdio: &ChildStdio,
    ) -> io::Result<Child> {
        let words = self.0.iter().map(|word| word.as_ptr());
        let (pid, failure) = start(ChildSetup {
            files: &self.files(variables),
            argv: [SHELL.as_ptr()].into_iter().chain(words).chain([null()]).collect(),
            environment: Environment::new(variables),
            signals,
            isolation,
            stdio,
        })?;
        Ok(Child::new(pid, isolation != Isolation::Shared, failure))
    }

    /// Returns candidate files in the order of the attempt's PATH.
    fn files(&self, variables: &[Variable]) -> Vec<CString> {
        let name = self.name();
        if name.is_empty() || name.contains(&b'/') {
            return vec![c_string(name)];
        }
        let set = variables.iter().find(|(name, _)| name == "PATH");
        let path = set.map(|(_, path)| path.clone()).or_else(|| variable("PATH"));
        // An empty entry is the working directory.
        let file = |dir: &[u8]| match dir {
            b"" => c_string(name),
            _ => c_string(&[dir, b"/", name].concat()),
        };
        let path = path.unwrap_or_else(|| DEFAULT_PATH.into());
        path.as_bytes().split(|byte| *byte == b':').map(file).collect()
    }

    /// Returns the reason if exec refused the command in this child.
    pub(crate) fn was_refused(&self, child: &Child, variables: &[Variable]) -> Option<StartFailure> {
        let errno = child.exec_error()?;
        let files = self.files(variables);
        let files = || files.iter().map(|file| Path::new(OsStr::from_bytes(file.to_bytes())));
        let message = match (errno, files().find(|file| file.exists())) {
            (Errno::ENOENT, Some(file)) => without_interpreter(file),
            (Errno::ENOENT, None) if files().any(Path::is_symlink) => "it is a symbolic link to nothing".into(),
            (Errno::ENOENT | Errno::ENOTDIR, _) if self.is_function() => {
                "it is a function of bash, and no program; tip: try bash -c '...'".into()
            }
            (Errno::ENOENT | Errno::ENOTDIR, _) => StartFailure::NOT_FOUND.into(),
            (Errno::EACCES, _) if files().any(Path::is_dir) => "it is a directory".into(),
            (errno, _) => describe(errno),
        };
        let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
        Some(StartFailure { not_found, message })
    }

    /// Returns true if bash has exported a function of this name.
    fn is_function(&self) -> bool {
        let name = std::str::from_utf8(self.name());
        name.is_ok_and(|name| variable(&format!("BASH_FUNC_{name}%%")).is_some())
    }
}

/// Converts a word of a command line, which cannot contain NUL.
fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
}

/// Explains why exec did not find a file that exists: its interpreter or loader is missing.
fn without_interpreter(file: &Path) -> String {
    match interpreter(file) {
        Some(name) if name.as_bytes().ends_with(b"\r") => {
            format!("its lines end in CRLF, and there is no interpreter {}", quoted(name))
        }
        Some(name) => format!("its interpreter {} is missing", quoted(name)),
        None => "it exists, but its interpreter or loader is missing".into(),
    }
}

/// Returns the interpreter that a script names in its first line.
fn interpreter(file: &Path) -> Option<OsString> {
    let mut first = Vec::new();
    File::open(file).ok()?.take(FIRST_LINE).read_to_end(&mut first).ok()?;
    let line = first.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let name = line.trim_ascii_start().split(|byte| b" \t".contains(byte)).next()?;
    (!name.is_empty()).then(|| OsStr::from_bytes(name).to_owned())
}
