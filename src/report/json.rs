//! Writing JSON (RFC 8259): one object, from the first field to the last.

use std::fmt::{Display, Write as _};
use std::time::Duration;

use super::words::decimal;
use crate::run::text::is_printable;

#[derive(Debug, Default)]
pub struct Object {
    text: String,
}

impl Object {
    pub fn new() -> Object {
        Object::default()
    }

    fn key(&mut self, key: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        push_string(&mut self.text, key);
        self.text.push(':');
    }

    /// A field that is JSON already: a number, true, false, an array, another object.
    pub fn raw(mut self, key: &str, value: impl Display) -> Object {
        self.key(key);
        let _ = write!(self.text, "{value}");
        self
    }

    pub fn string(mut self, key: &str, value: &str) -> Object {
        self.key(key);
        push_string(&mut self.text, value);
        self
    }

    pub fn optional(self, key: &str, value: Option<impl Display>) -> Object {
        match value {
            Some(value) => self.raw(key, value),
            None => self.raw(key, "null"),
        }
    }

    pub fn optional_string(self, key: &str, value: Option<&str>) -> Object {
        match value {
            Some(value) => self.string(key, value),
            None => self.raw(key, "null"),
        }
    }

    /// Seconds, down to the microsecond.
    pub fn seconds(self, key: &str, value: Duration) -> Object {
        self.raw(key, seconds(value))
    }

    pub fn end(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

/// Seconds as a number, down to the microsecond: `1.25`, `3`.
pub fn seconds(duration: Duration) -> String {
    decimal(Duration::new(duration.as_secs(), duration.subsec_micros() * 1_000))
}

/// A string in quotes. What a terminal would act on is escaped, though JSON does not ask for all of it.
pub fn push_string(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            // From "##[" on a line is a command to some CI runners, wherever it stands.
            '[' if text.ends_with("##") => text.push_str("\\u005b"),
            c if !is_printable(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_object() {
        let object = Object::new()
            .string("name", "a\"b\\c\n\u{1b}\u{202e}é")
            .raw("n", 7)
            .optional("none", None::<u8>)
            .seconds("s", Duration::from_millis(1250));
        let expected = r#"{"name":"a\"b\\c\n\u001b\u202eé","n":7,"none":null,"s":1.25}"#;
        assert_eq!(object.end(), expected);
        assert_eq!(Object::new().end(), "{}");
    }

    #[test]
    fn seconds_are_numbers() {
        for (nanos, shown) in [
            (0, "0"),
            (1_000, "0.000001"),
            (999, "0"),
            (3_000_000_000, "3"),
            (210_000_000, "0.21"),
        ] {
            assert_eq!(seconds(Duration::from_nanos(nanos)), shown);
        }
        assert_eq!(seconds(Duration::from_secs(100)), "100");
    }

    proptest! {
        #[test]
        fn a_string_comes_back(value in any::<String>()) {
            let mut text = String::new();
            push_string(&mut text, &value);
            prop_assert!(!text.chars().any(char::is_control));
            let read: String = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read, value);
        }
    }
}
