//! Dates.

use std::time::SystemTime;

use super::span::digits;
use super::words::after_word;

/// An HTTP date in one of the three forms of RFC 9110, section 5.6.7.
pub(super) fn http_date(text: &[u8]) -> Option<SystemTime> {
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
pub(super) fn internet_date(text: &[u8]) -> Option<SystemTime> {
    let (date, zone) = text.split_at_checked("2026-10-21T07:28:00".len())?;
    let zone = zone.strip_prefix(b".").map_or(zone, |fraction| digits(fraction).1);
    let is_utc = [&b"z"[..], b" utc", b" +0000", b"+00:00"]
        .iter()
        .any(|utc| after_word(zone, utc).is_some());
    let date = std::str::from_utf8(date).ok().filter(|_| is_utc)?;
    humantime::parse_rfc3339_weak(date).ok()
}
