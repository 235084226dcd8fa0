//! The environment, as bytes and as it is: entries without `=`, odd names and bad UTF-8 included.

use std::ffi::{CStr, OsStr, OsString, c_char};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

unsafe extern "C" {
    static mut environ: *const *const c_char;
}

/// Returns the strings of an array that ends with a null pointer, as the C runtime hands them to a process.
///
/// # Safety
/// `array` is null or such an array. Nobody changes or frees it while the process lives.
pub(crate) unsafe fn strings(array: *const *const c_char) -> impl Iterator<Item = &'static CStr> {
    let string = move |i| {
        // SAFETY: the caller's promise; `map_while` does not go past the null pointer.
        unsafe {
            let string = *array.add(i);
            (!string.is_null()).then(|| CStr::from_ptr(string))
        }
    };
    (0..).take_while(move |_| !array.is_null()).map_while(string)
}

/// The entries of the environment.
pub(crate) fn entries() -> impl Iterator<Item = &'static CStr> {
    // SAFETY: backoff never changes its own environment (clippy.toml bans set_var), in no thread.
    unsafe { strings(environ) }
}

/// Splits an entry into name and value.
pub(crate) fn split(entry: &CStr) -> Option<(&[u8], &[u8])> {
    let bytes = entry.to_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=')?;
    Some((&bytes[..equals], &bytes[equals + 1..]))
}

/// Returns the value of a variable.
pub(crate) fn variable(name: &str) -> Option<&'static [u8]> {
    entries()
        .filter_map(split)
        .find(|(known, _)| *known == name.as_bytes())
        .map(|(_, value)| value)
}

/// Returns true if the locale is one of UTF-8: the first of its variables that is set tells.
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
