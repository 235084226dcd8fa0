//! The least a retry can cost here: a loop of this program that starts the command and sleeps exactly.

use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::prctl;

use crate::Result;

/// Runs the words again and again, this long after each time.
pub fn run(attempts: usize, wait: Duration, words: &[&str]) -> Result<()> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let repeat = || {
        for attempt in 0..attempts {
            let mut command = Command::new(program);
            command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
            command.status()?;
            if attempt + 1 < attempts {
                sleep(wait)?;
            }
        }
        Ok::<(), io::Error>(())
    };
    // In a thread of its own, as the timers of a thread are what its children get.
    let done = thread::scope(|scope| scope.spawn(repeat).join());
    Ok(done.map_err(|_| "the loop did not end")??)
}

fn sleep(wait: Duration) -> io::Result<()> {
    let end = Instant::now() + wait;
    let usual = prctl::get_timerslack()?;
    prctl::set_timerslack(1)?;
    while let Some(left) = end
        .checked_duration_since(Instant::now())
        .filter(|left| !left.is_zero())
    {
        thread::sleep(left);
    }
    prctl::set_timerslack(usual.unsigned_abs().into())?;
    Ok(())
}
