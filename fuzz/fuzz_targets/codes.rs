//! A list of exit codes: no text panics, and the set is the union of what each part says.
#![no_main]

use backoff_cli::fuzzing::values::{code, codes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match codes(text) {
        Ok(set) => {
            let parts: Vec<_> = text
                .split(',')
                .map(|part| codes(part).expect("a part of a list"))
                .collect();
            for number in 0..=255 {
                assert_eq!(set.contains(number), parts.iter().any(|part| part.contains(number)));
            }
            // Order does not matter, nor does a repetition.
            let backwards: Vec<&str> = text.split(',').rev().chain(text.split(',')).collect();
            assert_eq!(codes(&backwards.join(",")), Ok(set));
        }
        Err(wrong) => {
            assert!(text.split(',').any(|part| codes(part).is_err()));
            assert!(
                wrong.contains("100-110") && !wrong.contains(char::is_control),
                "{wrong:?}"
            );
        }
    }
    if let Ok(number) = code(text) {
        let set = codes(text).expect("one code is a list");
        assert!((0..=255).all(|other| set.contains(other) == (other == number)));
    }
});
