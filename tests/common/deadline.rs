//! Deadlines: no test waits longer than [`PATIENCE`], and a test that does names the event it waited for.

use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{PATIENCE, leftovers};

/// Reads from a process, or waits for its end. After [`PATIENCE`] kills all processes of the test, which ends the read,
/// and fails.
#[track_caller]
pub fn wait_for<T>(what: &str, process: u32, wait: impl FnOnce() -> T) -> T {
    let (value, is_late) = in_time(PATIENCE, process, wait);
    assert!(!is_late, "{what}: not within {PATIENCE:?}");
    value
}

/// Returns the value, and true if the process had to be killed.
pub fn in_time<T>(limit: Duration, process: u32, wait: impl FnOnce() -> T) -> (T, bool) {
    let mark = leftovers::mark();
    let (ended, end) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let is_late = end.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout);
            if is_late {
                leftovers::kill_all(&mark);
                // The process may have lost the mark.
                let _ = kill(Pid::from_raw(process as i32), Signal::SIGKILL);
            }
            is_late
        });
        let value = wait();
        drop(ended);
        (value, watch.join().unwrap())
    })
}

/// Waits for the end of a child.
#[track_caller]
pub fn end_of(what: &str, child: &mut Child) -> ExitStatus {
    wait_for(what, child.id(), || child.wait()).unwrap()
}

#[test]
fn a_read_that_nobody_answers_ends() {
    use std::io::Read;
    let mut child = super::clean("sleep")
        .arg("60")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (read, is_late) = in_time(Duration::from_millis(50), child.id(), || stdout.read(&mut [0; 1]));
    assert_eq!((read.unwrap(), is_late), (0, true));
    end_of("sleep", &mut child);
}
