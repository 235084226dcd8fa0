//! The least a retry can cost here: a loop of this program that starts the command and sleeps exactly.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::prctl;

/// Runs the words again and again, this long after each time.
pub fn run(attempts: usize, wait: Duration, words: &[&str]) {
    thread::scope(|scope| {
        // In a thread of its own, as the timers of a thread are what its children get.
        scope.spawn(|| {
            for attempt in 0..attempts {
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
                command.status().unwrap();
                if attempt + 1 < attempts {
                    sleep(wait);
                }
            }
        });
    });
}

fn sleep(wait: Duration) {
    let end = Instant::now() + wait;
    let usual = prctl::get_timerslack().unwrap();
    prctl::set_timerslack(1).unwrap();
    while let Some(left) = end
        .checked_duration_since(Instant::now())
        .filter(|left| !left.is_zero())
    {
        thread::sleep(left);
    }
    prctl::set_timerslack(usual.try_into().unwrap()).unwrap();
}
