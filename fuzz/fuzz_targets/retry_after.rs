//! Reads any lines of output: no line panics, and an attempt asks for at most the longest wait of any line.
#![no_main]

use std::time::{Duration, SystemTime};

use backoff_cli::policy::retry_after::RetryAfter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|output: &[u8]| {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_792_567_680);
    let of_line = |line: &[u8]| {
        let mut alone = RetryAfter::default();
        // After this line a reset counts even if `line` says that some quota is left.
        alone.read(b"x-ratelimit-remaining: 0\n", now);
        alone.read(line, now);
        alone.wait()
    };
    let mut retry_after = RetryAfter::default();
    let mut longest = None;
    for line in output.split(|byte| *byte == b'\n') {
        let wait = of_line(&[line, b"\n"].concat());
        assert_eq!(wait, of_line(&[line, b"\r\n"].concat()));
        retry_after.read(&[line, b"\n"].concat(), now);
        longest = longest.max(wait);
    }
    assert!(retry_after.wait() <= longest);
});
