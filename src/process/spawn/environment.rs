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
    pub(super) fn new(variables: &[Variable]) -> Environment {
        let own_pid = std::process::id().to_string();
        let mut pointers = Vec::with_capacity(64);
        let mut pid_variables = Vec::new();
        for inherited in entries() {
            let bytes = inherited.to_bytes();
            let name = bytes
                .iter()
                .position(|byte| *byte == b'=')
                .map(|end| &bytes[..end]);
            let is_replaced = variables
                .iter()
                .any(|(added, _)| name == Some(added.as_bytes()));
            if is_replaced || name == Some(LEFT.as_bytes()) {
                continue;
            }
            let has_own_pid =
                |prefix: &&str| bytes.strip_prefix(prefix.as_bytes()) == Some(own_pid.as_bytes());
            if let Some(name) = PID_VARIABLES.into_iter().find(has_own_pid) {
                let (index, entry) = (pointers.len(), [0; 32]);
                pid_variables.push(PidVariable { index, name, entry });
            }
            pointers.push(inherited.as_ptr());
        }
        let to_entry = |(name, value): &Variable| {
            let text = [name.as_bytes(), b"=", value.as_encoded_bytes()].concat();
            // Values cannot contain NUL.
            CString::new(text).ok()
        };
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
