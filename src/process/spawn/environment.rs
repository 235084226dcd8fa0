//! The environment of one attempt: backoff's own entries, unchanged, plus variables that are set.

use std::cell::Cell;
use std::ffi::{CString, c_char};
use std::io::Write;
use std::ptr;

use crate::process::sys::environment::{entries, split};
use crate::run::host::Variable;

/// Variables by which systemd addresses one process. They name backoff, and must name the command.
const NAMING_A_PROCESS: [&[u8]; 2] = [b"LISTEN_PID", b"WATCHDOG_PID"];

/// Room for a process number and NUL.
const NUMBER_ROOM: usize = 12;

pub(super) struct Environment {
    /// Pointers for `execve(2)`, ending with a null pointer.
    pub(super) entries: Vec<*const c_char>,
    /// Owners of entries that are not inherited.
    _set: Vec<CString>,
    /// Entries that end with the child's process number, which the child writes.
    of_process: Vec<Vec<Cell<u8>>>,
}

impl Environment {
    pub(super) fn new(variables: &[Variable]) -> Environment {
        let own_pid = std::process::id().to_string();
        let mut pointers = Vec::with_capacity(64);
        let mut of_process = Vec::new();
        for entry in entries() {
            match split(entry) {
                Some((name, _)) if variables.iter().any(|(set, _)| set.as_bytes() == name) => {}
                Some((name, value)) if NAMING_A_PROCESS.contains(&name) && value == own_pid.as_bytes() => {
                    let text = [name, b"=", &[0; NUMBER_ROOM]].concat();
                    let text: Vec<Cell<u8>> = text.into_iter().map(Cell::new).collect();
                    pointers.push(text.as_ptr().cast());
                    of_process.push(text);
                }
                _ => pointers.push(entry.as_ptr()),
            }
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

    /// Writes this process's number into variables that name a process. Async-signal-safe.
    pub(super) fn name_this_process(&self) {
        let mut number = [0; NUMBER_ROOM];
        let _ = write!(&mut number[..], "{}", std::process::id());
        for entry in &self.of_process {
            for (place, digit) in entry[entry.len() - NUMBER_ROOM..].iter().zip(number) {
                place.set(digit);
            }
        }
    }
}
