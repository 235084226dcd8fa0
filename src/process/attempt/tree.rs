//! The process tree of an attempt that a limit has ended.
//!
//! Members are the processes of the attempt's own group, if it has one, and its descendants in the system's list of
//! processes. Members are identified by number and start time: a member whose parent has died stays known, and a reused
//! number is never signalled. Without a list, only the group or the process itself is signalled.

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
        // The group is signalled as a whole.
        let others = || self.known.iter().filter(|process| child.group() != Some(process.group));
        for signal in signals {
            child.signal(*signal);
            others().for_each(|process| send_to(process, *signal));
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

    /// Returns true unless no member besides the attempt's own process is left. Without a list of processes, its group may
    /// have members.
    pub(crate) fn may_have_survivors(&mut self, child: &Child) -> bool {
        match self.update(child) {
            Some(()) => !self.known.is_empty(),
            None => child.group().is_some(),
        }
    }

    /// Updates the list of members. Returns None if the system has no list of processes.
    fn update(&mut self, child: &Child) -> Option<()> {
        let mut others = processes()?;
        let mut members: Vec<Process> = Vec::new();
        loop {
            let is_parent = |pid| pid == child.pid() || members.iter().any(|member| member.pid == pid);
            // Known members may have lost their parents.
            let is_known = |process: &Process| self.known.iter().any(|known| known.is_same(process));
            let is_member = |process: &Process| {
                child.group() == Some(process.group) || is_parent(process.parent) || is_known(process)
            };
            let (found, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_member);
            if found.is_empty() {
                break;
            }
            members.extend(found);
            others = rest;
        }
        members.retain(|process| process.pid != child.pid() && !process.is_zombie);
        self.known = members;
        Some(())
    }
}

/// Sends a signal to a process unless its number was reused.
fn send_to(process: &Process, signal: Signal) {
    if read(process.pid).is_some_and(|now| now.is_same(process)) {
        send(Target::Process(process.pid), signal);
    }
}
