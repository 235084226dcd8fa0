//! A duration: no text panics, and what is accepted is what a naive reading of it gives.
#![no_main]

use std::time::Duration;

use backoff_cli::fuzzing::values::{duration, durations};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = duration(text);
    match &parsed {
        Ok(value) => {
            assert_eq!(duration(&format!("  {text}\t")), Ok(*value));
            assert!(!text.trim_start().starts_with(['-', '+']));
            // A smaller first number is no longer wait, unless it stands after a point.
            let digits = text
                .trim()
                .trim_start_matches('0')
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            if digits > 1 && text.trim().bytes().all(|b| b.is_ascii_digit()) {
                let shorter = &text.trim()[..text.trim().len() - 1];
                assert!(duration(shorter).is_ok_and(|shorter| shorter <= *value));
            }
            let shown = humantime::format_duration(*value).to_string();
            // From a month on humantime writes units that are not read.
            if *value < Duration::from_secs(30 * 86_400) {
                assert_eq!(duration(&shown), parsed, "{shown}");
            }
        }
        Err(wrong) => {
            assert!(
                wrong.contains("500ms") && !wrong.contains(char::is_control),
                "{wrong:?}"
            );
        }
    }
    match durations(text) {
        Ok(list) => {
            let each: Vec<_> = text.split(',').map(duration).collect();
            assert_eq!(list.into_iter().map(Ok).collect::<Vec<_>>(), each);
        }
        Err(wrong) => {
            assert!(text.split(',').any(|part| duration(part).is_err()));
            assert!(!wrong.contains(char::is_control), "{wrong:?}");
        }
    }
});
