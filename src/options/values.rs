//! The grammars of option values. Each function takes the text and returns the value, or the problem of the text as the
//! rest of a sentence, mostly with what would be accepted.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

pub use super::codes::*;
pub use super::duration::{duration, durations};
pub(crate) use super::jitters::*;
pub use super::numbers::*;
pub use super::problem::Parsed;
use super::problem::Problem;
use super::similar::tip;
pub(super) use super::words::{names, word};
use crate::search::pattern::Pattern;
use crate::text::is_printable;

/// Parses a number of at least 1, or `unlimited`, which is None.
pub fn attempts(text: &str) -> Parsed<Option<u64>> {
    match digits(text) {
        Some(_) => match whole(text, 1, u64::MAX) {
            Ok(attempts) => Ok(Some(attempts)),
            Err(problem) => Err(Problem::new(format!("{problem}, or unlimited"))),
        },
        None if text.eq_ignore_ascii_case("unlimited") => Ok(None),
        None => {
            let tip = tip(text, ["unlimited"].into_iter());
            Err(Problem::new(format!(
                "is not a whole number or unlimited{tip}"
            )))
        }
    }
}

/// Parses a duration for which 0 makes no sense: at least one millisecond, the unit of stores.
pub fn period(text: &str) -> Parsed<Duration> {
    let duration = duration(text)?;
    if duration < Duration::from_millis(1) {
        return Err(Problem::new("is out of range; it must be at least 1ms"));
    }
    Ok(duration)
}

/// Parses a size in bytes: `64KiB`, `1.5GiB`, `10MB`, `1G`. Units are powers of 1024, except kB, KB, MB, GB and TB.
/// Parts of a byte are dropped; a size beyond u64 is the largest.
pub fn size(text: &str) -> Parsed<u64> {
    const WRONG: &str = "is not a size such as 64KiB, 10MB or 1GiB";
    let digits = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b'.')
        .count();
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "k" | "K" | "KiB" => 1024.0,
        "M" | "MiB" => 1024.0 * 1024.0,
        "G" | "GiB" => 1024.0 * 1024.0 * 1024.0,
        "T" | "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return Err(Problem::new(WRONG)),
    };
    let number: f64 = number.parse().map_err(|_| Problem::new(WRONG))?;
    Ok((number * scale) as u64)
}

/// Parses a regular expression; rejects an empty one, as it would match every line.
pub(crate) fn regex(text: &str) -> Parsed<Pattern> {
    if text.is_empty() {
        return Err(Problem::new("is empty, so it would match every line"));
    }
    Pattern::parse(text).map_err(|error| {
        // The message draws the expression on several lines before it names the error.
        let message = error.to_string();
        let kind = message.rsplit("error: ").next().unwrap_or_default();
        Problem::new(format!("is not a regular expression ({kind})"))
    })
}

pub fn any_text(text: &str) -> Parsed<String> {
    Ok(text.to_owned())
}

/// Parses a shell command whose success counts: a predicate or `--before-retry`. Rejects an empty one, as it would
/// always succeed.
pub fn predicate(text: &str) -> Parsed<String> {
    match text.trim() {
        "" => Err(Problem::new("is empty, but must be a shell command")),
        _ => Ok(text.to_owned()),
    }
}

/// Parses the name of a budget. It must fit into the name of a file, 255 bytes, even if each of its 80 bytes is
/// percent-encoded as three.
pub fn budget_name(text: &str) -> Parsed<String> {
    match text {
        "" => Err(Problem::new("is empty, but must be a name")),
        name if name.len() > 80 => Err(Problem::new("is longer than 80 bytes")),
        name => Ok(name.to_owned()),
    }
}

/// Parses the label by which messages name the command (`--label`): short, and nothing that a terminal would act on.
pub fn label(text: &str) -> Parsed<String> {
    const MOST: usize = 64;
    let problem = if text.trim().is_empty() {
        "is empty, but must be a name".to_owned()
    } else if !text.chars().all(is_printable) {
        "holds a control character or an invisible one".to_owned()
    } else if text.chars().count() > MOST {
        format!("is longer than {MOST} characters")
    } else {
        return Ok(text.to_owned());
    };
    Err(Problem::new(problem))
}

/// Parses on or off, in the words that are common for them: a switch, as a variable or a file gives it, or the text of
/// an option that can do without one (`--retry-after=off`).
pub fn switch(text: &str) -> Parsed<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(Problem::new("is not on or off")),
    }
}

/// Parses a repeatable switch: the number of times that it is given, at most 255, or on (1) or off (0), as a variable
/// or a file may say.
pub fn count(text: &str) -> Parsed<u8> {
    match digits(text) {
        Some(_) => whole(text, 0, u64::from(u8::MAX)).map(|count| count as u8),
        None => switch(text)
            .map(u8::from)
            .map_err(|_| Problem::new("is not on, off or a number from 0 to 255")),
    }
}

/// The longest wait that `--retry-after` accepts from the output unless it names another.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(5 * 60);

/// Parses the longest wait to accept from the output (`--retry-after`): a duration with its unit, on or off. None is
/// off.
pub fn retry_after(text: &str) -> Parsed<Option<Duration>> {
    match switch(text) {
        Ok(true) => return Ok(Some(LONGEST_RETRY_AFTER)),
        Ok(false) => return Ok(None),
        Err(_) => {}
    }
    let longest = duration(text)
        .map_err(|problem| Problem::new(format!("is not on or off, and {problem}")))?;
    if longest.is_zero() {
        return Err(Problem::new("must be more than 0, or off"));
    }
    // 1 is on, so a person may take another bare number for that, too, and not for seconds.
    if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(Problem::new("must have a unit, such as 30s or 2m"));
    }
    Ok(Some(longest))
}

/// Returns true for a word that is rather the limit of `--retry-after` than the name of a command, also for a number
/// without a unit, although [`retry_after`] refuses it.
pub(super) fn is_wait(text: &str) -> bool {
    retry_after(text).is_ok() || digits(text).is_some()
}

/// Parses a path, which need not be UTF-8. Rejects an empty one, which an unset variable of a script leaves.
pub(super) fn path(text: &OsStr) -> Parsed<PathBuf> {
    if text.is_empty() {
        return Err(Problem::new("is empty, but must be a path"));
    }
    Ok(PathBuf::from(text))
}

#[cfg(test)]
mod tests;
