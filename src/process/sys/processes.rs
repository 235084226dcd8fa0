//! The processes of this machine.

use nix::libc;

#[cfg(target_os = "linux")]
#[path = "processes/procfs.rs"]
mod imp;
#[cfg(target_os = "macos")]
#[path = "processes/macos.rs"]
mod imp;
#[cfg(target_os = "freebsd")]
#[path = "processes/freebsd.rs"]
mod imp;
#[cfg(not(any(target_os = "linux", target_os = "macos", target_os = "freebsd")))]
mod imp {
    use super::{Process, libc};

    pub(super) fn numbers() -> Option<Vec<libc::pid_t>> {
        None
    }

    pub(crate) fn read(_pid: libc::pid_t) -> Option<Process> {
        None
    }
}

pub(crate) use imp::read;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: libc::pid_t,
    pub(crate) parent: libc::pid_t,
    pub(crate) group: libc::pid_t,
    /// The device that is its controlling terminal, as `stat(2)` numbers it; 0 if it has none.
    pub(crate) terminal: u64,
    /// With the number it names a process for good. In what unit differs.
    pub(crate) started: u64,
    pub(crate) is_zombie: bool,
    pub(crate) is_stopped: bool,
}

/// All processes that this one may look at; None where the system does not show this process's own world.
pub(crate) fn processes() -> Option<Vec<Process>> {
    let all: Vec<Process> = imp::numbers()?.into_iter().filter_map(read).collect();
    // Where not even this process can be read, "nobody" would be no answer.
    let own = std::process::id() as libc::pid_t;
    all.iter().any(|process| process.pid == own).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_and_its_child_are_seen() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, pid) = (std::process::id() as libc::pid_t, child.id() as libc::pid_t);
        let seen = processes().unwrap().into_iter().find(|process| process.pid == pid);
        let alone = read(pid);
        child.kill().unwrap();
        child.wait().unwrap();
        let seen = seen.unwrap();
        assert_eq!((seen.parent, seen.is_zombie, seen.is_stopped), (own, false, false));
        assert_eq!(alone.map(|process| process.started), Some(seen.started));
        assert_eq!(read(pid), None);
    }
}
