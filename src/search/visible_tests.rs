use proptest::prelude::*;

use super::*;

/// Asserts what a person reads of a stream.
#[track_caller]
fn is(stream: &[u8], expected: &[u8]) {
    let shown = |text: &[u8]| -> Vec<String> {
        lines(text)
            .map(|line| line.escape_ascii().to_string())
            .collect()
    };
    assert_eq!(
        shown(&visible(stream)),
        shown(expected),
        "{}",
        stream.escape_ascii()
    );
}

#[test]
fn text_stays() {
    for text in [
        "",
        "\n",
        "plain\n\ntext",
        "Ünïcödé ✓ ━━━ “quotes” … 中文\u{3001}\u{200c}\u{200d}👨\u{200d}👩\n",
        "\u{200b}\u{feff}\u{2060}\t\u{b}\u{c}\0\u{7}\u{7f}[31m]0;x",
    ] {
        is(text.as_bytes(), text.as_bytes());
    }
    is(
        b"\xff\xfe\xe2\x80\xc2\xe3\x80x\xe2\xe2\x80",
        b"\xff\xfe\xe2\x80\xc2\xe3\x80x\xe2\xe2\x80",
    );
}

#[test]
fn a_line_ends_at_lf_at_cr_lf_and_at_cr() {
    is(b"a\r\nb\r\n", b"a\nb\n");
    is(b" 40%\r 80%\rerror: x\n", b" 40%\n 80%\nerror: x\n");
    is(b"a\r\n\r\n\nb", b"a\n\n\nb");
    // A progress bar begins or ends with CR, which makes no empty line.
    is(b"\r[#  ]\r[## ]\ra\n\rb\r\rc", b"[#  ]\n[## ]\na\nb\nc");
    is(b"a\r\r\nb", b"a\nb");
}

#[test]
fn what_colors_vanishes() {
    is(
        b"\x1b[1m\x1b[31merror\x1b[0m\x1b[1m: x\x1b[m\n",
        b"error: x\n",
    );
    is(
        b"\x1b[38;5;9ma\x1b[38:2::1:2:3mb\x1b[4:3mc\x1b(B\x1b[md",
        b"abcd",
    );
    is(
        b"\x1b[Ka\x1b[0Kb\x1b[;Kc\x1b[?25l\x1b[?25hd\x1b[>4;1me\x1b[<uf\x1b=\x1b>\x1b7\x1b[sg",
        b"abcdefg",
    );
    is(b"\x1b[6n\x1b[c\x1b[2 q\x1b[!p\x1b#8\x1b%Ga\x1bNb", b"ab");
}

#[test]
fn what_moves_or_erases_ends_the_line() {
    for sequence in [
        "[A", "[2B", "[3D", "[E", "[1F", "[0G", "[80G", "[H", "[1;1H", "[f", "[I", "[Z", "[2J",
        "[J", "[1K", "[2K", "[L", "[M", "[@", "[4P", "[X", "[S", "[T", "[d", "[`", "[a", "[e",
        "[u", "[r", "[?J", "[?K", "D", "E", "M", "8", "c",
    ] {
        let stream = format!("a\x1b{sequence}b");
        is(stream.as_bytes(), b"a\nb");
    }
    is(b"\x1b[2K\x1b[1Gerror\x1b[2K\x1b[G\n", b"error\n\n");
    is(b"- \x08\x08\\ \x08failed\x08", b"- \n\\ \nfailed\n");
    is(b"npm\x1b[5Cerror\x1b[Ccode", b"npm error code");
}

#[test]
fn strings_vanish() {
    is(
        b"\x1b]0;title\x07a\x1b]8;;https://x.y\x1b\\link\x1b]8;;\x1b\\b",
        b"alinkb",
    );
    is(
        b"\x1bPq#0;2\x1b\\a\x1b_x\x07y\x1b\\b\x1b^x\x1b\\c\x1bXx\x1b\\d\x1bktitle\x1b\\e",
        b"abcde",
    );
    // Unfinished strings, which end at LF, at another sequence, or at the end.
    is(b"a\x1b]0;title\nerror: x", b"a\nerror: x");
    is(b"a\x1bPx\r\nb", b"a\nb");
    is(b"a\x1b]0;x\x1b[31mb\x1b]0;x\x18c\x1b]0;", b"abc");
}

#[test]
fn broken_sequences_hide_no_text() {
    is(b"\x1b", b"");
    is(b"\x1b[31", b"");
    is(b"a\x1b[31\nb\x1b\nc\x1b[\r\nd", b"a\nb\nc\nd");
    is(b"a\x1b\x1b[31mb\x1b[1\x1b[31mc\x1b(\x1b[md", b"abcd");
    is("a\x1b[3é\x1bé\x1b(é".as_bytes(), "aééé".as_bytes());
    is(b"a\x1b[31\x18b\x1b\x1ac", b"abc");
}

#[test]
fn blanks_of_unicode_are_spaces() {
    for blank in ('\u{80}'..=char::MAX).filter(|c| c.is_whitespace()) {
        is(
            format!("a{blank}b{blank}{blank}c\n").as_bytes(),
            b"a b  c\n",
        );
    }
    is(
        b"\xe2\xe2\x80\x89\xe2\x80\xc2\xa0\xe3\x80\x1b[m\x80",
        b"\xe2 \xe2\x80 \xe3\x80\x80",
    );
}

proptest! {
    #[test]
    fn any_bytes_become_text_without_sequences(text in prop::collection::vec(prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b']')], 0..200)) {
        let clean = visible(&text);
        prop_assert!(clean.len() <= text.len() && !clean.contains(&0x1b) && !clean.contains(&b'\r'));
    }
}
