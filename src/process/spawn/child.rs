//! The attempt's process: what became of it, and signals to it. Its number is reaped only by
//! [`Child::reap`], which consumes it, so that no signal can ever reach a recycled number.

use nix::errno::Errno;
use nix::libc;

use crate::policy::signal::Signal;

/// A process that backoff started and has not reaped.
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
    /// Whether it leads a process group of its own.
    leads_group: bool,
    stopped: bool,
    /// What stopped it, until [`Child::newly_stopped`] has told.
    stopped_by: Option<Signal>,
    /// It was continued, and [`Child::newly_continued`] has not told yet.
    continued: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Exited(u8),
    /// By a signal.
    Signaled(Signal),
    /// The system does not tell (a filter of system calls).
    Unknown(Errno),
}

/// What `waitid(2)` says at once about a child, or about any child with `pid` 0.
fn look(pid: libc::pid_t, options: i32) -> Option<libc::siginfo_t> {
    wait(pid, options | libc::WNOHANG).ok().flatten()
}

/// What `waitid(2)` says.
fn wait(pid: libc::pid_t, options: i32) -> nix::Result<Option<libc::siginfo_t>> {
    loop {
        // SAFETY: siginfo_t is plain data, for which zeroes are valid; waitid writes only there.
        let (result, info) = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let kind = if pid == 0 { libc::P_ALL } else { libc::P_PID };
            (libc::waitid(kind, pid as libc::id_t, &raw mut info, options), info)
        };
        // SAFETY: waitid filled the fields of SIGCHLD, or left them zero.
        let is_filled = unsafe { info.si_pid() } != 0;
        match result {
            0 => return Ok(is_filled.then_some(info)),
            _ if Errno::last() == Errno::EINTR => {}
            _ => return Err(Errno::last()),
        }
    }
}

impl Child {
    pub(super) fn new(pid: libc::pid_t, leads_group: bool) -> Child {
        Child {
            pid,
            leads_group,
            stopped: false,
            stopped_by: None,
            continued: false,
        }
    }

    /// The process number; valid as long as this value lives.
    pub fn pid(&self) -> libc::pid_t {
        self.pid
    }

    /// The process group, if it has one of its own.
    pub fn group(&self) -> Option<libc::pid_t> {
        self.leads_group.then_some(self.pid)
    }

    /// How it ended, if it has. It stays a zombie.
    pub fn ended(&self) -> Option<Ended> {
        let info = match wait(self.pid, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG) {
            Ok(info) => info?,
            Err(errno) => return Some(Ended::Unknown(errno)),
        };
        // SAFETY: an exited child's record has a status.
        let status = unsafe { info.si_status() };
        Some(match info.si_code {
            libc::CLD_EXITED => Ended::Exited(status as u8),
            _ => Signal::from_number(status).map_or(Ended::Exited(255), Ended::Signaled),
        })
    }

    /// The signal that stopped it, if it was stopped since this was last asked.
    pub fn newly_stopped(&mut self) -> Option<Signal> {
        self.look_for_stops();
        self.stopped_by.take()
    }

    /// Whether it was continued since this was last asked.
    pub fn newly_continued(&mut self) -> bool {
        self.look_for_stops();
        std::mem::take(&mut self.continued)
    }

    /// Whether it was continued and [`Child::newly_continued`] has not told yet.
    pub fn was_continued(&mut self) -> bool {
        self.look_for_stops();
        self.continued
    }

    /// Whether it is stopped.
    pub fn is_stopped(&mut self) -> bool {
        self.look_for_stops();
        self.stopped
    }

    fn look_for_stops(&mut self) {
        while let Some(info) = look(self.pid, libc::WSTOPPED | libc::WCONTINUED) {
            // SAFETY: a stopped or continued child's record has a status.
            let status = unsafe { info.si_status() };
            self.stopped = matches!(info.si_code, libc::CLD_STOPPED | libc::CLD_TRAPPED);
            self.continued = !self.stopped;
            self.stopped_by = if self.stopped {
                Signal::from_number(status)
            } else {
                None
            };
        }
    }

    /// Sends a signal to the process, or to its group if it has one of its own.
    pub fn signal(&self, signal: Signal) {
        let target = if self.leads_group { -self.pid } else { self.pid };
        // SAFETY: the number is not reaped yet, so it is still this process's (and its group's).
        unsafe {
            libc::kill(target, signal.number());
        }
    }

    /// Gives the number back to the kernel. The process has ended, or is about to: one that could not
    /// become the command may still be on its way out.
    #[allow(clippy::needless_pass_by_value, reason = "nobody may use the number afterwards")]
    pub fn reap(self) {
        let _ = wait(self.pid, libc::WEXITED);
    }
}

/// As PID 1: reaps every process that ended and is not `attempt`, which may have ended too. Orphans
/// found after it are reaped the next time.
pub fn reap_orphans(attempt: Option<libc::pid_t>) {
    while let Some(info) = look(0, libc::WEXITED | libc::WNOWAIT) {
        // SAFETY: an ended child's record has its number.
        let pid = unsafe { info.si_pid() };
        if Some(pid) == attempt {
            return;
        }
        look(pid, libc::WEXITED);
    }
}
