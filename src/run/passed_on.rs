//! What `--before-retry` passes on to later attempts: the lines `KEY=VALUE` of the file that `$BACKOFF_ENV` names.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use super::host::Variable;
use super::text::printable;

/// The most that is taken of one file, and that is passed on together: an environment has a limit, too.
pub(crate) const MOST: usize = 64 << 10;

/// What is quoted of a line that is not taken.
const EXCERPT: usize = 80;

#[derive(Debug, Default)]
pub(super) struct PassedOn(Vec<(String, OsString)>);

impl PassedOn {
    /// Adds what the file says. Why lines of it are not taken, if some are not: what a person should read.
    pub(super) fn take(&mut self, file: &[u8]) -> Option<String> {
        let (mut refused, mut end) = (Vec::new(), 0);
        for (line, number) in file.split_inclusive(|byte| *byte == b'\n').zip(1_usize..) {
            end += line.len();
            // What comes then may not have been read to its end.
            let read = if end > MOST { Err(Refused::NoRoom) } else { read(line) };
            let taken = read.and_then(|variable| variable.map_or(Ok(()), |(name, value)| self.set(name, value)));
            refused.extend(taken.err().map(|why| (number, why)));
        }
        let (number, why) = refused.first()?;
        let more = match refused.len() - 1 {
            0 => String::new(),
            1 => ", nor is another line".to_owned(),
            more => format!(", nor are {more} other lines"),
        };
        Some(format!("line {number} of BACKOFF_ENV is not taken: {why}{more}"))
    }

    fn set(&mut self, name: &str, value: &[u8]) -> Result<(), Refused> {
        let size = |name: &str, value: &OsStr| name.len() + value.len() + 2;
        let others = self.0.iter().filter(|(known, _)| known != name);
        let used: usize = others.map(|(name, value)| size(name, value)).sum();
        let value = OsStr::from_bytes(value);
        if used + size(name, value) > MOST {
            return Err(Refused::NoRoom);
        }
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Of a name that stands there already, the value is replaced.
    pub(super) fn add_to(&self, variables: &mut Vec<Variable>) {
        for (name, value) in &self.0 {
            variables.retain(|(known, _)| known != name);
            variables.push((Cow::Owned(name.clone()), value.clone()));
        }
    }
}

/// Why a line is not taken.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    NoVariable(String),
    NoName(String),
    OwnName(String),
    Nul(String),
    NoRoom,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::NoVariable(line) => write!(f, "\"{line}\" is not KEY=VALUE"),
            Refused::NoName(name) => write!(f, "\"{name}\" is not a name for a variable"),
            Refused::OwnName(name) => write!(f, "{name} is one of backoff's own variables"),
            Refused::Nul(name) => write!(f, "the value of {name} holds a NUL"),
            Refused::NoRoom => write!(f, "all variables together are larger than {}KiB", MOST >> 10),
        }
    }
}

/// The variable of a line; None of an empty one.
fn read(line: &[u8]) -> Result<Option<(&str, &[u8])>, Refused> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    if line.is_empty() {
        return Ok(None);
    }
    let Some(equals) = line.iter().position(|byte| *byte == b'=') else {
        return Err(Refused::NoVariable(excerpt(line)));
    };
    let (name, value) = (&line[..equals], &line[equals + 1..]);
    // POSIX, Base Definitions, 3.216 "Name".
    let is_name = !name.first().is_none_or(u8::is_ascii_digit)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    match std::str::from_utf8(name) {
        Ok(name) if is_name && name.starts_with("BACKOFF_") => Err(Refused::OwnName(excerpt(name.as_bytes()))),
        Ok(name) if is_name && value.contains(&0) => Err(Refused::Nul(excerpt(name.as_bytes()))),
        Ok(name) if is_name => Ok(Some((name, value))),
        _ => Err(Refused::NoName(excerpt(name))),
    }
}

fn excerpt(bytes: &[u8]) -> String {
    printable(&String::from_utf8_lossy(&bytes[..bytes.len().min(EXCERPT)]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::text::is_printable;
    use crate::run::variables::variable;

    fn shown(passed_on: &PassedOn) -> Vec<String> {
        let show = |(name, value): &(String, OsString)| format!("{name}={}", value.display());
        passed_on.0.iter().map(show).collect()
    }

    #[test]
    fn lines_are_variables_and_the_last_of_a_name_counts() {
        let mut passed_on = PassedOn::default();
        assert_eq!(passed_on.take(b""), None);
        assert_eq!(passed_on.take(b"A=1\n\nB=a = 'b' #\n_c2=\nA= 2 "), None);
        assert_eq!(shown(&passed_on), ["B=a = 'b' #", "_c2=", "A= 2 "]);
        assert_eq!(passed_on.take(b"B=3\n"), None);
        assert_eq!(shown(&passed_on), ["_c2=", "A= 2 ", "B=3"]);
        let mut variables = vec![variable("LC_ALL", "C"), variable("A", "0")];
        passed_on.add_to(&mut variables);
        let names: Vec<_> = variables.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["LC_ALL", "_c2", "A", "B"]);
    }

    #[test]
    fn a_line_that_is_none_is_told_and_the_others_are_taken() {
        for (line, why) in [
            (&b"export A=1"[..], "\"export A\" is not a name for a variable"),
            (b"=1", "\"\" is not a name for a variable"),
            (b"1A=1", "\"1A\" is not a name for a variable"),
            (b"\xff=1", "\"\u{fffd}\" is not a name for a variable"),
            (b"# \x1b[31m", "\"# \\u{1b}[31m\" is not KEY=VALUE"),
            (
                b"BACKOFF_ATTEMPT=9",
                "BACKOFF_ATTEMPT is one of backoff's own variables",
            ),
            (b"A=a\0b", "the value of A holds a NUL"),
        ] {
            let mut passed_on = PassedOn::default();
            let told = passed_on.take(&[b"X=1\n", line, b"\nY=2\n"].concat());
            assert_eq!(told, Some(format!("line 2 of BACKOFF_ENV is not taken: {why}")));
            assert_eq!(shown(&passed_on), ["X=1", "Y=2"]);
        }
        let told = PassedOn::default().take(b"a b\nc d\ne f").unwrap();
        assert!(
            told.ends_with("\"a b\" is not KEY=VALUE, nor are 2 other lines"),
            "{told}"
        );
    }

    #[test]
    fn there_is_a_limit_to_one_file_and_to_all() {
        let mut passed_on = PassedOn::default();
        let half = "x".repeat(MOST / 2);
        let told = passed_on.take(format!("A={half}\nB=1\nC={half}\n").as_bytes());
        let told = told.unwrap();
        assert!(
            told.contains("line 3 of BACKOFF_ENV is not taken: all variables together are larger than 64KiB"),
            "{told}"
        );
        let told = passed_on
            .take(format!("D={half}\nE=2\nA=\nF={half}").as_bytes())
            .unwrap();
        assert!(
            told.contains("line 1 of BACKOFF_ENV is not taken: ") && told.ends_with(", nor is another line"),
            "{told}"
        );
        let names: Vec<_> = passed_on.0.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["B", "E", "A"]);
    }

    proptest! {
        #[test]
        fn no_file_does_harm(files in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..4)) {
            let mut passed_on = PassedOn::default();
            for file in &files {
                let told = passed_on.take(file);
                prop_assert!(told.is_none_or(|told| told.chars().all(is_printable)));
            }
        }
    }
}
