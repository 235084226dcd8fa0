//! The process tree of an attempt that a bound has ended.
//!
//! Its members are the attempt's process group, where it has one of its own, and its descendants,
//! found in `/proc`. They are remembered by number and start time, so that those whose parent has
//! died in the meantime are still known and no recycled number is taken for one of them. Without a
//! usable `/proc` only the group, or only the process itself, is signalled.

#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd, OwnedFd};

#[cfg(target_os = "linux")]
use nix::libc;
#[cfg(target_os = "linux")]
use rustix::process::PidfdFlags;

use crate::policy::signal::Signal;
use crate::process::spawn::child::Child;
#[cfg(target_os = "linux")]
use crate::process::sys::current::{Target, send};
#[cfg(target_os = "linux")]
use crate::process::sys::processes::read;
use crate::process::sys::processes::{Process, processes};

/// The members found so far, besides the attempt's own process.
#[derive(Debug, Default)]
pub(crate) struct ProcessTree {
    known: Vec<Process>,
}

impl ProcessTree {
    /// Sends a signal to every member.
    pub(crate) fn signal(&mut self, child: &Child, signal: Signal) {
        self.look(child);
        child.signal(signal);
        // The group has it already.
        for process in self.known.iter().filter(|process| child.group() != Some(process.group)) {
            send_to(process, signal);
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
#[cfg(target_os = "linux")]
fn send_to(process: &Process, signal: Signal) {
    // A descriptor names one process, whatever happens to the number.
    let pid = rustix::process::Pid::from_raw(process.pid);
    let pidfd = pid.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    let is_same = || read(process.pid).is_some_and(|now| now.started == process.started);
    let sent = pidfd.is_some_and(|pidfd| is_same() && send_through(&pidfd, signal));
    // A kernel before 5.3, a filter that does not know the calls, or no descriptor left to compare with.
    if !sent && is_same() {
        send(Target::Process(process.pid), signal);
    }
}

#[cfg(target_os = "linux")]
fn send_through(pidfd: &OwnedFd, signal: Signal) -> bool {
    // SAFETY: a pidfd, a number, and no record. Not `rustix`, which cannot name all real-time signals.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal.number(), 0, 0) };
    result == 0
}

#[cfg(not(target_os = "linux"))]
fn send_to(_process: &Process, _signal: Signal) {}
