//! Variables that `--before-retry` sets for later attempts: lines `KEY=VALUE` of the file that `$BACKOFF_ENV` names.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use super::host::AttemptSpec;

/// Limit in bytes on one file, and on all variables together, as the size of an environment is limited.
pub(crate) const LIMIT: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct ExtraEnv(Vec<(String, OsString)>);

/// Ignored lines of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RefusedLines {
    /// Number of the first ignored line.
    pub(crate) first: usize,
    pub(crate) why: Refused,
    /// Number of further ignored lines.
    pub(crate) more: usize,
}

/// Reason to ignore a line. No part of the line is quoted, as it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    NotKeyValue,
    NotAName,
    OwnName,
    Nul,
    TooLarge,
}

impl ExtraEnv {
    /// Adds the variables of a file. Returns the ignored lines, if any.
    pub(super) fn take(&mut self, file: &[u8]) -> Option<RefusedLines> {
        let (mut refused, mut end) = (Vec::new(), 0);
        for (number, line) in (1..).zip(file.split_inclusive(|byte| *byte == b'\n')) {
            end += line.len();
            // A line past the limit may not have been read to its end.
            let taken = if end > LIMIT {
                Err(Refused::TooLarge)
            } else {
                self.take_line(line)
            };
            refused.extend(taken.err().map(|why| (number, why)));
        }
        let (first, why) = *refused.first()?;
        let more = refused.len() - 1;
        Some(RefusedLines { first, why, more })
    }

    fn take_line(&mut self, line: &[u8]) -> Result<(), Refused> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.is_empty() {
            return Ok(());
        }
        let equals = line.iter().position(|byte| *byte == b'=').ok_or(Refused::NotKeyValue)?;
        let (name, value) = (&line[..equals], OsStr::from_bytes(&line[equals + 1..]));
        let name = std::str::from_utf8(name).map_err(|_| Refused::NotAName)?;
        // POSIX, Base Definitions, 3.216 "Name".
        let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.chars().all(is_in_name) || name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
            return Err(Refused::NotAName);
        }
        if name.starts_with("BACKOFF_") {
            return Err(Refused::OwnName);
        }
        if value.as_bytes().contains(&0) {
            return Err(Refused::Nul);
        }
        let size = |name: &str, value: &OsStr| name.len() + value.len() + 2;
        let others = self.0.iter().filter(|(known, _)| known != name);
        let used: usize = others.map(|(name, value)| size(name, value)).sum();
        if used + size(name, value) > LIMIT {
            return Err(Refused::TooLarge);
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(extra_env: &ExtraEnv) -> Vec<String> {
        let show = |(name, value): &(String, OsString)| format!("{name}={}", value.display());
        extra_env.0.iter().map(show).collect()
    }

    #[test]
    fn lines_are_variables_and_the_last_of_a_name_counts() {
        let mut extra_env = ExtraEnv::default();
        assert_eq!(extra_env.take(b""), None);
        assert_eq!(extra_env.take(b"A=1\n\nB=a = 'b' #\n_c2=\nA= 2 "), None);
        assert_eq!(shown(&extra_env), ["B=a = 'b' #", "_c2=", "A= 2 "]);
        assert_eq!(extra_env.take(b"B=3\n"), None);
        assert_eq!(shown(&extra_env), ["_c2=", "A= 2 ", "B=3"]);
    }

    #[test]
    fn a_bad_line_is_refused_and_the_others_are_taken() {
        for (line, why) in [
            (&b"export A=1"[..], Refused::NotAName),
            (b"=1", Refused::NotAName),
            (b"1A=1", Refused::NotAName),
            (b"\xff=1", Refused::NotAName),
            (b"# \x1b[31m", Refused::NotKeyValue),
            (b"BACKOFF_ATTEMPT=9", Refused::OwnName),
            (b"A=a\0b", Refused::Nul),
        ] {
            let mut extra_env = ExtraEnv::default();
            let refused = extra_env.take(&[b"X=1\n", line, b"\nY=2\n"].concat());
            let (first, more) = (2, 0);
            assert_eq!(refused, Some(RefusedLines { first, why, more }));
            assert_eq!(shown(&extra_env), ["X=1", "Y=2"]);
        }
    }

    #[test]
    fn one_file_and_all_variables_have_a_limit() {
        let too_large = |first, more| {
            let why = Refused::TooLarge;
            Some(RefusedLines { first, why, more })
        };
        let mut extra_env = ExtraEnv::default();
        let half = "x".repeat(LIMIT / 2);
        let file = format!("A={half}\nB=1\nC={half}\n");
        assert_eq!(extra_env.take(file.as_bytes()), too_large(3, 0));
        let file = format!("D={half}\nE=2\nA=\nF={half}");
        assert_eq!(extra_env.take(file.as_bytes()), too_large(1, 1));
        let names: Vec<_> = extra_env.0.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["B", "E", "A"]);
    }

    proptest! {
        #[test]
        fn any_file_is_taken_within_the_limit(file in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut extra_env = ExtraEnv::default();
            let _ = extra_env.take(&file);
            prop_assert!(shown(&extra_env).iter().all(|line| !line.starts_with('=')));
        }
    }
}
