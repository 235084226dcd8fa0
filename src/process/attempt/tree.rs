//! The process tree of an attempt that a limit has ended.
//!
//! Members are the processes of the attempt's own group, if it has one, and its descendants in the system's list of
//! processes. Members are identified by number and start time: a member whose parent has died stays known, and a reused
//! number is never signalled. Without a list, only the group or the process itself is signalled.

use crate::policy::signal::Signal;
use crate::process::signals::{Target, send};
use crate::process::spawn::child::Child;
use crate::process::sys::processes::{Process, processes, read_process};

/// The members found so far, besides the attempt's own process.
#[derive(Debug, Default)]
pub(crate) struct ProcessTree {
    known: Vec<Process>,
}

impl ProcessTree {
    /// Sends each signal to every member.
    pub(crate) fn signal(&mut self, child: &Child, signals: &[Signal]) {
        self.update(child);
        let outside_group = || {
            self.known
                .iter()
                .filter(|process| child.group() != Some(process.group))
        };
        for signal in signals {
            // Also reaches the child's whole group, if it has its own.
            child.signal(*signal);
            outside_group().for_each(|process| send_to(process, *signal));
        }
    }

    /// Continues stopped members of the attempt's group, if it has one of its own. Running members get no CONT.
    pub(crate) fn continue_group(&mut self, child: &Child) {
        let Some(group) = child.group() else { return };
        self.update(child);
        let in_group = self.known.iter().filter(|process| process.group == group);
        for process in in_group.filter(|process| process.is_stopped) {
            send_to(process, Signal::CONT);
        }
    }

    /// Returns false once no member besides the attempt's own process is left. Without a list of processes, its group
    /// may have members.
    pub(crate) fn may_have_survivors(&mut self, child: &Child) -> bool {
        let has_list = self.update(child);
        if has_list {
            !self.known.is_empty()
        } else {
            child.group().is_some()
        }
    }

    /// Updates the list of members. Returns false if the system has no list of processes.
    fn update(&mut self, child: &Child) -> bool {
        let Some(mut candidates) = processes() else {
            return false;
        };
        let mut members: Vec<Process> = Vec::new();
        // Each round finds children of the members of earlier rounds.
        loop {
            let is_parent =
                |pid| pid == child.pid() || members.iter().any(|member| member.pid == pid);
            // Known members may have lost their parents.
            let is_known =
                |process: &Process| self.known.iter().any(|known| known.is_same(process));
            let is_member = |process: &Process| {
                child.group() == Some(process.group)
                    || is_parent(process.parent)
                    || is_known(process)
            };
            let (found, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_member);
            if found.is_empty() {
                break;
            }
            members.extend(found);
            candidates = others;
        }
        members.retain(|process| process.pid != child.pid() && !process.is_zombie);
        self.known = members;
        true
    }
}

/// Sends a signal to a process unless its number was reused.
fn send_to(process: &Process, signal: Signal) {
    if read_process(process.pid).is_some_and(|now| now.is_same(process)) {
        send(Target::Process(process.pid), signal);
    }
}
