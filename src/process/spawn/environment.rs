//! The environment of one attempt: backoff's own entries, unchanged, also those without `=`, plus variables that are
//! set. The array for exec points to the strings of both.

use std::ffi::{CStr, c_char};
use std::io::Write;
use std::ptr;

use smallvec::SmallVec;

use crate::process::sys::environment::entries;
use crate::run::variable_list::VariableList;
use crate::run::variables::LEFT;

/// Variables by which systemd addresses one process. They name backoff, and must name the command.
const PID_VARIABLES: [&str; 2] = [LISTEN_PID, "WATCHDOG_PID="];
const LISTEN_PID: &str = "LISTEN_PID=";
/// The process of `LISTEN_PID` once more, by another number, which backoff cannot know of a child before exec.
const LISTEN_PIDFDID: &[u8] = b"LISTEN_PIDFDID";

/// A variable that holds backoff's process number, and gets the child's.
#[derive(Debug)]
struct PidVariable {
    /// The position in [`Environment::entries`].
    index: usize,
    /// The name, with `=`.
    name: &'static str,
    /// Zeroes, into which the child writes the entry: more than the longest name and number need, so that a NUL
    /// follows. `entries` points to it then.
    entry: [u8; 32],
}

/// An entry of backoff's own environment that a command may inherit.
#[derive(Debug)]
struct Inherited {
    entry: &'static CStr,
    /// Empty if the entry has no `=`: then no variable replaces it.
    name: &'static [u8],
    /// The name, with `=`, if the value is backoff's process number and must be the command's.
    pid_variable: Option<&'static str>,
}

impl Inherited {
    /// Returns all entries of backoff's environment that a command inherits: all except `BACKOFF_LEFT`, which states
    /// the time left of an outer run, and would be out of date, and a `LISTEN_PIDFDID` that names backoff, with which
    /// the command would refuse its sockets. They are read once, as the environment of backoff never changes.
    fn all() -> Vec<Inherited> {
        let own_pid = std::process::id().to_string();
        let mut all = Vec::with_capacity(64);
        for entry in entries() {
            let bytes = entry.to_bytes();
            let name_end = bytes.iter().position(|byte| *byte == b'=');
            let name = &bytes[..name_end.unwrap_or_default()];
            if name != LEFT.as_bytes() {
                all.push(Inherited {
                    entry,
                    name,
                    pid_variable: pid_variable(bytes, &own_pid),
                });
            }
        }
        let is_addressed = all
            .iter()
            .any(|inherited| inherited.pid_variable == Some(LISTEN_PID));
        if is_addressed {
            all.retain(|inherited| inherited.name != LISTEN_PIDFDID);
        }
        all
    }
}

/// The environment of one attempt, as `execve(2)` takes it. Filled again for each attempt.
#[derive(Debug, Default)]
pub(super) struct Environment {
    inherited: Vec<Inherited>,
    /// Pointers to the entries, ending with a null pointer. They point into backoff's environment, into the variables
    /// of [`Environment::fill`], which have to stay until the program has started, and into `pid_variables`, which must
    /// not grow. Usually not on the heap: see `variable_list.rs`.
    pub(super) entries: SmallVec<[*const c_char; 64]>,
    pid_variables: Vec<PidVariable>,
}

impl Environment {
    /// Returns the environment that a command inherits, not filled yet.
    pub(super) fn inherited() -> Environment {
        Environment {
            inherited: Inherited::all(),
            ..Environment::default()
        }
    }

    /// Takes over the entries of backoff's environment, except those that `variables` replace, and adds `variables`.
    /// Entries with backoff's process number are taken over, too, but noted: only the child knows its own number, and
    /// puts it in ([`Environment::insert_child_pid`]).
    pub(super) fn fill(&mut self, variables: &VariableList) {
        self.entries.clear();
        self.pid_variables.clear();
        for inherited in &self.inherited {
            if variables.contains(inherited.name) {
                continue;
            }
            if let Some(name) = inherited.pid_variable {
                self.pid_variables.push(PidVariable {
                    index: self.entries.len(),
                    name,
                    entry: [0; 32],
                });
            }
            self.entries.push(inherited.entry.as_ptr());
        }
        let set = variables.entries().map(|entry| entry.as_ptr().cast());
        self.entries.extend(set);
        self.entries.push(ptr::null());
    }

    /// Called in the child, just before exec: writes the child's process number in place of backoff's (`LISTEN_PID`,
    /// `WATCHDOG_PID`), so that the command accepts what systemd has addressed to backoff. Async-signal-safe.
    pub(super) fn insert_child_pid(&mut self) {
        for PidVariable { index, name, entry } in &mut self.pid_variables {
            // There is room for any number.
            let _ = write!(&mut entry[..], "{name}{}", std::process::id());
            self.entries[*index] = entry.as_ptr().cast();
        }
    }
}

/// Returns the variable's name, with `=`, if an entry is one of [`PID_VARIABLES`] and its value is backoff's process
/// number; None otherwise. With another number it addresses another process, and stays.
fn pid_variable(entry: &[u8], own_pid: &str) -> Option<&'static str> {
    PID_VARIABLES
        .into_iter()
        .find(|prefix| entry.strip_prefix(prefix.as_bytes()) == Some(own_pid.as_bytes()))
}
