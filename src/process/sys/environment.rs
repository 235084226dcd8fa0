//! backoff's environment, which never changes. Attempts get changed copies.
#![allow(
    clippy::disallowed_methods,
    reason = "this module reads the environment"
)]

use std::env::{var_os, vars_os};
use std::ffi::{CStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

unsafe extern "C" {
    static mut environ: *const *const c_char;
}

/// Returns the strings of an array that ends with a null pointer, as the C runtime passes arguments and environment.
/// They are read lazily, and live as long as the process.
///
/// # Safety
/// `array` ends with a null pointer, and is neither changed nor freed while the process lives.
pub(crate) unsafe fn strings(array: *const *const c_char) -> impl Iterator<Item = &'static CStr> {
    // SAFETY: guaranteed by the caller. Nothing after the null pointer is read.
    let pointers = (0..).map(move |i| unsafe { *array.add(i) });
    let strings = pointers.take_while(|string| !string.is_null());
    // SAFETY: guaranteed by the caller.
    strings.map(|string| unsafe { CStr::from_ptr(string) })
}

/// Returns all entries, including those without `=`, which std leaves out.
pub(crate) fn entries() -> impl Iterator<Item = &'static CStr> {
    // SAFETY: no thread of backoff changes the environment (clippy.toml bans set_var).
    unsafe { strings(environ) }
}

/// Returns the value of a variable. If a name occurs twice, the first counts, as in `getenv(3)`.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    var_os(name)
}

/// Returns the value of a variable, unless it is empty.
pub(crate) fn nonempty(name: &str) -> Option<OsString> {
    var_os(name).filter(|value| !value.is_empty())
}

/// Returns all variables named `BACKOFF_*`.
pub(crate) fn backoff_variables() -> Vec<(OsString, OsString)> {
    vars_os()
        .filter(|(name, _)| name.as_bytes().starts_with(b"BACKOFF_"))
        .collect()
}

/// Returns backoff's directory for this user's state (budgets). Returns None if the environment names no place, or a
/// home that does not exist. backoff creates directories in a home, but not the home itself.
pub(crate) fn state_home() -> Option<PathBuf> {
    let decides_home = absolute_path("XDG_STATE_HOME").is_none();
    if decides_home && !absolute_path("HOME")?.exists() {
        return None;
    }
    xdg("XDG_STATE_HOME", ".local/state")
}

/// Returns backoff's directory for this user's configuration, or None if the environment names no place.
pub(crate) fn config_home() -> Option<PathBuf> {
    xdg("XDG_CONFIG_HOME", ".config")
}

/// Returns backoff's directory in the XDG base directory that the variable `name` gives, or else in `below_home` of the
/// home directory. Returns None if neither variable is an absolute path, as the XDG specification ignores relative
/// ones.
fn xdg(name: &str, below_home: &str) -> Option<PathBuf> {
    let base = absolute_path(name).or_else(|| Some(absolute_path("HOME")?.join(below_home)))?;
    Some(base.join("backoff"))
}

fn absolute_path(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(variable(name)?);
    path.is_absolute().then_some(path)
}
