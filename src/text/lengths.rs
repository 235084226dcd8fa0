//! Lengths of time and moments as text, exact for settings or rounded for messages.

use std::time::{Duration, UNIX_EPOCH};

/// Last second of the year 9999. humantime formats no later time.
const LAST_SECOND: Duration = Duration::from_secs(253_402_300_799);

/// Returns a length of time as a user types it, `1m30s`, without rounding. It parses to the same length. Zero is `0`.
pub(crate) fn exact(length: Duration) -> String {
    let all_minutes = length.as_secs() / 60;
    let days = all_minutes / 1_440;
    let hours = all_minutes / 60 % 24;
    let minutes = all_minutes % 60;
    // Below a minute. `Debug` prints `500ms`, never `0.5s`, so a part that begins with 0 is zero.
    let seconds = format!("{:?}", length - Duration::from_secs(all_minutes * 60));
    let parts = format!("{days}d {hours}h {minutes}m {}", seconds.replace('µ', "u"));
    let text: String = parts
        .split(' ')
        .filter(|part| !part.starts_with('0'))
        .collect();
    if text.is_empty() {
        "0".to_owned()
    } else {
        text
    }
}

/// Returns a length of time for a message, rounded to three digits or two units: `51.2us`, `31s`, `2m5s`. Zero is `0s`.
pub(crate) fn length(length: Duration) -> String {
    // Each limit is where rounding would reach the next unit: 999.6us is `1ms`, not `1000us`.
    match length.as_secs_f64() {
        0.0 => "0s".to_owned(),
        seconds @ ..999.5e-9 => in_three_digits(seconds * 1e9, "ns"),
        seconds @ ..999.5e-6 => in_three_digits(seconds * 1e6, "us"),
        seconds @ ..999.5e-3 => in_three_digits(seconds * 1e3, "ms"),
        seconds @ ..59.95 => in_three_digits(seconds, "s"),
        seconds => in_two_units(seconds.round() as u64),
    }
}

/// Formats a value below 1000 with at most three significant digits: `4.55s`, `31s`.
fn in_three_digits(value: f64, unit: &str) -> String {
    // Each limit is where rounding would reach the next digit: 9.996 is `10`, not `10.00`.
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let mut digits = format!("{value:.decimals$}");
    // `4.50` becomes `4.5`, and `4.00` becomes `4`.
    if decimals > 0 {
        let shortest = digits.trim_end_matches('0').trim_end_matches('.').len();
        digits.truncate(shortest);
    }
    digits + unit
}

/// Formats at least a minute in two adjacent units, `2m5s` or `4d4h`. Smaller units are left out.
fn in_two_units(seconds: u64) -> String {
    match seconds {
        ..3_600 => two_units(seconds / 60, "m", seconds % 60, "s"),
        3_600..86_400 => two_units(seconds / 3_600, "h", seconds % 3_600 / 60, "m"),
        _ => two_units(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// Formats large and small units, without the small ones if there are none: `2m5s`, `2m`.
fn two_units(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large}{large_unit}")
    } else {
        format!("{large}{large_unit}{small}{small_unit}")
    }
}

/// Formats a time since the UNIX epoch in UTC (RFC 3339), to the millisecond. A time after the year 9999 is shown as
/// its last second.
pub(crate) fn timestamp(time: Duration) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + time.min(LAST_SECOND)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_lengths_are_neither_rounded_nor_split() {
        for (nanoseconds, shown) in [
            (0, "0"),
            (1_500, "1.5us"),
            (1_500_000_000, "1.5s"),
            (60_000_000_000, "1m"),
            (93_784_000_000_001, "1d2h3m4.000000001s"),
        ] {
            assert_eq!(exact(Duration::from_nanos(nanoseconds)), shown);
        }
    }

    #[test]
    fn lengths_of_time() {
        for (nanos, shown) in [
            (0, "0s"),
            (7, "7ns"),
            (51_200, "51.2us"),
            (999_900, "1ms"),
            (210_000_000, "210ms"),
            (999_600_000, "1s"),
            (4_554_328_639, "4.55s"),
            (31_000_000_000, "31s"),
            (59_960_000_000, "1m"),
            (125_000_000_000, "2m5s"),
            (3_599_400_000_000, "59m59s"),
            (12_000_000_000_000, "3h20m"),
            (86_400_000_000_000, "1d"),
            (360_000_000_000_000, "4d4h"),
        ] {
            assert_eq!(length(Duration::from_nanos(nanos)), shown);
        }
        assert!(!length(Duration::MAX).is_empty());
    }
}
