//! Variables that `--before-retry` sets for later attempts: lines `KEY=VALUE` of the file that `$BACKOFF_ENV` names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::variable_list::VariableList;

/// Limit in bytes on one file, and on all variables together, as the size of an environment is limited.
pub(crate) const LIMIT: usize = 64 << 10;
const TOO_LARGE: &str = "the file or all variables together are larger than 64KiB";

/// The variables for all later attempts, the one set last at the end: no name twice, and at most [`LIMIT`] bytes.
#[derive(Debug, Default)]
pub(super) struct ExtraEnv(Vec<(String, OsString)>);

impl ExtraEnv {
    /// Adds the variables of a file, each line one, for all later attempts; a later value of a name replaces an earlier
    /// one. Returns a warning about lines that were ignored, or None if there are none. It does not quote them, as they
    /// may hold secrets, and names the reason of the first only.
    pub(super) fn add(&mut self, file: &[u8]) -> Option<String> {
        let mut ignored = Vec::new();
        let mut bytes = 0;
        for (number, line) in (1..).zip(file.split_inclusive(|byte| *byte == b'\n')) {
            bytes += line.len();
            // The host stops reading just past the limit, so that the line there may be cut off.
            let added = if bytes > LIMIT {
                Err(TOO_LARGE)
            } else {
                self.add_line(line)
            };
            if let Err(why) = added {
                ignored.push(IgnoredLine { number, why });
            }
        }
        let IgnoredLine { number, why } = ignored.first()?;
        let and_others = match ignored.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        Some(format!(
            "ignored line {number}{and_others} of $BACKOFF_ENV: {why}"
        ))
    }

    /// Adds the variable of a line, in place of an earlier one of this name; an empty line adds none. An error is the
    /// reason to ignore the line, without its text; the earlier variable then stays.
    fn add_line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.is_empty() {
            return Ok(());
        }
        let Some(equals) = line.iter().position(|byte| *byte == b'=') else {
            return Err("it is not KEY=VALUE");
        };
        let name = std::str::from_utf8(&line[..equals]).unwrap_or_default();
        if !is_name(name) {
            return Err("what stands before \"=\" is not a name of a variable");
        }
        if name.starts_with("BACKOFF_") {
            return Err("variables whose names begin with BACKOFF_ are backoff's own");
        }
        let value = OsStr::from_bytes(&line[equals + 1..]);
        if value.as_bytes().contains(&0) {
            return Err("its value holds a NUL");
        }
        if self.size_without(name) + size(name, value) > LIMIT {
            return Err(TOO_LARGE);
        }
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Returns the bytes that all variables but one need.
    fn size_without(&self, name: &str) -> usize {
        let others = self.0.iter().filter(|(known, _)| known != name);
        others.map(|(name, value)| size(name, value)).sum()
    }

    pub(super) fn add_to(&self, variables: &mut VariableList) {
        for (name, value) in &self.0 {
            variables.set_os(name, value);
        }
    }
}

/// A line that sets no variable.
struct IgnoredLine {
    number: usize,
    why: &'static str,
}

/// Returns true for a name that a shell can use: ASCII letters, digits and `_`, no digit first (POSIX, Base
/// Definitions, 3.216 "Name").
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the bytes that a variable needs in an environment, which holds it with `=` and NUL.
fn size(name: &str, value: &OsStr) -> usize {
    name.len() + value.len() + 2
}

#[cfg(test)]
mod tests;
