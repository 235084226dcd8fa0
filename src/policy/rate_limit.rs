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

use regex::bytes::Regex;

use super::times::{Found, LONGEST_RESET, NUMBER, length, lengths, regex, until_date};

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
static STATUS_429: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(r"(?: http/[\d.]+\s+ | \b(?:status|error|code)\b[^\d\n]{0,12} ) 429\b | \b429\s+too\b")
});

/// Rate limits that an attempt's output tells about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RateLimits {
    limits: Vec<RateLimit>,
    /// The output has a status 429: a limit that does not say how much is left counts as spent.
    has_status_429: bool,
}

/// One limit of a server, as its fields describe it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct RateLimit {
    /// The parts of the field's name that other limits do not have.
    name: String,
    left: Left,
    /// Time until the limit is full again, by a field whose value may be a date or an epoch (`x-ratelimit-reset`).
    reset_at: Option<Duration>,
    /// Time until the limit is full again, by a field that always counts from now (`x-ratelimit-reset-after`, or `t=30`
    /// in a list). It needs no clock, and so outranks `reset_at`.
    reset_after: Option<Duration>,
}

/// How much of a limit is left. If several fields tell about one limit, the greatest counts: that nothing is left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Left {
    /// No field tells.
    #[default]
    Unknown,
    Something,
    Nothing,
}

impl Left {
    /// Returns what a field tells by the number that is left: nothing is left if this number is zero.
    fn nothing_if(is_zero: bool) -> Left {
        if is_zero {
            Left::Nothing
        } else {
            Left::Something
        }
    }
}

impl RateLimits {
    /// Reads a line with its line feed, or a part of a long one, printed at `now`, and remembers the limits that it
    /// tells about, and a status 429. Most lines have neither, so one cheap search comes before all others.
    pub(super) fn read(&mut self, line: &[u8], now: SystemTime) {
        if !is_match(&HINT, line) {
            return;
        }
        if is_match(&STATUS_429, line) {
            self.has_status_429 = true;
        }
        if let Some(field) = &*FIELD {
            for captures in field.captures_iter(line) {
                let captures = &captures;
                self.read_field(&Found { captures }, now);
            }
        }
        if let Some(list) = &*LIST {
            for captures in list.captures_iter(line) {
                if let Some(list) = captures.name("list") {
                    self.read_list(&String::from_utf8_lossy(list.as_bytes()));
                }
            }
        }
    }

    /// Returns the longest wait for a limit that is spent; None if there is none.
    pub(super) fn wait(&self) -> Option<Duration> {
        self.limits
            .iter()
            .filter(|limit| self.is_spent(limit))
            .filter_map(|limit| limit.reset_after.or(limit.reset_at))
            .max()
    }

    /// Returns true if nothing is left of the limit, or if no field tells, but a status 429 says that some limit is
    /// spent.
    fn is_spent(&self, limit: &RateLimit) -> bool {
        match limit.left {
            Left::Nothing => true,
            Left::Something => false,
            Left::Unknown => self.has_status_429,
        }
    }

    /// Returns the limit of this name, which is added if it is new; None if there are too many, as the output of a
    /// command must not fill the memory: callers then ignore the field.
    fn limit_named(&mut self, name: String) -> Option<&mut RateLimit> {
        if let Some(index) = self.limits.iter().position(|limit| limit.name == name) {
            return self.limits.get_mut(index);
        }
        if self.limits.len() == MOST_LIMITS {
            return None;
        }
        self.limits.push(RateLimit {
            name,
            ..RateLimit::default()
        });
        self.limits.last_mut()
    }

    /// Reads one match of [`FIELD`]: how much of a limit is left, or when it is full again (its reset). Of several
    /// resets of one limit, the longest counts; one that cannot be read, is too far ahead or, given as an epoch, has
    /// passed changes nothing.
    fn read_field(&mut self, found: &Found<'_>, now: SystemTime) {
        let seconds = found
            .text("number")
            .map(|number| length(&format!("{number}s")));
        let mut name = String::new();
        for part in ["before", "middle", "behind"] {
            name += found.text(part).unwrap_or_default();
        }
        let name = name.to_ascii_lowercase().replace('_', "-");
        // The reset of GitHub and Twitter, whose fields have no further part in their names, is always an epoch.
        let is_epoch = name == "x-" && !found.has("after");
        let Some(limit) = self.limit_named(name) else {
            return;
        };
        if found.has("remaining") {
            // The value of this field is a plain number, though it was read like one of seconds.
            if let Some(number) = seconds {
                limit.left = limit.left.max(Left::nothing_if(number.is_zero()));
            }
            return;
        }
        let of_number = match seconds {
            Some(seconds) if is_epoch || seconds > LONGEST_RESET => until_epoch(seconds, now),
            seconds => seconds,
        };
        let of_date = found.text("date").and_then(|date| until_date(date, now));
        let reset = found.text("lengths").map(length).or(of_date).or(of_number);
        let reset = reset.filter(|reset| *reset <= LONGEST_RESET);
        if found.has("after") {
            limit.reset_after = limit.reset_after.max(reset);
        } else {
            limit.reset_at = limit.reset_at.max(reset);
        }
    }

    /// Reads the list of a `RateLimit` field: `"burst";r=0;t=5, "daily";r=90;t=3600`, or in the older form `limit=10,
    /// remaining=0, reset=5`.
    fn read_list(&mut self, list: &str) {
        for item in list.split(',') {
            let mut parts = item.split(';');
            let first = parts.next().unwrap_or_default().trim();
            // An item of the older form is a parameter by itself, of the only limit, which has no name.
            let is_older_form = first.contains('=');
            let name = if is_older_form { "" } else { first };
            // Unlike any name that `read_field` gives: the limits of the two are never taken for one.
            let limit_name = format!("ratelimit {name}");
            if is_older_form {
                self.read_parameter(&limit_name, first);
            }
            for parameter in parts {
                self.read_parameter(&limit_name, parameter);
            }
        }
    }

    /// Reads one parameter of the limit with this name: `r=0` or `remaining=0` is what is left, `t=30` or `reset=30`
    /// the seconds until the limit is full again. Any other parameter is ignored, and so is a reset too far ahead.
    fn read_parameter(&mut self, name: &str, parameter: &str) {
        let Some((key, value)) = parameter.split_once('=') else {
            return;
        };
        let digits = value.trim().split(|c: char| !c.is_ascii_digit()).next();
        let Ok(number) = digits.unwrap_or_default().parse::<u64>() else {
            return;
        };
        let Some(limit) = self.limit_named(name.to_owned()) else {
            return;
        };
        let seconds = Duration::from_secs(number);
        match key.trim().to_ascii_lowercase().as_str() {
            "r" | "remaining" => limit.left = limit.left.max(Left::nothing_if(number == 0)),
            "t" | "reset" if seconds <= LONGEST_RESET => {
                limit.reset_after = limit.reset_after.max(Some(seconds));
            }
            _ => {}
        }
    }
}

/// Returns true if the expression finds something in the line. None, of one that does not compile, finds nothing; tests
/// exclude it.
fn is_match(expression: &Option<Regex>, line: &[u8]) -> bool {
    match expression {
        Some(expression) => expression.is_match(line),
        None => false,
    }
}

/// Returns the time until a moment that is given as a time since the UNIX epoch; None if it has passed, or is beyond
/// the range of the clock.
fn until_epoch(epoch: Duration, now: SystemTime) -> Option<Duration> {
    SystemTime::UNIX_EPOCH
        .checked_add(epoch)?
        .duration_since(now)
        .ok()
}

#[cfg(test)]
mod tests;
