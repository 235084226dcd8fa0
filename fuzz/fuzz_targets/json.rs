//! A string in JSON against another reader of it: it comes back, and a terminal is not told anything by it.
#![no_main]

use std::time::Duration;

use backoff_cli::fuzzing::json::{Object, push_string};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|value: &str| {
    let mut text = String::new();
    push_string(&mut text, value);
    assert!(!text.contains(char::is_control), "{text:?}");
    assert_eq!(serde_json::from_str::<String>(&text).expect("a string"), value);

    let length = Duration::from_nanos(
        value
            .bytes()
            .fold(1, |n: u64, b| n.wrapping_mul(257).wrapping_add(b.into())),
    );
    let object = Object::new()
        .string(value, value)
        .optional_string("none", None)
        .optional_string("some", Some(value))
        .seconds("s", length)
        .end();
    let read: serde_json::Value = serde_json::from_str(&object).expect("an object");
    if !["none", "some", "s"].contains(&value) {
        assert_eq!(read[value], value);
    }
    assert_eq!(read["some"], value);
    assert!(
        (read["s"].as_f64().expect("a number") - length.as_secs_f64()).abs() <= 1e-6 * length.as_secs_f64().max(1.0)
    );
});
