//! Lines of output: nothing panics, and an attempt asks for no more than its longest line.
#![no_main]

use std::time::{Duration, SystemTime};

use backoff_cli::policy::retry_after::{RetryAfter, wait_asked_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|output: &[u8]| {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_792_567_680);
    let mut hints = RetryAfter::default();
    let mut longest = None;
    for line in output.split(|byte| *byte == b'\n') {
        hints.read(line, now);
        let wait = wait_asked_for(line, now);
        assert_eq!(wait, wait_asked_for(&[line, b"\r\n"].concat(), now));
        longest = longest.max(wait);
    }
    assert!(hints.wait() <= longest);
});
