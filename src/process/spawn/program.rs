//! A command that can be started any number of times.

use std::ffi::{CString, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use nix::errno::Errno;

use super::child::Child;
use super::child_stdio::ChildStdio;
use super::imp;
use super::in_child::{Argv, ChildSetup, SHELL};
use super::place::Place;
use crate::policy::outcome::StartFailure;
use crate::process::signals::Signals;
use crate::process::sys::environment::{self, Environment};
use crate::run::text::describe;

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

impl Program {
    /// Prepares a command; it is not looked for yet.
    pub(crate) fn new(command: &[OsString]) -> Program {
        let c = |bytes: &[u8]| CString::new(bytes).unwrap_or_default();
        let argv: Vec<CString> = command.iter().map(|word| c(word.as_bytes())).collect();
        let name = argv.first().map_or(&b""[..], |name| name.to_bytes());
        let files = if name.is_empty() || name.contains(&b'/') {
            vec![c(name)]
        } else {
            let path = environment::variable("PATH").unwrap_or(DEFAULT_PATH);
            path.split(|byte| *byte == b':')
                // An empty entry is the working directory.
                .map(|dir| {
                    if dir.is_empty() {
                        c(name)
                    } else {
                        c(&[dir, b"/", name].concat())
                    }
                })
                .collect()
        };
        Program { files, argv }
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
        let exists = |file: &CString| path(file).exists();
        let is_dangling = |file: &CString| path(file).is_symlink();
        let is_directory = |file: &CString| path(file).is_dir();
        let not_found = matches!(errno, Errno::ENOENT | Errno::ENOTDIR);
        let message = match errno {
            Errno::ENOENT if self.files.iter().any(exists) => "its interpreter is missing".into(),
            Errno::ENOENT if self.files.iter().any(is_dangling) => "it is a symbolic link to nothing".into(),
            Errno::ENOENT | Errno::ENOTDIR => "command not found".into(),
            Errno::EACCES if self.files.iter().any(is_directory) => "it is a directory".into(),
            errno => describe(errno),
        };
        StartFailure { not_found, message }
    }
}
