//! Kills the processes that a failed test leaves behind, in any session and under any parent. The test's mark in their
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

/// Returns the variable that all commands of this thread get. If the thread panics, the panic hook kills these
/// commands.
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

#[test]
fn processes_that_a_failing_test_started_are_gone() {
    use super::process::is_alive;
    use super::pty::Terminal;
    use super::{Ends, backoff, eventually};

    let fails = || {
        let script = "(setsid sh -c 'sleep 60; :' & echo $!); exec sleep 60";
        let mut job = std::mem::ManuallyDrop::new(backoff("-- sh -c").arg(script).live());
        assert!(is_alive(job.number()));
        let mut terminal = Terminal::with("backoff --pty -- sh -c 'sleep 60 & echo ready; cat'");
        terminal.expect("ready");
        let (name, value) = mark();
        // setsid executes the program in its own process.
        eventually("all of them are there", || {
            with_variable(name, &value).len() >= 9
        });
        std::panic::panic_any(value);
    };
    let mark = std::thread::spawn(fails).join().unwrap_err();
    let value = mark.downcast::<String>().expect("it fails at its end");
    assert_eq!(with_variable("STARTED_BY_TEST", &value), [0; 0]);
}
