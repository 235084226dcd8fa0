//! Parses exit codes and signals, as options such as `--retry-exit` and `--signal` take them.

use std::ops::RangeInclusive;

use super::numbers::digits;
use super::problem::{Parsed, Problem};
use super::similar::tip;
use crate::policy::sets::CodeSet;
use crate::policy::signal::Signal;

/// Parses an exit code: 0 to 255.
pub fn code(text: &str) -> Parsed<u8> {
    digits(text)
        .and_then(|number| u8::try_from(number).ok())
        .ok_or_else(|| Problem::new("is not an exit code from 0 to 255"))
}

/// Parses CODES: `7`, `1,2,75`, `100-110`, `SIGKILL`, `timeout`, mixed. A signal stands for the code of a death by the
/// signal.
pub fn codes(text: &str) -> Parsed<CodeSet> {
    let mut set = CodeSet::default();
    for part in text.split(',').map(str::trim) {
        add_codes(&mut set, part)?;
    }
    Ok(set)
}

/// Adds the codes of one part of a list to `set`: a code, a range, a signal or `timeout`. The problem of a
/// wrong part is that of the list, and quotes the part.
fn add_codes(set: &mut CodeSet, part: &str) -> Parsed<()> {
    if part == "timeout" {
        set.add_timeout();
        return Ok(());
    }
    if let Some(only) = one_code(part) {
        set.add(only..=only);
        return Ok(());
    }
    let problem = match range(part) {
        Some(range) if !range.is_empty() => {
            set.add(range);
            return Ok(());
        }
        Some(_) => "runs backwards",
        None if part.is_empty() => "is empty",
        None => "is neither from 0 to 255 nor a name",
    };
    let names = ["timeout"].into_iter().chain(signal_names());
    let tip = tip(part, names);
    Err(Problem::new(format!(
        "is not a list of exit codes such as 1,2,100-110 ({part:?} {problem}){tip}"
    )))
}

/// Returns the codes of `100-110`; the range is empty if it runs backwards. None if the text is no range.
fn range(text: &str) -> Option<RangeInclusive<u8>> {
    let (first, last) = text.split_once('-')?;
    Some(one_code(first.trim())?..=one_code(last.trim())?)
}

/// Returns the exit code of a number or a signal; None for any other text. A number is always a code: 15 is the
/// code 15, and TERM is 143.
fn one_code(text: &str) -> Option<u8> {
    let code = code(text).or_else(|_| signal(text).map(Signal::shell_status));
    code.ok()
}

/// Codes of `--success-exit`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SuccessCodes {
    /// All codes, also those with `=0`.
    pub all: CodeSet,
    /// Codes with `=0`, after which the run ends with 0.
    pub zero: CodeSet,
}

/// Parses CODES, each optionally followed by `=0` (`--success-exit`). Rejects `timeout`: backoff ended the attempt
/// itself.
pub fn success_codes(text: &str) -> Parsed<SuccessCodes> {
    let mut codes = SuccessCodes::default();
    for part in text.split(',') {
        let Some((part, status)) = part.split_once('=') else {
            add_codes(&mut codes.all, part.trim())?;
            continue;
        };
        let part = part.trim();
        add_codes(&mut codes.all, part)?;
        match status.trim() {
            "0" => add_codes(&mut codes.zero, part)?,
            other => {
                return Err(Problem::new(format!(
                    "maps {part:?} to {other:?}; only {part}=0 is possible"
                )));
            }
        }
    }
    if codes.all.contains_timeout() {
        return Err(Problem::new(
            "names timeout, and an attempt that timed out is no success",
        ));
    }
    Ok(codes)
}

/// Parses a signal: `TERM`, `SIGTERM`, `15`. An error suggests a similar name, if there is one.
pub fn signal(text: &str) -> Parsed<Signal> {
    let name = text.trim();
    name.parse().map_err(|()| {
        let tip = tip(name, signal_names());
        Problem::new(format!("is not a signal such as TERM, SIGINT or 15{tip}"))
    })
}

fn signal_names() -> impl Iterator<Item = &'static str> {
    let names = nix::sys::signal::Signal::iterator().map(nix::sys::signal::Signal::as_str);
    names.flat_map(|name| [name.trim_start_matches("SIG"), name])
}
