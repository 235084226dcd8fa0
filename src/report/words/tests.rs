use super::*;
use crate::run::text::is_printable;
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

#[test]
fn lengths_of_time() {
    for (nanos, shown) in [
        (0, "0s"),
        (7, "7ns"),
        (51_200, "51.2us"),
        (999_900, "1ms"),
        (210_000_000, "210ms"),
        (999_600_000, "1s"),
        (4_554_328_639, "4.55s"),
        (31_000_000_000, "31s"),
        (59_960_000_000, "1m"),
        (125_000_000_000, "2m5s"),
        (3_599_400_000_000, "59m59s"),
        (12_000_000_000_000, "3h20m"),
        (86_400_000_000_000, "1d"),
        (360_000_000_000_000, "4d4h"),
    ] {
        assert_eq!(length(Duration::from_nanos(nanos)), shown);
    }
    assert!(!length(Duration::MAX).is_empty());
}

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
fn a_quoted_name_has_only_printable_characters() {
    let name = OsString::from_vec(b"a\x1b[31m\n'\xff\\".to_vec());
    assert_eq!(quoted(&name), r"$'a\x1B[31m\n\'\xFF\\'");
    let unseen = OsStr::new("a\u{202e}b\u{61c}é");
    assert_eq!(quoted(unseen), r"$'a\xE2\x80\xAE'$'b\u{61c}é'");
    // In pairs the characters are harmless, but still invisible.
    assert_eq!(
        quoted(OsStr::new("a\u{2067}b\u{2069}")),
        r"'a\u{2067}b\u{2069}'"
    );
}

proptest! {
    #[test]
    fn quoted_words_have_only_printable_characters(word in any::<String>(), odd in any::<Vec<u8>>()) {
        let odd = OsString::from_vec([word.as_bytes(), &odd].concat());
        for word in [OsStr::new(&word), &odd] {
            prop_assert!(quoted(word).chars().all(is_printable));
        }
    }
}
