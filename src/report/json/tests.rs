use super::*;
use proptest::prelude::*;

#[test]
fn texts_and_numbers() {
    let value = (
        "a\"b\\c\n\u{1b}\u{202e}é ##[x ##vso[y #a[ ##a b[",
        seconds(Duration::from_nanos(1_250_000_999)),
    );
    let expected = "[\"a\\\"b\\\\c\\n\\u001b\\u202eé ##\\u005bx ##vso\\u005by #a[ ##a b[\",1.25]\n";
    assert_eq!(line(&value), expected);
}

proptest! {
    #[test]
    fn a_string_comes_back(value in any::<String>()) {
        let text = line(&value);
        let text = text.strip_suffix('\n').unwrap();
        prop_assert!(!text.chars().any(char::is_control) && !text.contains("##["));
        let read: String = serde_json::from_str(text).unwrap();
        prop_assert_eq!(read, value);
    }
}
