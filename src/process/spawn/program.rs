//! A command that can be started any number of times.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::child::Child;
use super::child_stdio::ChildStdio;
use super::place::Place;
use super::start::{Argv, ChildSetup, SHELL, start};
use crate::policy::outcome::StartFailure;
use crate::process::signals::receive::Signals;
use crate::process::sys::environment::{self, Environment};
use crate::report::words::quoted;
use crate::run::text::describe;

/// Where commands are looked for if PATH is unset, as the C library has it.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// Length of what the kernel reads of a script's first line.
const FIRST_LINE: u64 = 256;

/// The command, ready to be started any number of times.
#[derive(Debug)]
pub(crate) struct Program {
    /// The files to try, in order.
    files: Vec<CString>,
    argv: Vec<CString>,
}

/// Where a command of this name may be, in the order in which that is tried.
fn files(name: &[u8], path: &[u8]) -> Vec<CString> {
    let c = |bytes: &[u8]| CString::new(bytes).unwrap_or_default();
    if name.is_empty() || name.contains(&b'/') {
        return vec![c(name)];
    }
    // An empty entry is the working directory.
    let file = |dir: &[u8]| match dir {
        b"" => c(name),
        _ => c(&[dir, b"/", name].concat()),
    };
    path.split(|byte| *byte == b':').map(file).collect()
}

impl Program {
    /// Prepares a command; it is not looked for yet.
    pub(crate) fn new(command: &[OsString]) -> Program {
        let c = |bytes: &[u8]| CString::new(bytes).unwrap_or_default();
        let argv: Vec<CString> = command.iter().map(|word| c(word.as_bytes())).collect();
        let mut program = Program {
            files: Vec::new(),
            argv,
        };
        program.look_in(None);
        program
    }

    /// Looks for the command in this PATH from now on; None is backoff's own.
    pub(crate) fn look_in(&mut self, path: Option<&[u8]>) {
        let name = self.argv.first().map_or(&b""[..], |name| name.to_bytes());
        let path = path.or_else(|| environment::variable("PATH"));
        self.files = files(name, path.unwrap_or(DEFAULT_PATH));
    }

    /// Starts the command once. An error says why no process could be made.
    pub(crate) fn start(
        &self,
        environment: &Environment,
        signals: &Signals,
        place: Place,
        stdio: &ChildStdio,
    ) -> Result<Child, Errno> {
        let words = || self.argv.iter().map(CString::as_c_str);
        let (pid, failure) = start(ChildSetup {
            files: &self.files,
            argv: Argv::new(words()),
            shell_argv: Argv::new([SHELL, SHELL].into_iter().chain(words().skip(1))),
            environment,
            mask: signals.caller_mask(),
            handled: signals.handled(),
            ignore_children: signals.children_ignored(),
            place,
            stdio: stdio.borrow(),
        })?;
        Ok(Child::new(pid, place != Place::Shared, failure))
    }

    /// Returns why exec refused the command, if this child of it ended for that reason.
    pub(crate) fn was_refused(&self, child: &Child, environment: &Environment) -> Option<StartFailure> {
        let mut failure = self.explain(child.exec_error()?);
        if failure.message == StartFailure::NOT_FOUND && self.is_function(environment) {
            failure.message = "it is a function of bash, and no program; try bash -c '...'".to_owned();
        }
        Some(failure)
    }

    /// Whether bash has exported a function of this name.
    fn is_function(&self, environment: &Environment) -> bool {
        let name = self.argv.first().and_then(|name| name.to_str().ok());
        name.is_some_and(|name| environment.value(&format!("BASH_FUNC_{name}%%")).is_some())
    }

    /// exec's errno as a person understands it.
    fn explain(&self, errno: Errno) -> StartFailure {
        let path = |file: &CString| PathBuf::from(OsString::from_vec(file.to_bytes().to_vec()));
        let is_dangling = |file: &CString| path(file).is_symlink();
        let is_directory = |file: &CString| path(file).is_dir();
        let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
        let present = self.files.iter().find(|file| path(file).exists());
        let message = match (errno, present) {
            (Errno::ENOENT, Some(file)) => without_interpreter(&path(file)),
            (Errno::ENOENT, None) if self.files.iter().any(is_dangling) => "it is a symbolic link to nothing".into(),
            (Errno::ENOENT | Errno::ENOTDIR, _) => StartFailure::NOT_FOUND.into(),
            (Errno::EACCES, _) if self.files.iter().any(is_directory) => "it is a directory".into(),
            (errno, _) => describe(errno),
        };
        StartFailure { not_found, message }
    }
}

/// Returns why a file that exists was not found: what would run it is missing.
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
