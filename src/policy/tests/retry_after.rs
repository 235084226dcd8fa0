use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;

/// Wed, 21 Oct 2026 07:28:00 GMT
const NOW: u64 = 1_792_567_680;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn asked(lines: impl AsRef<[u8]>) -> Option<Duration> {
    let lines = lines.as_ref().split(|byte| *byte == b'\n');
    wait_asked(lines, now())
}

#[track_caller]
fn all_ask(table: &[(&str, u64)]) {
    for (line, millis) in table {
        assert_eq!(asked(line), Some(Duration::from_millis(*millis)), "{line}");
    }
}

#[track_caller]
fn none_asks(lines: &[&str]) {
    for line in lines {
        assert_eq!(asked(line), None, "{line}");
    }
}

#[test]
#[rustfmt::skip]
fn other_ways_to_ask() {
    all_ask(&[
        ("Please wait 1 second", 1_000), ("Too many attempts. Please wait 30 seconds and try again.", 30_000),
        ("please wait for 2 minutes before the next try", 120_000), ("Please wait at least 5s.", 5_000),
        ("rate limited, try again at 2026-10-21T07:29:00Z", 60_000),
        ("Please try again at Wed, 21 Oct 2026 07:29:00 GMT", 60_000),
    ]);
    none_asks(&[
        "the retry delay of 2s", "Please wait", "Please wait 5", "please wait a few minutes", "Please waiting 5s",
        "wait 5 seconds", "retryDelay: 33s", "try again at 7 pm", "try again at 2026-10-21",
    ]);
}

#[test]
#[rustfmt::skip]
fn fields() {
    all_ask(&[
        ("Retry-After: 30", 30_000), ("retry-after: 30\r\n", 30_000), ("< Retry-After: 120\r", 120_000),
        ("< retry-after: 0", 0), ("    Retry-After:\t7", 7_000), ("Retry-After:30", 30_000),
        ("Retry-After: 1.5", 1_500), ("Retry-After: .5", 500), ("Retry-After: 120 (rate limited)", 120_000),
        ("Retry-After: 30, 30", 30_000), ("  \"retry-after\": \"30\",", 30_000),
        ("{'Date': 'x', 'Retry-After': '30', 'Server': 'y'}", 30_000),
        (r#"{"headers":{"retry-after":["30"]}}"#, 30_000), (r#"body="{\"retry_after\": \"30\"}""#, 30_000),
        (r"b'HTTP/1.1 503 Busy\r\nRetry-After: 30\r\n'", 30_000), (r#""retry_after"=>30"#, 30_000),
        ("level=warn retry_after=1.5 status=429", 1_500), ("level=warn retry_after=30 m=GET", 30_000),
        ("retryAfter: 30s", 30_000), ("RetryAfter=1m30s", 90_000), ("retry-after-ms: 500", 500),
        ("x-ms-retry-after-ms: 1500", 1_500), (r#"{"retryAfterMs":250}"#, 250),
        ("x-amz-retry-after: 1500", 1_500), ("< X-Amz-Retry-After: 0\r", 0), (r#"{"x-amz-retry-after":"250"}"#, 250),
        ("x-retry-after: 3", 3_000),
        ("Retry-After: .25", 250), ("retryafter 30s", 30_000), ("retry after: 30 status=429", 30_000),
        ("Retry-After: [30]", 30_000),
    ]);
}

#[test]
#[rustfmt::skip]
fn dates() {
    all_ask(&[
        ("Retry-After: Wed, 21 Oct 2026 07:28:30 GMT", 30_000),
        ("< retry-after: Wednesday, 21-Oct-26 07:29:00 GMT\r", 60_000),
        ("Retry-After: Wed Oct 21 08:28:00 2026", 3_600_000), ("Retry-After: Sun Nov  6 08:49:37 1994", 0),
        ("Retry-After: Fri, 31 Dec 1999 23:59:59 GMT", 0),
        (r#""retry-after": "Wed, 21 Oct 2026 07:28:05 GMT", "server": "x""#, 5_000),
        // crates.io
        (
            "You have published too many new crates in a short period of time. Please try again after \
             Wed, 21 Oct 2026 07:38:00 GMT or email help@crates.io to have your limit increased.",
            600_000,
        ),
        // Let's Encrypt
        (
            "too many certificates (5) already issued for this exact set of identifiers in the last 168h0m0s, \
             retry after 2026-10-21 08:28:00 UTC: see https://letsencrypt.org/docs/rate-limits/",
            3_600_000,
        ),
        ("retry after 2026-10-21T07:28:10.125Z", 10_125),
    ]);
    none_asks(&[
        "Retry-After: Wed, 32 Oct 2026 07:28:30 GMT", "Retry-After: Thu, 21 Oct 2026 07:28:30 GMT",
        "Retry-After: Wed, 21 Oct 2026 07:28:30 CET", "Retry-After: Wed", "retry after 2026-10-21T07:28:10",
        "retry after 2026-10-21", "retry after 2026-13-41T07:28:10Z",
        "Retry-After: Wed, 21 Oct 2026 09:28:30 +0200", "retry after 2026-10-21T09:28:10+02:00",
    ]);
}

#[test]
#[rustfmt::skip]
fn prose() {
    all_ask(&[
        ("retry after 1.5s", 1_500), ("retry after 30", 30_000), ("Retry after 30.", 30_000),
        ("Retry after 30. Thank you.", 30_000), ("retry after 30 (attempt 2)", 30_000),
        ("retry in 20 seconds", 20_000), ("retry after 500 ms", 500), ("Please retry in 1m30s", 90_000),
        ("try again in 3 minutes", 180_000), ("try again in 1 hour", 3_600_000), ("try again in 1m 30s", 90_000),
        ("try again in 1 minute and 30 seconds.", 90_000), ("try again in 1 hour, 2 minutes, 3 seconds", 3_723_000),
        ("try again in 2h0m5s", 7_205_000), ("try again in 5 second(s)", 5_000),
        ("try again after 20 seconds", 20_000), ("try again in 1 day", 86_400_000),
        ("try again in 2 weeks", 1_209_600_000), ("try your whole request again in 5 s", 5_000),
        ("Try your request again in 30 secs", 30_000), ("You will be able to try again in 5 min", 300_000),
        ("retry again in 5s", 5_000), ("retry after 5s 10m", 5_000), ("retry after 5s, 10s at the most", 5_000),
        ("retry after 5 ms, or better: try again in 2 s, retry in 1s", 2_000),
        ("ReTrY  \t aFtEr   5   SECONDS", 5_000), ("retry in 1 minute and  5 s", 65_000), ("Pull retry in 5 s", 5_000),
        ("retry in 9000000 ns", 9), ("retry in 5000 \u{3bc}s", 5), ("retry in 1 millisecond", 1), ("retry in 2 msecs", 2),
        ("retry in 1 msec", 1), ("retry in 1 sec", 1_000), ("retry in 2 hrs", 7_200_000), ("retry in 1 hr", 3_600_000),
        ("retry in 1 week", 604_800_000), ("retry in 1w", 604_800_000),
    ]);
}

#[test]
#[rustfmt::skip]
fn messages_of_servers() {
    all_ask(&[
        // OpenAI, Groq, Azure OpenAI, Gemini
        (
            "Rate limit reached for gpt-4 in organization org-x on requests per min (RPM): Limit 3, Used 3, \
             Requested 1. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits",
            20_000,
        ),
        ("openai.RateLimitError: Error code: 429 - Please try again in 1.898s.", 1_898),
        ("Limit 30000, Used 29811. Please try again in 438ms.", 438),
        ("Please try again in 7m12.5s. Need more tokens?", 432_500),
        (
            "Requests to the Embeddings_Create Operation have exceeded call rate limit of your current OpenAI S0 \
             pricing tier. Please retry after 26 seconds. Please go to https://aka.ms/oai/quotaincrease",
            26_000,
        ),
        ("Please retry in 37.5s.", 37_500),
        // Azure Resource Manager
        ("exceeded the backend storage limit. Please try again after '6' minutes.", 360_000),
        // AWS behind a gateway
        ("An error occurred (TooManyRequestsException): Rate exceeded, retry after 2 seconds", 2_000),
        // Discord
        (r#"{"message": "You are being rate limited.", "retry_after": 0.65, "global": false}"#, 650),
        // Slack
        ("SlackApiError: ratelimited (url: https://slack.com/api/chat.postMessage, retry-after: 30)", 30_000),
        // Telegram
        (r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 35","parameters":{"retry_after":35}}"#, 35_000),
    ]);
    // GitHub's container registry
    assert_eq!(
        asked("toomanyrequests: retry-after: 792.548µs, allowed: 44000/minute"),
        Some(Duration::from_nanos(792_548))
    );
}

#[test]
fn servers_that_name_no_time() {
    none_asks(&[
        // kubectl
        "Unable to connect to the server: the server is currently unable to handle the request, try again later",
        "Error from server (TooManyRequests): Too many requests, please try again later.",
        // Docker Hub
        "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating",
        // AWS
        "An error occurred (ThrottlingException) when calling the Foo operation (reached max retries: 4): Rate exceeded",
        // GitHub
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        "dpkg: error: Resource temporarily unavailable. Try again.",
    ]);
}

#[test]
#[rustfmt::skip]
fn lines_that_ask_for_no_wait() {
    none_asks(&[
        "", "retry", "again", "retry after", "Retry-After:", "try again in", "try again in a few minutes",
        "try again in 5", "retry in 5", "retrying in 5s", "Retrying after 5 seconds", "trying again in 5 seconds",
        "Warning: Problem: HTTP error. Will retry in 1 second. 3 retries left.", "we'll  try again in 5 s",
        "Next retry in 5s", "retry after 3 attempts", "retry after 3 failed attempts", "retry interval 5s",
        "retry 5s", "retry inside 5s", "retry afterwards 5s", "see the Retry-After header, RFC 9110",
        "visit the country again in 5 days", "try to send the request again in 5 minutes", "once again in 5 minutes",
        "again in 5 minutes", "against 5 s", "empty after 5 s", "retry after5s", "retryAfter5", "Retry-After: -1",
        "Retry-After: 1e3", "Retry-After: 30x", "Retry-After: 1,000", "Retry-After: soon", "retry after -5 s",
        "retry after 12:30", "retry after 1.2.3", "retry after 50%", "retry after 30 分", "try again in 5-10 minutes",
        "try again in 1/2 hour", "try again in 3 parsecs", "+ curl --retry 5 --retry-after 30s",
        "retry-after-max: 30", "Access-Control-Expose-Headers: ETag, Retry-After, X-RateLimit-Reset",
        "x-ratelimit-limit: 5000", "x-ratelimit-remaining: 0", "x-ratelimit-reset-tokens: 6m0s",
    ]);
}

#[test]
#[rustfmt::skip]
fn an_answer_as_curl_shows_it() {
    for (output, seconds) in [
        ("HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/html\r\nRetry-After: 3600\r\n\r\n<p>Try again in 60 s", 3600),
        ("* Connected to example.org\n> GET / HTTP/2\n< HTTP/2 503 \n< retry-after: 17\n< \n* Connection left intact\n", 17),
    ] {
        assert_eq!(asked(output), Some(Duration::from_secs(seconds)), "{output}");
    }
    assert_eq!(asked("HTTP/1.1 200 OK\r\n\r\nhello\n"), None);
    assert_eq!(asked(""), None);
}

#[test]
fn huge_numbers_saturate() {
    let nines = "9".repeat(400);
    for line in [
        format!("Retry-After: {nines}"),
        format!("retry in {nines}.{nines} days"),
        format!("try again in {nines}d {nines}h {nines}m {nines}s {nines}ms"),
    ] {
        assert!(
            asked(&line).unwrap() >= Duration::from_secs(u64::MAX),
            "{line}"
        );
    }
    assert_eq!(
        asked(format!("retry in {nines} weeks")),
        Some(Duration::MAX)
    );
}

/// Asserts what outputs ask for. `|` separates their lines.
#[track_caller]
fn outputs_ask(table: &[(&str, Option<u64>)]) {
    for (output, millis) in table {
        let output = output.replace('|', "\r\n") + "\r\n";
        assert_eq!(
            asked(&output),
            millis.map(Duration::from_millis),
            "{output}"
        );
    }
}

#[test]
#[rustfmt::skip]
fn a_spent_rate_limit_asks_for_its_reset() {
    outputs_ask(&[
        ("RateLimit-Remaining: 0|RateLimit-Reset: 25", Some(25_000)), ("ratelimit_remaining=0 ratelimit_reset=25 ", Some(25_000)),
        ("x-ratelimit-remaining: 0|x-ratelimit-reset: 1792567740", Some(60_000)),
        ("x-rate-limit-reset: 1792567740|x-rate-limit-remaining: 0", Some(60_000)),
        ("x-ratelimit-remaining: 0|x-ratelimit-reset-after: 1.5", Some(1_500)),
        // OpenRouter gives milliseconds.
        ("x-ratelimit-remaining: 0|x-ratelimit-reset: 1792567740000", Some(60_000)),
        ("x-ratelimit-remaining: 4999|x-ratelimit-reset: 1792567740", None),
        ("ratelimit-remaining: 1|ratelimit-reset: 2", None),
        ("HTTP/2 429|x-ratelimit-remaining: 7|x-ratelimit-reset: 1792567740", None),
        ("x-ratelimit-remaining: 0|x-ratelimit-reset: 1792567679", None),
        ("x-ratelimit-remaining: 0|x-ratelimit-reset: ", None),
        // Vendor-specific fields, and lists.
        ("x-ratelimit-remaining-tokens: 0|x-ratelimit-reset-tokens: 12ms", None),
        (r#"RateLimit: "default";r=0;t=30"#, None),
    ]);
}

#[test]
#[rustfmt::skip]
fn a_reset_alone_counts_with_status_429() {
    outputs_ask(&[
        ("HTTP/1.1 429 Too Many Requests|RateLimit-Reset: 9", Some(9_000)), ("RateLimit-Reset: 9|< HTTP/2 429 ", Some(9_000)),
        ("curl: (22) The requested URL returned error: 429|x-ratelimit-reset-after: 3", Some(3_000)),
        (r#"{"status": 429}|ratelimit-reset: 4"#, Some(4_000)), ("Error code: 429 - slow down|ratelimit-reset: 4", Some(4_000)),
        ("HTTP/2 429|retry-after: 2|ratelimit-reset: 60", Some(2_000)),
        ("HTTP/1.1 429|Access-Control-Expose-Headers: ETag, X-RateLimit-Reset", None),
        ("RateLimit-Reset: 9", None), ("HTTP/1.1 503 Busy|RateLimit-Reset: 9", None),
        ("HTTP/1.1 200 OK|429 bytes|RateLimit-Reset: 9", None),
    ]);
}

#[test]
fn bytes_that_are_no_text() {
    assert_eq!(
        asked(b"\xff\xfe Retry-After: 30 \xff"),
        Some(Duration::from_secs(30))
    );
}

#[test]
fn a_clock_before_the_epoch() {
    let early = SystemTime::UNIX_EPOCH - Duration::from_secs(10);
    let line = &b"Retry-After: Thu, 01 Jan 1970 00:00:05 GMT"[..];
    assert_eq!(
        wait_asked([line].into_iter(), early),
        Some(Duration::from_secs(15))
    );
}

proptest! {
    #[test]
    fn no_bytes_and_no_lines_that_are_nearly_right_panic(
        bytes: Vec<u8>,
        line in "(x-)?(retry|try|ratelimit|rate-limit)?[-_ ]?(after|again|in|reset|remaining)?( in| after)?[-_: \"'=\\[\u{1b}m]{0,4}([0-9]{0,24}[-.,:]?[0-9]{0,12} ?(ns|µs|ms|s|min|hours|day|w|é)?[, ]?){0,4}",
        date in "Retry-After: [SMTWF][a-z]{2,8},? [ 0-9A-Za-z:-]{0,30}( GMT|Z| UTC)?.{0,3}",
    ) {
        let _ = (asked(bytes), asked(line), asked(date));
    }

    #[test]
    fn more_is_never_less(a in 0..1u64 << 30, b in 0..1u64 << 30, fraction in 0..1000u32, unit in "( ?(ms|s|min|hours|days))") {
        let ask = |n: u64| asked(format!("please try again in {n}.{fraction}{unit}")).unwrap();
        prop_assert_eq!(a.cmp(&b), ask(a).cmp(&ask(b)).then(a.cmp(&b)));
    }

    #[test]
    fn seconds_are_seconds(n in 0..1u64 << 53, before in "[ <\t]{0,6}", after in "[ \r\n\t]{0,4}") {
        prop_assert_eq!(asked(format!("{before}Retry-After: {n}{after}")), Some(Duration::from_secs(n)));
    }

    #[test]
    fn case_and_blanks_do_not_matter(
        n in 0u64..100_000,
        upper in any::<u64>(),
        blanks in "[ \t]{1,4}",
        words in prop::sample::select(vec!["retry after N seconds", "please try again in N ms", "retry in N h", "retry after N"]),
    ) {
        let plain = words.replace('N', &n.to_string());
        let odd: String = plain
            .chars()
            .enumerate()
            .map(|(i, c)| if upper >> (i % 64) & 1 == 1 { c.to_ascii_uppercase() } else { c })
            .collect::<String>()
            .replace(' ', &blanks);
        prop_assert!(asked(&plain).is_some());
        prop_assert_eq!(asked(&plain), asked(&odd));
    }
}
