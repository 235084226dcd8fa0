//! Writes JSON (RFC 8259) that neither a terminal nor a CI runner acts on.

use std::io;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::ser::Formatter;

use crate::text::is_printable;

/// Names and values of an object, in order.
pub(super) type Fields = Vec<(&'static str, Value)>;

/// An object whose fields keep their order.
#[derive(Debug)]
pub(super) struct Object(pub(super) Fields);

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().cloned())
    }
}

/// Returns the value as one line of JSON, with its line feed. The values of this program cannot fail to be written, so
/// that there is no error.
pub(crate) fn line(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    // Never an error: maps have strings as keys, and a `Vec` takes every byte.
    let _ = value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut text, Harmless,
    ));
    text.push(b'\n');
    String::from_utf8(text).unwrap_or_default()
}

/// Returns seconds, rounded down to the microsecond, as more digits say nothing.
pub(super) fn seconds(length: Duration) -> f64 {
    Duration::new(length.as_secs(), length.subsec_micros() * 1_000).as_secs_f64()
}

/// Escapes everything that a terminal would act on, and `[` in `##[`, `##vso[` and the like, which begin commands of CI
/// runners.
struct Harmless;

impl Formatter for Harmless {
    /// Writes a part of a string. The serializer escapes quotes, backslashes and control characters of ASCII itself,
    /// and passes what stands between them here; a command of a runner cannot go on past such an escape.
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Number of `#` in what may become `##[` or `##vso[`; 0 once it cannot.
        let mut hashes = 0;
        for c in fragment.chars() {
            let begins_command = c == '[' && hashes >= 2;
            if is_printable(c) && !begins_command {
                write!(writer, "{c}")?;
            } else {
                // An escape is a unit of UTF-16, so some characters need two.
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            let continues_name = hashes >= 2 && c.is_ascii_alphanumeric();
            if c == '#' {
                hashes += 1;
            } else if !continues_name {
                hashes = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_and_numbers() {
        let value = (
            "a\"b\\c\n\u{1b}\u{202e}é ##[x ##vso[y #a[ ##a b[",
            seconds(Duration::from_nanos(1_250_000_999)),
        );
        let expected =
            "[\"a\\\"b\\\\c\\n\\u001b\\u202eé ##\\u005bx ##vso\\u005by #a[ ##a b[\",1.25]\n";
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
}
