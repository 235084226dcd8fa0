//! Whether the machine kept a test waiting: a test with short limits says nothing if processes could not run meanwhile.

use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a process may take to start and end on a calm machine. The shortest limits of tests are not much longer.
const CALM: Duration = Duration::from_millis(30);

/// What the watching thread has seen.
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

fn was_stalled_since(begin: Instant) -> bool {
    let seen = SEEN.lock().unwrap();
    let is_stalled_now = seen.look_began.elapsed() > PAUSE + CALM;
    is_stalled_now || seen.last_stall.is_some_and(|end| end > begin)
}

/// Runs a check, and again, at most this often in all, if it failed while the machine kept processes waiting.
pub fn when_calm<T, E>(most_runs: usize, mut check: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 1..most_runs {
        LazyLock::force(&SEEN);
        let begin = Instant::now();
        let result = check();
        if result.is_ok() || !was_stalled_since(begin) {
            return result;
        }
    }
    check()
}

/// Runs a test, and again, at most three times in all, if it failed while the machine kept processes waiting.
pub fn calmly(test: fn()) {
    if let Err(panic) = when_calm(3, || std::panic::catch_unwind(test)) {
        std::panic::resume_unwind(panic);
    }
}
