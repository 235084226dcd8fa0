//! The environment as raw bytes, including entries without `=`, odd names and invalid UTF-8.

use std::ffi::{CStr, OsStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

unsafe extern "C" {
    static mut environ: *const *const c_char;
}

/// Returns the strings of a null-terminated array, as passed by the C runtime.
///
/// # Safety
/// `array` is null or such an array, and is neither changed nor freed while the process lives.
pub(crate) unsafe fn strings(array: *const *const c_char) -> impl Iterator<Item = &'static CStr> {
    let string = move |i| {
        // SAFETY: guaranteed by the caller; `map_while` stops at the null pointer.
        unsafe {
            let string = *array.add(i);
            (!string.is_null()).then(|| CStr::from_ptr(string))
        }
    };
    (0..).take_while(move |_| !array.is_null()).map_while(string)
}

/// Returns the entries of the environment.
pub(crate) fn entries() -> impl Iterator<Item = &'static CStr> {
    // SAFETY: no thread of backoff changes the environment (clippy.toml bans set_var).
    unsafe { strings(environ) }
}

/// Splits an entry into name and value.
pub(crate) fn split(entry: &CStr) -> Option<(&[u8], &[u8])> {
    let bytes = entry.to_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=')?;
    Some((&bytes[..equals], &bytes[equals + 1..]))
}

pub(crate) fn variable(name: &str) -> Option<&'static [u8]> {
    entries()
        .filter_map(split)
        .find(|(known, _)| *known == name.as_bytes())
        .map(|(_, value)| value)
}

/// Returns true if the locale uses UTF-8, by the first locale variable that is set.
pub(crate) fn is_utf8() -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    let names = |codeset: &[u8]| locale.windows(codeset.len()).any(|part| part == codeset);
    names(b".utf-8") || names(b".utf8")
}

/// Returns backoff's directory for this user's state.
pub(crate) fn state_home() -> Option<PathBuf> {
    home("XDG_STATE_HOME", ".local/state")
}

/// Returns backoff's directory for this user's configuration.
pub(crate) fn config_home() -> Option<PathBuf> {
    home("XDG_CONFIG_HOME", ".config")
}

/// Returns backoff's XDG base directory. The specification ignores relative paths.
fn home(name: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(OsStr::from_bytes(variable(name)?));
        path.is_absolute().then_some(path)
    };
    let home = absolute(name).or_else(|| Some(absolute("HOME")?.join(below_home)));
    Some(home?.join("backoff"))
}

/// Returns all variables named `BACKOFF_*`. If a name occurs twice, the first counts, as in `getenv(3)`.
#[allow(clippy::disallowed_methods, reason = "this module reads the environment")]
pub(crate) fn backoff_variables() -> Vec<(OsString, OsString)> {
    let is_ours = |(name, _): &(OsString, _)| name.as_bytes().starts_with(b"BACKOFF_");
    std::env::vars_os().filter(is_ours).collect()
}
