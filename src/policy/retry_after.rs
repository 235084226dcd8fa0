//! The wait that a command's output asks for: what `--retry-after` listens to.
//!
//! Sources: RFC 9110, section 10.2.3 (`Retry-After`: seconds or a date) and section 5.6.7 (the three
//! forms of a date); the `X-RateLimit-*` headers of GitHub, Twitter and GitLab (the epoch at which a
//! quota starts anew); draft-ietf-httpapi-ratelimit-headers-03 (`RateLimit-Reset`: seconds from
//! now). The prose is what servers and their clients print, for which there is no standard.
//!
//! Understood, in any case, anywhere in a line of any bytes:
//!
//! - fields: `Retry-After: 30`, `"retry_after": 0.65`, `retryAfter=30s`, `retry-after-ms: 500`;
//! - prose: `retry after 26 seconds`, `retry in 1m30s`, `retry after 30` (seconds), `try again in
//!   1 hour`, `try your request again after '6' minutes`;
//! - a date in place of the number: an HTTP date (whose names are case-sensitive), or
//!   `2026-10-21T07:28:00Z` and `2026-10-21 07:28:00 UTC`, as Let's Encrypt prints it;
//! - `x-ratelimit-reset: EPOCH` and `ratelimit-reset: EPOCH or seconds`.
//!
//! Not a hint is what a program says of its own retries (`retrying in 5s`, curl's `Will retry in 1
//! second`, `next retry in 5s`): it has waited already. Nor is a number that is only part of
//! something else (`5-10 minutes`, `1,000 s`, `12:30`, `-1`): no wait is better than a wrong one.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

const SECOND: u128 = 1_000_000_000;
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

/// From here on the number of a reset is an epoch (September 2001), below it seconds from now.
const FIRST_EPOCH: Duration = Duration::from_secs(1_000_000_000);

/// A reset further ahead is none: an epoch in milliseconds is not to be read as one in seconds.
const LAST_RESET: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The wait that one line asks for, the longest if it names several, `None` if it names none. A
/// date in the past is a wait of zero; what no [`Duration`] holds becomes the longest one.
///
/// A rate-limit reset counts here whatever is left of the quota; [`RetryAfter`] knows better.
pub fn wait_asked_for(line: &[u8], now: SystemTime) -> Option<Duration> {
    let said = listen(line, now);
    said.asked.max(said.reset)
}

/// The longest wait that any line of an attempt's output asked for.
///
/// Servers state when the quota starts anew with every answer, so a reset counts only once some
/// line has said that nothing is left (`x-ratelimit-remaining: 0`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryAfter {
    asked: Option<Duration>,
    reset: Option<Duration>,
    spent: bool,
}

impl RetryAfter {
    /// Takes in one line, with or without its end, printed at `now`.
    pub fn read(&mut self, line: &[u8], now: SystemTime) {
        let said = listen(line, now);
        self.asked = self.asked.max(said.asked);
        self.reset = self.reset.max(said.reset);
        self.spent |= said.spent;
    }

    /// The wait asked for, counted from when the line that asked was read.
    pub fn wait(&self) -> Option<Duration> {
        self.asked.max(self.reset.filter(|_| self.spent))
    }
}

/// What one line says.
fn listen(line: &[u8], now: SystemTime) -> RetryAfter {
    let mut said = RetryAfter::default();
    // Every line of output comes here and nearly all of them leave here.
    if keywords(line).next().is_none() {
        return said;
    }
    let line = without_escapes(line);
    for (keyword, start, end) in keywords(&line) {
        let (head, tail) = (&line[..start], &line[end..]);
        match keyword {
            Keyword::Retry => said.asked = said.asked.max(after_retry(head, tail, now)),
            Keyword::Again => said.asked = said.asked.max(after_again(head, tail, now)),
            Keyword::Limit => {
                said.reset = said.reset.max(after_limit(head, tail, now));
                said.spent |= is_spent(tail);
            }
        }
    }
    said
}

#[derive(Clone, Copy)]
enum Keyword {
    Retry,
    Again,
    /// `limit`, where `-re` or `_re` follows
    Limit,
}

/// The words that can be part of a hint, each with its start and its end. No two of them overlap.
fn keywords(line: &[u8]) -> impl Iterator<Item = (Keyword, usize, usize)> {
    let at = |start: usize, word: &[u8]| {
        line.get(start..start + word.len())
            .is_some_and(|bytes| bytes.eq_ignore_ascii_case(word))
    };
    // One look at each byte, for the rarest letter of each word.
    line.iter().enumerate().filter_map(move |(i, byte)| match byte | 0x20 {
        b'y' if i >= 4 && at(i - 4, b"retry") => Some((Keyword::Retry, i - 4, i + 1)),
        b'g' if i >= 1 && at(i - 1, b"again") => Some((Keyword::Again, i - 1, i + 4)),
        b'm' if i >= 2 && (at(i - 2, b"limit-re") || at(i - 2, b"limit_re")) => Some((Keyword::Limit, i - 2, i + 3)),
        _ => None,
    })
}

/// The line without its colours (`ESC [ ... letter`), which programs set even between a name and
/// its colon.
fn without_escapes(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.contains(&0x1b) {
        return Cow::Borrowed(line);
    }
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = match tail.strip_prefix(b"[") {
            Some(sequence) if byte == 0x1b => {
                let parameters = sequence.iter().take_while(|b| matches!(b, 0x20..=0x3f)).count();
                sequence.get(parameters + 1..).unwrap_or_default()
            }
            _ => {
                plain.push(byte);
                tail
            }
        };
    }
    Cow::Owned(plain)
}

/// What a number without a unit means.
#[derive(Clone, Copy, PartialEq)]
enum Bare {
    /// Nothing.
    Never,
    /// Seconds, if no word follows: `retry after 3 attempts` is no wait.
    Alone,
    /// That many of these nanoseconds, whatever comes next: the value of a field.
    Times(u128),
}

/// `retry` | ` after 30 seconds`, `-After: 30`, `_after_ms=500`, ` in 5s`
fn after_retry(head: &[u8], tail: &[u8], now: SystemTime) -> Option<Duration> {
    let prose = tail.first().is_some_and(u8::is_ascii_whitespace);
    // A shell that traces its commands shows options.
    if head.ends_with(b"--") || (prose && speaks_of_itself(words_before(head).next())) {
        return None;
    }
    let tail = if prose {
        tail.trim_ascii_start()
    } else {
        tail.strip_prefix(b"-")
            .or_else(|| tail.strip_prefix(b"_"))
            .unwrap_or(tail)
    };
    if let Some(tail) = after_word(tail, b"in") {
        let (value, _) = separated(tail)?;
        return wait_at(value, Bare::Never, now);
    }
    let tail = after_word(tail, b"after")?;
    let (tail, scale) = suffix(tail)?;
    let (value, is_field) = separated(tail)?;
    let bare = if prose && !is_field {
        Bare::Alone
    } else {
        Bare::Times(scale)
    };
    wait_at(value, bare, now)
}

/// `try again` | ` in 5 minutes`, where a few words may stand before `again`.
fn after_again(head: &[u8], tail: &[u8], now: SystemTime) -> Option<Duration> {
    let mut before = words_before(head);
    let is_try = |word: &[u8]| word.eq_ignore_ascii_case(b"try") || word.eq_ignore_ascii_case(b"retry");
    if !before.by_ref().take(4).any(is_try) || speaks_of_itself(before.next()) {
        return None;
    }
    if !tail.first().is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let tail = tail.trim_ascii_start();
    let tail = after_word(tail, b"in").or_else(|| after_word(tail, b"after"))?;
    wait_at(separated(tail)?.0, Bare::Never, now)
}

/// `x-ratelimit` | `-reset: 1792567680`
fn after_limit(head: &[u8], tail: &[u8], now: SystemTime) -> Option<Duration> {
    let (value, _) = separated(after_word(tail.get(1..)?, b"reset")?)?;
    let (number, _) = number(value)?;
    let number = number.times(SECOND);
    let wait = if number >= FIRST_EPOCH {
        SystemTime::UNIX_EPOCH.checked_add(number)?.duration_since(now).ok()?
    } else if is_proprietary(head) {
        return None;
    } else {
        number
    };
    (wait <= LAST_RESET).then_some(wait)
}

/// Whether `limit` belongs to an `X-RateLimit` field: whether its small numbers are seconds from now
/// differs between servers.
fn is_proprietary(head: &[u8]) -> bool {
    let head = head.strip_suffix(b"-").unwrap_or(head);
    head.len()
        .checked_sub(6)
        .is_some_and(|start| head[start..].eq_ignore_ascii_case(b"x-rate"))
}

/// `x-ratelimit` | `-remaining: 0`
fn is_spent(tail: &[u8]) -> bool {
    let remaining = || {
        let (value, _) = separated(after_word(tail.get(1..)?, b"remaining")?)?;
        Some(number(value)?.0.times(SECOND))
    };
    remaining() == Some(Duration::ZERO)
}

/// The words of a text, last first.
fn words_before(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.rsplit(|byte| !byte.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
}

/// Whether the word before `retry` or `try` makes it the program's own: `will`, `we'll`, `next`.
fn speaks_of_itself(word: Option<&[u8]>) -> bool {
    word.is_some_and(|word| {
        [&b"will"[..], b"ll", b"next"]
            .iter()
            .any(|own| word.eq_ignore_ascii_case(own))
    })
}

/// The rest after `word`, which starts the text in any case.
fn after_word<'a>(text: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// The unit in a field's name (`-ms`, `_seconds`, `Ms`) and the rest; seconds if the name ends here.
fn suffix(text: &[u8]) -> Option<(&[u8], u128)> {
    let name = match text.first() {
        Some(b'-' | b'_') => &text[1..],
        Some(b) if b.is_ascii_alphabetic() => text,
        _ => return Some((text, SECOND)),
    };
    let (unit, rest) = unit(name)?;
    Some((rest, unit))
}

/// What follows quotes, brackets, blanks and a `:`, `=` or `=>`, at least one of them, and whether
/// there was such a sign. Backslashes are those of JSON within JSON.
fn separated(text: &[u8]) -> Option<(&[u8], bool)> {
    let length = text.iter().take_while(|b| b" \t\"'`\\:=>[(".contains(b)).count();
    let (separator, rest) = text.split_at(length);
    let is_field = separator.iter().any(|b| b":=".contains(b));
    (length > 0).then_some((rest, is_field))
}

/// The wait that the text starts with.
fn wait_at(text: &[u8], bare: Bare, now: SystemTime) -> Option<Duration> {
    let until = http_date(text).or_else(|| internet_date(text));
    until
        .map(|date| date.duration_since(now).unwrap_or_default())
        .or_else(|| span(text, bare))
}

/// An HTTP date in one of the three forms of RFC 9110, section 5.6.7.
fn http_date(text: &[u8]) -> Option<SystemTime> {
    const LONGEST: usize = "Wednesday, 21-Oct-26 07:28:00 GMT".len();
    const ASCTIME: usize = "Wed Oct 21 07:28:00 2026".len();
    if !text.first()?.is_ascii_alphabetic() {
        return None;
    }
    let start = &text[..text.len().min(LONGEST)];
    let length = start
        .windows(3)
        .position(|zone| zone == b"GMT")
        .map_or(ASCTIME, |i| i + 3);
    let date = std::str::from_utf8(text.get(..length)?).ok()?;
    httpdate::parse_http_date(date).ok()
}

/// `2026-10-21T07:28:00Z` or `2026-10-21 07:28:00 UTC`, with or without a fraction, which is dropped.
/// Of other zones nothing is known here.
fn internet_date(text: &[u8]) -> Option<SystemTime> {
    let (date, zone) = text.split_at_checked("2026-10-21T07:28:00".len())?;
    let zone = zone.strip_prefix(b".").map_or(zone, |fraction| digits(fraction).1);
    let is_utc = [&b"z"[..], b" utc", b" +0000", b"+00:00"]
        .iter()
        .any(|utc| after_word(zone, utc).is_some());
    let date = std::str::from_utf8(date).ok().filter(|_| is_utc)?;
    humantime::parse_rfc3339_weak(date).ok()
}

/// `30`, `1.5s`, `'6' minutes`, `1m30s`, `1 minute and 30 seconds`
fn span(text: &[u8], bare: Bare) -> Option<Duration> {
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

fn after_quotes(text: &[u8]) -> &[u8] {
    let quotes = text.iter().take_while(|b| b"\"'`\\".contains(b)).count();
    &text[quotes..]
}

/// A whole word that is a unit, and the rest.
fn unit(text: &[u8]) -> Option<(u128, &[u8])> {
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
struct Number {
    whole: u64,
    billionths: u32,
}

impl Number {
    fn nanos(self, unit: u128) -> u128 {
        // At most 2^64 weeks: far below what u128 holds.
        u128::from(self.whole) * unit + u128::from(self.billionths) * unit / SECOND
    }

    fn times(self, unit: u128) -> Duration {
        duration(self.nanos(unit))
    }
}

/// `30`, `1.5`, `.5` and the rest; `None` where the number goes on in a way that makes it another
/// one: `1,000`, `1.2.3`, `5-10`, `12:30`, `1/2`, `5%`.
fn number(text: &[u8]) -> Option<(Number, &[u8])> {
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

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|b| b.is_ascii_digit()).count())
}

/// Nanoseconds as a duration; more than it holds is the longest one.
fn duration(nanos: u128) -> Duration {
    u64::try_from(nanos / SECOND).map_or(Duration::MAX, |seconds| Duration::new(seconds, (nanos % SECOND) as u32))
}

#[cfg(test)]
mod tests;
