//! The process of an attempt: its state, and signals to it. Only [`Child::reap`] frees the process number, and it
//! consumes the child, so that no signal can reach a reused number.

use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Pid, getpgid, read};

use crate::policy::outcome::End;
use crate::policy::signal::Signal;
use crate::process::signals::{Target, send};
use crate::run::uninterrupted;

/// A process that backoff started and has not reaped.
#[derive(Debug)]
pub(crate) struct Child {
    pid: libc::pid_t,
    /// The child was started as the leader of a process group.
    leads_group: bool,
    is_stopped: bool,
    /// The stopping signal, until [`Child::newly_stopped`] has returned it.
    stopped_by: Option<Signal>,
    was_continued: bool,
    /// A pipe that holds the errno of a failed exec.
    exec_error: OwnedFd,
}

/// A report of `waitid(2)` about a child.
#[derive(Debug, Clone, Copy)]
struct Report {
    pid: libc::pid_t,
    code: i32,
    /// The exit code or the signal number.
    status: i32,
}

/// Calls `waitid(2)` for a child, or for any if `child` is None. Returns None if there is no report.
#[allow(
    clippy::cast_lossless,
    reason = "id_t is wider than pid_t on FreeBSD only"
)]
fn wait(child: Option<libc::pid_t>, options: i32) -> nix::Result<Option<Report>> {
    let (kind, number) = child.map_or((libc::P_ALL, 0), |pid| (libc::P_PID, pid));
    uninterrupted(|| {
        // SAFETY: siginfo_t is plain data, for which zeroes are valid; waitid fills the fields of SIGCHLD, or leaves
        // them zero. `nix` cannot name all real-time signals.
        let report = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            Errno::result(libc::waitid(
                kind,
                number as libc::id_t,
                &raw mut info,
                options,
            ))?;
            Report {
                pid: info.si_pid(),
                code: info.si_code,
                status: info.si_status(),
            }
        };
        Ok((report.pid != 0).then_some(report))
    })
}

impl Child {
    pub(super) fn new(pid: libc::pid_t, leads_group: bool, exec_error: OwnedFd) -> Child {
        Child {
            pid,
            leads_group,
            is_stopped: false,
            stopped_by: None,
            was_continued: false,
            exec_error,
        }
    }

    pub(crate) fn pid(&self) -> libc::pid_t {
        self.pid
    }

    /// Returns the child's process group, if it has its own.
    pub(crate) fn group(&self) -> Option<libc::pid_t> {
        self.leads_group.then_some(self.pid)
    }

    /// Returns how the child ended, or None while it runs. The child stays a zombie. The system may refuse to tell (a
    /// system call filter).
    pub(crate) fn ended(&self) -> Option<nix::Result<End>> {
        let report = wait(
            Some(self.pid),
            libc::WEXITED | libc::WNOWAIT | libc::WNOHANG,
        )
        .transpose()?;
        Some(report.map(|report| match report.code {
            libc::CLD_EXITED => End::Exited(report.status as u8),
            // 255: a signal that `Signal` cannot represent.
            _ => Signal::from_number(report.status).map_or(End::Exited(255), End::Signaled),
        }))
    }

    /// Returns exec's error if the process has ended because exec failed.
    pub(crate) fn exec_error(&self) -> Option<Errno> {
        let mut errno = [0; size_of::<i32>()];
        let count = uninterrupted(|| read(&self.exec_error, &mut errno)).ok()?;
        (count == errno.len()).then(|| Errno::from_raw(i32::from_ne_bytes(errno)))
    }

    /// Returns the stopping signal once for each stop, if the child is still stopped.
    pub(crate) fn newly_stopped(&mut self) -> Option<Signal> {
        self.read_changes();
        self.stopped_by.take()
    }

    /// Returns true if the child was continued and has not stopped since. Reset by [`Child::forget_continued`].
    pub(crate) fn was_continued(&mut self) -> bool {
        self.read_changes();
        self.was_continued
    }

    pub(crate) fn forget_continued(&mut self) {
        self.was_continued = false;
    }

    pub(crate) fn is_stopped(&mut self) -> bool {
        self.read_changes();
        self.is_stopped
    }

    /// Updates the state: the kernel reports each stop and each continuation once.
    fn read_changes(&mut self) {
        while let Ok(Some(report)) = wait(
            Some(self.pid),
            libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG,
        ) {
            self.is_stopped = matches!(report.code, libc::CLD_STOPPED | libc::CLD_TRAPPED);
            self.was_continued = !self.is_stopped;
            self.stopped_by = Signal::from_number(report.status).filter(|_| self.is_stopped);
        }
    }

    /// Sends a signal to the child, once, and to the other members of the group that it was started to lead, if any.
    pub(crate) fn signal(&self, signal: Signal) {
        let group_now = || getpgid(Some(Pid::from_raw(self.pid)));
        // The child may have joined another group, while its children are still in the first.
        let has_left =
            self.leads_group && group_now().is_ok_and(|group| group.as_raw() != self.pid);
        if self.leads_group {
            send(Target::Group(self.pid), signal);
        }
        if !self.leads_group || has_left {
            send(Target::Process(self.pid), signal);
        }
    }

    /// Frees the process number. Waits for a process that is about to end.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "the number must not be used afterwards"
    )]
    pub(crate) fn reap(self) {
        let _ = wait(Some(self.pid), libc::WEXITED);
    }
}

/// Reaps ended children other than the attempt, which is left to [`Child::reap`]: orphans, and children that have asked
/// a store.
pub(crate) fn reap_orphans(attempt: Option<libc::pid_t>) {
    while let Ok(Some(ended)) = wait(None, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG) {
        // waitid would report the attempt again; the next call reaps later orphans.
        if Some(ended.pid) == attempt {
            return;
        }
        let _ = wait(Some(ended.pid), libc::WEXITED | libc::WNOHANG);
    }
}
