//! Waiting for descriptors and points in time.

use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::poll::PollFd;

/// The most one `poll(2)` waits; a longer wait polls again.
pub(crate) const LONGEST_POLL: Duration = Duration::from_secs(1 << 20);

/// `poll(2)` with the finest time-out the system has. False if the system cannot poll (a limit of descriptors that was
/// lowered meanwhile, a filter): everything has to be tried then, after a pause that keeps this from spinning.
pub(crate) fn poll(fds: &mut [PollFd<'_>], left: Option<Duration>) -> bool {
    #[cfg(not(portable))]
    let result = nix::poll::ppoll(fds, left.map(nix::sys::time::TimeSpec::from_duration), None);
    #[cfg(portable)]
    let result = {
        let millis = |left: Duration| i32::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
        let timeout = left.map_or(nix::poll::PollTimeout::NONE, |left| {
            nix::poll::PollTimeout::try_from(millis(left)).unwrap_or(nix::poll::PollTimeout::MAX)
        });
        nix::poll::poll(fds, timeout)
    };
    match result {
        Ok(_) => true,
        // A handler has run, and written to the pipe of signals.
        Err(Errno::EINTR) => poll(fds, Some(Duration::ZERO)),
        Err(_) => {
            let _ = nix::poll::poll(&mut [], nix::poll::PollTimeout::from(10u8));
            false
        }
    }
}

/// A wait that is no longer than this is one `poll`.
const SHORT: Duration = Duration::from_millis(1);
/// How long before its end a longer one is looked at again: at least and at most.
const EARLY: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(200)];

/// How long to sleep first, so that a wait ends on time: Linux lets `poll(2)` be late by a thousandth of what it is asked
/// for, at most 100 ms, and a processor that has slept for long wakes a tenth of a millisecond late. What is left then is
/// a short wait.
pub(crate) fn first_part(left: Duration) -> Duration {
    let [least, most] = EARLY;
    if left > SHORT {
        left - (left / 500).clamp(least, most)
    } else {
        left
    }
}

/// Linux lets timers fire some 50 us late to save power; during a wait that is too much. The command would
/// inherit the setting, so dropping this sets again what it was.
pub(crate) struct ExactTimers {
    /// In nanoseconds.
    before: libc::c_ulong,
}

impl ExactTimers {
    /// From now on.
    pub(crate) fn begin() -> ExactTimers {
        #[cfg(not(portable))]
        let slack = nix::sys::prctl::get_timerslack().unwrap_or(0);
        #[cfg(portable)]
        let slack = 0;
        set_timer_slack(1);
        // More than an int holds cannot be told; 0 is this process's default.
        ExactTimers {
            before: libc::c_ulong::try_from(slack).unwrap_or(0),
        }
    }
}

impl Drop for ExactTimers {
    fn drop(&mut self) {
        set_timer_slack(self.before);
    }
}

fn set_timer_slack(nanoseconds: libc::c_ulong) {
    #[cfg(not(portable))]
    let _ = nix::sys::prctl::set_timerslack(nanoseconds);
    #[cfg(portable)]
    let _ = nanoseconds;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_late_is_over_before_the_end() {
        let late = |slept: Duration| (slept / 1000).min(Duration::from_millis(100)) + Duration::from_micros(90);
        let waits = (0..45).map(|power| Duration::from_micros(1 << power));
        for mut left in waits.flat_map(|wait| [wait, wait + SHORT, wait * 3 / 2]) {
            let mut parts = 0;
            while left > SHORT {
                let slept = first_part(left);
                left = left.checked_sub(slept + late(slept)).unwrap();
                parts += 1;
            }
            assert_eq!(first_part(left), left);
            assert!(parts <= 4, "{parts}");
        }
    }
}
