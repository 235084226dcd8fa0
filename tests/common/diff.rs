//! Assertions that show a diff.

use std::fmt::Debug;
use std::time::Duration;

use similar::TextDiff;

/// Returns the diff between two values. Each line of a text has its own line, and invisible characters are escaped.
pub fn of(from: &dyn Debug, to: &dyn Debug) -> String {
    let [from, to] = [from, to].map(|value| format!("{value:#?}\n").replace("\\n", "\\n\n"));
    // More time would only make the diff smaller.
    let diff = TextDiff::configure()
        .timeout(Duration::from_secs(1))
        .diff_lines(&from, &to);
    diff.unified_diff().header("expected", "actual").to_string()
}

/// Like the standard macro, with a diff; the expected value comes second.
macro_rules! assert_eq {
    ($actual:expr, $expected:expr $(,)?) => {
        assert_eq!($actual, $expected, "not as expected")
    };
    ($actual:expr, $expected:expr, $($message:tt)+) => {
        match (&$actual, &$expected) {
            (actual, expected) => if !(*actual == *expected) {
                panic!("{}\n{}", format_args!($($message)+), $crate::common::diff::of(&expected, &actual));
            }
        }
    };
}

#[test]
fn only_the_line_that_differs_is_marked() {
    let shown = of(&("a\nb\x1b\n", 0), &("a\nc\n", 0));
    let marked: Vec<&str> = shown.lines().filter(|line| line.starts_with(['-', '+'])).collect();
    std::assert_eq!(
        marked,
        ["--- expected", "+++ actual", "-b\\u{1b}\\n", "+c\\n"],
        "{shown}"
    );
}
