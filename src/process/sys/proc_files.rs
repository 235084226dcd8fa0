//! The list of processes from `/proc`. Systems without `/proc` have no list.

use std::fs::DirEntry;

use nix::libc;

use crate::process::sys::processes::Process;

/// Returns all processes that can be read; None if there is no `/proc`, or if it shows the numbers of another PID
/// namespace, which would be other processes here, so that the wrong ones would be signalled.
pub(crate) fn list() -> Option<Vec<Process>> {
    // A link whose target is this process's number.
    let own_number_in_proc = std::fs::read_link("/proc/self").ok()?;
    if own_number_in_proc.as_os_str() != &*std::process::id().to_string() {
        return None;
    }
    let entries = std::fs::read_dir("/proc").ok()?;
    let numbers = entries.flatten().filter_map(|entry| number_of(&entry));
    Some(numbers.filter_map(read_process).collect())
}

/// Returns the process of a directory in `/proc`; None for an entry with another name.
fn number_of(entry: &DirEntry) -> Option<libc::pid_t> {
    entry.file_name().to_str()?.parse().ok()
}

/// Reads a process from `/proc/PID/stat`; None if it is gone.
pub(crate) fn read_process(pid: libc::pid_t) -> Option<Process> {
    parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the name of the program that a process runs; None if the process is gone.
pub(crate) fn program_name(pid: libc::pid_t) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(name.trim_ascii_end()).into_owned())
}

/// Parses the text of `/proc/PID/stat`, see proc_pid_stat(5), of the process `pid`. Returns None if it has another
/// form.
fn parse(pid: libc::pid_t, stat: &[u8]) -> Option<Process> {
    let text = std::str::from_utf8(after_name(stat)?).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    // Numbers as in the manual, where the first field after the name has number 3.
    let field = |number: usize| fields.get(number - 3).copied();
    let state = field(3)?;
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        // A process whose main thread has ended has the state of a zombie, while other threads go on; field 20 counts
        // threads.
        is_zombie: matches!(state, "Z" | "X") && field(20)?.parse::<u32>().ok()? <= 1,
        // Not `t`: a debugger holds the process, and CONT would not continue it.
        is_stopped: state == "T",
    })
}

/// Returns the fields after the name in parentheses, which may contain anything: what follows the last parenthesis.
fn after_name(stat: &[u8]) -> Option<&[u8]> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    Some(&stat[end + 1..])
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
            is_stopped: false,
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
