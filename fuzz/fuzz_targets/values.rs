//! Every other grammar of values: no text panics, what is accepted lies within its bounds, and what is wrong
//! with a text is said in one line that a terminal may be shown.
#![no_main]

use backoff_cli::fuzzing::Store;
use backoff_cli::fuzzing::values::{attempts, factor, percent, size, switch, whole, without_password};
use libfuzzer_sys::fuzz_target;

fn check<T>(parsed: Result<T, String>, is_right: impl FnOnce(T) -> bool, text: &str) {
    match parsed {
        Ok(value) => assert!(is_right(value), "{text:?}"),
        Err(wrong) => assert!(!wrong.contains(char::is_control), "{wrong:?}"),
    }
}

fuzz_target!(|text: &str| {
    check(attempts(text), |n| n != Some(0), text);
    check(factor(text), |f| f.is_finite() && f >= 1.0, text);
    check(percent(text), |share| (0.0..=1.0).contains(&share), text);
    check(
        size(text),
        |_| text.starts_with(|c: char| c.is_ascii_digit() || c == '.'),
        text,
    );
    check(switch(text), |_| text.len() <= 5, text);
    check(whole(text, 2, 90), |n| (2..=90).contains(&n), text);
    check(Store::parse(text), |_| !text.is_empty(), text);

    // What stands between the scheme and the last @ is secret.
    let shown = without_password(text);
    if let Some((scheme, rest)) = text.split_once("://")
        && let Some((_, host)) = rest.rsplit_once('@')
    {
        let host = host.split("pass=").next().unwrap_or_default();
        assert!(shown.starts_with(&format!("{scheme}://***@{host}")), "{shown}");
        assert!(
            shown.len() <= scheme.len() + "://***@".len() + host.len() + "pass=***".len(),
            "{shown}"
        );
    }
});
