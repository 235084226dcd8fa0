//! The environment, as bytes and as it is: entries without `=`, odd names and bad UTF-8 included.

use std::cell::Cell;
use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::ptr;

use super::strings::strings;
use crate::run::host::Variable;

unsafe extern "C" {
    static mut environ: *const *const c_char;
}

/// The entries of the environment.
fn entries() -> impl Iterator<Item = &'static CStr> {
    // SAFETY: backoff never changes its own environment (clippy.toml bans set_var), in no thread.
    unsafe { strings(environ) }
}

/// Name and value of an entry.
fn split(entry: &CStr) -> Option<(&[u8], &[u8])> {
    let bytes = entry.to_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=')?;
    Some((&bytes[..equals], &bytes[equals + 1..]))
}

/// An entry; none can hold a NUL.
fn entry(name: &str, value: &OsStr) -> Option<CString> {
    // With room for `=` and the NUL: it is made anew for every attempt.
    let mut entry = Vec::with_capacity(name.len() + value.len() + 2);
    entry.extend_from_slice(name.as_bytes());
    entry.push(b'=');
    entry.extend_from_slice(value.as_bytes());
    CString::new(entry).ok()
}

/// The value of a variable.
pub(crate) fn variable(name: &str) -> Option<&'static [u8]> {
    entries()
        .filter_map(split)
        .find(|(known, _)| *known == name.as_bytes())
        .map(|(_, value)| value)
}

/// Whether the locale is one of UTF-8. Of these variables the first one that is set tells.
pub(crate) fn is_utf8() -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    let names = |codeset: &[u8]| locale.windows(codeset.len()).any(|part| part == codeset);
    names(b".utf-8") || names(b".utf8")
}

/// backoff's own directory where this user's programs keep their state.
pub(crate) fn state_home() -> Option<PathBuf> {
    home("XDG_STATE_HOME", ".local/state")
}

/// backoff's own directory where this user's programs keep their configuration.
pub(crate) fn config_home() -> Option<PathBuf> {
    home("XDG_CONFIG_HOME", ".config")
}

/// XDG Base Directory Specification: a relative path counts as none.
fn home(name: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(OsStr::from_bytes(variable(name)?));
        path.is_absolute().then_some(path)
    };
    let home = absolute(name).or_else(|| Some(absolute("HOME")?.join(below_home)));
    Some(home?.join("backoff"))
}

/// All variables whose names start with `BACKOFF_`; of a name that stands twice, the first, as
/// `getenv(3)` has it.
pub(crate) fn backoff_variables() -> Vec<(OsString, OsString)> {
    let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    entries()
        .filter(|entry| entry.to_bytes().starts_with(b"BACKOFF_"))
        .filter_map(split)
        .map(|(name, value)| (os(name), os(value)))
        .collect()
}

/// The environment of one attempt: backoff's own, with some variables set.
#[derive(Debug)]
pub(crate) struct Environment {
    inherited: Vec<*const c_char>,
    /// Where a variable is to name the process that reads it, its index in `inherited`, and the entry, at whose end
    /// the child writes its own process number.
    of_process: Vec<(usize, Box<[Cell<u8>]>)>,
    own: Vec<CString>,
    all: Vec<*const c_char>,
}

/// Variables by which systemd addresses one process; they name backoff, and must name the command.
const NAMING_A_PROCESS: [&str; 2] = ["LISTEN_PID", "WATCHDOG_PID"];

/// The most digits a process number has, and the final NUL.
const NUMBER_ROOM: usize = 12;

impl Environment {
    /// Everything that is inherited, except what `overridden` names.
    pub(crate) fn without(overridden: &[&str]) -> Environment {
        let own_pid = std::process::id().to_string();
        let mut inherited = Vec::with_capacity(64);
        let mut of_process = Vec::new();
        for entry in entries() {
            let Some((name, value)) = split(entry) else {
                inherited.push(entry.as_ptr());
                continue;
            };
            if overridden.iter().any(|known| known.as_bytes() == name) {
                continue;
            }
            if value == own_pid.as_bytes() && NAMING_A_PROCESS.iter().any(|known| known.as_bytes() == name) {
                let mut buffer = [name, b"="].concat();
                buffer.resize(buffer.len() + NUMBER_ROOM, 0);
                of_process.push((inherited.len(), buffer.into_iter().map(Cell::new).collect()));
            }
            inherited.push(entry.as_ptr());
        }
        Environment {
            inherited,
            of_process,
            own: Vec::new(),
            all: Vec::new(),
        }
    }

    /// Sets the variables of the next attempt.
    pub(crate) fn set(&mut self, variables: &[Variable]) {
        self.own.clear();
        self.own
            .extend(variables.iter().filter_map(|(name, value)| entry(name, value)));
        self.all.clear();
        self.all.extend_from_slice(&self.inherited);
        for (index, buffer) in &self.of_process {
            self.all[*index] = buffer.as_ptr().cast();
        }
        self.all.extend(self.own.iter().map(|entry| entry.as_ptr()));
        self.all.push(ptr::null());
    }

    /// The value of a variable, as the command sees it.
    pub(crate) fn value(&self, name: &str) -> Option<&[u8]> {
        let mut known = self.seen().filter_map(split);
        known
            .find(|(known, _)| *known == name.as_bytes())
            .map(|(_, value)| value)
    }

    fn seen(&self) -> impl Iterator<Item = &CStr> {
        let entries = self.all.iter().take_while(|entry| !entry.is_null());
        // SAFETY: strings of the C runtime, which backoff never changes, or those that `self` keeps.
        entries.map(|entry| unsafe { CStr::from_ptr(*entry) })
    }

    /// For `execve(2)`: pointers to the entries, and a null pointer.
    pub(crate) fn entries(&self) -> &[*const c_char] {
        &self.all
    }

    /// The child writes its own process number where a variable is to name it. Async-signal-safe.
    pub(crate) fn name_this_process(&self) {
        for (_, entry) in &self.of_process {
            let room = &entry[entry.len() - NUMBER_ROOM..];
            for (place, digit) in room.iter().zip(decimal(std::process::id())) {
                place.set(digit);
            }
        }
    }
}

/// A number in decimal, followed by NULs.
fn decimal(number: u32) -> [u8; NUMBER_ROOM] {
    let mut digits = [0; NUMBER_ROOM];
    let (mut rest, mut length) = (number, 0);
    while rest > 0 || length == 0 {
        digits[length] = b'0' + (rest % 10) as u8;
        rest /= 10;
        length += 1;
    }
    digits[..length].reverse();
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_numbers_in_decimal() {
        for number in [0, 7, 10, 4_194_304, i32::MAX as u32] {
            let digits = decimal(number);
            let text = CStr::from_bytes_until_nul(&digits).unwrap().to_str().unwrap();
            assert_eq!(text, number.to_string());
        }
    }
}
