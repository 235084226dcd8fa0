//! Wraps text at a width.

/// Wraps words: the first line begins after `first` columns, all others after `indent`. Words are never broken, so a
/// word longer than a line exceeds the width.
pub(crate) fn wrap(text: &str, first: usize, indent: usize, width: usize) -> String {
    let mut lines = String::new();
    let mut column = first;
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !is_empty && column + 1 + length > width {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            column = indent;
        } else if !is_empty {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
        is_empty = false;
    }
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_filled_and_no_more() {
        assert_eq!(wrap("a b c d", 0, 0, 3), "a b\nc d\n");
        assert_eq!(wrap("a b c d", 2, 1, 4), "a\n b c\n d\n");
        assert_eq!(wrap("", 2, 2, 9), "\n");
    }

    proptest! {
        #[test]
        fn no_word_is_broken_or_lost(words in proptest::collection::vec("[a-zé]{1,12}", 0..20), indent in 0usize..6, width in 1usize..40) {
            let lines = wrap(&words.join(" "), indent, indent, width);
            prop_assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), words);
            for line in lines.lines().skip(1) {
                let text = line.trim_start();
                prop_assert!(line.chars().count() <= width || !text.contains(' '), "{:?}", line);
            }
        }
    }
}
