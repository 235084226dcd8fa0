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
    leads_group: bool,
    is_stopped: bool,
    /// The stopping signal, until [`Child::newly_stopped`] has returned it.
    stopped_by: Option<Signal>,
    was_continued: bool,
    /// Holds the errno of a failed exec.
    failure: OwnedFd,
}

/// A report of `waitid(2)` about a child.
#[derive(Debug, Clone, Copy)]
struct Report {
    pid: libc::pid_t,
    code: i32,
    /// The exit code or the signal number.
    status: i32,
}

/// Calls `waitid(2)` for a child, or for any child with `pid` 0.
#[allow(clippy::cast_lossless, reason = "its numbers are as wide as these, but on FreeBSD")]
fn wait(pid: libc::pid_t, options: i32) -> nix::Result<Option<Report>> {
    let kind = if pid == 0 { libc::P_ALL } else { libc::P_PID };
    uninterrupted(|| {
        // SAFETY: siginfo_t is plain data, for which zeroes are valid; waitid fills the fields of SIGCHLD, or leaves
        // them zero. `nix` cannot name all real-time signals.
        let (result, report) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let result = libc::waitid(kind, pid as libc::id_t, &raw mut info, options);
            let report = Report {
                pid: info.si_pid(),
                code: info.si_code,
                status: info.si_status(),
            };
            (result, report)
        };
        Errno::result(result)?;
        Ok((report.pid != 0).then_some(report))
    })
}

impl Child {
    pub(super) fn new(pid: libc::pid_t, leads_group: bool, failure: OwnedFd) -> Child {
        Child {
            pid,
            leads_group,
            is_stopped: false,
            stopped_by: None,
            was_continued: false,
            failure,
        }
    }

    pub(crate) fn pid(&self) -> libc::pid_t {
        self.pid
    }

    /// Returns the child's process group, if it has its own.
    pub(crate) fn group(&self) -> Option<libc::pid_t> {
        self.leads_group.then_some(self.pid)
    }

    /// Returns how the child ended, if it has ended. The child stays a zombie. The system may refuse to tell (a system
    /// call filter).
    pub(crate) fn ended(&self) -> Option<nix::Result<End>> {
        let report = wait(self.pid, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG).transpose()?;
        Some(report.map(|report| match report.code {
            libc::CLD_EXITED => End::Exited(report.status as u8),
            _ => Signal::from_number(report.status).map_or(End::Exited(255), End::Signaled),
        }))
    }

    /// Returns exec's error if the process has ended because exec failed.
    pub(crate) fn exec_error(&self) -> Option<Errno> {
        let mut errno = [0; size_of::<i32>()];
        let count = uninterrupted(|| read(&self.failure, &mut errno)).ok()?;
        (count == errno.len()).then(|| Errno::from_raw(i32::from_ne_bytes(errno)))
    }

    /// Returns the stopping signal once for each stop, if the child is still stopped.
    pub(crate) fn newly_stopped(&mut self) -> Option<Signal> {
        self.is_stopped();
        self.stopped_by.take()
    }

    /// Returns true if the child was continued and has not stopped since. Reset by [`Child::forget_continued`].
    pub(crate) fn was_continued(&mut self) -> bool {
        self.is_stopped();
        self.was_continued
    }

    pub(crate) fn forget_continued(&mut self) {
        self.was_continued = false;
    }

    pub(crate) fn is_stopped(&mut self) -> bool {
        while let Ok(Some(report)) = wait(self.pid, libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG) {
            self.is_stopped = matches!(report.code, libc::CLD_STOPPED | libc::CLD_TRAPPED);
            self.was_continued = !self.is_stopped;
            self.stopped_by = Signal::from_number(report.status).filter(|_| self.is_stopped);
        }
        self.is_stopped
    }

    /// Sends a signal to the process, once, and to the rest of its group if it was started in its own.
    pub(crate) fn signal(&self, signal: Signal) {
        // The process may have joined another group, while its children are still in the first.
        let has_left = || getpgid(Some(Pid::from_raw(self.pid))).is_ok_and(|group| group.as_raw() != self.pid);
        let is_in_group = self.leads_group && !has_left();
        if self.leads_group {
            send(Target::Group(self.pid), signal);
        }
        if !is_in_group {
            send(Target::Process(self.pid), signal);
        }
    }

    /// Frees the process number. Waits for a process that is about to end.
    #[allow(clippy::needless_pass_by_value, reason = "the number must not be used afterwards")]
    pub(crate) fn reap(self) {
        let _ = wait(self.pid, libc::WEXITED);
    }
}

/// As process 1, reaps every process that has ended, up to `attempt`; the next call reaps later orphans.
pub(crate) fn reap_orphans(attempt: Option<libc::pid_t>) {
    if std::process::id() != 1 {
        return;
    }
    while let Ok(Some(ended)) = wait(0, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG) {
        if Some(ended.pid) == attempt {
            return;
        }
        let _ = wait(ended.pid, libc::WEXITED | libc::WNOHANG);
    }
}
