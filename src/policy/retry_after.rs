//! `--retry-after`: the wait that a command's output asks for.
//!
//! [`DIALECTS`] are the ways to ask. A number that is part of something else (`5-10 minutes`, `1,000`, `12:30`) is
//! ignored, because no wait is better than a wrong one. If nothing asks, a spent rate limit does, for the time until
//! its reset.
//!
//! Sources: RFC 9110, section 10.2.3 (`Retry-After`: seconds or a date); the AWS SDKs (`x-amz-retry-after`); the
//! documentation of GitHub and Discord on rate limits. There is no standard for prose.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex::{Captures, Regex, RegexBuilder};

/// How to read a number without a unit.
#[derive(Debug, Clone, Copy)]
enum Bare {
    Milliseconds,
    Seconds,
    /// As seconds, unless a word follows: `retry after 3 attempts` asks for nothing.
    SecondsIfLast,
    Ignored,
}

/// Words before a wait, and how to read a number without a unit after them. The first match counts.
const DIALECTS: [(&str, Bare); 5] = [
    // A program that retries by itself (curl's `Will retry in 1 second`), or an option (`--retry-after`).
    (r"(?:\b(?:will|ll|next)\s+|--)(?:re)?try", Bare::Ignored),
    (
        r"(?:x-amz-retry-after|retry[-_]?after[-_]?ms)",
        Bare::Milliseconds,
    ),
    // A header, or a field in JSON or a log: `Retry-After: 30`, `"retry_after": 0.65`, `retryAfter=30s`.
    (r"retry(?:[-_]?after\W|\s+after\s*[:=])", Bare::Seconds),
    (r"retry\s+after\s", Bare::SecondsIfLast),
    (
        r"(?:\b(?:re)?try\s+(?:\S+\s+){0,3}again\s+(?:in|after|at)|retry\s+in|please\s+wait(?:\s+for|\s+at\s+least)?)\s",
        Bare::Ignored,
    ),
];

/// Quotes, brackets and the like between words and value.
const BETWEEN: &str = r#"["'`\\\s:=>\[(]"#;

/// One of [`DIALECTS`], each as a group, up to the value.
static REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let dialects = DIALECTS.map(|(words, _)| format!("({words})")).join("|");
    regex(&format!("(?:{dialects}){BETWEEN}*"))
});

/// An HTTP date, or one of RFC 3339 in UTC, possibly with spaces: `2026-10-21 07:28:00 UTC` (Let's Encrypt).
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"^(?:(?<http>[a-z]{3,9},? [-\w ]+ \d\d:\d\d:\d\d (?:GMT|\d{4}))|(?<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z| UTC))",
    )
});

/// A number with a unit, possibly after another: `5s`, `'6' minutes`, `and 30 seconds`.
static LENGTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r#"^,?\s*(?:and\s+)?(\d+(?:\.\d+)?|\.\d+)["'`\\]*\s*(ns|[uµμ]s|m(?:illi)?s(?:ec(?:ond)?s?)?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)(?:[^a-z=]|$)"#,
    )
});

/// Prefix of a unit's names, and its seconds.
const UNITS: [(&str, f64); 11] = [
    ("ns", 1e-9),
    ("us", 1e-6),
    ("\u{b5}s", 1e-6),
    ("\u{3bc}s", 1e-6),
    ("ms", 1e-3),
    ("milli", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3_600.0),
    ("d", 86_400.0),
    ("w", 604_800.0),
];

/// A number that is not part of something else.
static NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r#"^(\d+(?:\.\d+)?|\.\d+)(?:[,.:]*(?:[\s"'`\\)\]}<;(]|$))"#));

/// A rate limit field up to its value: `X-RateLimit-Remaining: `, `x-ratelimit-reset-after: `.
static RATE_LIMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(&format!(
        "rate[-_]?limit[-_](?:(?<remaining>remaining)|reset(?<after>[-_]after)?){BETWEEN}+"
    ))
});

/// Status 429 in a status line, a message or structured data.
static STATUS_429: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(r"http/[\d.]+\s+429\b|\b(?:status|error|code)\b[^\d\n]{0,12}429\b|\b429\s+too\b")
});

/// A larger number of seconds until a reset is a time since the UNIX epoch, in milliseconds if larger than
/// `MOST_SECONDS` (the year 5138).
const LONGEST_RESET: f64 = 1e8;
const MOST_SECONDS: f64 = 1e11;

/// Returns the longest wait that an attempt's lines of output, printed until `now`, ask for. If none asks, returns the
/// time until the reset of a spent rate limit. A date in the past is a wait of zero.
pub fn wait_asked<'a>(lines: impl Iterator<Item = &'a [u8]>, now: SystemTime) -> Option<Duration> {
    let mut asked = None;
    let mut limit = RateLimit::default();
    for line in lines {
        let line = String::from_utf8_lossy(line);
        for request in captures(&REQUEST, &line) {
            asked = asked.max(wait_of(&request, &line, now));
        }
        limit.read(&line, now);
    }
    asked.or(limit.wait())
}

/// Returns the wait in a match of [`REQUEST`].
fn wait_of(request: &Captures<'_>, line: &str, now: SystemTime) -> Option<Duration> {
    let dialect = (0..DIALECTS.len()).find(|index| request.get(index + 1).is_some())?;
    let value = &line[request.get(0)?.end()..];
    value_of(value, DIALECTS[dialect].1, now)
}

/// Returns the wait at the beginning of a text: a date, lengths such as `1m30s`, or a number.
fn value_of(text: &str, bare: Bare, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = until_date(text, now).or_else(|| length(text)) {
        return Some(wait);
    }
    let number = captures(&NUMBER, text).next()?.get(1)?;
    let seconds: f64 = number.as_str().parse().ok()?;
    let is_last = !text[number.end()..]
        .trim_start()
        .starts_with(char::is_alphabetic);
    match bare {
        Bare::Milliseconds => Some(duration(seconds / 1e3)),
        Bare::Seconds => Some(duration(seconds)),
        Bare::SecondsIfLast if is_last => Some(duration(seconds)),
        Bare::SecondsIfLast | Bare::Ignored => None,
    }
}

fn until_date(text: &str, now: SystemTime) -> Option<Duration> {
    let date = captures(&DATE, text).next()?;
    let date = match date.name("http") {
        Some(http) => httpdate::parse_http_date(http.as_str()).ok()?,
        None => humantime::parse_rfc3339_weak(&date["iso"]).ok()?,
    };
    Some(date.duration_since(now).unwrap_or_default())
}

/// Adds up lengths such as `1 hour and 5 minutes`, until a unit is not smaller than the one before.
fn length(mut text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut last_unit = f64::INFINITY;
    while let Some(found) = captures(&LENGTH, text).next()
        && let Some(unit) = found.get(2)
        && let Some(seconds) = seconds_in(unit.as_str())
        && seconds < last_unit
    {
        total += found[1].parse::<f64>().ok()? * seconds;
        last_unit = seconds;
        text = &text[unit.end()..];
    }
    last_unit.is_finite().then(|| duration(total))
}

/// Returns the seconds in a unit that [`LENGTH`] matches.
fn seconds_in(unit: &str) -> Option<f64> {
    let unit = unit.to_lowercase();
    let mut units = UNITS.iter();
    let (_, seconds) = units.find(|(begin, _)| unit.starts_with(begin))?;
    Some(*seconds)
}

/// Returns seconds as a duration, saturating.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// The rate limit that a server reports. Servers also send its fields with successful responses, so a reset counts only
/// if nothing is left or, if no field says how much is left, after status 429.
#[derive(Debug, Default)]
struct RateLimit {
    has_status_429: bool,
    tells_what_is_left: bool,
    is_spent: bool,
    /// Longest time until a reset.
    reset: Option<Duration>,
}

impl RateLimit {
    fn read(&mut self, line: &str, now: SystemTime) {
        self.has_status_429 |= STATUS_429
            .as_ref()
            .is_some_and(|status| status.is_match(line));
        for field in captures(&RATE_LIMIT, line) {
            let end = field.get(0).map_or(line.len(), |field| field.end());
            let value = value_of(&line[end..], Bare::Seconds, now);
            if field.name("remaining").is_some() {
                self.tells_what_is_left = true;
                self.is_spent |= value == Some(Duration::ZERO);
            } else if field.name("after").is_some() {
                self.reset = self.reset.max(value);
            } else {
                self.reset = self
                    .reset
                    .max(value.and_then(|value| until_reset(value, now)));
            }
        }
    }

    fn wait(&self) -> Option<Duration> {
        let is_spent = self.is_spent || (self.has_status_429 && !self.tells_what_is_left);
        self.reset.filter(|_| is_spent)
    }
}

/// Returns the time until a reset, which a server gives as a length or as a time since the UNIX epoch. None if it has
/// passed.
fn until_reset(value: Duration, now: SystemTime) -> Option<Duration> {
    let seconds = value.as_secs_f64();
    let epoch = if seconds <= LONGEST_RESET {
        return Some(value);
    } else if seconds < MOST_SECONDS {
        value
    } else {
        value / 1_000
    };
    SystemTime::UNIX_EPOCH
        .checked_add(epoch)?
        .duration_since(now)
        .ok()
}

/// Returns a case-insensitive expression, None if it is invalid. Tests rule that out, but a panic would be worse than a
/// wait that is missed.
fn regex(text: &str) -> Option<Regex> {
    RegexBuilder::new(text).case_insensitive(true).build().ok()
}

/// Returns all matches in a text, none if the expression is invalid.
fn captures<'t>(
    expression: &'static LazyLock<Option<Regex>>,
    text: &'t str,
) -> impl Iterator<Item = Captures<'t>> {
    let found = expression
        .as_ref()
        .map(|expression| expression.captures_iter(text));
    found.into_iter().flatten()
}

#[cfg(test)]
#[path = "tests/retry_after.rs"]
mod tests;
