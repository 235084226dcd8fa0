//! Fields by which a server tells how much of a limit is left, and when it is full again.
//!
//! Sources: draft-ietf-httpapi-ratelimit-headers-10 (`RateLimit: "name";r=0;t=30`), its versions 03 (`RateLimit-Reset`:
//! seconds) and 07 (`RateLimit: limit=10, remaining=0, reset=30`); the `X-RateLimit-*` fields of GitHub, Twitter and
//! GitLab (an epoch), of Discord (`X-RateLimit-Reset-After`: seconds) and OpenAI (`x-ratelimit-reset-requests: 1s`);
//! `anthropic-ratelimit-*-reset` (RFC 3339).
//!
//! Servers send these fields with every answer. So a reset counts only if the same limit has nothing left, or, if no
//! field says how much is left, after a status 429.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

use super::times::{LAST_RESET, NUMBER, length, lengths, regex, until_date};

/// Most limits of one attempt; further ones are ignored.
const MOST_LIMITS: usize = 32;

/// A field of one limit and its value:
///
/// - `before`, `middle`, `behind`: parts of the name that tell limits apart (`x-`, `-requests`);
/// - `after`: the value is a number of seconds from now;
/// - `date`, `lengths`, `number`: the value.
static FIELD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let separator = r#"["'`\\\s:=>\[(]"#;
    let date = r"\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d:\d\d (?:\.\d+)? (?:Z|\ UTC|\ ?[+-]\d\d:?\d\d)";
    let lengths = lengths();
    regex(&format!(
        r#"(?<before> (?:[a-z]+[-_])* ) rate[-_]?limit (?<middle> (?:[-_][a-z]+)*? ) [-_]
           (?: (?<reset>reset) (?<after>[-_]after)? | (?<remaining>remaining) ) (?<behind> (?:[-_][a-z]+)* )
           {separator}+
           (?: (?<date>{date}) | (?<lengths>{lengths}) [^=\w\x80-\xff] | (?<number>{NUMBER}) [,.:]*[^-/%\w,.:] )"#
    ))
});

/// Text without which a line needs no closer look: most lines have none.
static HINT: LazyLock<Option<Regex>> = LazyLock::new(|| regex("rate[-_]?limit | 429"));

/// The list of limits in one field.
static LIST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(r#"(?:^|[^-\w]) ratelimit ["']? \s* : \s* ["'\[\\]* (?<list> [^\r\n]+ )"#)
});

/// Status 429 in a status line, a message or a structure.
static TOO_MANY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(r"(?: http/[\d.]+\s+ | \b(?:status|error|code)\b[^\d\n]{0,12} ) 429\b | \b429\s+too\b")
});

/// Limits that an attempt's output tells about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RateLimits {
    limits: Vec<Limit>,
    /// The output has a status 429.
    too_many: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Limit {
    /// The parts of the field's name that other limits do not have.
    name: String,
    /// True if nothing is left; None if no field says how much is.
    is_spent: Option<bool>,
    /// Seconds or a date until the limit is full again.
    reset: Option<Duration>,
    /// Seconds from now, which need no clock, and outrank a date.
    reset_after: Option<Duration>,
}

impl RateLimits {
    /// Reads a line with its end, printed at `now`.
    pub(super) fn read(&mut self, line: &[u8], now: SystemTime) {
        if !HINT.iter().any(|hint| hint.is_match(line)) {
            return;
        }
        self.too_many |= TOO_MANY.iter().any(|status| status.is_match(line));
        for found in FIELD.iter().flat_map(|field| field.captures_iter(line)) {
            self.read_field(&found, line, now);
        }
        for found in LIST.iter().flat_map(|list| list.captures_iter(line)) {
            let list = found
                .get_group_by_name("list")
                .map(|span| &line[span.range()]);
            self.read_list(&String::from_utf8_lossy(list.unwrap_or_default()));
        }
    }

    /// Returns the longest wait for a limit that is spent, if it is at most `longest`.
    pub(super) fn wait(&self, longest: Duration) -> Option<Duration> {
        self.limits
            .iter()
            .filter(|limit| limit.is_spent.unwrap_or(self.too_many))
            .filter_map(|limit| limit.reset_after.or(limit.reset))
            .filter(|reset| *reset <= longest)
            .max()
    }

    /// Returns the limit of this name, or None if there are too many.
    fn limit(&mut self, name: String) -> Option<&mut Limit> {
        if let Some(at) = self.limits.iter().position(|limit| limit.name == name) {
            return self.limits.get_mut(at);
        }
        if self.limits.len() == MOST_LIMITS {
            return None;
        }
        self.limits.push(Limit {
            name,
            ..Limit::default()
        });
        self.limits.last_mut()
    }

    fn read_field(&mut self, found: &Captures, line: &[u8], now: SystemTime) {
        let text =
            |group: &str| str::from_utf8(&line[found.get_group_by_name(group)?.range()]).ok();
        let number = text("number").map(|number| length(&format!("{number}s")));
        let parts = ["before", "middle", "behind"];
        let name: String = parts.into_iter().filter_map(text).collect();
        let name = name.to_ascii_lowercase().replace('_', "-");
        // GitHub and Twitter always send an epoch.
        let is_epoch = matches!(&*name, "x-") && text("after").is_none();
        let Some(limit) = self.limit(name) else {
            return;
        };
        if text("remaining").is_some() {
            limit.is_spent = limit.is_spent.max(number.map(|left| left.is_zero()));
            return;
        }
        let of_number = match number {
            Some(number) if is_epoch || number > LAST_RESET => until_epoch(number, now),
            number => number,
        };
        let of_date = text("date").and_then(|date| until_date(date, now));
        let reset = text("lengths").map(length).or(of_date).or(of_number);
        let reset = reset.filter(|reset| *reset <= LAST_RESET);
        if text("after").is_some() {
            limit.reset_after = limit.reset_after.max(reset);
        } else {
            limit.reset = limit.reset.max(reset);
        }
    }

    /// Reads `"burst";r=0;t=5, "daily";r=90;t=3600`, or `limit=10, remaining=0, reset=5`.
    fn read_list(&mut self, list: &str) {
        for item in list.split(',') {
            let mut parts = item.split(';');
            let first = parts.next().unwrap_or_default().trim();
            // An item of the older form is a parameter by itself, of the only limit.
            let is_parameter = first.contains('=');
            let name = if is_parameter { "" } else { first };
            let parameters = parts.chain(is_parameter.then_some(first));
            for parameter in parameters {
                let Some((key, value)) = parameter.split_once('=') else {
                    continue;
                };
                self.read_parameter(&format!("ratelimit {name}"), key, value);
            }
        }
    }

    fn read_parameter(&mut self, name: &str, key: &str, value: &str) {
        let digits = value.trim().split(|c: char| !c.is_ascii_digit()).next();
        let Ok(number) = digits.unwrap_or_default().parse::<u64>() else {
            return;
        };
        let Some(limit) = self.limit(name.to_owned()) else {
            return;
        };
        match key.trim().to_ascii_lowercase().as_str() {
            "r" | "remaining" => limit.is_spent = limit.is_spent.max(Some(number == 0)),
            "t" | "reset" => {
                let reset = Duration::from_secs(number);
                let reset = Some(reset).filter(|reset| *reset <= LAST_RESET);
                limit.reset_after = limit.reset_after.max(reset);
            }
            _ => {}
        }
    }
}

/// Returns the time until an epoch; None if it has passed.
fn until_epoch(epoch: Duration, now: SystemTime) -> Option<Duration> {
    SystemTime::UNIX_EPOCH
        .checked_add(epoch)?
        .duration_since(now)
        .ok()
}

#[cfg(test)]
mod tests;
