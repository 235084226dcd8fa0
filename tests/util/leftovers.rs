//! Kills the processes that a failed test leaves behind, in any session and under any parent. A mark in their
//! environment identifies them.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::process::with_variable;

thread_local! {
    static MARK: String = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        format!("{}-{}", std::process::id(), THREADS.fetch_add(1, Ordering::Relaxed))
    };
}

/// Returns the variable that marks all commands of this thread. If the thread panics, a hook kills these commands.
pub fn mark() -> (&'static str, String) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            tell(panic);
            kill_all(&mark());
        }));
    });
    ("STARTED_BY_TEST", MARK.with(String::clone))
}

/// Kills all processes with a mark.
pub fn kill_all(mark: &(&str, String)) {
    let began = Instant::now();
    let mut looks_in_vain = 0;
    // A process shows no environment during exec.
    while looks_in_vain < 3 && began.elapsed() < Duration::from_secs(5) {
        let left = with_variable(mark.0, &mark.1);
        looks_in_vain = if left.is_empty() {
            looks_in_vain + 1
        } else {
            0
        };
        for pid in left {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
