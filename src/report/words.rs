//! The words that lines are made of.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::Duration;

use crate::policy::classifier::Verdict;
use crate::policy::outcome::Outcome;
use crate::run::text::is_printable;

/// How an attempt failed: `exit 7`, or `matched "queue capacity" (exit 1)`. `shown` makes of what the command
/// printed what can be shown.
pub fn failure(outcome: &Outcome, verdict: &Verdict, shown: fn(&str) -> String) -> String {
    let end = &outcome.end;
    match verdict.reason() {
        Some(reason) => match &reason.matched {
            Some(text) => format!("matched \"{}\" ({end})", shown(text)),
            None if reason.unproven => format!("no line matches --success-match ({end})"),
            None => end.to_string(),
        },
        None => end.to_string(),
    }
}

/// The command's own name as text: bytes that are not UTF-8 as `\xff`.
pub fn name(word: &OsString) -> String {
    let mut shown = String::new();
    spell(word, &mut shown, String::push);
    shown
}

/// A word of the command line in single quotes, with nothing in it that a terminal would act on.
pub fn quoted(word: &OsString) -> String {
    let mut shown = String::from("'");
    spell(word, &mut shown, |shown, c| {
        if !is_printable(c) || c == '\\' || c == '\'' {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    });
    shown.push('\'');
    shown
}

/// Adds a word to what is `shown`: its characters as `push` has it, bytes that are not UTF-8 as `\xff`.
fn spell(word: &OsString, shown: &mut String, push: impl Fn(&mut String, char)) {
    for chunk in word.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            push(shown, c);
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
}

/// A length of time with the digits a person needs: `51us`, `20ms`, `0.21s`, `4.1s`, `2m05s`, `3h20m`.
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    let whole = seconds.round() as u64;
    match length {
        Duration::ZERO => "0s".into(),
        _ if length < Duration::from_micros(1) => format!("{}ns", length.as_nanos()),
        _ if length < Duration::from_millis(1) => format!("{}us", length.as_micros()),
        _ if length < Duration::from_millis(100) => format!("{}ms", length.as_millis()),
        _ if length < Duration::from_millis(995) => format!("{seconds:.2}s"),
        _ if length < Duration::from_millis(59_950) => format!("{seconds:.1}s"),
        _ if whole < 3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}

/// Seconds in decimal, exact to the nanosecond, without idle zeros: `1.25`, `3`.
pub fn decimal(length: Duration) -> String {
    let exact = format!("{}.{:09}", length.as_secs(), length.subsec_nanos());
    exact.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whole seconds: `7s`, `2m05s`, `3h20m`.
pub fn seconds(length: Duration) -> String {
    match length.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        _ => span(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn lengths_of_time() {
        for (nanos, shown) in [
            (0, "0s"),
            (7, "7ns"),
            (51_200, "51us"),
            (20_000_000, "20ms"),
            (210_000_000, "0.21s"),
            (999_000_000, "1.0s"),
            (4_100_000_000, "4.1s"),
            (59_960_000_000, "1m00s"),
            (125_000_000_000, "2m05s"),
            (12_000_000_000_000, "3h20m"),
        ] {
            assert_eq!(span(Duration::from_nanos(nanos)), shown);
        }
        assert!(!span(Duration::MAX).is_empty());
    }

    #[test]
    fn a_name_cannot_write_to_the_terminal() {
        let name = OsString::from_vec(b"a\x1b[31m\n'\xff\\".to_vec());
        assert_eq!(quoted(&name), r"'a\u{1b}[31m\n\'\xff\\'");
        assert_eq!(quoted(&"a\u{202e}b\u{61c}é".into()), r"'a\u{202e}b\u{61c}é'");
    }
}
