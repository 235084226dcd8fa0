//! The processes of this machine.

mod process;

#[cfg(target_os = "linux")]
#[path = "processes/procfs.rs"]
mod imp;
#[cfg(target_os = "macos")]
#[path = "processes/macos.rs"]
mod imp;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod imp {
    use nix::libc;

    use super::process::Process;

    pub(super) fn numbers() -> Option<Vec<libc::pid_t>> {
        None
    }

    pub(crate) fn read(_pid: libc::pid_t) -> Option<Process> {
        None
    }
}

pub(crate) use imp::read;
pub(crate) use process::Process;

/// All processes that this one may look at; None where the system does not show this process's own world.
pub(crate) fn processes() -> Option<Vec<Process>> {
    let all: Vec<Process> = imp::numbers()?.into_iter().filter_map(read).collect();
    // Where not even this process can be read, "nobody" would be no answer.
    let own = std::process::id().cast_signed();
    all.iter().any(|process| process.pid == own).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_and_its_child_are_seen() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, pid) = (std::process::id().cast_signed(), child.id().cast_signed());
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
