//! What another process has of our terminal, as `/proc` shows it.
//!
//! Nearly each process of a job has the terminal as its standard error, open for reading too, and so do those that set its
//! modes: `more` and `vim -` have it there and nowhere else. But who fills the screen, or reads keys one by one, has to put
//! the modes back before it is stopped, and to hear of another size; `tee`, `cat`, `grep` leave these signals as they are.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use nix::libc::{self, pid_t};

use crate::policy::signal::Signal;
use crate::process::sys::processes::Process;

/// `/dev/tty`, which stands for the terminal of whoever opens it.
const OWN_TERMINAL: u64 = 5 << 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// It only prints there, if that.
    Nothing,
    /// It may read a line or a password, as its standard input is the terminal. Or nobody may know.
    Input,
    /// It has opened the terminal for itself, or acts on what concerns a whole screen.
    Screen,
}

/// What this process of the same session has of the terminal.
pub(super) fn claim(process: &Process) -> Claim {
    if cfg!(portable) {
        // Nobody can say.
        return Claim::Screen;
    }
    let Ok(descriptors) = fs::read_dir(format!("/proc/{}/fd", process.pid)) else {
        // Another user's, or gone.
        return Claim::Input;
    };
    let is_terminal = |descriptor: &i32| is_terminal(process, *descriptor);
    let numbers = descriptors
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let there: Vec<i32> = numbers.filter(is_terminal).collect();
    if there.is_empty() {
        Claim::Nothing
    } else if there
        .iter()
        .any(|number| *number > 2 && is_readable(process.pid, *number))
        || handles_keys(process.pid)
    {
        Claim::Screen
    } else if there.contains(&0) {
        Claim::Input
    } else {
        Claim::Nothing
    }
}

/// Whether the same program as this one runs there.
pub(super) fn is_backoff(pid: pid_t) -> bool {
    let own = fs::read_link("/proc/self/exe");
    own.is_ok_and(|own| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|other| other == own))
}

fn is_terminal(process: &Process, descriptor: i32) -> bool {
    let metadata = fs::metadata(format!("/proc/{}/fd/{descriptor}", process.pid));
    metadata.is_ok_and(|metadata| {
        metadata.file_type().is_char_device() && [OWN_TERMINAL, process.terminal].contains(&metadata.rdev())
    })
}

fn is_readable(pid: pid_t, descriptor: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default();
    let flags = field(&text, "flags:").and_then(|flags| i32::from_str_radix(flags, 8).ok());
    flags.is_none_or(|flags| flags & libc::O_ACCMODE != libc::O_WRONLY)
}

/// Whether TSTP or WINCH does anything else there than a signal does by itself.
fn handles_keys(pid: pid_t) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = |name| field(&text, name).and_then(|mask| u64::from_str_radix(mask, 16).ok());
    let handled = ["SigBlk:", "SigIgn:", "SigCgt:"].map(|name| mask(name).unwrap_or(0));
    let bit = |signal: Signal| 1 << (signal.number() - 1);
    let keys: u64 = bit(Signal::TSTP) | bit(Signal::WINCH);
    handled.iter().any(|mask| mask & keys != 0)
}

/// The value of a line `NAME: VALUE`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}
