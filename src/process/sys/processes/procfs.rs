//! Linux: `/proc`.

use std::fs;
use std::path::Path;

use nix::libc;

use super::process::Process;

pub(super) fn numbers() -> Option<Vec<libc::pid_t>> {
    // In a process namespace without a /proc of its own, the numbers there would be somebody else's.
    let own = std::process::id().to_string();
    fs::read_link("/proc/self")
        .ok()
        .filter(|link| link == Path::new(&own))?;
    let entries = fs::read_dir("/proc").ok()?.flatten();
    Some(
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect(),
    )
}

/// Reads `/proc/PID/stat`.
pub(crate) fn read(pid: libc::pid_t) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// proc_pid_stat(5): the name in parentheses may hold anything, so fields are counted from the last one.
fn parse(pid: libc::pid_t, stat: &[u8]) -> Option<Process> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(&stat[after_name..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
        is_stopped: *fields.first()? == "T",
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        terminal: u64::from(fields.get(4)?.parse::<i32>().ok()?.cast_unsigned()),
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"42 (a) S 1 (b)) Z 7 8 9 34818 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 0 0";
        let process = parse(42, stat).unwrap();
        assert_eq!(
            process,
            Process {
                pid: 42,
                parent: 7,
                group: 8,
                // /dev/pts/2
                terminal: (136 << 8) | 2,
                started: 123_456,
                is_zombie: true,
                is_stopped: false
            }
        );
    }

    #[test]
    fn what_is_no_stat_is_no_process() {
        for stat in [&b""[..], b"1 (x", b"1 (x) S", b"1 (x) S a b c", b"1 (\xff) \xff"] {
            assert_eq!(parse(1, stat), None);
        }
    }
}
