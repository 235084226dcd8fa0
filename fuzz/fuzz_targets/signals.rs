//! A list of signals: no text panics, the set is what its parts say, and a name is read as it is shown.
#![no_main]

use backoff_cli::policy::sets::SignalSet;
use backoff_cli::policy::signal::Signal;
use backoff_cli::fuzzing::values::{signal, signals};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parts: Result<Vec<Signal>, String> = text.split(',').map(signal).collect();
    match (signals(text), parts) {
        (Ok(set), Ok(parts)) => {
            let mut again = SignalSet::default();
            for part in &parts {
                again.add(*part);
                assert!((1..=64).contains(&part.number()));
                assert_eq!(signal(&part.number().to_string()), Ok(*part));
                let shown = part.to_string();
                if !shown.contains(' ') {
                    assert_eq!(signal(&shown), Ok(*part), "{shown}");
                }
            }
            assert_eq!(set, again);
        }
        (Err(wrong), Err(_)) => assert!(!wrong.contains(char::is_control), "{wrong:?}"),
        (list, parts) => panic!("{list:?}, but {parts:?}"),
    }
});
