//! The environment of one attempt: backoff's own entries, unchanged, plus variables that are set.

use std::ffi::{CString, c_char};
use std::io::Write;
use std::ptr;

use crate::process::sys::environment::entries;
use crate::run::host::Variable;

/// Variables by which systemd addresses one process. They name backoff, and must name the command.
const NAMING_A_PROCESS: [&str; 2] = ["LISTEN_PID=", "WATCHDOG_PID="];

pub(super) struct Environment {
    /// Pointers for `execve(2)`, ending with a null pointer.
    pub(super) entries: Vec<*const c_char>,
    /// Owners of entries that are not inherited.
    _set: Vec<CString>,
    /// Positions of variables that name a process, the variables, and room for entries that the child writes.
    of_process: Vec<(usize, &'static str, [u8; 32])>,
}

impl Environment {
    pub(super) fn new(variables: &[Variable]) -> Environment {
        let own_pid = std::process::id().to_string();
        let mut pointers = Vec::with_capacity(64);
        let mut of_process = Vec::new();
        for entry in entries() {
            let bytes = entry.to_bytes();
            let name = bytes.iter().position(|byte| *byte == b'=').map(|end| &bytes[..end]);
            if variables.iter().any(|(set, _)| name == Some(set.as_bytes())) {
                continue;
            }
            let names_backoff = |name: &&str| bytes.strip_prefix(name.as_bytes()) == Some(own_pid.as_bytes());
            if let Some(name) = NAMING_A_PROCESS.into_iter().find(names_backoff) {
                of_process.push((pointers.len(), name, [0; 32]));
            }
            pointers.push(entry.as_ptr());
        }
        // Values cannot contain NUL.
        let entry = |(name, value): &Variable| {
            let text = [name.as_bytes(), b"=", value.as_encoded_bytes()].concat();
            CString::new(text).ok()
        };
        let set: Vec<CString> = variables.iter().filter_map(entry).collect();
        pointers.extend(set.iter().map(|entry| entry.as_ptr()));
        pointers.push(ptr::null());
        Environment {
            entries: pointers,
            _set: set,
            of_process,
        }
    }

    /// Makes variables that name backoff name this process. Async-signal-safe.
    pub(super) fn name_this_process(&mut self) {
        for (position, name, entry) in &mut self.of_process {
            let _ = write!(&mut entry[..], "{name}{}", std::process::id());
            self.entries[*position] = entry.as_ptr().cast();
        }
    }
}
