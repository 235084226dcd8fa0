//! The process of an attempt: its state, and signals to it. It stays a zombie after its end until it is reaped, and a
//! reaped child is never signalled: so no signal can reach another process that got its number.

use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Pid, getpgid};

use crate::policy::outcome::{End, StartFailure};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, is_protected, send};
use crate::run::uninterrupted;

/// Longest report of a failed start, in bytes: one write to a pipe.
const LONGEST_REPORT: usize = 4096;
/// First bytes of a report: they decide between the exit statuses 127 and 126.
const NOT_FOUND: u8 = b'1';
const FOUND: u8 = b'0';

/// A process that backoff started, until it is reaped ([`Child::reap`]): not on drop, as that would wait for its end.
#[derive(Debug)]
pub(crate) struct Child {
    pid: libc::pid_t,
    /// The child was started as the leader of a process group.
    leads_group: bool,
    is_stopped: bool,
    /// The stopping signal, until [`Child::newly_stopped`] has returned it.
    stopped_by: Option<Signal>,
    /// A pipe that exec closes; it holds a report if the program could not be started.
    start_report: PipeReader,
}

/// A change of a child's state, as `waitid(2)` reports it.
struct StateChange {
    pid: libc::pid_t,
    code: i32,
    /// The exit code or the signal number.
    status: i32,
}

/// Calls `waitid(2)` for a child, or for any if `child` is None. Returns None if no state has changed. `options` are
/// those of `waitid`: which changes are reported; without WNOHANG it waits for one; with WNOWAIT an ended child stays a
/// zombie, otherwise it is reaped. An error is ECHILD without such a child, or a refusal by the system.
#[allow(
    clippy::cast_lossless,
    reason = "id_t is wider than pid_t on FreeBSD only"
)]
fn wait(child: Option<libc::pid_t>, options: i32) -> nix::Result<Option<StateChange>> {
    let kind = if child.is_some() {
        libc::P_PID
    } else {
        libc::P_ALL
    };
    let number = child.unwrap_or(0);
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
            StateChange {
                pid: info.si_pid(),
                code: info.si_code,
                status: info.si_status(),
            }
        };
        // Not filled, as no state has changed.
        Ok((report.code != 0).then_some(report))
    })
}

impl Child {
    /// Describes a process that was just forked. `start_report` is the reading end of the pipe that exec closes; it has
    /// to be non-blocking, so that reading the report never waits.
    pub(super) fn new(pid: libc::pid_t, leads_group: bool, start_report: OwnedFd) -> Child {
        Child {
            pid,
            leads_group,
            is_stopped: false,
            stopped_by: None,
            start_report: start_report.into(),
        }
    }

    pub(crate) fn pid(&self) -> libc::pid_t {
        self.pid
    }

    /// Returns the child's process group, if it has its own.
    pub(crate) fn group(&self) -> Option<libc::pid_t> {
        self.leads_group.then_some(self.pid)
    }

    /// Returns how the child ended, or None while it runs, without waiting. The child stays a zombie, so later calls
    /// return the same, and no other process gets its number. An error means that the system refuses to tell (a system
    /// call filter), so that the child may still run.
    pub(crate) fn ended(&self) -> Option<nix::Result<End>> {
        let options = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
        let report = match wait(Some(self.pid), options) {
            Ok(Some(report)) => report,
            Ok(None) => return None,
            Err(errno) => return Some(Err(errno)),
        };
        if report.code == libc::CLD_EXITED {
            return Some(Ok(End::Exited(report.status as u8)));
        }
        // A signal has ended it, with or without a core.
        match Signal::from_number(report.status) {
            Some(signal) => Some(Ok(End::Signaled(signal))),
            // A number that `Signal` cannot represent; Linux has none.
            None => Some(Ok(End::Exited(255))),
        }
    }

    /// Returns the reason if the process has ended because the program could not be started; None if it was started, or
    /// if the process died before it could tell. Called once, when the attempt is over: the report is read from a pipe.
    /// Only this tells a failed exec from a command that itself exits with 126 or 127.
    pub(crate) fn start_failure(&self) -> Option<StartFailure> {
        let mut report = Vec::new();
        // EAGAIN, as a child that could not be ended still hangs in exec: it has reported nothing.
        let _ = (&self.start_report).read_to_end(&mut report);
        decode_failure(&report)
    }

    /// Returns the signal that has stopped the child, once for each stop. None if the child has not stopped since the
    /// last call, or was continued meanwhile.
    pub(crate) fn newly_stopped(&mut self) -> Option<Signal> {
        self.read_changes();
        self.stopped_by.take()
    }

    pub(crate) fn is_stopped(&mut self) -> bool {
        self.read_changes();
        self.is_stopped
    }

    /// Reads all stops and continuations since the last call, and remembers the state after the last one: the kernel
    /// reports each only once, and several methods ask. After a continuation no stop is left to report.
    fn read_changes(&mut self) {
        while let Ok(Some(report)) = wait(
            Some(self.pid),
            libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG,
        ) {
            self.is_stopped = matches!(report.code, libc::CLD_STOPPED | libc::CLD_TRAPPED);
            // `status` is the stopping signal, or CONT.
            self.stopped_by = if self.is_stopped {
                Signal::from_number(report.status)
            } else {
                None
            };
        }
    }

    /// Forwards a signal: to the child's group if the signal is for a whole job. Others, such as HUP and USR1, tell one
    /// process something, a server to reload.
    pub(crate) fn forward(&self, signal: Signal) {
        let _ = match signal.is_for_job() {
            true => self.signal(signal),
            false => send(Target::Process(self.pid), signal),
        };
    }

    /// Sends a signal to the child, once, and to the other members of the group that it was started to lead, if any. In
    /// backoff's own group only the child gets it. Returns EPERM if this user may signal no receiver, or may not signal
    /// a child that has left its group.
    pub(crate) fn signal(&self, signal: Signal) -> nix::Result<()> {
        if !self.leads_group {
            return send(Target::Process(self.pid), signal);
        }
        let to_group = send(Target::Group(self.pid), signal);
        // A new child may not lead its group yet, so that the group does not exist; and a program may have joined
        // another group while its children are still in the first.
        let group_now = getpgid(Some(Pid::from_raw(self.pid)));
        let is_outside = group_now.is_ok_and(|group| group.as_raw() != self.pid);
        if to_group == Err(Errno::ESRCH) || is_outside {
            return send(Target::Process(self.pid), signal);
        }
        to_group
    }

    /// Returns true if this user may not signal the child.
    pub(crate) fn is_protected(&self) -> bool {
        is_protected(Target::Process(self.pid))
    }

    /// Frees the process number of an ended child: it takes `self`, as the number must not be used afterwards. Waits
    /// for a process that has not ended, so it is only for one that is about to end.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "the number must not be used afterwards"
    )]
    pub(crate) fn reap(self) {
        let _ = wait(Some(self.pid), libc::WEXITED);
    }
}

/// Returns the bytes by which a child reports that the program could not be started.
pub(super) fn encode_failure(failure: &StartFailure) -> Vec<u8> {
    let mut report = vec![if failure.not_found { NOT_FOUND } else { FOUND }];
    report.extend(failure.message.bytes().take(LONGEST_REPORT - 1));
    report
}

/// Returns the failure that a child has reported by [`encode_failure`]. Returns None for an empty report: the program
/// was started, or the child died before it could tell, or still hangs in exec.
fn decode_failure(report: &[u8]) -> Option<StartFailure> {
    let (kind, message) = report.split_first()?;
    Some(StartFailure {
        not_found: *kind == NOT_FOUND,
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

/// Reaps ended children other than `attempt`, the process of the attempt, if one runs: its end is read by
/// [`Child::ended`] first. Others are orphans, which backoff inherits as process 1, as a child subreaper, or from a
/// shell that executed it, and children that have asked a store. They would stay zombies. Does not wait.
pub(crate) fn reap_orphans(attempt: Option<libc::pid_t>) {
    while let Ok(Some(ended)) = wait(None, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG) {
        // waitid would report the attempt again and again. Children behind it wait for the first call after the attempt
        // was reaped.
        if Some(ended.pid) == attempt {
            return;
        }
        let _ = wait(Some(ended.pid), libc::WEXITED | libc::WNOHANG);
    }
}
