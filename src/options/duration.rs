//! Parses DURATION: numbers with units, added up. The units are those of humantime. The rest is read here, as a number
//! alone is one of seconds, as `sleep` takes it, and errors say what is wrong.

use std::time::Duration;

use super::problem::{Parsed, Problem};

/// Parses a DURATION: a bare number of seconds, like `sleep` and `timeout`, or numbers with the units of humantime up
/// to weeks (`500ms`, `1m 30s`, `1.5h`). Rounds to nanoseconds; more than the clock can hold is [`Duration::MAX`].
pub fn duration(text: &str) -> Parsed<Duration> {
    read(text.trim()).map_err(|why| {
        Problem::new(format!(
            "is not a duration such as 500ms, 1.5s or 1m30s ({why})"
        ))
    })
}

/// Parses a list of durations (`--delays`, `--timeout`), separated by commas. The problem of a single one is that of
/// [`duration`]; of several, the problem quotes the wrong one.
pub fn durations(text: &str) -> Parsed<Vec<Duration>> {
    if !text.contains(',') {
        return Ok(vec![duration(text)?]);
    }
    text.split(',').map(|part| element(part.trim())).collect()
}

/// Parses a duration of a list, as [`duration`] does, but with problems of the list that quote the part.
fn element(part: &str) -> Parsed<Duration> {
    read(part).map_err(|why| {
        Problem::new(format!(
            "is not a list of durations such as 1s,5s,30s ({part:?}: {why})"
        ))
    })
}

/// Parses a duration, without spaces around it; the problem is only the reason (`it is negative`), as the callers begin
/// the sentence. Adds up whole numbers and fractions apart, so that a long duration is exact.
fn read(text: &str) -> Parsed<Duration> {
    if text.is_empty() {
        return Err(Problem::new("it is empty"));
    }
    if text.starts_with('-') {
        return Err(Problem::new("it is negative"));
    }
    let mut whole_sum = 0u128;
    let mut fraction_sum = 0.0;
    let mut unread = text;
    while !unread.is_empty() {
        let (number, after) = split(unread, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after.trim_start(), |c| c.is_ascii_alphabetic() || c == 'µ');
        // If the whole text is a number, it is one of seconds.
        let unit = if number == text { "s" } else { unit };
        unread = after.trim_start();
        // Catches an unknown character at the start of the text, too: both splits leave it in `unread`.
        if let Some(unknown) = unread.chars().next().filter(|c| !begins_number_or_unit(*c)) {
            return Err(Problem::new(format!(
                "{:?} is not understood",
                unknown.to_string()
            )));
        }
        let length = nanoseconds(number, unit)?;
        whole_sum = whole_sum.saturating_add(length.whole);
        fraction_sum += length.fraction;
    }
    // A length that is not 0 must not round to 0, which means "no limit".
    if whole_sum == 0 && fraction_sum < 1.0 && text.contains(|c| matches!(c, '1'..='9')) {
        return Err(Problem::new("it is less than 1ns"));
    }
    let total = whole_sum.saturating_add(fraction_sum.round() as u128);
    match u64::try_from(total / 1_000_000_000) {
        Ok(seconds) => Ok(Duration::new(seconds, (total % 1_000_000_000) as u32)),
        Err(_) => Ok(Duration::MAX),
    }
}

fn begins_number_or_unit(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || ".µ".contains(letter)
}

/// Splits the text after its leading characters that satisfy `is_of_kind`.
fn split(text: &str, is_of_kind: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_of_kind(c)).unwrap_or(text.len()))
}

/// A length in nanoseconds. An f64 cannot hold all integer parts exactly.
struct Nanoseconds {
    /// The length of the integer part of a number.
    whole: u128,
    /// The length of the fraction.
    fraction: f64,
}

/// Returns the length of a number with a unit. Years and months are rejected, though humantime knows them: their
/// lengths vary, and `M` is hardly ever meant as a month. `number` holds only digits and dots, as [`read`] has split it
/// off; whether they make a number, and whether a text is empty, is checked here.
fn nanoseconds(number: &str, unit: &str) -> Parsed<Nanoseconds> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && decimals.is_empty() {
        return Err(Problem::new("a number is missing"));
    }
    if unit.is_empty() {
        return Err(Problem::new("a unit is missing"));
    }
    if matches!(
        unit,
        "M" | "month" | "months" | "y" | "yr" | "yrs" | "year" | "years"
    ) {
        return Err(Problem::new(format!(
            "months and years are too vague; {number}m would be minutes"
        )));
    }
    let fraction = format!("0.{decimals}")
        .parse::<f64>()
        .map_err(|_| Problem::new("the number cannot be read"))?;
    let scale = humantime::parse_duration(&format!("1{unit}"))
        .map_err(|_| Problem::new(format!("there is no unit {unit:?}")))?;
    // Too many digits for a number saturate.
    let whole = if whole.is_empty() {
        0
    } else {
        whole.parse().unwrap_or(u128::MAX)
    };
    Ok(Nanoseconds {
        whole: whole.saturating_mul(scale.as_nanos()),
        fraction: fraction * scale.as_nanos() as f64,
    })
}

#[cfg(test)]
mod tests;
