//! Variables that `--before-retry` sets for later attempts: lines `KEY=VALUE` of the file that `$BACKOFF_ENV` names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::host::AttemptSpec;

/// Limit in bytes on one file, and on all variables together, as the size of an environment is limited.
pub(crate) const LIMIT: usize = 64 << 10;
const TOO_LARGE: &str = "the file or all variables together are larger than 64KiB";

#[derive(Debug, Default)]
pub(super) struct ExtraEnv(Vec<(String, OsString)>);

impl ExtraEnv {
    /// Adds the variables of a file. Returns a warning about ignored lines, if any, without their text, which may hold
    /// secrets.
    pub(super) fn add(&mut self, file: &[u8]) -> Option<String> {
        let (mut ignored, mut bytes) = (Vec::new(), 0);
        for (number, line) in (1..).zip(file.split_inclusive(|byte| *byte == b'\n')) {
            bytes += line.len();
            // The host stops reading just past the limit, so that the line there may be cut off.
            let added = match bytes {
                ..=LIMIT => self.add_line(line),
                _ => Err(TOO_LARGE),
            };
            ignored.extend(added.err().map(|why| (number, why)));
        }
        let (first, why) = *ignored.first()?;
        let more = match ignored.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("ignored line {first}{more} of $BACKOFF_ENV: {why}"))
    }

    /// Adds the variable of a line. Returns the reason to ignore the line, if any.
    fn add_line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.is_empty() {
            return Ok(());
        }
        let equals = line.iter().position(|byte| *byte == b'=');
        let equals = equals.ok_or("it is not KEY=VALUE")?;
        let (name, value) = (&line[..equals], OsStr::from_bytes(&line[equals + 1..]));
        // POSIX, Base Definitions, 3.216 "Name".
        let is_name = |name: &&str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !name.is_empty()
                && name.chars().all(is_part)
                && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        let name = std::str::from_utf8(name).ok().filter(is_name);
        let name = name.ok_or("what stands before \"=\" is not a name of a variable")?;
        if name.starts_with("BACKOFF_") {
            return Err("variables whose names begin with BACKOFF_ are backoff's own");
        }
        if value.as_bytes().contains(&0) {
            return Err("its value holds a NUL");
        }
        // An environment holds each variable with `=` and NUL.
        let size = |name: &str, value: &OsStr| name.len() + value.len() + 2;
        let others = self.0.iter().filter(|(known, _)| known != name);
        let used: usize = others.map(|(name, value)| size(name, value)).sum();
        if used + size(name, value) > LIMIT {
            return Err(TOO_LARGE);
        }
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    pub(super) fn add_to(&self, spec: &mut AttemptSpec) {
        for (name, value) in &self.0 {
            spec.set(name.clone(), value);
        }
    }
}

#[cfg(test)]
mod tests;
