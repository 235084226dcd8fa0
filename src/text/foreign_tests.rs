use super::*;
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

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
    // In pairs these characters are harmless, but still invisible.
    assert_eq!(
        quoted(OsStr::new("a\u{2067}b\u{2069}")),
        r"'a\u{2067}b\u{2069}'"
    );
}

#[test]
fn commands_of_runners_are_split() {
    for (line, shown) in [
        ("##[error]x", "## [error]x"),
        ("##vso[a] ##b[", "##vso [a] ##b ["),
        ("###teamcity[x", "###teamcity [x"),
        ("#####[", "##### ["),
        ("## ##a b[ #a[[ ##", "## ##a b[ #a[[ ##"),
    ] {
        assert_eq!(printable(line), shown);
    }
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
