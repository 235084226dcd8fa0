//! Numbers and lengths of time.

use std::time::Duration;

use super::words::{after_quotes, after_word};

pub(super) const SECOND: u128 = 1_000_000_000;
const MINUTE: u128 = 60 * SECOND;
const HOUR: u128 = 60 * MINUTE;
const DAY: u128 = 24 * HOUR;

/// The names of a unit and its nanoseconds.
const UNITS: [(&[&str], u128); 8] = [
    (&["ns"], 1),
    // GitHub's container registry asks for microseconds; U+00B5 and U+03BC look alike.
    (&["us", "\u{b5}s", "\u{3bc}s"], 1_000),
    (&["ms", "msec", "msecs", "millisecond", "milliseconds"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds"], SECOND),
    (&["m", "min", "mins", "minute", "minutes"], MINUTE),
    (&["h", "hr", "hrs", "hour", "hours"], HOUR),
    (&["d", "day", "days"], DAY),
    (&["w", "week", "weeks"], 7 * DAY),
];

/// What a number without a unit means.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Bare {
    /// Nothing.
    Never,
    /// Seconds, if no word follows: `retry after 3 attempts` is no wait.
    Alone,
    /// That many of these nanoseconds, whatever comes next: the value of a field.
    Times(u128),
}

/// `30`, `1.5s`, `'6' minutes`, `1m30s`, `1 minute and 30 seconds`
pub(super) fn span(text: &[u8], bare: Bare) -> Option<Duration> {
    let (first, rest) = number(text)?;
    let Some((mut size, mut rest)) = unit_of(rest) else {
        return bare_number(first, rest, bare);
    };
    let mut total = first.nanos(size);
    // Each part is of a smaller unit than the one before; anything else is not part of the wait.
    while let Some((more, smaller, tail)) = next_part(rest).filter(|(_, unit, _)| *unit < size) {
        total = total.saturating_add(more.nanos(smaller));
        (size, rest) = (smaller, tail);
    }
    Some(duration(total))
}

fn bare_number(number: Number, rest: &[u8], bare: Bare) -> Option<Duration> {
    match bare {
        Bare::Never => None,
        // `1e3` and `30x` are no numbers.
        Bare::Times(scale) => (!rest.first().is_some_and(u8::is_ascii_alphabetic)).then(|| number.times(scale)),
        Bare::Alone => {
            let next = after_quotes(rest).trim_ascii_start().first();
            next.is_none_or(|b| b.is_ascii() && !b.is_ascii_alphanumeric())
                .then(|| number.times(SECOND))
        }
    }
}

/// `30s`, ` 30 seconds`, `, 30 seconds`, ` and 30 seconds`
fn next_part(text: &[u8]) -> Option<(Number, u128, &[u8])> {
    let text = text.strip_prefix(b",").unwrap_or(text).trim_ascii_start();
    let text = after_word(text, b"and ").map_or(text, <[u8]>::trim_ascii_start);
    let (number, rest) = number(text)?;
    let (unit, rest) = unit_of(rest)?;
    Some((number, unit, rest))
}

/// The unit of the number before `text`: ` seconds`, `s`, `' minutes`.
fn unit_of(text: &[u8]) -> Option<(u128, &[u8])> {
    let (unit, rest) = unit(after_quotes(text).trim_ascii_start())?;
    // In `retry_after=30 m=GET` the m is a name.
    (rest.first() != Some(&b'=')).then_some((unit, rest))
}

/// A whole word that is a unit, and the rest.
pub(super) fn unit(text: &[u8]) -> Option<(u128, &[u8])> {
    // Of what is not ASCII only the two bytes of a micro sign matter.
    let letters = text
        .iter()
        .take_while(|b| b.is_ascii_alphabetic() || !b.is_ascii())
        .count();
    let (word, rest) = text.split_at(letters);
    UNITS
        .iter()
        .find(|(names, _)| names.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes())))
        .map(|(_, unit)| (*unit, rest))
}

/// A decimal number that is not negative, saturating, to the billionth.
#[derive(Clone, Copy)]
pub(super) struct Number {
    whole: u64,
    billionths: u32,
}

impl Number {
    fn nanos(self, unit: u128) -> u128 {
        // At most 2^64 weeks: far below what u128 holds.
        u128::from(self.whole) * unit + u128::from(self.billionths) * unit / SECOND
    }

    pub(super) fn times(self, unit: u128) -> Duration {
        duration(self.nanos(unit))
    }
}

/// `30`, `1.5`, `.5` and the rest; `None` where the number goes on in a way that makes it another
/// one: `1,000`, `1.2.3`, `5-10`, `12:30`, `1/2`, `5%`.
pub(super) fn number(text: &[u8]) -> Option<(Number, &[u8])> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = match rest.strip_prefix(b".").map(digits) {
        Some((fraction, rest)) if !fraction.is_empty() => (fraction, rest),
        // `30.` ends a sentence.
        _ => (&[][..], rest),
    };
    let goes_on = match rest {
        [b',' | b'.' | b':', digit, ..] => digit.is_ascii_digit(),
        [b'-' | b'/' | b'%' | b'_', ..] => true,
        _ => false,
    };
    if goes_on || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = whole.iter().fold(0_u64, |n, digit| {
        n.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
    });
    let billionths = fraction
        .iter()
        .chain(std::iter::repeat(&b'0'))
        .take(9)
        .fold(0, |n, digit| n * 10 + u32::from(digit - b'0'));
    Some((Number { whole, billionths }, rest))
}

pub(super) fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|b| b.is_ascii_digit()).count())
}

/// Nanoseconds as a duration; more than it holds is the longest one.
fn duration(nanos: u128) -> Duration {
    u64::try_from(nanos / SECOND).map_or(Duration::MAX, |seconds| Duration::new(seconds, (nanos % SECOND) as u32))
}
