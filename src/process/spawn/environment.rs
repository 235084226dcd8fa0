//! The environment of one attempt: backoff's own entries, unchanged, plus variables that are set.

use std::ffi::{CString, c_char};
use std::io::Write;
use std::ptr;

use crate::process::sys::environment::entries;
use crate::run::host::Variable;
use crate::run::variables::LEFT;

/// Variables by which systemd addresses one process. They name backoff, and must name the command.
const PID_VARIABLES: [&str; 2] = ["LISTEN_PID=", "WATCHDOG_PID="];

/// A variable that holds backoff's process number, and gets the child's.
struct PidVariable {
    /// The position in `entries`.
    index: usize,
    /// The name, with `=`.
    name: &'static str,
    /// Zeroes, into which the child writes the entry.
    entry: [u8; 32],
}

pub(super) struct Environment {
    /// Pointers for `execve(2)`, ending with a null pointer.
    pub(super) entries: Vec<*const c_char>,
    /// Owners of entries that are not inherited.
    _added: Vec<CString>,
    pid_variables: Vec<PidVariable>,
}

impl Environment {
    /// Takes over the entries of backoff's environment, except those that `variables` replace, and adds `variables`.
    pub(super) fn new(variables: &[Variable]) -> Environment {
        let own_pid = std::process::id().to_string();
        let mut pointers = Vec::with_capacity(64);
        let mut pid_variables = Vec::new();
        for inherited in entries() {
            let bytes = inherited.to_bytes();
            if is_replaced(bytes, variables) {
                continue;
            }
            if let Some(name) = pid_variable(bytes, &own_pid) {
                pid_variables.push(PidVariable {
                    index: pointers.len(),
                    name,
                    entry: [0; 32],
                });
            }
            pointers.push(inherited.as_ptr());
        }
        let added: Vec<CString> = variables.iter().filter_map(to_entry).collect();
        pointers.extend(added.iter().map(|entry| entry.as_ptr()));
        pointers.push(ptr::null());
        Environment {
            entries: pointers,
            _added: added,
            pid_variables,
        }
    }

    /// Replaces backoff's process number by that of the child, which makes the call. Async-signal-safe.
    pub(super) fn insert_child_pid(&mut self) {
        for PidVariable { index, name, entry } in &mut self.pid_variables {
            let _ = write!(&mut entry[..], "{name}{}", std::process::id());
            self.entries[*index] = entry.as_ptr().cast();
        }
    }
}

/// Returns true if an inherited entry gets another value, or is never inherited.
fn is_replaced(entry: &[u8], variables: &[Variable]) -> bool {
    let Some(end) = entry.iter().position(|byte| *byte == b'=') else {
        return false;
    };
    let name = &entry[..end];
    let is_set = variables.iter().any(|(added, _)| name == added.as_bytes());
    is_set || name == LEFT.as_bytes()
}

/// Returns the variable, with `=`, if an entry is one of [`PID_VARIABLES`] with backoff's process number.
fn pid_variable(entry: &[u8], own_pid: &str) -> Option<&'static str> {
    PID_VARIABLES
        .into_iter()
        .find(|prefix| entry.strip_prefix(prefix.as_bytes()) == Some(own_pid.as_bytes()))
}

/// Returns the entry of a variable. Values cannot contain NUL.
fn to_entry((name, value): &Variable) -> Option<CString> {
    CString::new([name.as_bytes(), b"=", value.as_encoded_bytes()].concat()).ok()
}
