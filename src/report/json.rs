//! Writes JSON (RFC 8259) that no terminal acts on.

use std::io;
use std::time::Duration;

use serde::Serialize;
use serde_json::ser::Formatter;

use crate::text::is_printable;

/// Returns the value as one line of JSON, with a newline. There is no error, because this program's values can always
/// be written.
pub(crate) fn line(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    // Never an error, because map keys are strings and a `Vec` takes every byte.
    let _ = value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut text, Harmless,
    ));
    text.push(b'\n');
    String::from_utf8(text).unwrap_or_default()
}

/// Returns seconds, rounded down to the microsecond. More digits say nothing.
pub(super) fn seconds(length: Duration) -> f64 {
    Duration::new(length.as_secs(), length.subsec_micros() * 1_000).as_secs_f64()
}

/// Escapes everything that a terminal would act on.
struct Harmless;

impl Formatter for Harmless {
    /// Writes a part of a string. The serializer itself escapes quotes, backslashes and ASCII control characters, and
    /// passes on what is between them.
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for c in fragment.chars() {
            if is_printable(c) {
                write!(writer, "{c}")?;
                continue;
            }
            // An escape is a UTF-16 unit, so some characters need two.
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
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
            "a\"b\\c\n\u{1b}\u{202e}é ##[x",
            seconds(Duration::from_nanos(1_250_000_999)),
        );
        let expected = "[\"a\\\"b\\\\c\\n\\u001b\\u202eé ##[x\",1.25]\n";
        assert_eq!(line(&value), expected);
    }

    proptest! {
        #[test]
        fn a_string_comes_back(value in any::<String>()) {
            let text = line(&value);
            let text = text.strip_suffix('\n').unwrap();
            prop_assert!(!text.chars().any(char::is_control));
            let read: String = serde_json::from_str(text).unwrap();
            prop_assert_eq!(read, value);
        }
    }
}
