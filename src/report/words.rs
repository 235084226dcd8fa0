//! What lines are made of: failures, names, lengths of time.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::time::Duration;

use os_display::Quotable;

use crate::policy::classifier::Verdict;
use crate::policy::outcome::{End, Outcome};
use crate::run::plan::Plan;
use crate::run::text::printable;

/// How an attempt failed: `exit 7`, or `matched "queue capacity" (exit 1)`, or `matched "bad" (exit 0; --fail-match)`. `shown` makes what the command
/// printed fit to be shown.
pub(crate) fn failure(outcome: &Outcome, verdict: &Verdict, shown: fn(&str) -> String) -> String {
    let Some(reason) = verdict.reason() else {
        return outcome.to_string();
    };
    match (&reason.matched, reason.against) {
        (Some(text), Some(against)) => format!("matched \"{}\" ({outcome}; {against})", shown(text)),
        (Some(text), None) => format!("matched \"{}\" ({outcome})", shown(text)),
        (None, Some(against)) => format!("{against} ({outcome})"),
        // A shell's status for a command that it does not find, which others may use for something else.
        (None, None) if outcome.end == End::Exited(127) => format!("{outcome} (\"command not found\", in a shell)"),
        (None, None) => outcome.to_string(),
    }
}

/// Returns the command's own name, without its arguments.
pub(super) fn command_name(plan: &Plan) -> String {
    plan.command.first().map(name).unwrap_or_default()
}

/// The command's own name as text: bytes that are not UTF-8 as `\xff`.
pub(crate) fn name(word: impl AsRef<OsStr>) -> String {
    let mut shown = String::new();
    for chunk in word.as_ref().as_encoded_bytes().utf8_chunks() {
        shown.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// A word of the command line as a shell reads it. What a terminal would act on is escaped.
pub(crate) fn quoted(word: impl AsRef<OsStr>) -> String {
    // The crate leaves joiners and the like as they are.
    printable(&word.as_ref().quote().to_string())
}

/// A length of time with the three digits that a person needs at most: `<1ms`, `20ms`, `0.21s`, `4.1s`, `2m05s`, `12m`,
/// `3h20m`, `15h`, `41d`.
pub(crate) fn span(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    let whole = seconds.round() as u64;
    let rounded = |unit: u64| whole.saturating_add(unit / 2) / unit;
    let (minutes, hours) = (rounded(60), rounded(3600));
    match length {
        Duration::ZERO => "0s".into(),
        _ if length < Duration::from_millis(1) => "<1ms".into(),
        _ if length < Duration::from_millis(100) => format!("{}ms", length.as_millis()),
        _ if length < Duration::from_millis(995) => format!("{seconds:.2}s"),
        _ if length < Duration::from_millis(59_950) => format!("{seconds:.1}s"),
        _ if whole < 600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ if minutes < 60 => format!("{minutes}m"),
        _ if minutes < 600 => format!("{}h{:02}m", minutes / 60, minutes % 60),
        _ if hours < 100 => format!("{hours}h"),
        _ => format!("{}d", rounded(86_400)),
    }
}

/// Returns a time since the UNIX epoch in UTC (RFC 3339), down to the millisecond.
pub(super) fn timestamp(time: Duration) -> String {
    // Later than what humantime writes (the year 9999) is no time that a clock shows.
    let time = time.min(Duration::from_secs(253_402_300_799));
    humantime::format_rfc3339_millis(std::time::UNIX_EPOCH + time).to_string()
}

/// Whole seconds: `7s`, `12m05s`, `3h20m`.
pub(crate) fn seconds(length: Duration) -> String {
    match length.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// One line of so many columns, of which the middle is shown whole wherever that is possible. What is cut off is marked.
pub(crate) fn fitted(first: &str, middle: &str, last: &str, columns: usize) -> String {
    let left = columns.saturating_sub(width(first) + width(middle));
    if width(last) <= left || left >= MARK.len() {
        return cut(&format!("{first}{middle}{last}"), columns);
    }
    // With what there is no room to mark.
    let first = cut(&format!("{first}{MARK}"), columns.saturating_sub(width(middle)));
    cut(&format!("{first}{middle}"), columns)
}

/// What stands for what was cut off.
const MARK: &str = "...";

fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut used = MARK.len();
    let fits = text.chars().take_while(|c| {
        used += columns_of(*c);
        used <= columns
    });
    let text: String = fits.collect();
    text + &MARK[..MARK.len().min(columns)]
}

fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// What a character takes at most. What the command printed may be in scripts whose characters take two columns.
fn columns_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::text::is_printable;
    use proptest::prelude::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn lengths_of_time() {
        for (nanos, shown) in [
            (0, "0s"),
            (7, "<1ms"),
            (999_999, "<1ms"),
            (20_000_000, "20ms"),
            (210_000_000, "0.21s"),
            (999_000_000, "1.0s"),
            (4_100_000_000, "4.1s"),
            (59_960_000_000, "1m00s"),
            (125_000_000_000, "2m05s"),
            (599_400_000_000, "9m59s"),
            (599_600_000_000, "10m"),
            (725_000_000_000, "12m"),
            (3_569_000_000_000, "59m"),
            (3_571_000_000_000, "1h00m"),
            (12_000_000_000_000, "3h20m"),
            (36_000_000_000_000, "10h"),
            (359_000_000_000_000, "4d"),
        ] {
            assert_eq!(span(Duration::from_nanos(nanos)), shown);
        }
        assert!(!span(Duration::MAX).is_empty());
    }

    #[test]
    fn a_line_never_wraps_and_says_what_counts() {
        let line = |columns| fitted("backoff: sh: attempt 2", " in 12s", " (失敗)", columns);
        for (columns, shown) in [
            (80, "backoff: sh: attempt 2 in 12s (失敗)"),
            (36, "backoff: sh: attempt 2 in 12s (失敗)"),
            (35, "backoff: sh: attempt 2 in 12s (..."),
            (32, "backoff: sh: attempt 2 in 12s..."),
            (31, "backoff: sh: attempt ... in 12s"),
            (30, "backoff: sh: attempt... in 12s"),
            (19, "backoff: ... in 12s"),
            (10, "... in 12s"),
            (9, ".. in 12s"),
            (7, " in 12s"),
            (4, " ..."),
            (2, ".."),
            (0, ""),
        ] {
            assert_eq!(line(columns), shown, "{columns}");
            assert!(width(&line(columns)) <= columns, "{columns}");
        }
    }

    #[test]
    fn words_are_quoted_as_a_shell_reads_them() {
        for (word, shown) in [
            ("false", "'false'"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", "\"it's\""),
            ("it's $5", r"'it'\''s $5'"),
            (r"a\b", r"'a\b'"),
            ("größe", "'größe'"),
        ] {
            assert_eq!(quoted(OsStr::new(word)), shown);
            let read = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {shown}")])
                .output()
                .unwrap();
            assert_eq!(read.stdout, word.as_bytes(), "{shown}");
        }
    }

    #[test]
    fn a_name_cannot_write_to_the_terminal() {
        let name = OsString::from_vec(b"a\x1b[31m\n'\xff\\".to_vec());
        assert_eq!(quoted(&name), r"$'a\x1B[31m\n\'\xFF\\'");
        let unseen = OsStr::new("a\u{202e}b\u{61c}é");
        assert_eq!(quoted(unseen), r"$'a\xE2\x80\xAE'$'b\u{61c}é'");
        // In pairs they are no trick, but unseen all the same.
        assert_eq!(quoted(OsStr::new("a\u{2067}b\u{2069}")), r"'a\u{2067}b\u{2069}'");
    }

    proptest! {
        #[test]
        fn no_word_can_write_to_the_terminal(word in any::<String>(), odd in any::<Vec<u8>>()) {
            let odd = OsString::from_vec([word.as_bytes(), &odd].concat());
            for word in [OsStr::new(&word), &odd] {
                prop_assert!(quoted(word).chars().all(is_printable));
            }
        }
    }
}
