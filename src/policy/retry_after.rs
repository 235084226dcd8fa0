//! `--retry-after`: the wait that a command's output asks for.
//!
//! Sources: RFC 9110, section 10.2.3 (`Retry-After`: seconds or a date) and section 5.6.7 (the three forms of a date);
//! the `X-RateLimit-*` headers of GitHub, Twitter and GitLab (the epoch at which a quota is full again);
//! draft-ietf-httpapi-ratelimit-headers-03 (`RateLimit-Reset`: seconds from now). The prose has no standard.
//!
//! Understood, in any case, anywhere in a line of any bytes:
//!
//! - fields: `Retry-After: 30`, `"retry_after": 0.65`, `retryAfter=30s`, `retry-after-ms: 500`, `"retryDelay": "2s"`
//!   (`google.rpc.RetryInfo`);
//! - prose: `retry after 26 seconds`, `retry in 1m30s`, `retry after 30` (seconds), `try again in 1 hour`, `try your request
//!   again after '6' minutes`, `please wait 1 second`;
//! - a date in place of the number: an HTTP date (whose names are case-sensitive), or `2026-10-21T07:28:00Z` and
//!   `2026-10-21 07:28:00 UTC`, as Let's Encrypt prints it; also `try again at DATE`;
//! - `x-ratelimit-reset: EPOCH` and `ratelimit-reset: EPOCH or seconds`.
//!
//! A program's message about its own retries is ignored (`retrying in 5s`, curl's `Will retry in 1 second`, `next retry
//! in 5s`), as the program waits by itself. So is a number that is part of something else (`5-10 minutes`, `1,000 s`,
//! `12:30`, `-1`): no wait is better than a wrong one.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;

/// The longest reset, a leap year. A larger number of seconds is an epoch. An epoch further ahead is ignored, as it may
/// be in milliseconds.
const LAST_RESET: Duration = Duration::from_secs(366 * 24 * 60 * 60);

const SECOND: u128 = 1_000_000_000;

/// Names of each unit, and its nanoseconds. A name stands before its own prefixes.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    // GitHub's container registry asks for microseconds; U+00B5 and U+03BC look alike.
    (r"us|\xc2\xb5s|\xce\xbcs", 1_000),
    ("milliseconds?|msecs?|ms", 1_000_000),
    ("seconds?|secs?|s", SECOND),
    ("minutes?|mins?|m", 60 * SECOND),
    ("hours?|hrs?|h", 3_600 * SECOND),
    ("days?|d", 86_400 * SECOND),
    ("weeks?|w", 604_800 * SECOND),
];

const NUMBER: &str = r"(?:\d+(?:\.\d+)?|\.\d+)";

/// Text allowed between a number and its unit.
const GAP: &str = r#"["'`\\]*\s*"#;

/// Words of a request to wait, then its value: a date, lengths with units, or a number. The less obvious groups:
///
/// - `own`: a message about the program's own retries, or an option (`--retry-delay`);
/// - `field`, `unit`: the name of a field, and the unit in the name (`retry-after-ms`);
/// - `prose`, `alone`: the words `retry after`, and a number that no word follows;
/// - `clock`: the words `try again at`;
/// - `proprietary`: a field whose reset is always an epoch (`x-ratelimit-reset`).
static REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let separator = r#"["'`\\\s:=>\[(]"#;
    let again = r"\b(?:re)?try (?:[^a-z]+[a-z]+){0,3} [^a-z]+again\s+";
    let unit = UNITS.map(|(names, _)| names).join("|");
    regex(&format!(
        r#"(?: (?<own> \b(?:will|ll|next)\s+ | -- )?
               (?: retry (?<field> [-_\s]*(?:after|delay) (?:[-_]?(?<unit>{unit}))? {separator}*[:=] | [-_]?after{separator} )
                 | (?: retry\s+(?<prose>after) | retry[-_\s]*in | {again}(?:in|after|(?<clock>at)) ) {separator}
                 | please\W+wait (?:\s+for|\s+at\s+least)? {separator} )
             | (?<proprietary>x-rate-?)? limit[-_]re(?:(?<reset>set)|(?<remaining>maining)) {separator} )
           {separator}*
           (?: (?<http_date> [a-z]{{3,9}},?\ [-\ \w]+\ \d\d:\d\d:\d\d\ (?:GMT|\d{{4}}) )
             | (?<date> \d{{4}}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d ) (?:\.\d+)? (?:Z|\ UTC|\ \+0000|\+00:00)
             | (?<lengths> (?: {NUMBER}{GAP}(?:{unit}) ,?\s*(?:and\s+)? )+ ) [^=\w\x80-\xff]
             | (?<number>{NUMBER}) (?: (?<alone> {GAP}(?:[,.:]+\D|[^-/%\w\s"'`\\,.:\x80-\xff]|\n) )
                                     | [,.:]*[^-/%\w,.:] ) )"#
    ))
});

/// One length: a number, and a group for each of [`UNITS`].
static LENGTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let units = UNITS.map(|(names, _)| format!("({names})")).join("|");
    regex(&format!("({NUMBER}){GAP}(?:{units})"))
});

/// Builds an expression over bytes that ignores case and blanks in its text.
fn regex(text: &str) -> Option<Regex> {
    let syntax = syntax::Config::new().unicode(false).utf8(false);
    let syntax = syntax.case_insensitive(true).ignore_whitespace(true);
    Regex::builder().syntax(syntax).build(text).ok()
}

/// The longest wait that any line of an attempt's output asked for. A date in the past is a wait of zero; a wait beyond
/// the range of [`Duration`] saturates.
///
/// Servers send the reset of the quota with every answer, so a reset counts only if a line says that nothing is left
/// (`x-ratelimit-remaining: 0`), or no line says how much is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryAfter {
    asked: Option<Duration>,
    reset: Option<Duration>,
    /// True if a quota is exhausted; None if no line says how much is left.
    is_spent: Option<bool>,
}

impl RetryAfter {
    /// Reads a clean line with its end, or a part of a long one, printed at `now`. A number or unit counts only if a byte
    /// follows: at the end of a part, the rest of it may be missing.
    pub fn read(&mut self, line: &[u8], now: SystemTime) {
        for found in REQUEST
            .iter()
            .flat_map(|request| request.captures_iter(line))
        {
            self.read_request(&found, line, now);
        }
    }

    /// Returns the wait asked for, counted from when the line that asked was read.
    pub fn wait(&self) -> Option<Duration> {
        self.asked
            .max(self.reset.filter(|_| self.is_spent != Some(false)))
    }

    /// Reads one match of [`REQUEST`]. Its groups tell the kind and the value.
    fn read_request(&mut self, found: &Captures, line: &[u8], now: SystemTime) {
        let text =
            |group: &str| str::from_utf8(&line[found.get_group_by_name(group)?.range()]).ok();
        let has = |group: &str| found.get_group_by_name(group).is_some();
        let number_in = |unit: &str| text("number").map(|number| length(&[number, unit].concat()));
        if has("remaining") {
            // Some(true) is the greatest: one exhausted quota is enough.
            self.is_spent = self.is_spent.max(number_in("s").map(|left| left.is_zero()));
        } else if has("reset") {
            let until_epoch = |epoch: Duration| {
                SystemTime::UNIX_EPOCH
                    .checked_add(epoch)?
                    .duration_since(now)
                    .ok()
            };
            let reset = number_in("s").and_then(|number| {
                match number <= LAST_RESET && !has("proprietary") {
                    true => Some(number),
                    false => until_epoch(number),
                }
            });
            self.reset = self.reset.max(reset.filter(|wait| *wait <= LAST_RESET));
        } else if !has("own") {
            // It is not a program's message about its own retries.
            let http_date = text("http_date").and_then(|date| httpdate::parse_http_date(date).ok());
            let iso_date = text("date").and_then(|date| humantime::parse_rfc3339_weak(date).ok());
            let date = http_date.or(iso_date);
            let until_date = date.map(|date| date.duration_since(now).unwrap_or_default());
            // `try again at` takes only a date.
            let lengths = text("lengths").filter(|_| !has("clock")).map(length);
            let number = match has("field") {
                true => number_in(text("unit").unwrap_or("s")),
                // `retry after 3 attempts` is not a wait.
                false => number_in("s").filter(|_| has("prose") && has("alone")),
            };
            self.asked = self.asked.max(until_date.or(lengths).or(number));
        }
    }
}

/// Adds up lengths as long as each unit is smaller than the one before; `5s, 10s` is 5 seconds. Saturates.
fn length(text: &str) -> Duration {
    let (mut total, mut last_unit) = (0_u128, u128::MAX);
    for found in LENGTH.iter().flat_map(|length| length.captures_iter(text)) {
        // Group 1 is the number, 2 the first unit.
        let number = found.get_group(1).map_or("0", |span| &text[span.range()]);
        let has_group = |index: &usize| found.get_group(index + 2).is_some();
        let unit = (0..UNITS.len())
            .find(has_group)
            .map_or(last_unit, |index| UNITS[index].1);
        if unit >= last_unit {
            break;
        }
        last_unit = unit;
        total = total.saturating_add(nanos(number, unit));
    }
    let seconds = u64::try_from(total / SECOND);
    seconds.map_or(Duration::MAX, |seconds| {
        Duration::new(seconds, (total % SECOND) as u32)
    })
}

/// Returns a number of units (`12`, `1.5`, `.5`) in nanoseconds.
fn nanos(number: &str, unit: u128) -> u128 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let parse = |digits: &str| u128::from(digits.parse::<u64>().unwrap_or(u64::MAX));
    // `.5` has no whole digits.
    let whole = parse(&format!("0{whole}"));
    // Nine digits, filled up with zeros.
    let billionths = parse(&format!("{fraction:0<9}")[..9]);
    whole * unit + billionths * unit / 1_000_000_000
}

#[cfg(test)]
mod tests;
