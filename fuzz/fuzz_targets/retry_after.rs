//! Reads any lines of output: no line panics, the end of a line does not matter, a line that asks is heard among
//! others, and a limit's reset is never longer than accepted.
#![no_main]

use std::time::{Duration, SystemTime};

use backoff_cli::policy::retry_after::RetryAfter;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|output: &[u8]| {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_792_567_680);
    // Without a reset that would be accepted.
    let of_line = |line: &[u8]| {
        let mut alone = RetryAfter::default();
        alone.read(line, now);
        alone.wait(Duration::ZERO)
    };
    let mut retry_after = RetryAfter::default();
    let mut longest = None;
    for line in output.split(|byte| *byte == b'\n') {
        let wait = of_line(&[line, b"\n"].concat());
        assert_eq!(wait, of_line(&[line, b"\r\n"].concat()));
        retry_after.read(&[line, b"\n"].concat(), now);
        longest = longest.max(wait);
    }
    // A reset of zero is accepted, unless another line has a longer one of the same limit.
    let asked = longest.filter(|wait| !wait.is_zero());
    assert!(retry_after.wait(Duration::ZERO) >= asked);
    let accepted = Duration::from_secs(300);
    assert!(retry_after.wait(accepted) <= Some(accepted).max(longest));
});
