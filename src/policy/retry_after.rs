//! `--retry-after`: the wait that a command's output asks for.
//!
//! Sources: RFC 9110, section 10.2.3 (`Retry-After`: seconds or a date) and section 5.6.7 (the three forms of a date);
//! gRPC's A6 (`grpc-retry-pushback-ms`); the AWS SDKs (`x-amz-retry-after`: milliseconds). The prose has no standard.
//! Fields about limits are read by `rate_limit`.
//!
//! Understood, in any case, anywhere in a line of any bytes:
//!
//! - fields: `Retry-After: 30`, `"retry_after": 0.65`, `retryAfter=30s`, `retry-after-ms: 500`, `"retryDelay": "2s"`
//!   (`google.rpc.RetryInfo`), `x-amz-retry-after: 1500` and `grpc-retry-pushback-ms: 1500` (milliseconds);
//! - prose: `retry after 26 seconds`, `retry in 1m30s`, `retry after 30` (seconds), `try again in 1 hour`, `try your
//!   request again after '6' minutes`, `please wait 1 second`;
//! - a date in place of the number: an HTTP date (whose names are case-sensitive), or `2026-10-21T07:28:00Z` and
//!   `2026-10-21 07:28:00 UTC`, as Let's Encrypt prints it, all also with a zone such as `+0000`; also `try again at
//!   DATE`.
//!
//! A program's message about its own retries is ignored (`retrying in 5s`, curl's `Will retry in 1 second`, `next retry
//! in 5s`), as the program waits by itself. So is a number that is part of something else (`5-10 minutes`, `1,000 s`,
//! `12:30`, `-1`): no wait is better than a wrong one.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex::bytes::Regex;

use super::rate_limit::RateLimits;
use super::times::{Found, GAP, NUMBER, length, lengths, regex, unit_names, until_date};

/// Words of a request to wait, then its value: a date, lengths with units, or a number. The less obvious groups:
///
/// - `own`: a message about the program's own retries, or an option (`--retry-delay`);
/// - `field`, `unit`: the name of a field, and the unit in the name (`retry-after-ms`);
/// - `prose`, `alone`: the words `retry after`, and a number that no word follows;
/// - `clock`: the words `try again at`;
/// - `amazon`: a field in milliseconds.
static REQUEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let separator = r#"["'`\\\s:=>\[(]"#;
    let again = r"\b(?:re)?try (?:[^a-z]+[a-z]+){0,3} [^a-z]+again\s+";
    let unit = unit_names();
    let lengths = lengths();
    regex(&format!(
        r#"(?: (?<own> \b(?:will|ll|next)\s+ | -- )? (?<amazon> x-amz- )?
               (?: retry (?<field> [-_\s]*(?:after|delay|pushback) (?:[-_]?(?<unit>{unit}))? {separator}*[:=] | [-_]?after{separator} )
                 | (?: retry\s+(?<prose>after) | retry[-_\s]*in | {again}(?:in|after|(?<clock>at)) ) {separator}
                 | please\W+wait (?:\s+for|\s+at\s+least)? {separator} ) )
           {separator}*
           (?: (?<http_date> [a-z]{{3,9}},?\ [-\ \w]+\ \d\d:\d\d:\d\d\ (?:GMT|UTC|[+-]\d{{4}}|\d{{4}}) )
             | (?<date> \d{{4}}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d (?:\.\d+)? (?:Z|\ UTC|\ ?[+-]\d\d:?\d\d) )
             | (?<lengths> {lengths} ) [^=\w\x80-\xff]
             | (?<number>{NUMBER}) (?: (?<alone> {GAP}(?:[,.:]+\D|[^-/%\w\s"'`\\,.:\x80-\xff]|\n) )
                                     | [,.:]*[^-/%\w,.:] ) )"#
    ))
});

/// Returns the wait that lines of an attempt's output ask for, which ended at `now`: the longest, or else that for a
/// spent limit.
pub fn wait_asked<'a>(lines: impl Iterator<Item = &'a [u8]>, now: SystemTime) -> Option<Duration> {
    let mut retry_after = RetryAfter::default();
    for line in lines {
        retry_after.read(&[line, b"\n"].concat(), now);
    }
    retry_after.wait()
}

/// The longest wait that any line of an attempt's output asked for. A date in the past is a wait of zero; a wait beyond
/// the range of [`Duration`] saturates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RetryAfter {
    asked: Option<Duration>,
    limits: RateLimits,
}

impl RetryAfter {
    /// Reads a line as a person sees it, with its line feed, printed at `now`, and remembers the longest wait. A
    /// number or unit counts only if a byte follows.
    fn read(&mut self, line: &[u8], now: SystemTime) {
        if let Some(expression) = &*REQUEST {
            for captures in expression.captures_iter(line) {
                let request = WaitRequest(Found {
                    captures: &captures,
                });
                self.asked = self.asked.max(request.wait(now));
            }
        }
        self.limits.read(line, now);
    }

    /// Returns the wait asked for, counted from when the line that asked was read. If no line asks, returns the wait
    /// for a limit that is spent. None if there is neither.
    fn wait(&self) -> Option<Duration> {
        self.asked.or_else(|| self.limits.wait())
    }
}

/// One match of [`REQUEST`].
struct WaitRequest<'a>(Found<'a>);

impl WaitRequest<'_> {
    /// Returns the wait that the matched words ask for; if they name a date, the time from `now` until then. None if
    /// they ask for none after all: a number without a unit counts only in a field and alone behind `retry after`.
    fn wait(&self, now: SystemTime) -> Option<Duration> {
        let WaitRequest(found) = self;
        // A program's message about its own retries, or an option.
        if found.has("own") {
            return None;
        }
        if let Some(date) = found.text("http_date").or(found.text("date"))
            && let Some(wait) = until_date(date, now)
        {
            return Some(wait);
        }
        // `try again at` takes only a date.
        if found.has("lengths") && !found.has("clock") {
            return found.text("lengths").map(length);
        }
        if found.has("field") {
            let unit = found.text("unit").unwrap_or(self.default_unit());
            return self.number_in(unit);
        }
        // `retry after 3 attempts` is not a wait.
        if found.has("prose") && found.has("alone") {
            return self.number_in("s");
        }
        None
    }

    /// Returns the unit of a field whose name has none: Amazon's field is in milliseconds.
    fn default_unit(&self) -> &'static str {
        if self.0.has("amazon") { "ms" } else { "s" }
    }

    fn number_in(&self, unit: &str) -> Option<Duration> {
        let number = self.0.text("number")?;
        Some(length(&format!("{number}{unit}")))
    }
}

#[cfg(test)]
mod tests;
