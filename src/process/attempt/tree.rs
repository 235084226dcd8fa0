//! The process tree of an attempt that a bound has ended.
//!
//! Its members are the attempt's process group, where it has one of its own, and its descendants,
//! found in the system's list of processes. They are remembered by number and start time, so that those whose parent has
//! died in the meantime are still known and no recycled number is taken for one of them. Without
//! such a list only the group, or only the process itself, is signalled.

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
        self.update(child);
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

    /// Continues stopped members of the attempt's group, if it has one of its own.
    pub(crate) fn continue_group(&mut self, child: &Child) {
        let Some(group) = child.group() else { return };
        self.update(child);
        let in_group = self.known.iter().filter(|process| process.group == group);
        for process in in_group.filter(|process| process.is_stopped) {
            send_to(process, Signal::CONT);
        }
    }

    /// Returns true if a member besides the attempt's own process is left; None if the system does not tell.
    pub(crate) fn has_survivors(&mut self, child: &Child) -> Option<bool> {
        self.update(child).then_some(!self.known.is_empty())
    }

    /// Brings the list of members up to date. Returns false if the system has no list of processes.
    fn update(&mut self, child: &Child) -> bool {
        let Some(all) = processes() else { return false };
        let root = child.pid();
        let is_known = |process: &Process| self.known.iter().any(|known| known.is_same(process));
        // Members found earlier may have lost their parents since.
        let in_tree = |process: &&Process| is_known(process) || child.group() == Some(process.group);
        let mut members: Vec<Process> = all.iter().filter(in_tree).copied().collect();
        loop {
            let is_member = |pid| pid == root || members.iter().any(|member| member.pid == pid);
            let descends = |process: &&Process| is_member(process.parent) && !is_member(process.pid);
            let found: Vec<Process> = all.iter().filter(descends).copied().collect();
            if found.is_empty() {
                break;
            }
            members.extend(found);
        }
        members.retain(|process| process.pid != root && !process.is_zombie);
        self.known = members;
        true
    }
}

/// Sends a signal to a process if its number still means the same one.
fn send_to(process: &Process, signal: Signal) {
    if read(process.pid).is_some_and(|now| now.is_same(process)) {
        send(Target::Process(process.pid), signal);
    }
}
