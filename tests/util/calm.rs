//! Repeats a test that failed while the machine kept processes waiting: with short limits, it then says nothing.

use std::panic::AssertUnwindSafe;
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a process may take to start and end on a calm machine. The shortest limits of tests are not much longer.
const CALM: Duration = Duration::from_millis(30);

/// The observations of the watching thread.
struct Seen {
    look_began: Instant,
    /// The end of the last look that took too long.
    last_stall: Option<Instant>,
}

static SEEN: LazyLock<Mutex<Seen>> = LazyLock::new(|| {
    std::thread::spawn(watch);
    Mutex::new(Seen {
        look_began: Instant::now(),
        last_stall: None,
    })
});

/// Starts a process again and again, and notes when that took too long.
fn watch() {
    loop {
        let begin = Instant::now();
        SEEN.lock().unwrap().look_began = begin;
        std::thread::sleep(PAUSE);
        Command::new("true").status().unwrap();
        if begin.elapsed() > PAUSE + CALM {
            SEEN.lock().unwrap().last_stall = Some(Instant::now());
        }
    }
}

/// Returns true if processes were kept waiting at some time since `begin`.
fn was_stalled_since(begin: Instant) -> bool {
    let seen = SEEN.lock().unwrap();
    let is_stalled_now = seen.look_began.elapsed() > PAUSE + CALM;
    is_stalled_now || seen.last_stall.is_some_and(|end| end > begin)
}

/// Runs a check, and again, at most this often in all, if it failed while the machine kept processes waiting.
fn when_calm<T, E>(most_runs: usize, check: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    unless_disturbed(most_runs, check, |_| false)
}

/// Like [`when_calm`], but also repeats a check whose error shows that it was disturbed.
pub fn unless_disturbed<T, E>(
    most_runs: usize,
    mut check: impl FnMut() -> Result<T, E>,
    shows_disturbance: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for _ in 1..most_runs {
        LazyLock::force(&SEEN);
        let begin = Instant::now();
        match check() {
            Err(error) if was_stalled_since(begin) || shows_disturbance(&error) => {}
            result => return result,
        }
    }
    check()
}

/// Runs a test, and again, at most three times in all, if it failed while the machine kept processes waiting.
pub fn calmly(test: impl Fn()) {
    let run = || std::panic::catch_unwind(AssertUnwindSafe(&test));
    if let Err(panic) = when_calm(3, run) {
        std::panic::resume_unwind(panic);
    }
}
