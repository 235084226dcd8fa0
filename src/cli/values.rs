//! Parsers of option values. An error is the rest of a sentence that begins with the text, such as `is not a size such
//! as 64KiB`.

use std::time::Duration;

use crate::policy::delay::Jitter;
use crate::policy::sets::CodeSet;
use crate::policy::signal::{self, Signal};
use crate::presets::names::PresetName;
use crate::search::pattern::Pattern;
use crate::text::{is_printable, tip};

// clap takes a field of type `Option` for an option that may be missing, and `Vec` for one that may be repeated, unless
// they have another name.
pub(crate) type Attempts = Option<u64>;
pub(crate) type Durations = Vec<Duration>;
pub(crate) type Presets = Vec<PresetName>;
/// The longest wait to accept from the output, or None to ignore it.
pub(crate) type LongestAsked = Option<Duration>;

/// Parses a number of at least 1, or `unlimited`, which is None.
pub(super) fn attempts(text: &str) -> Result<Attempts, String> {
    if text.eq_ignore_ascii_case("unlimited") {
        return Ok(None);
    }
    match at_least_one(text) {
        Ok(attempts) => Ok(Some(attempts)),
        Err(problem) => {
            let tip = tip(text, ["unlimited"].into_iter());
            Err(format!("{problem} or unlimited{tip}"))
        }
    }
}

pub(super) fn number(text: &str) -> Result<u64, String> {
    if !is_digits(text) {
        return Err("is not a whole number".to_owned());
    }
    text.parse()
        .map_err(|_| format!("is too large; it must be at most {}", u64::MAX))
}

pub(super) fn at_least_one(text: &str) -> Result<u64, String> {
    match number(text)? {
        0 => Err("is out of range; it must be at least 1".to_owned()),
        number => Ok(number),
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a growth factor, a finite number of at least 1, because waits must not shrink.
pub(super) fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 1.0 => Ok(factor),
        _ => Err("is not a number of at least 1".to_owned()),
    }
}

/// Parses `25%` or `0.25` as a fraction in [0, 1]. A number above 1 without `%`, such as 25, is probably meant as a
/// percentage, so it is rejected.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let (number, whole) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    let problem = match number.parse::<f64>() {
        Ok(share) if (0.0..=whole).contains(&share) => return Ok(share / whole),
        Ok(share) if whole == 1.0 && share > 1.0 => "is above 1, which is 100%",
        Ok(_) => "is out of range; it must be from 0% to 100%",
        Err(_) => "is not a percentage such as 25% or 0.25",
    };
    Err(problem.to_owned())
}

/// Parses a size in bytes: `64KiB`, `1.5GiB`, `10MB`, `1G`. Units are powers of 1024, except kB, KB, MB, GB and TB.
/// Fractions of a byte are dropped, and a size beyond u64 is the largest possible.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let problem = || "is not a size such as 64KiB, 10MB or 1GiB".to_owned();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale = match unit.trim() {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "k" | "K" | "KiB" => f64::from(1 << 10),
        "M" | "MiB" => f64::from(1 << 20),
        "G" | "GiB" => f64::from(1 << 30),
        "T" | "TiB" => f64::from(1 << 10) * f64::from(1 << 30),
        _ => return Err(problem()),
    };
    let number: f64 = number.parse().map_err(|_| problem())?;
    Ok((number * scale) as u64)
}

/// Parses a DURATION: a number of seconds, or numbers with units up to weeks, as humantime reads them.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    read_duration(text)
        .map_err(|why| format!("is not a duration such as 500ms, 1.5s or 1m30s{why}"))
}

/// Parses a comma-separated list of durations (`--delays`, `--timeout`).
pub(super) fn durations(text: &str) -> Result<Durations, String> {
    if !text.contains(',') {
        return Ok(vec![duration(text)?]);
    }
    let parts = text.split(',').map(|part| {
        read_duration(part).map_err(|why| {
            format!("is not a list of durations such as 1s,5s,30s, as {part:?} is none{why}")
        })
    });
    parts.collect()
}

/// Parses a duration. An error is the reason in parentheses, or empty if the reason is obvious. Rejects years and
/// months, which humantime knows: their lengths vary, and `M` hardly ever means a month.
fn read_duration(text: &str) -> Result<Duration, String> {
    let mut text = text.trim().to_owned();
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    if let Ok(seconds) = text.parse()
        && text.chars().all(is_of_number)
    {
        return match Duration::try_from_secs_f64(seconds) {
            Ok(Duration::ZERO) if seconds > 0.0 => Err(" (it is less than 1ns)".to_owned()),
            Ok(duration) => Ok(duration),
            Err(_) => Err(" (it is too long)".to_owned()),
        };
    }
    if text.starts_with('.') {
        text.insert(0, '0');
    }
    let words = text.split(|letter: char| !letter.is_alphabetic());
    for unit in words {
        if unit == "M" || unit.starts_with("mon") || unit.starts_with('y') {
            return Err(format!(" ({unit:?} is too vague; m is minutes)"));
        }
    }
    match humantime::parse_duration(&text) {
        Ok(duration) => Ok(duration),
        Err(humantime::DurationError::UnknownUnit { unit, .. }) if unit.is_empty() => {
            Err(" (a unit is missing)".to_owned())
        }
        Err(humantime::DurationError::UnknownUnit { unit, .. }) => {
            Err(format!(" (there is no unit {unit:?})"))
        }
        Err(humantime::DurationError::NumberOverflow) => {
            Err(" (it has too many digits)".to_owned())
        }
        Err(_) if text.starts_with('-') => Err(" (it is negative)".to_owned()),
        Err(_) if text.is_empty() => Err(" (it is empty)".to_owned()),
        Err(_) => Err(String::new()),
    }
}

/// Parses a duration of at least one millisecond, the unit of stores.
pub(super) fn period(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration < Duration::from_millis(1) {
        return Err("is out of range; it must be at least 1ms".to_owned());
    }
    Ok(duration)
}

/// Parses the longest wait (`--max-delay`).
pub(super) fn longest(text: &str) -> Result<Duration, String> {
    match text {
        "unlimited" => Ok(Duration::MAX),
        _ => duration(text),
    }
}

/// Parses the value of a switch in a variable or file: on or off, or a common word for it.
pub(crate) fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err("is not on or off".to_owned()),
    }
}

/// Parses the count of a repeatable switch in a variable or file.
pub(crate) fn count(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(count) if is_digits(text) => Ok(count),
        _ => switch(text)
            .map(u8::from)
            .map_err(|_| "is not on, off or a number from 0 to 255".to_owned()),
    }
}

/// Parses the longest wait to accept from the output (`--retry-after`): a duration with a unit, on or off.
pub(super) fn retry_after(text: &str) -> Result<LongestAsked, String> {
    match switch(text) {
        Ok(true) => return Ok(Some(Duration::from_secs(5 * 60))),
        Ok(false) => return Ok(None),
        Err(_) => {}
    }
    let longest = duration(text).map_err(|problem| format!("is not on or off, and {problem}"))?;
    if longest.is_zero() {
        return Err("must be more than 0, or off".to_owned());
    }
    // 1 means on, so it is unclear whether another bare number means seconds.
    if !text.contains(char::is_alphabetic) {
        return Err("must have a unit, such as 30s or 2m".to_owned());
    }
    Ok(Some(longest))
}

/// The words of `--jitter` with default parameters.
pub(super) const JITTERS: [(&str, Jitter); 7] = [
    ("none", Jitter::None),
    ("full", Jitter::Full),
    ("equal", Jitter::Equal),
    ("decorrelated", Jitter::Decorrelated { factor: 3.0 }),
    (
        "additive",
        Jitter::Additive {
            spread: Duration::from_secs(1),
        },
    ),
    ("proportional", Jitter::Proportional { spread: 0.25 }),
    ("slotted", Jitter::Slotted { ceiling: 10 }),
];

/// Parses a jitter: one of the words, `additive:WIDTH`, `proportional:PERCENT` or `slotted:CEILING`.
pub(super) fn jitter(text: &str) -> Result<Jitter, String> {
    match text.split_once(':') {
        Some(("additive", width)) => match duration(width) {
            Ok(spread) => Ok(Jitter::Additive { spread }),
            Err(problem) => Err(format!("has a width that {problem}")),
        },
        Some(("proportional", share)) => match percent(share) {
            Ok(spread) => Ok(Jitter::Proportional { spread }),
            Err(problem) => Err(format!("has a share that {problem}")),
        },
        Some(("slotted", ceiling)) => match number(ceiling) {
            // An exponent of 2. 62 is the largest that fits.
            Ok(ceiling @ 1..=62) => Ok(Jitter::Slotted {
                ceiling: ceiling as u32,
            }),
            _ => Err("has a ceiling that is not a number from 1 to 62".to_owned()),
        },
        Some((name, _)) if jitter(name).is_ok() => {
            Err(format!("has a parameter that {name} does not take"))
        }
        _ => jitter_word(text),
    }
}

fn jitter_word(text: &str) -> Result<Jitter, String> {
    if let Some((_, jitter)) = JITTERS.iter().find(|(word, _)| *word == text) {
        return Ok(*jitter);
    }
    let words = JITTERS.map(|(word, _)| word);
    let tip = tip(text, words.into_iter());
    Err(format!("is not one of {}{tip}", words.join(", ")))
}

/// Parses an exit code: 0 to 255.
pub(super) fn code(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(code) if is_digits(text) => Ok(code),
        _ => Err("is not an exit code from 0 to 255".to_owned()),
    }
}

/// Codes of `--success-exit`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SuccessCodes {
    /// All codes, including those with `=0`.
    pub(crate) all: CodeSet,
    /// Codes with `=0`, after which the run ends with 0.
    pub(crate) zero: CodeSet,
}

/// Parses CODES, each optionally followed by `=0` (`--success-exit`). Rejects `timeout`, which is never a success.
pub(super) fn success_codes(text: &str) -> Result<SuccessCodes, String> {
    let mut found = SuccessCodes::default();
    for part in text.split(',') {
        let (part, status) = match part.split_once('=') {
            Some((part, status)) => (part.trim(), Some(status.trim())),
            None => (part, None),
        };
        let codes: CodeSet = part.parse()?;
        found.all = found.all.union(codes);
        match status {
            None => {}
            Some("0") => found.zero = found.zero.union(codes),
            Some(other) => {
                return Err(format!(
                    "maps {part:?} to {other:?}; only {part}=0 is possible"
                ));
            }
        }
    }
    if found.all.contains_timeout() {
        return Err("lists timeout, but a timeout is never a success".to_owned());
    }
    Ok(found)
}

/// Parses a signal: `TERM`, `SIGTERM`, `15`.
pub(super) fn signal(text: &str) -> Result<Signal, String> {
    let name = text.trim();
    name.parse().map_err(|()| {
        let tip = tip(name, signal::names());
        format!("is not a signal such as TERM, SIGINT or 15{tip}")
    })
}

/// Parses a regular expression. Rejects an empty one, which would match every line.
pub(super) fn regex(text: &str) -> Result<Pattern, String> {
    if text.is_empty() {
        return Err("is empty, so it would match every line".to_owned());
    }
    Pattern::parse(text).map_err(|error| {
        // The message prints the expression on several lines before the error.
        let message = error.to_string();
        let kind = message.rsplit("error: ").next().unwrap_or_default();
        format!("is not a regular expression ({kind})")
    })
}

/// Parses a shell command whose status matters: a predicate or `--before-retry`. Rejects an empty one, which would
/// always succeed.
pub(super) fn predicate(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("is empty, but must be a shell command".to_owned()),
        _ => Ok(text.to_owned()),
    }
}

/// Parses the name of a budget. It must fit into a file name of 255 bytes, even if each of its 80 bytes is
/// percent-encoded as three.
pub(super) fn budget_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("is empty, but must be a name".to_owned()),
        name if name.contains("://") => {
            Err("is an address, not a name; tip: try --store".to_owned())
        }
        name if name.len() > 80 => Err("is longer than 80 bytes".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Parses the label of the command in messages. It must be short and have no control characters.
pub(super) fn label(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("is empty, but must be a name".to_owned())
    } else if !text.chars().all(is_printable) {
        Err("contains a control or invisible character".to_owned())
    } else if text.chars().count() > 64 {
        Err("is longer than 64 characters".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
