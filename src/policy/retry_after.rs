//! `--retry-after`: the wait that a command's output asks for.
//!
//! Sources: RFC 9110, section 10.2.3 (`Retry-After`: seconds or a date) and section 5.6.7 (the three
//! forms of a date); the `X-RateLimit-*` headers of GitHub, Twitter and GitLab (the epoch at which a
//! quota starts anew); draft-ietf-httpapi-ratelimit-headers-03 (`RateLimit-Reset`: seconds from
//! now). The prose is what servers and their clients print, for which there is no standard.
//!
//! Understood, in any case, anywhere in a line of any bytes:
//!
//! - fields: `Retry-After: 30`, `"retry_after": 0.65`, `retryAfter=30s`, `retry-after-ms: 500`, `"retryDelay": "2s"`
//!   (`google.rpc.RetryInfo`);
//! - prose: `retry after 26 seconds`, `retry in 1m30s`, `retry after 30` (seconds), `try again in
//!   1 hour`, `try your request again after '6' minutes`, `please wait 1 second`;
//! - a date in place of the number: an HTTP date (whose names are case-sensitive), or
//!   `2026-10-21T07:28:00Z` and `2026-10-21 07:28:00 UTC`, as Let's Encrypt prints it; also `try again at DATE`;
//! - `x-ratelimit-reset: EPOCH` and `ratelimit-reset: EPOCH or seconds`.
//!
//! What a program says of its own retries asks for nothing (`retrying in 5s`, curl's `Will retry in 1
//! second`, `next retry in 5s`): it has waited already. Nor does a number that is only part of
//! something else (`5-10 minutes`, `1,000 s`, `12:30`, `-1`): no wait is better than a wrong one.

mod date;
mod span;
mod words;

use std::time::{Duration, SystemTime};

use date::{http_date, internet_date};
use span::{Bare, SECOND, number, span, unit};
use words::{after_word, separated, without_escapes, words_before};

/// From here on the number of a reset is an epoch (September 2001), below it seconds from now.
const FIRST_EPOCH: Duration = Duration::from_secs(1_000_000_000);

/// A reset further ahead is none: an epoch in milliseconds is not to be read as one in seconds.
const LAST_RESET: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// The longest wait that any line of an attempt's output asked for. A date in the past is a wait of zero; what no
/// [`Duration`] holds becomes the longest one.
///
/// Servers state when the quota starts anew with every answer, so a reset counts only where a line has said that
/// nothing is left (`x-ratelimit-remaining: 0`), or none has said how much is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryAfter {
    asked: Option<Duration>,
    reset: Option<Duration>,
    /// Whether nothing is left of a quota, where a line has said how much is.
    spent: Option<bool>,
}

impl RetryAfter {
    /// Reads one line, with or without its end, printed at `now`.
    pub fn read(&mut self, line: &[u8], now: SystemTime) {
        let found = read_line(line, now);
        self.asked = self.asked.max(found.asked);
        self.reset = self.reset.max(found.reset);
        self.spent = self.spent.max(found.spent);
    }

    /// The wait asked for, counted from when the line that asked was read.
    pub fn wait(&self) -> Option<Duration> {
        self.asked.max(self.reset.filter(|_| self.spent != Some(false)))
    }
}

fn read_line(line: &[u8], now: SystemTime) -> RetryAfter {
    let mut found = RetryAfter::default();
    // Every line of output comes here and nearly all of them leave here.
    if keywords(line).next().is_none() {
        return found;
    }
    let line = without_escapes(line);
    for (keyword, start, end) in keywords(&line) {
        let (head, tail) = (&line[..start], &line[end..]);
        match keyword {
            Keyword::Retry => found.asked = found.asked.max(after_retry(head, tail, now)),
            Keyword::Again => found.asked = found.asked.max(after_again(head, tail, now)),
            Keyword::Wait => found.asked = found.asked.max(after_wait(head, tail, now)),
            Keyword::Limit => {
                found.reset = found.reset.max(after_limit(head, tail, now));
                found.spent = found.spent.max(is_spent(tail));
            }
        }
    }
    found
}

#[derive(Clone, Copy)]
enum Keyword {
    Retry,
    Again,
    Wait,
    /// `limit`, where `-re` or `_re` follows
    Limit,
}

/// The words that a request to wait is made of, each with its start and its end. No two of them overlap.
fn keywords(line: &[u8]) -> impl Iterator<Item = (Keyword, usize, usize)> {
    let at = |start: usize, word: &[u8]| {
        line.get(start..start + word.len())
            .is_some_and(|bytes| bytes.eq_ignore_ascii_case(word))
    };
    // One look at each byte, for the rarest letter of each word.
    line.iter().enumerate().filter_map(move |(i, byte)| match byte | 0x20 {
        b'y' if i >= 4 && at(i - 4, b"retry") => Some((Keyword::Retry, i - 4, i + 1)),
        b'g' if i >= 1 && at(i - 1, b"again") => Some((Keyword::Again, i - 1, i + 4)),
        b'w' if at(i, b"wait") => Some((Keyword::Wait, i, i + 4)),
        b'm' if i >= 2 && (at(i - 2, b"limit-re") || at(i - 2, b"limit_re")) => Some((Keyword::Limit, i - 2, i + 3)),
        _ => None,
    })
}

/// `retry` | ` after 30 seconds`, `-After: 30`, `_after_ms=500`, ` in 5s`
fn after_retry(head: &[u8], tail: &[u8], now: SystemTime) -> Option<Duration> {
    let prose = tail.first().is_some_and(u8::is_ascii_whitespace);
    // A shell that traces its commands shows options.
    if head.ends_with(b"--") || (prose && is_own_retry(words_before(head).next())) {
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
    let delay = after_word(tail, b"delay");
    let tail = delay.or_else(|| after_word(tail, b"after"))?;
    let (tail, scale) = suffix(tail)?;
    let (value, is_field) = separated(tail)?;
    if delay.is_some() && !is_field {
        return None;
    }
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
    if !before.by_ref().take(4).any(is_try) || is_own_retry(before.next()) {
        return None;
    }
    if !tail.first().is_some_and(u8::is_ascii_whitespace) {
        return None;
    }
    let tail = tail.trim_ascii_start();
    if let Some(tail) = after_word(tail, b"at") {
        return until(separated(tail)?.0, now);
    }
    let tail = after_word(tail, b"in").or_else(|| after_word(tail, b"after"))?;
    wait_at(separated(tail)?.0, Bare::Never, now)
}

/// `please wait` | ` 1 second`, ` for 1 second`, ` at least 1 second`
fn after_wait(head: &[u8], tail: &[u8], now: SystemTime) -> Option<Duration> {
    let is_please = |word: &[u8]| word.eq_ignore_ascii_case(b"please");
    if !words_before(head).next().is_some_and(is_please) {
        return None;
    }
    let tail = tail.trim_ascii_start();
    let more = after_word(tail, b"for ").or_else(|| after_word(tail, b"at least "));
    wait_at(more.unwrap_or(tail), Bare::Never, now)
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
fn is_spent(tail: &[u8]) -> Option<bool> {
    let (value, _) = separated(after_word(tail.get(1..)?, b"remaining")?)?;
    let (left, _) = number(value)?;
    Some(left.times(SECOND).is_zero())
}

/// Whether the word before `retry` or `try` makes it the program's own: `will`, `we'll`, `next`.
fn is_own_retry(word: Option<&[u8]>) -> bool {
    word.is_some_and(|word| {
        [&b"will"[..], b"ll", b"next"]
            .iter()
            .any(|own| word.eq_ignore_ascii_case(own))
    })
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

/// The wait that the text starts with.
fn wait_at(text: &[u8], bare: Bare, now: SystemTime) -> Option<Duration> {
    until(text, now).or_else(|| span(text, bare))
}

/// The time until the date that the text starts with.
fn until(text: &[u8], now: SystemTime) -> Option<Duration> {
    let date = http_date(text).or_else(|| internet_date(text));
    date.map(|date| date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests;
