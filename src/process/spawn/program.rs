//! A command that can be started any number of times.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use super::child::Child;
use super::child_stdio::ChildStdio;
use super::imp;
use super::in_child::{Argv, ChildSetup, SHELL};
use super::interpreter::interpreter;
use super::place::Place;
use crate::policy::outcome::{Missing, StartFailure};
use crate::process::signals::Signals;
use crate::process::sys::environment::{self, Environment};
use crate::report::words::quoted;
use crate::run::text::describe;
use crate::run::wrappers;

/// Where commands are looked for if PATH is unset, as the C library has it.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// The command, ready to be started any number of times.
#[derive(Debug)]
pub(crate) struct Program {
    /// The files to try, in order.
    files: Vec<CString>,
    argv: Vec<CString>,
}

/// Why there is no child.
#[derive(Debug)]
pub(crate) enum SpawnError {
    /// No process could be made.
    Fork(Errno),
    /// The process was made and exec refused the command.
    Exec(StartFailure),
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
        let name = argv.first().map_or(&b""[..], |name| name.to_bytes());
        let files = files(name, environment::variable("PATH").unwrap_or(DEFAULT_PATH));
        Program { files, argv }
    }

    /// A program behind this one that cannot be started (`sh -c NAME`, `env NAME`), after it has ended so. None if there is
    /// any doubt.
    pub(crate) fn lacks(&self, environment: &Environment) -> Option<Missing> {
        let words: Option<Vec<&str>> = self.argv.iter().map(|word| word.to_str().ok()).collect();
        let inner = wrappers::looked_for(&words?)?;
        if inner.in_a_shell && environment.extends_shells() {
            return None;
        }
        let path = environment.value("PATH")?;
        inner.names.iter().find_map(|name| {
            let program = Program {
                files: files(name.as_bytes(), path),
                argv: Vec::new(),
            };
            let failure = program.explain(program.cannot_be_executed()?);
            Some(Missing {
                name: (*name).to_owned(),
                failure,
            })
        })
    }

    /// What exec would say, if it is sure to refuse all of the files.
    fn cannot_be_executed(&self) -> Option<Errno> {
        let mut denied = false;
        for file in &self.files {
            match access(file.as_c_str(), AccessFlags::X_OK) {
                Ok(()) if !Path::new(OsStr::from_bytes(file.to_bytes())).is_dir() => return None,
                Ok(()) | Err(Errno::EACCES) => denied = true,
                Err(Errno::ENOENT | Errno::ENOTDIR) => {}
                Err(_) => return None,
            }
        }
        Some(if denied { Errno::EACCES } else { Errno::ENOENT })
    }

    /// Starts the command once.
    pub(crate) fn start(
        &self,
        environment: &Environment,
        signals: &Signals,
        place: Place,
        stdio: &ChildStdio,
    ) -> Result<Child, SpawnError> {
        let words = || self.argv.iter().map(CString::as_c_str);
        let mut setup = ChildSetup {
            files: &self.files,
            argv: Argv::new(words()),
            shell_argv: Argv::new([SHELL, SHELL].into_iter().chain(words().skip(1))),
            environment,
            mask: signals.caller_mask(),
            ignore_children: signals.children_ignored(),
            place,
            stdio: stdio.borrow(),
            job_control: stdio.job_control.as_ref().map(AsFd::as_fd),
            parent: std::process::id(),
            errno: 0,
        };
        let pid = imp::spawn(&mut setup).map_err(SpawnError::Fork)?;
        let child = Child::new(pid, place != Place::Shared);
        if setup.errno == 0 {
            return Ok(child);
        }
        child.reap();
        Err(SpawnError::Exec(self.explain(Errno::from_raw(setup.errno))))
    }

    /// exec's errno as a person understands it.
    fn explain(&self, errno: Errno) -> StartFailure {
        let path = |file: &CString| PathBuf::from(OsString::from_vec(file.to_bytes().to_vec()));
        let is_dangling = |file: &CString| path(file).is_symlink();
        let is_directory = |file: &CString| path(file).is_dir();
        let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
        let present = self.files.iter().find(|file| path(file).exists());
        let message = match (errno, present) {
            (Errno::ENOENT, Some(file)) => no_interpreter(&path(file)),
            (Errno::ENOENT, None) if self.files.iter().any(is_dangling) => "it is a symbolic link to nothing".into(),
            (Errno::ENOENT | Errno::ENOTDIR, _) => StartFailure::NOT_FOUND.into(),
            (Errno::EACCES, _) if self.files.iter().any(is_directory) => "it is a directory".into(),
            (errno, _) => describe(errno),
        };
        StartFailure { not_found, message }
    }
}

/// Of a file that is there, and the kernel says that it is not: what is missing is what would start it.
fn no_interpreter(file: &Path) -> String {
    match interpreter(file) {
        Some(name) if name.as_bytes().ends_with(b"\r") => {
            format!("its lines end in CRLF, and there is no interpreter {}", quoted(name))
        }
        Some(name) => format!("its interpreter {} is missing", quoted(name)),
        None => "its interpreter is missing".into(),
    }
}
