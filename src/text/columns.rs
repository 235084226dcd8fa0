//! Columns of a terminal: how many a text takes, and cutting it so that the countdown fits on one line. A text is taken
//! for too wide rather than too narrow, because a line that is too long would wrap.

/// Replaces the rest of a line that was cut.
const DOTS: &str = "...";

/// Returns the columns that a text takes on a terminal, at most.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

/// Returns 2 for everything except ASCII, because characters of some scripts are two columns wide.
fn width_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// Returns a line cut to `columns`, with `...` in the last three. Only dots if there are no more than three. A line
/// that fits is returned as it is.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns <= DOTS.len() {
        return DOTS[..columns].to_owned();
    }
    let mut left = columns - DOTS.len();
    let mut start = String::new();
    for c in text.chars() {
        if width_of(c) > left {
            break;
        }
        left -= width_of(c);
        start.push(c);
    }
    start + DOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_to_the_columns() {
        let line = "attempt 2 in 12s (失敗)";
        for (columns, shown) in [
            (23, line),
            (22, "attempt 2 in 12s (..."),
            (12, "attempt 2..."),
            (3, "..."),
            (2, ".."),
            (0, ""),
        ] {
            assert_eq!(cut(line, columns), shown, "{columns}");
        }
    }
}
