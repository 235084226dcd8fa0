//! Reads any text as the script of a shell, and finds the requests in it: no text panics or takes long.
#![no_main]

use backoff_cli::fuzzing::judge_script;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &[u8]| {
    judge_script(&String::from_utf8_lossy(script));
});
