//! The process tree of an attempt, which has to end with it after a limit: the next attempt would meet what its processes
//! hold (locks, ports).
//!
//! Members are the processes of the attempt's own group, if it has one, and its descendants in `/proc`. Number and start
//! time identify them: a member whose parent has died stays known, and a reused number is never signalled. Without
//! `/proc` there are no members but the attempt's own process and its group.

use nix::libc;

use crate::policy::outcome::{Survival, Survivor};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, is_protected, send};
use crate::process::spawn::child::Child;

/// The members found by the last look, besides the attempt's own process (`child`).
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    known: Vec<Process>,
}

impl ProcessTree {
    /// Sends each signal to the child, with its group, and to every other member, after a new look for members. Failed
    /// sends do not matter: the receiver has ended, or is found as a survivor later.
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

    /// Returns the members that still run, after a new look.
    pub(super) fn survivors(&mut self, child: &Child) -> Vec<Survivor> {
        self.update(child);
        let survivor_of = |process: &Process| survivor(process.pid, program_name(process.pid));
        self.known.iter().map(survivor_of).collect()
    }

    /// Returns true if a process is in the group that the child leads, has the child or one of `members` as its parent,
    /// or was a member before, whose parent may have died.
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

/// Describes a process that still runs although it was to end: this user may not signal it, or it does not die of KILL
/// (it hangs in the kernel). The latter is true only after a KILL.
pub(super) fn survivor(pid: libc::pid_t, program: String) -> Survivor {
    let why = if is_protected(Target::Process(pid)) {
        Survival::Protected
    } else {
        Survival::Unkillable
    };
    Survivor { pid, program, why }
}

/// A process, as `/proc/PID/stat` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: libc::pid_t,
    parent: libc::pid_t,
    group: libc::pid_t,
    /// Start time in the system's unit, which is only compared.
    started: u64,
    is_zombie: bool,
}

impl Process {
    /// Returns true if both are the same process, and not a reused number.
    fn is_same(&self, other: &Process) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }

    fn still_runs(&self) -> bool {
        read_process(self.pid).is_some_and(|found| found.is_same(self))
    }
}

/// Returns all processes that can be read; None if there is no `/proc`, or if it shows the numbers of another PID
/// namespace, which would be other processes here, so that the wrong ones would be signalled.
fn processes() -> Option<Vec<Process>> {
    // A link whose target is this process's number.
    let own_number_in_proc = std::fs::read_link("/proc/self").ok()?;
    if own_number_in_proc.as_os_str() != &*std::process::id().to_string() {
        return None;
    }
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Some(numbers.filter_map(read_process).collect())
}

/// Reads a process from `/proc/PID/stat`; None if it is gone.
fn read_process(pid: libc::pid_t) -> Option<Process> {
    parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the name of the program that a process runs; "?" if the system does not show it.
fn program_name(pid: libc::pid_t) -> String {
    let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or(b"?".to_vec());
    String::from_utf8_lossy(name.trim_ascii_end()).into_owned()
}

/// Parses the text of `/proc/PID/stat`, see proc_pid_stat(5), of the process `pid`. Returns None if it has another
/// form.
fn parse(pid: libc::pid_t, stat: &[u8]) -> Option<Process> {
    // The name in parentheses may contain anything.
    let end_of_name = stat.iter().rposition(|byte| *byte == b')')?;
    let text = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    // Numbers as in the manual, where the first field after the name has number 3.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        // A process whose main thread has ended has the state of a zombie, while other threads go on; field 20 counts
        // threads.
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
        // Its main thread has ended, and two others go on.
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
