//! The environment of one attempt: backoff's own entries, unchanged, also those without `=`, plus variables that are
//! set.

use std::ffi::{CStr, CString};

use crate::process::sys::environment::entries;
use crate::run::variable_list::VariableList;
use crate::run::variables::LEFT;

/// Variables by which systemd addresses one process. They name backoff, and must name the command.
const PID_VARIABLES: [&str; 2] = [LISTEN_PID, "WATCHDOG_PID"];
const LISTEN_PID: &str = "LISTEN_PID";
/// The process of `LISTEN_PID` once more, by another number, which backoff cannot know of a child before exec.
const LISTEN_PIDFDID: &[u8] = b"LISTEN_PIDFDID";

/// Returns backoff's entries, except those that `variables` replace, and then `variables`. Left out are `BACKOFF_LEFT`,
/// which states the time left of an outer run, and would be out of date, and a `LISTEN_PIDFDID` that names backoff, with
/// which the command would refuse its sockets.
pub(super) fn environment(variables: &VariableList) -> Vec<CString> {
    let own_entry = addressed_entry(LISTEN_PID, std::process::id());
    let is_addressed = entries().any(|entry| entry == &*own_entry);
    let mut environment = Vec::new();
    for entry in entries() {
        let name = name_of(entry);
        let is_left_out = name == LEFT.as_bytes() || name == LISTEN_PIDFDID && is_addressed;
        if !is_left_out && !variables.contains(name) {
            environment.push(entry.to_owned());
        }
    }
    environment.extend(variables.entries().map(|entry| c_string(entry.as_bytes())));
    environment
}

/// Called in the child of process `parent`: puts its number in place of backoff's, so that the command accepts what
/// systemd has addressed to backoff. Entries with another number address another process, and stay.
pub(super) fn address_to_this_process(environment: &mut [CString], parent: u32) {
    for name in PID_VARIABLES {
        let before = addressed_entry(name, parent);
        for entry in environment.iter_mut().filter(|entry| **entry == before) {
            *entry = addressed_entry(name, std::process::id());
        }
    }
}

fn addressed_entry(name: &str, pid: u32) -> CString {
    c_string(format!("{name}={pid}").as_bytes())
}

/// Returns the name of an entry; empty if it has no `=`: then no variable replaces it.
fn name_of(entry: &CStr) -> &[u8] {
    let bytes = entry.to_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=');
    &bytes[..end.unwrap_or_default()]
}

/// Converts a word of a command line, or a path made of it, which cannot contain NUL.
pub(super) fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
}
