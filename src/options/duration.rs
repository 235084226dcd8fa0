//! Parses DURATION: numbers with units, added up.

use std::time::Duration;

use super::problem::UsageError;

/// Parses a DURATION: a bare number of seconds, like `sleep` and `timeout`, or numbers with the units of humantime up
/// to weeks (`500ms`, `1m 30s`, `1.5h`). Rounds to nanoseconds; more than the clock can hold is [`Duration::MAX`].
pub fn duration(text: &str) -> Result<Duration, UsageError> {
    read(text.trim()).map_err(|why| {
        if is_word_for_no_limit(text) {
            return "is not a duration; tip: leave the option out for no limit, or try 500ms or 2s"
                .into();
        }
        format!("is not a duration ({why}); tip: try 500ms, 2s, 1.5s or 1m30s").into()
    })
}

/// Returns true for words that other tools take for the lack of a limit.
pub(super) fn is_word_for_no_limit(text: &str) -> bool {
    const WORDS: [&str; 10] = [
        "never",
        "none",
        "no",
        "off",
        "false",
        "unlimited",
        "infinite",
        "infinity",
        "inf",
        "forever",
    ];
    WORDS.contains(&&*text.trim().to_lowercase())
}

/// Parses `--delays` or `--timeout`: a comma-separated list of at least one duration.
pub fn durations(text: &str) -> Result<Vec<Duration>, UsageError> {
    if !text.contains(',') {
        return Ok(vec![duration(text)?]);
    }
    text.split(',').map(|part| element(part.trim())).collect()
}

/// Parses a duration of a list.
fn element(part: &str) -> Result<Duration, UsageError> {
    read(part).map_err(|why| {
        format!("is not a list of durations ({part:?}: {why}); tip: try 1s,5s,30s").into()
    })
}

/// Parses a duration; the error is only the reason.
fn read(text: &str) -> Result<Duration, UsageError> {
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if text.starts_with('-') {
        return Err("it is negative".into());
    }
    // Nanoseconds of the integer parts and of the fractions: an f64 cannot hold all integer parts exactly.
    let mut whole_sum = 0u128;
    let mut fraction_sum = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after.trim_start(), |c| c.is_ascii_alphabetic() || c == 'µ');
        // The whole text is a bare number.
        let unit = if number == text { "s" } else { unit };
        rest = after.trim_start();
        // Catches an unknown character at the start of the text, too: both splits leave it in `rest`.
        if let Some(unknown) = rest.chars().next().filter(|c| !begins_number_or_unit(*c)) {
            return Err(format!("{:?} is not understood", unknown.to_string()).into());
        }
        let (whole, fraction) = nanoseconds(number, unit)?;
        whole_sum = whole_sum.saturating_add(whole);
        fraction_sum += fraction;
    }
    // A length that is not 0 must not round to 0, which means "no limit".
    if whole_sum == 0 && fraction_sum < 1.0 && text.contains(|c| matches!(c, '1'..='9')) {
        return Err("it is less than 1ns".into());
    }
    let total = whole_sum.saturating_add(fraction_sum.round() as u128);
    let seconds = u64::try_from(total / 1_000_000_000);
    Ok(seconds.map_or(Duration::MAX, |seconds| {
        Duration::new(seconds, (total % 1_000_000_000) as u32)
    }))
}

fn begins_number_or_unit(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || ".µ".contains(letter)
}

/// Splits the text after its leading characters that satisfy `is_of_kind`.
fn split(text: &str, is_of_kind: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_of_kind(c)).unwrap_or(text.len()))
}

/// Returns the nanoseconds of the number's integer part, exactly, and those of its fraction.
fn nanoseconds(number: &str, unit: &str) -> Result<(u128, f64), UsageError> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && decimals.is_empty() {
        return Err("a number is missing".into());
    }
    if unit.is_empty() {
        return Err("a unit is missing".into());
    }
    if matches!(
        unit,
        "M" | "month" | "months" | "y" | "yr" | "yrs" | "year" | "years"
    ) {
        return Err(format!("months and years are too vague; {number}m would be minutes").into());
    }
    let fraction = format!("0.{decimals}")
        .parse::<f64>()
        .map_err(|_| "the number cannot be read")?;
    let scale = humantime::parse_duration(&format!("1{unit}"))
        .map_err(|_| format!("there is no unit {unit:?}"))?;
    // Too many digits for a number saturate.
    let whole = if whole.is_empty() {
        0
    } else {
        whole.parse().unwrap_or(u128::MAX)
    };
    Ok((
        whole.saturating_mul(scale.as_nanos()),
        fraction * scale.as_nanos() as f64,
    ))
}

#[cfg(test)]
mod tests;
