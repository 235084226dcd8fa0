//! A command that can be started any number of times.

use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use super::child::Child;
use super::child_stdio::ChildStdio;
use super::imp;
use super::in_child::{Argv, ChildSetup, SHELL};
use super::interpreter::{Script, interpreter};
use super::place::Place;
use crate::policy::outcome::{Missing, StartFailure};
use crate::process::signals::Signals;
use crate::process::sys::environment::{self, Environment};
use crate::report::words::quoted;
use crate::run::text::describe;
use crate::run::wrappers;

/// Where commands are looked for if PATH is unset, as the C library has it.
const DEFAULT_PATH: &[u8] = b"/bin:/usr/bin";

/// Where a command may be looked for that is started without PATH: by the C libraries and by shells, whichever it is.
const WITHOUT_PATH: &[u8] = b":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

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

    /// Why exec has refused the command, where only the child's status tells that it has.
    pub(crate) fn was_refused(&self, code: u8) -> Option<StartFailure> {
        if code != 127 || imp::tells_errno() {
            return None;
        }
        self.cannot_be_executed().map(|errno| self.explain(errno))
    }

    /// What this command cannot be started without, after it has ended so: a program behind it (`sh -c NAME`, `env NAME`),
    /// the interpreter of a script, or a script. None if there is any doubt.
    pub(crate) fn lacks(&self, code: u8, environment: &Environment) -> Option<Missing> {
        // What dash says of a script that is not there, POSIX of all that is not.
        let (dash, posix) = (code == 2, matches!(code, 126 | 127));
        if !dash && !posix {
            return None;
        }
        let path = environment.value("PATH")?;
        if posix && let Some(failure) = self.lacks_interpreter(path) {
            let name = self.argv.first()?.to_string_lossy().into_owned();
            return Some(Missing { name, failure });
        }
        let words: Option<Vec<&str>> = self.argv.iter().map(|word| word.to_str().ok()).collect();
        let inner = wrappers::looked_for(&words?)?;
        if inner.in_a_shell && environment.extends_shells() {
            return None;
        }
        let path = match inner.path_is_unset {
            true => [path, b":", WITHOUT_PATH].concat(),
            false => path.to_vec(),
        };
        let missing = |name: &str, failure| Missing {
            name: name.to_owned(),
            failure,
        };
        let lacks = |name: &str| {
            let program = Program::named(name.as_bytes(), &path);
            let failure = match program.cannot_be_executed() {
                Some(errno) => program.explain(errno),
                None => program.lacks_interpreter(&path)?,
            };
            Some(missing(name, failure))
        };
        let lacks_script = |name: &str| {
            // A shell may also look for it in PATH.
            let mut files = Program::named(name.as_bytes(), &path).files;
            files.push(CString::new(name).ok()?);
            let failure = StartFailure {
                not_found: true,
                message: describe(Errno::ENOENT),
            };
            files.iter().all(is_missing).then(|| missing(name, failure))
        };
        let mut names = inner.names.iter().filter(|_| posix);
        names
            .find_map(|name| lacks(name))
            .or_else(|| lacks_script(inner.script?))
    }

    /// To be looked at only.
    fn named(name: &[u8], path: &[u8]) -> Program {
        Program {
            files: files(name, path),
            argv: Vec::new(),
        }
    }

    /// What exec would say, if it is sure to refuse all of the files.
    fn cannot_be_executed(&self) -> Option<Errno> {
        let mut denied = false;
        for file in &self.files {
            match access(file.as_c_str(), AccessFlags::X_OK) {
                Ok(()) if as_path(file).is_dir() => denied = true,
                Ok(()) if names_no_interpreter(file) => {}
                Ok(()) => return None,
                Err(Errno::EACCES) => denied = true,
                Err(Errno::ENOENT | Errno::ENOTDIR) => {}
                Err(_) => return None,
            }
        }
        Some(if denied { Errno::EACCES } else { Errno::ENOENT })
    }

    /// That the program is a script which begins with `#!/usr/bin/env NAME`, and there is no such program.
    fn lacks_interpreter(&self, path: &[u8]) -> Option<StartFailure> {
        let can_be_executed =
            |file: &&CString| access(file.as_c_str(), AccessFlags::X_OK).is_ok() && !as_path(file).is_dir();
        let script = Script::read(as_path(self.files.iter().find(can_be_executed)?))?;
        let name = script.looked_for()?;
        let errno = Program::named(name.as_bytes(), path).cannot_be_executed()?;
        (errno == Errno::ENOENT).then(|| StartFailure {
            not_found: true,
            message: without_interpreter(Some(name)),
        })
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
            #[cfg(not(portable))]
            parent: std::process::id(),
            errno: 0,
        };
        let pid = imp::spawn(&mut setup).map_err(SpawnError::Fork)?;
        let child = Child::new(pid, place != Place::Shared);
        if setup.errno == 0 {
            return Ok(child);
        }
        child.reap();
        let mut failure = self.explain(Errno::from_raw(setup.errno));
        if failure.message == StartFailure::NOT_FOUND && self.is_function(environment) {
            failure.message = "it is a function of bash, and no program; try bash -c '...'".to_owned();
        }
        Err(SpawnError::Exec(failure))
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
            (Errno::ENOENT, Some(file)) => without_interpreter(interpreter(&path(file)).as_deref()),
            (Errno::ENOENT, None) if self.files.iter().any(is_dangling) => "it is a symbolic link to nothing".into(),
            (Errno::ENOENT | Errno::ENOTDIR, _) => StartFailure::NOT_FOUND.into(),
            (Errno::EACCES, _) if self.files.iter().any(is_directory) => "it is a directory".into(),
            (errno, _) => describe(errno),
        };
        StartFailure { not_found, message }
    }
}

fn as_path(file: &CString) -> &Path {
    Path::new(OsStr::from_bytes(file.to_bytes()))
}

fn is_missing(file: &CString) -> bool {
    matches!(
        access(file.as_c_str(), AccessFlags::F_OK),
        Err(Errno::ENOENT | Errno::ENOTDIR)
    )
}

/// Whether this is a script whose interpreter is not there.
fn names_no_interpreter(file: &CString) -> bool {
    let script = Script::read(as_path(file));
    let interpreter = script.and_then(|script| CString::new(script.interpreter.into_vec()).ok());
    interpreter.is_some_and(|interpreter| is_missing(&interpreter))
}

/// Of a file that is there, and cannot be started: what is missing is what would start it.
fn without_interpreter(name: Option<&OsStr>) -> String {
    match name {
        Some(name) if name.as_bytes().ends_with(b"\r") => {
            format!("its lines end in CRLF, and there is no interpreter {}", quoted(name))
        }
        Some(name) => format!("its interpreter {} is missing", quoted(name)),
        None => "its interpreter is missing".into(),
    }
}
