//! The process tree of an attempt that a bound has ended.
//!
//! Its members are the attempt's process group, where it has one of its own, and its descendants,
//! found in the system's list of processes. They are remembered by number and start time, so that those whose parent has
//! died in the meantime are still known and no recycled number is taken for one of them. Without
//! such a list only the group, or only the process itself, is signalled.

#[cfg(not(portable))]
use std::os::fd::{AsRawFd, OwnedFd};

#[cfg(not(portable))]
use nix::libc;
#[cfg(not(portable))]
use rustix::process::PidfdFlags;

use crate::policy::signal::Signal;
use crate::process::signals::{Target, send};
use crate::process::spawn::child::Child;
use crate::process::sys::processes::{Process, processes, read};

/// The members found so far, besides the attempt's own process.
#[derive(Debug, Default)]
pub(crate) struct ProcessTree {
    known: Vec<Process>,
}

impl ProcessTree {
    /// Sends each signal to every member.
    pub(crate) fn signal(&mut self, child: &Child, signals: &[Signal]) {
        self.look(child);
        for signal in signals {
            child.signal(*signal);
        }
        // The group has them already.
        for process in self.known.iter().filter(|process| child.group() != Some(process.group)) {
            for signal in signals {
                send_to(process, *signal);
            }
        }
    }

    /// Continues whoever is stopped of the attempt's group, where it has one of its own.
    pub(crate) fn continue_group(&mut self, child: &Child) {
        let Some(group) = child.group() else { return };
        self.look(child);
        for process in self
            .known
            .iter()
            .filter(|process| process.group == group && process.is_stopped)
        {
            send_to(process, Signal::CONT);
        }
    }

    /// Whether a member besides the attempt's own process is still there; None if nobody can say.
    pub(crate) fn has_survivors(&mut self, child: &Child) -> Option<bool> {
        let looked = self.look(child);
        looked.then_some(!self.known.is_empty())
    }

    /// Brings the list of members up to date; false where `/proc` is of no use.
    fn look(&mut self, child: &Child) -> bool {
        let Some(all) = processes() else { return false };
        let root = child.pid();
        let mut members: Vec<Process> = Vec::new();
        let mut parents = vec![root];
        // Those found earlier may have lost their parents since.
        for process in &all {
            let is_known = self
                .known
                .iter()
                .any(|known| (known.pid, known.started) == (process.pid, process.started));
            if process.pid != root && (is_known || child.group() == Some(process.group)) {
                members.push(*process);
                parents.push(process.pid);
            }
        }
        while let Some(parent) = parents.pop() {
            for process in all
                .iter()
                .filter(|process| process.parent == parent && process.pid != root)
            {
                if !members.iter().any(|member| member.pid == process.pid) {
                    members.push(*process);
                    parents.push(process.pid);
                }
            }
        }
        members.retain(|process| !process.is_zombie);
        self.known = members;
        true
    }
}

/// Sends a signal to a process if its number still means the same one.
fn send_to(process: &Process, signal: Signal) {
    let is_same = || read(process.pid).is_some_and(|now| now.started == process.started);
    // Without pidfds: not Linux, a kernel before 5.3, a filter that does not know the calls, or no descriptor left to
    // compare with.
    if !send_through_descriptor(process, signal, is_same) && is_same() {
        send(Target::Process(process.pid), signal);
    }
}

/// A descriptor names one process, whatever happens to the number. Whether it was sent.
#[cfg(not(portable))]
fn send_through_descriptor(process: &Process, signal: Signal, is_same: impl Fn() -> bool) -> bool {
    let pid = rustix::process::Pid::from_raw(process.pid);
    let pidfd = pid.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    let send = |pidfd: OwnedFd| {
        // SAFETY: a pidfd, a number, and no record. Not `rustix`, which cannot name all real-time signals.
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal.number(), 0, 0) == 0 }
    };
    pidfd.is_some_and(|pidfd| is_same() && send(pidfd))
}

#[cfg(portable)]
fn send_through_descriptor(_process: &Process, _signal: Signal, _is_same: impl Fn() -> bool) -> bool {
    false
}
