use super::*;

fn tail(limit: usize, pieces: &[&str]) -> String {
    let mut tail = Tail {
        limit,
        bytes: Vec::new(),
    };
    pieces.iter().for_each(|piece| tail.push(piece.as_bytes()));
    String::from_utf8_lossy(tail.bytes()).into_owned()
}

#[test]
fn what_is_cut_begins_with_a_line_if_that_is_near() {
    assert_eq!(tail(8, &["ab\n", "cd\n"]), "ab\ncd\n");
    assert_eq!(tail(8, &["ab\n", "cd\n", "ef\n"]), "cd\nef\n");
    assert_eq!(tail(6, &["ab\n", "cd\n", "ef\n"]), "cd\nef\n");
    assert_eq!(tail(8, &["ab\n", "cdefghij\n"]), "defghij\n");
    assert_eq!(tail(8, &["one long line"]), "ong line");
    assert_eq!(tail(8, &["ab\u{20ac}cdefg"]), "\u{20ac}cdefg");
    assert_eq!(tail(7, &["ab\u{20ac}cdefg"]), "cdefg");
    assert_eq!(tail(1, &["ab\n"]), "\n");
    assert_eq!(tail(1, &["abc"]), "c");
}
