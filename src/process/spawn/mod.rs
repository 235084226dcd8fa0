//! Starts the command as `execvp(3)` does, with everything that backoff inherited. A command must not be able to tell
//! that it is wrapped. `std::process::Command` changes signal actions and drops odd variables.
//!
//! The child is created by `fork(2)`. All signals are blocked in it until just before exec.

pub(crate) mod child;
mod environment;
mod explain;
pub(crate) mod start;

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::policy::signal::Signal;
use crate::process::signals::Signals;
use crate::process::sys::environment::variable;
use crate::run::variable_list::VariableList;
use child::Child;
use environment::{c_string, environment};
use explain::name_of;
use start::{ChildSetup, start_child};
pub(crate) use start::{ChildStdio, Isolation};

/// The search path if PATH is unset, as in the C library.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A command that can be started several times.
#[derive(Debug)]
pub(crate) struct Command {
    /// Program and arguments.
    words: Vec<CString>,
    /// The files to try, in the order of backoff's PATH.
    files: Vec<CString>,
}

impl Command {
    /// Prepares what all attempts share, namely the words and the files that PATH offers for the name. Each start finds
    /// out whether the files exist.
    pub(crate) fn new(words: &[OsString]) -> Command {
        let name = words.first().map_or(b"".as_slice(), |name| name.as_bytes());
        let path = variable("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        Command {
            files: candidates(name, &path),
            words: words.iter().map(|word| c_string(word.as_bytes())).collect(),
        }
    }

    /// Returns the command's name without its directory, for messages.
    pub(crate) fn program(&self) -> String {
        let name = Path::new(OsStr::from_bytes(name_of(&self.words)));
        let base = name.file_name().unwrap_or(name.as_os_str());
        base.to_string_lossy().into_owned()
    }

    /// Starts the command with `variables` in its environment. `never_ignored` is the signal given with `--signal`, if
    /// any. It gets its default action even if the caller ignores it, or a limit could not end the command. Returns an
    /// error if no process could be created. [`Child::start_failure`] reports a failed exec later.
    pub(crate) fn start(
        &self,
        variables: &VariableList,
        signals: &Signals,
        never_ignored: Option<Signal>,
        isolation: Isolation,
        stdio: &ChildStdio,
    ) -> io::Result<Child> {
        start_child(ChildSetup {
            files: &self.files,
            words: &self.words,
            environment: environment(variables),
            signals,
            never_ignored,
            isolation,
            stdio,
        })
    }
}

/// Returns the files that exec must try for a name, in the order of PATH (`path`). They need not exist. A name with a
/// slash is the only one. So is an empty name, which exec then does not find.
fn candidates(name: &[u8], path: &OsStr) -> Vec<CString> {
    if name.is_empty() || name.contains(&b'/') {
        return vec![c_string(name)];
    }
    path.as_bytes()
        .split(|byte| *byte == b':')
        .map(|directory| file_in(directory, name))
        .collect()
}

/// Returns the file of this name in a directory listed in PATH. An empty entry means the working directory, where exec
/// looks for a bare name.
fn file_in(directory: &[u8], name: &[u8]) -> CString {
    if directory.is_empty() {
        return c_string(name);
    }
    c_string(&[directory, b"/", name].concat())
}
