//! The process tree of an attempt. It must exit with the attempt after a limit, or the next attempt would run into what
//! its processes hold (locks, ports).
//!
//! Members are the processes of the attempt's own group, if it has one, and its descendants in `/proc`. PID and start
//! time identify them. A member whose parent has died remains known, and a reused PID is never signalled. Without
//! `/proc`, only the attempt's own process and its group are members.

use nix::libc;

use crate::policy::outcome::{Survival, Survivor};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, is_protected, send};
use crate::process::spawn::child::Child;

/// The members found by the last scan, except the attempt's own process (`child`).
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    known: Vec<Process>,
}

impl ProcessTree {
    /// Scans for members, then sends each signal to the child with its group, and to every other member. Failed sends
    /// do not matter, as the receiver has exited or will be found as a survivor.
    pub(super) fn signal(&mut self, child: &Child, signals: &[Signal]) {
        self.update(child);
        for signal in signals {
            let _ = child.signal(*signal);
            for process in &self.known {
                if child.group() != Some(process.group) && process.still_runs() {
                    let _ = send(Target::Process(process.pid), *signal);
                }
            }
        }
    }

    /// Scans for members, and returns those that still run.
    pub(super) fn survivors(&mut self, child: &Child) -> Vec<Survivor> {
        self.update(child);
        let survivor_of = |process: &Process| survivor(process.pid, program_name(process.pid));
        self.known.iter().map(survivor_of).collect()
    }

    /// Returns true if a process is in the group that the child leads, if its parent is the child or one of `members`,
    /// or if it was a member before, as its parent may have died.
    fn is_member(&self, process: &Process, child: &Child, members: &[Process]) -> bool {
        child.group() == Some(process.group)
            || process.parent == child.pid()
            || members.iter().any(|member| member.pid == process.parent)
            || self.known.iter().any(|known| known.is_same(process))
    }

    fn update(&mut self, child: &Child) {
        let mut candidates = processes().unwrap_or_default();
        let mut members: Vec<Process> = Vec::new();
        // Each round finds children of the members of earlier rounds.
        loop {
            let (found, others): (Vec<_>, Vec<_>) = candidates
                .into_iter()
                .partition(|process| self.is_member(process, child, &members));
            if found.is_empty() {
                break;
            }
            members.extend(found);
            candidates = others;
        }
        members.retain(|process| process.pid != child.pid() && !process.is_zombie);
        self.known = members;
    }
}

/// Describes a process that still runs although it was asked to terminate. Either this user may not signal it, or it
/// does not die of SIGKILL because it hangs in the kernel. The latter is only true after a SIGKILL.
pub(super) fn survivor(pid: libc::pid_t, program: String) -> Survivor {
    let why = if is_protected(pid) {
        Survival::Protected
    } else {
        Survival::Unkillable
    };
    Survivor { pid, program, why }
}

/// A process, as shown by `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: libc::pid_t,
    parent: libc::pid_t,
    group: libc::pid_t,
    /// Start time in the system's unit, used only for comparison.
    started: u64,
    is_zombie: bool,
}

impl Process {
    /// Returns true if both are the same process, and not a reused PID.
    fn is_same(&self, other: &Process) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }

    fn still_runs(&self) -> bool {
        read_process(self.pid).is_some_and(|found| found.is_same(self))
    }
}

/// Returns all processes that can be read. Returns None if there is no `/proc`, or if it shows another PID namespace,
/// where the PIDs are other processes and the wrong ones would be signalled.
fn processes() -> Option<Vec<Process>> {
    // A link to this process's PID.
    let own_number_in_proc = std::fs::read_link("/proc/self").ok()?;
    if own_number_in_proc.as_os_str() != &*std::process::id().to_string() {
        return None;
    }
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Some(numbers.filter_map(read_process).collect())
}

/// Reads a process from `/proc/PID/stat`. Returns None if it is gone.
fn read_process(pid: libc::pid_t) -> Option<Process> {
    parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the name of the program that a process runs, or "?" if the system does not show it.
fn program_name(pid: libc::pid_t) -> String {
    let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or(b"?".to_vec());
    String::from_utf8_lossy(name.trim_ascii_end()).into_owned()
}

/// Parses the text of `/proc/PID/stat` for the process `pid`, see proc_pid_stat(5). Returns None if it has another
/// form.
fn parse(pid: libc::pid_t, stat: &[u8]) -> Option<Process> {
    // The name in parentheses may contain anything.
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    // Numbered as in the manual, where the first field after the name is number 3.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        // A process whose main thread has exited looks like a zombie while other threads run. Field 20 counts threads.
        is_zombie: matches!(field(3)?, "Z" | "X") && field(20)?.parse::<u32>().ok()? <= 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"42 (a) S 1 (b)) Z 7 8 9 34818 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 0 0";
        let expected = Process {
            pid: 42,
            parent: 7,
            group: 8,
            started: 123_456,
            is_zombie: true,
        };
        assert_eq!(parse(42, stat), Some(expected));
        // Its main thread has exited, but two others still run.
        let stat = b"42 (a) Z 7 8 9 34818 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 123456 0 0";
        assert!(!parse(42, stat).unwrap().is_zombie);
        for stat in [
            &b""[..],
            b"1 (x",
            b"1 (x) S",
            b"1 (x) S a b c",
            b"1 (\xff) \xff",
        ] {
            assert_eq!(parse(1, stat), None);
        }
    }
}
