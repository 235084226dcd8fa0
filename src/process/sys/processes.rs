//! The processes of this machine, from `/proc`, or `sysctl(3)` on macOS. Other systems have no list.

use nix::libc;

use super::system::list;
pub(crate) use super::system::{Adoption, program_name, read_process};

/// A process, as listed by the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: libc::pid_t,
    pub(crate) parent: libc::pid_t,
    pub(crate) group: libc::pid_t,
    /// Start time in the system's unit, which is only compared. With the number it identifies a process.
    pub(super) started: u64,
    pub(crate) is_zombie: bool,
    pub(crate) is_stopped: bool,
}

impl Process {
    /// Returns true if both are the same process, and not a reused number.
    pub(crate) fn is_same(&self, other: &Process) -> bool {
        (self.pid, self.started) == (other.pid, other.started)
    }
}

/// Returns all processes that the system shows to this user; None if it has no list, or one without this process, which
/// then may lack others, too: the caller has to do without a list.
pub(crate) fn processes() -> Option<Vec<Process>> {
    let all = list()?;
    let own = std::process::id().cast_signed();
    let shows_own = all.iter().any(|process| process.pid == own);
    if shows_own { Some(all) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_and_its_child_are_seen() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let (own, pid) = (std::process::id().cast_signed(), child.id().cast_signed());
        let seen = processes()
            .unwrap()
            .into_iter()
            .find(|process| process.pid == pid);
        let alone = read_process(pid);
        child.kill().unwrap();
        child.wait().unwrap();
        let seen = seen.unwrap();
        assert_eq!(
            (seen.parent, seen.is_zombie, seen.is_stopped),
            (own, false, false)
        );
        assert!(alone.is_some_and(|process| process.is_same(&seen)));
        assert_eq!(read_process(pid), None);
    }
}
