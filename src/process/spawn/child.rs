//! The attempt's process: what became of it, and signals to it. Its number is reaped only by
//! [`Child::reap`], which consumes it, so that no signal can ever reach a recycled number.

use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Pid, getpgid, read};

use crate::policy::signal::Signal;
use crate::process::sys::current::{Target, send};
use crate::process::sys::fd::uninterrupted;

/// A process that backoff started and has not reaped.
#[derive(Debug)]
pub(crate) struct Child {
    pid: libc::pid_t,
    /// Whether it leads a process group of its own.
    leads_group: bool,
    stopped: bool,
    /// What stopped it, until [`Child::newly_stopped`] has told.
    stopped_by: Option<Signal>,
    continued: bool,
    /// Holds exec's errno once an exec that failed has ended the process.
    failure: OwnedFd,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// By itself.
    Exited(u8),
    /// By a signal.
    Signaled(Signal),
    /// The system does not tell (a filter of system calls).
    Unknown(Errno),
}

/// What `waitid(2)` says of a child.
#[derive(Debug, Clone, Copy)]
struct Report {
    pid: libc::pid_t,
    code: i32,
    /// The exit code or the signal.
    status: i32,
}

/// What `waitid(2)` says at once about a child, or about any child with `pid` 0.
fn look(pid: libc::pid_t, options: i32) -> Option<Report> {
    wait(pid, options | libc::WNOHANG).ok().flatten()
}

/// What `waitid(2)` says.
#[allow(clippy::cast_lossless, reason = "its numbers are as wide as these, but on FreeBSD")]
fn wait(pid: libc::pid_t, options: i32) -> nix::Result<Option<Report>> {
    let kind = if pid == 0 { libc::P_ALL } else { libc::P_PID };
    uninterrupted(|| {
        // SAFETY: siginfo_t is plain data, for which zeroes are valid; waitid fills the fields of SIGCHLD, or leaves
        // them zero. Not `nix`, which cannot name all real-time signals, nor `rustix`, which does not tell the number.
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
            stopped: false,
            stopped_by: None,
            continued: false,
            failure,
        }
    }

    /// The process number; valid as long as this value lives.
    pub(crate) fn pid(&self) -> libc::pid_t {
        self.pid
    }

    /// The process group, if it has one of its own.
    pub(crate) fn group(&self) -> Option<libc::pid_t> {
        self.leads_group.then_some(self.pid)
    }

    /// How it ended, if it has. It stays a zombie.
    pub(crate) fn ended(&self) -> Option<Ended> {
        let report = match wait(self.pid, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG) {
            Ok(report) => report?,
            Err(errno) => return Some(Ended::Unknown(errno)),
        };
        Some(match report.code {
            libc::CLD_EXITED => Ended::Exited(report.status as u8),
            _ => Signal::from_number(report.status).map_or(Ended::Exited(255), Ended::Signaled),
        })
    }

    /// Returns exec's error if the process has ended because exec failed.
    pub(crate) fn exec_error(&self) -> Option<Errno> {
        let mut errno = [0; size_of::<i32>()];
        let count = uninterrupted(|| read(&self.failure, &mut errno)).ok()?;
        (count == errno.len()).then(|| Errno::from_raw(i32::from_ne_bytes(errno)))
    }

    /// The signal that stopped it, if it was stopped since this was last asked.
    pub(crate) fn newly_stopped(&mut self) -> Option<Signal> {
        self.look_for_stops();
        self.stopped_by.take()
    }

    /// Whether it was continued, and not stopped since, and [`Child::forget_continued`] was not called since.
    pub(crate) fn was_continued(&mut self) -> bool {
        self.look_for_stops();
        self.continued
    }

    /// Nobody has to know any more that it was continued.
    pub(crate) fn forget_continued(&mut self) {
        self.continued = false;
    }

    /// Whether it is stopped.
    pub(crate) fn is_stopped(&mut self) -> bool {
        self.look_for_stops();
        self.stopped
    }

    fn look_for_stops(&mut self) {
        while let Some(report) = look(self.pid, libc::WSTOPPED | libc::WCONTINUED) {
            self.stopped = matches!(report.code, libc::CLD_STOPPED | libc::CLD_TRAPPED);
            self.continued = !self.stopped;
            self.stopped_by = Signal::from_number(report.status).filter(|_| self.stopped);
        }
    }

    /// Sends a signal to the process, once, and to the others of its group if it was given one of its own.
    pub(crate) fn signal(&self, signal: Signal) {
        // The number is not reaped yet, so it is still this process's (and its group's).
        let is_in_group = self.leads_group && !self.has_left_its_group();
        if self.leads_group {
            send(Target::Group(self.pid), signal);
        }
        if !is_in_group {
            send(Target::Process(self.pid), signal);
        }
    }

    /// It may have joined another one; what it has started may be in this one still.
    fn has_left_its_group(&self) -> bool {
        getpgid(Some(Pid::from_raw(self.pid))).is_ok_and(|group| group.as_raw() != self.pid)
    }

    /// Gives the number back to the kernel. The process has ended, or is about to: one that could not
    /// become the command may still be on its way out.
    #[allow(clippy::needless_pass_by_value, reason = "nobody may use the number afterwards")]
    pub(crate) fn reap(self) {
        let _ = wait(self.pid, libc::WEXITED);
    }
}

/// As PID 1: reaps every process that ended and is not `attempt`, which may have ended too. Orphans
/// found after it are reaped the next time.
pub(crate) fn reap_orphans(attempt: Option<libc::pid_t>) {
    while let Some(ended) = look(0, libc::WEXITED | libc::WNOWAIT) {
        if Some(ended.pid) == attempt {
            return;
        }
        look(ended.pid, libc::WEXITED);
    }
}
