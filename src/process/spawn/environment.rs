//! The environment of one attempt. It has backoff's own entries, unchanged and including those without `=`, plus
//! variables that are set.

use std::ffi::{CStr, CString};

use crate::process::sys::environment::entries;
use crate::run::variable_list::VariableList;
use crate::run::variables::LEFT;

/// Variables by which systemd addresses one process. They name backoff, and must name the command.
const PID_VARIABLES: [&str; 2] = [LISTEN_PID, "WATCHDOG_PID"];
const LISTEN_PID: &str = "LISTEN_PID";
/// Names the process of `LISTEN_PID` by another number, which backoff cannot know for a child before exec.
const LISTEN_PIDFDID: &[u8] = b"LISTEN_PIDFDID";

/// Returns backoff's entries, except those that `variables` replace, and then `variables`. Leaves out `BACKOFF_LEFT`,
/// the time left of an outer run, as it would be out of date. Also leaves out a `LISTEN_PIDFDID` that names backoff, as
/// the command would refuse its sockets.
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

/// Replaces backoff's PID (`parent`) with that of this child, so that the command accepts what systemd has addressed to
/// backoff. Called in the child. Entries with another PID address another process, and are kept.
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

/// Returns the name of an entry. Empty if the entry has no `=`, so no variable replaces it.
fn name_of(entry: &CStr) -> &[u8] {
    let bytes = entry.to_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=');
    &bytes[..end.unwrap_or_default()]
}

/// Converts a word of a command line, or a path made from one, which cannot contain NUL.
pub(super) fn c_string(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
}
