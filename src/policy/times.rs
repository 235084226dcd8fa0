//! Lengths of time and dates as programs print them, for the readers of waits that a command's output asks for
//! (`retry_after`, `rate_limit`).

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use regex::bytes::{Captures, Regex, RegexBuilder};

/// The longest reset, a leap year. A larger number of seconds is an epoch. An epoch further ahead is ignored, as it may
/// be in milliseconds.
pub(super) const LONGEST_RESET: Duration = Duration::from_secs(366 * 24 * 60 * 60);

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

pub(super) const NUMBER: &str = r"(?:\d+(?:\.\d+)?|\.\d+)";

/// Text allowed between a number and its unit.
pub(super) const GAP: &str = r#"["'`\\]*\s*"#;

/// Returns an expression for the names of all units.
pub(super) fn unit_names() -> String {
    UNITS.map(|(names, _)| names).join("|")
}

/// Returns an expression for lengths with units: `1m30s`, `1 hour and 5 minutes`.
pub(super) fn lengths() -> String {
    let unit = unit_names();
    format!(r"(?: {NUMBER}{GAP}(?:{unit}) ,?\s*(?:and\s+)? )+")
}

/// One length: a number, and a group for each of [`UNITS`].
static LENGTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let units = UNITS.map(|(names, _)| format!("({names})")).join("|");
    regex(&format!("({NUMBER}){GAP}(?:{units})"))
});

/// Builds an expression over bytes that ignores case and blanks in its text. None if the text is no expression, which
/// tests exclude: a panic in a rare line of output would be worse than a wait that is not seen.
pub(super) fn regex(text: &str) -> Option<Regex> {
    let mut builder = RegexBuilder::new(text);
    builder.unicode(false).case_insensitive(true);
    builder.ignore_whitespace(true).build().ok()
}

/// A match of an expression in a line of output.
pub(super) struct Found<'a> {
    pub(super) captures: &'a Captures<'a>,
}

impl<'a> Found<'a> {
    /// Returns true if the group of this name matched.
    pub(super) fn has(&self, group: &str) -> bool {
        self.captures.name(group).is_some()
    }

    /// Returns the text of a group, if it matched and is UTF-8.
    pub(super) fn text(&self, group: &str) -> Option<&'a str> {
        let found = self.captures.name(group)?;
        str::from_utf8(found.as_bytes()).ok()
    }
}

/// Returns the time until a date: zero if it has passed, None if it is no date. The date is an HTTP date, whose names
/// are case-sensitive, or RFC 3339 in any case, with any of the zones of [`without_zone`].
pub(super) fn until_date(date: &str, now: SystemTime) -> Option<Duration> {
    let ZonedDate { local, zone } = without_zone(date);
    let http_date = httpdate::parse_http_date(&format!("{local} GMT"));
    let as_if_utc = http_date
        // The form of asctime has no zone: `Wed Oct 21 07:28:00 2026`.
        .or_else(|_| httpdate::parse_http_date(local))
        .ok()
        .or_else(|| humantime::parse_rfc3339_weak(&local.to_ascii_uppercase()).ok())?;
    // A clock east of Greenwich is ahead of UTC.
    let date = match zone {
        Zone::East(ahead) => as_if_utc.checked_sub(ahead)?,
        Zone::West(behind) => as_if_utc.checked_add(behind)?,
    };
    Some(date.duration_since(now).unwrap_or_default())
}

/// The distance of a zone from UTC.
enum Zone {
    East(Duration),
    West(Duration),
}

/// A date split before its zone.
struct ZonedDate<'d> {
    /// Date and time as a clock in the zone shows them.
    local: &'d str,
    zone: Zone,
}

impl ZonedDate<'_> {
    /// Returns a date whose zone is UTC, so that its distance is zero.
    fn utc(local: &str) -> ZonedDate<'_> {
        ZonedDate {
            local,
            zone: Zone::East(Duration::ZERO),
        }
    }
}

/// Splits a date before its zone: `Z`, `UTC`, `GMT`, `+02:00` or `-0730`. A date without a zone is in UTC, and so is
/// one whose zone is not understood. The parsers of dates know no zone but UTC, so the caller corrects by the distance.
fn without_zone(date: &str) -> ZonedDate<'_> {
    for name in ["GMT", "UTC", "Z"] {
        let name_begin = date.len().saturating_sub(name.len());
        if let Some((local, zone)) = date.split_at_checked(name_begin)
            && zone.eq_ignore_ascii_case(name)
        {
            return ZonedDate::utc(local.trim_end());
        }
    }
    // A dash in front of the time belongs to the date.
    let Some(sign) = date
        .rfind(['+', '-'])
        .filter(|sign| date[..*sign].contains(':'))
    else {
        return ZonedDate::utc(date);
    };
    let Some(distance) = distance_of_zone(&date[sign + 1..]) else {
        return ZonedDate::utc(date);
    };
    let zone = match &date[sign..=sign] {
        "+" => Zone::East(distance),
        _ => Zone::West(distance),
    };
    ZonedDate {
        local: date[..sign].trim_end(),
        zone,
    }
}

/// Returns the distance of `0730` or `07:30` from UTC; None for any other text.
fn distance_of_zone(zone: &str) -> Option<Duration> {
    let digits = zone.replace(':', "");
    if digits.len() != 4 {
        return None;
    }
    let hours_and_minutes: u64 = digits.parse().ok()?;
    let hours = hours_and_minutes / 100;
    let minutes = hours_and_minutes % 100;
    Some(Duration::from_secs((hours * 60 + minutes) * 60))
}

/// Adds up the lengths of a text, such as `1m30s`, up to one whose unit is not smaller than the unit before: `5s, 10s`
/// is 5 seconds. Saturates; zero for a text without a length, which no caller passes.
pub(super) fn length(text: &str) -> Duration {
    let mut total = 0_u128;
    let mut last_unit = u128::MAX;
    for found in LENGTH
        .iter()
        .flat_map(|length| length.captures_iter(text.as_bytes()))
    {
        // Group 1 is the number, 2 the first unit.
        let number = found.get(1).map_or("0", |number| &text[number.range()]);
        // A match always has a unit; without one, the sum would end here.
        let unit = (0..UNITS.len())
            .find(|index| found.get(index + 2).is_some())
            .map_or(last_unit, |index| UNITS[index].1);
        if unit >= last_unit {
            break;
        }
        last_unit = unit;
        total = total.saturating_add(nanos(number, unit));
    }
    match u64::try_from(total / SECOND) {
        Ok(seconds) => Duration::new(seconds, (total % SECOND) as u32),
        Err(_) => Duration::MAX,
    }
}

/// Returns a number of units (`12`, `1.5`, `.5`) in nanoseconds. `unit` is the unit's own nanoseconds. Digits after the
/// ninth decimal are dropped.
fn nanos(number: &str, unit: u128) -> u128 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // `.5` has no whole digits.
    let whole = parsed(&format!("0{whole}"));
    // Nine digits, filled up with zeros.
    let billionths = parsed(&format!("{fraction:0<9}")[..9]);
    whole * unit + billionths * unit / 1_000_000_000
}

/// Returns a number of any length. Saturates, at a number that no unit of [`UNITS`] lifts out of the range.
fn parsed(digits: &str) -> u128 {
    u128::from(digits.parse::<u64>().unwrap_or(u64::MAX))
}
