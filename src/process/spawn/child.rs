//! The process of an attempt, with its state and the signals to it. It remains a zombie until it is reaped, and a
//! reaped child is never signalled. So no signal can reach another process that reuses its PID.

use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::libc;
use nix::unistd::{Pid, getpgid};

use crate::policy::outcome::{End, StartFailure};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, send};
use crate::run::uninterrupted;

/// Longest report of a failed start, in bytes. It is one write to a pipe.
const LONGEST_REPORT: usize = 4096;
/// First bytes of a report. They choose between the exit statuses 127 and 126.
const NOT_FOUND: u8 = b'1';
const FOUND: u8 = b'0';

/// A process that backoff started and that [`Child::reap`] has not reaped yet. Dropping does not reap it, as that would
/// wait for its exit.
#[derive(Debug)]
pub(crate) struct Child {
    pid: libc::pid_t,
    /// The child was started as a process group leader.
    leads_group: bool,
    is_stopped: bool,
    /// The signal that stopped the child, until [`Child::newly_stopped`] has returned it.
    stopped_by: Option<Signal>,
    /// A pipe that exec closes. It holds a report if the program could not be started.
    start_report: PipeReader,
}

/// A change of a child's state, as reported by `waitid(2)`.
struct StateChange {
    pid: libc::pid_t,
    code: i32,
    /// The exit code or the signal number.
    status: i32,
}

/// Calls `waitid(2)` for a child, or for any if `child` is None. Returns None if no state has changed. `options` select
/// the changes to report. Without WNOHANG the call waits for one. With WNOWAIT an exited child remains a zombie,
/// otherwise it is reaped. Returns ECHILD if there is no such child, or another error if the system refuses the call.
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
        // SAFETY: siginfo_t is plain data, for which zeroes are valid. waitid fills the fields of SIGCHLD, or leaves
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
        // Zero if no state has changed.
        Ok((report.code != 0).then_some(report))
    })
}

impl Child {
    /// Describes a process that was just forked. `start_report` is the read end of the pipe that exec closes. It must
    /// be non-blocking, so that reading the report never waits.
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

    /// Returns the child's own process group, if it has one.
    pub(crate) fn group(&self) -> Option<libc::pid_t> {
        self.leads_group.then_some(self.pid)
    }

    /// Returns how the child ended, or None while it runs, without waiting. The child remains a zombie, so later calls
    /// return the same, and its PID is not reused. Returns an error if the system refuses to tell (a system call
    /// filter), so the child may still be running.
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
        // Killed by a signal, with or without a core dump.
        match Signal::from_number(report.status) {
            Some(signal) => Some(Ok(End::Signaled(signal))),
            // `Signal` cannot represent this number. Linux has no such signal.
            None => Some(Ok(End::Exited(255))),
        }
    }

    /// Returns why the program could not be started. Returns None if it was started, or if the child died before it
    /// could tell. Called once, when the attempt is over, because the report is read from a pipe. Only this
    /// distinguishes a failed exec from a command that exits with 126 or 127.
    pub(crate) fn start_failure(&self) -> Option<StartFailure> {
        let mut report = Vec::new();
        // EAGAIN means that a child that could not be killed still hangs in exec and has reported nothing.
        let _ = (&self.start_report).read_to_end(&mut report);
        decode_failure(&report)
    }

    /// Returns the signal that stopped the child, once for each stop. Returns None if the child has not stopped since
    /// the last call, or was continued meanwhile.
    pub(crate) fn newly_stopped(&mut self) -> Option<Signal> {
        self.read_changes();
        self.stopped_by.take()
    }

    pub(crate) fn is_stopped(&mut self) -> bool {
        self.read_changes();
        self.is_stopped
    }

    /// Reads all stops and continuations since the last call, and keeps the latest state. The kernel reports each only
    /// once, and several methods ask. A continuation discards an unreported stop.
    fn read_changes(&mut self) {
        while let Ok(Some(report)) = wait(
            Some(self.pid),
            libc::WSTOPPED | libc::WCONTINUED | libc::WNOHANG,
        ) {
            self.is_stopped = matches!(report.code, libc::CLD_STOPPED | libc::CLD_TRAPPED);
            // `status` is the stopping signal, or SIGCONT.
            self.stopped_by = if self.is_stopped {
                Signal::from_number(report.status)
            } else {
                None
            };
        }
    }

    /// Forwards a signal, to the child's group if it is meant for a whole job. Others, such as SIGHUP and SIGUSR1, tell
    /// a single process something, for example a server to reload.
    pub(crate) fn forward(&self, signal: Signal) {
        let _ = match signal.is_for_job() {
            true => self.signal(signal),
            false => send(Target::Process(self.pid), signal),
        };
    }

    /// Sends a signal once to the child, and to the other members of the group that it was started to lead, if any. In
    /// backoff's own group only the child receives it. Returns EPERM if this user may signal no receiver, or may not
    /// signal a child that has left its group.
    pub(crate) fn signal(&self, signal: Signal) -> nix::Result<()> {
        if !self.leads_group {
            return send(Target::Process(self.pid), signal);
        }
        let to_group = send(Target::Group(self.pid), signal);
        // A new child may not lead its group yet, so the group does not exist. A program may also have joined another
        // group while its children are still in the first.
        let group_now = getpgid(Some(Pid::from_raw(self.pid)));
        let is_outside = group_now.is_ok_and(|group| group.as_raw() != self.pid);
        if to_group == Err(Errno::ESRCH) || is_outside {
            return send(Target::Process(self.pid), signal);
        }
        to_group
    }

    /// Frees the PID of an exited child. Takes `self`, as the PID must not be used afterwards. Waits for a process that
    /// has not exited, so use it only for one that is about to.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "the number must not be used afterwards"
    )]
    pub(crate) fn reap(self) {
        let _ = wait(Some(self.pid), libc::WEXITED);
    }
}

/// Encodes the report by which a child says that the program could not be started.
pub(super) fn encode_failure(failure: &StartFailure) -> Vec<u8> {
    let mut report = vec![if failure.not_found { NOT_FOUND } else { FOUND }];
    report.extend(failure.message.bytes().take(LONGEST_REPORT - 1));
    report
}

/// Decodes a report of [`encode_failure`]. Returns None for an empty report. Then the program was started, or the child
/// died before it could tell, or it still hangs in exec.
fn decode_failure(report: &[u8]) -> Option<StartFailure> {
    let (kind, message) = report.split_first()?;
    Some(StartFailure {
        not_found: *kind == NOT_FOUND,
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

/// Reaps exited children, which would otherwise remain zombies, without waiting. Skips `attempt`, the process of the
/// running attempt, if any, because [`Child::ended`] reads its end first. The others are orphans, which backoff
/// inherits as process 1, as a child subreaper, or from a shell that executed it.
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
