use super::super::retry_after::wait_asked;
use super::*;

/// Wed, 21 Oct 2026 07:28:00 GMT
const NOW: u64 = 1_792_567_680;

fn of_output(output: &str) -> Option<u64> {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    let wait = wait_asked(output.lines().map(str::as_bytes), now)?;
    Some(u64::try_from(wait.as_millis()).unwrap())
}

/// Each output has lines that `|` separates, and asks for this many milliseconds.
#[track_caller]
fn all_ask(table: &[(&str, u64)]) {
    for (output, millis) in table {
        let output = output.replace('|', "\r\n") + "\r\n";
        assert_eq!(of_output(&output), Some(*millis), "{output}");
    }
}

#[track_caller]
fn none_asks(outputs: &[&str]) {
    for output in outputs {
        let output = output.replace('|', "\r\n") + "\r\n";
        assert_eq!(of_output(&output), None, "{output}");
    }
}

#[test]
#[rustfmt::skip]
fn a_spent_limit_asks_for_its_reset() {
    all_ask(&[
        (r#"RateLimit: "default";r=0;t=30"#, 30_000), (r#"ratelimit: "burst";r=0;t=5, "day";r=9;t=200"#, 5_000),
        (r#"RateLimit: "a";r=0;t=5, "b";r=0;t=20"#, 20_000), ("RateLimit: limit=10, remaining=0, reset=7", 7_000),
        ("RateLimit-Remaining: 0|RateLimit-Reset: 25", 25_000), ("ratelimit_remaining=0 ratelimit_reset=25 ", 25_000),
        ("x-ratelimit-remaining: 0|x-ratelimit-reset: 1792567740", 60_000),
        ("x-rate-limit-remaining: 0|x-rate-limit-reset: 1792567740", 60_000),
        ("x-ratelimit-remaining: 0|x-ratelimit-reset-after: 1.5", 1_500),
        // Discord sends both; the clocks may differ.
        ("x-ratelimit-remaining: 0|x-ratelimit-reset: 1792567740.5|x-ratelimit-reset-after: 2", 2_000),
        ("x-ratelimit-remaining-requests: 0|x-ratelimit-reset-requests: 1s", 1_000),
        ("x-ratelimit-remaining-tokens: 0|x-ratelimit-reset-tokens: 1m30s", 90_000),
        ("x-ratelimit-remaining-tokens: 0|x-ratelimit-reset-tokens: 12ms", 12),
        ("anthropic-ratelimit-requests-remaining: 0|anthropic-ratelimit-requests-reset: 2026-10-21T07:28:10Z", 10_000),
        ("anthropic-ratelimit-input-tokens-remaining: 0|anthropic-ratelimit-input-tokens-reset: 2026-10-21T09:28:10+02:00", 10_000),
        // The order of the lines does not matter.
        ("x-ratelimit-reset-requests: 1s|x-ratelimit-remaining-requests: 0", 1_000),
    ]);
}

#[test]
#[rustfmt::skip]
fn a_limit_with_something_left_asks_for_nothing() {
    none_asks(&[
        r#"RateLimit: "default";r=50;t=30"#, "RateLimit: limit=10, remaining=1, reset=7",
        "x-ratelimit-remaining: 4999|x-ratelimit-reset: 1792567740", "ratelimit-remaining: 1|ratelimit-reset: 2",
        // Another limit is spent, and says nothing of its reset.
        "x-ratelimit-remaining-tokens: 0|x-ratelimit-remaining-requests: 5|x-ratelimit-reset-requests: 1s",
        "HTTP/2 429|x-ratelimit-remaining: 7|x-ratelimit-reset: 1792567740",
        r#"RateLimit-Policy: "default";q=100;w=10"#,
    ]);
}

#[test]
#[rustfmt::skip]
fn a_reset_alone_counts_with_status_429() {
    all_ask(&[
        ("HTTP/1.1 429 Too Many Requests|RateLimit-Reset: 9", 9_000), ("RateLimit-Reset: 9|< HTTP/2 429 ", 9_000),
        ("curl: (22) The requested URL returned error: 429|x-ratelimit-reset-after: 3", 3_000),
        (r#"{"status": 429}|RateLimit: "default";t=4"#, 4_000), ("Error code: 429 - slow down|ratelimit-reset: 4", 4_000),
    ]);
    none_asks(&["RateLimit-Reset: 9", "HTTP/1.1 503 Busy|RateLimit-Reset: 9", "HTTP/1.1 200 OK|429 bytes|RateLimit-Reset: 9"]);
}

#[test]
#[rustfmt::skip]
fn retry_after_outranks_a_reset_and_the_longest_reset_counts() {
    all_ask(&[
        ("HTTP/2 429|retry-after: 2|ratelimit-reset: 60", 2_000),
        (r#"RateLimit: "minute";r=0;t=40, "day";r=0;t=86400"#, 86_400_000),
    ]);
}

#[test]
fn resets_that_cannot_be_meant() {
    none_asks(&[
        "x-ratelimit-remaining: 0|x-ratelimit-reset: 1792567679",
        "x-ratelimit-remaining: 0|x-ratelimit-reset: 3",
        "x-ratelimit-remaining: 0|x-ratelimit-reset: 1792567740000",
        "x-ratelimit-remaining: 0|x-ratelimit-reset: 99999999999999999999999999",
        "x-ratelimit-remaining: 0|x-ratelimit-reset: ",
        "HTTP/1.1 429|Access-Control-Expose-Headers: ETag, X-RateLimit-Reset",
    ]);
}

#[test]
fn limits_are_bounded() {
    let mut limits = RateLimits::default();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
    for first in b'a'..=b'z' {
        for second in b'a'..=b'z' {
            let name = [first, second].map(char::from);
            let line = format!("x-ratelimit-remaining-{}{}: 0\n", name[0], name[1]);
            limits.read(line.as_bytes(), now);
        }
    }
    assert_eq!(limits.limits.len(), MOST_LIMITS);
}
