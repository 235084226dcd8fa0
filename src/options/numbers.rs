//! Parses numbers. Whole ones are plain digits of ASCII, without a sign.

use super::problem::{Parsed, Problem};

/// Returns the number of a text that consists of digits; None for any other text. A number too large for u128
/// saturates, so that the caller calls it too large, and not no number.
pub(super) fn digits(text: &str) -> Option<u128> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(u128::MAX))
}

/// Parses a whole number from `least` to `most`; plain ASCII digits only. The problem of a number out of range names
/// both ends, or only the one that the number is beyond if `most` is the largest u64.
pub fn whole(text: &str, least: u64, most: u64) -> Parsed<u64> {
    let Some(number) = digits(text) else {
        return Err(Problem::new("is not a whole number"));
    };
    let range = match u64::try_from(number) {
        Ok(n) if (least..=most).contains(&n) => return Ok(n),
        Err(_) if most == u64::MAX => format!("at most {most}"),
        _ if most == u64::MAX => format!("at least {least}"),
        _ => format!("from {least} to {most}"),
    };
    Err(Problem::new(format!("is out of range; it must be {range}")))
}

/// Parses a growth factor: a finite number of at least 1, as waits must not shrink.
pub fn factor(text: &str) -> Parsed<f64> {
    match text.parse::<f64>() {
        Ok(factor) if factor.is_finite() && factor >= 1.0 => Ok(factor),
        _ => Err(Problem::new("is not a number of at least 1")),
    }
}

/// Parses `25%` or `0.25` as a fraction in [0, 1]. A number above 1 without `%`, such as 25, is probably meant as a
/// percentage, so it is rejected.
pub fn percent(text: &str) -> Parsed<f64> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(n) if (0.0..=unit).contains(&n) => Ok(n / unit),
        Ok(n) if unit == 1.0 && n > 1.0 => Err(Problem::new("is above 1, which is 100%")),
        Ok(_) => Err(Problem::new("is out of range; it must be from 0% to 100%")),
        Err(_) => Err(Problem::new("is not a percentage such as 25% or 0.25")),
    }
}
