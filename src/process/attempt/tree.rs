//! The process tree of an attempt: the processes that have to end with it after a limit, as the next attempt would meet
//! what they hold (locks, ports).
//!
//! Members are the processes of the attempt's own group, if it has one, and its descendants in the system's list of
//! processes. Members are identified by number and start time: a member whose parent has died stays known, and a reused
//! number is never signalled. Without a list, only the group or the process itself is signalled.

use crate::policy::outcome::{Survival, Survivor};
use crate::policy::signal::Signal;
use crate::process::signals::{Target, is_protected, send};
use crate::process::spawn::child::Child;
use crate::process::sys::processes::{Adoption, Process, processes, program_name, read_process};

/// The members found by the last look at the system's list, besides the attempt's own process (`child`).
#[derive(Debug, Default)]
pub(crate) struct ProcessTree {
    known: Vec<Process>,
    /// Held while the tree ends, if the system lists no processes.
    adoption: Option<Adoption>,
}

/// The state of the attempt's own process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChildState {
    Runs,
    Ended,
}

/// The effect of sending KILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kill {
    /// The child or a member still ran, and this user may signal it.
    Needed,
    NotNeeded,
}

impl ProcessTree {
    /// Sends each signal to the child and to every member, after a new look for members. Failed sends do not matter:
    /// the receiver has ended, or is found as a survivor later. If the system lists no processes, backoff adopts
    /// orphans from now on, as only so it can see when the group has ended. To be called once: a second call would end
    /// the adoption, as it drops the first.
    pub(crate) fn signal(&mut self, child: &Child, signals: &[Signal]) {
        if !self.update(child) {
            self.adoption = Some(Adoption::begin());
        }
        for signal in signals {
            // Also reaches the child's whole group, if it has its own.
            let _ = child.signal(*signal);
            for process in &self.known {
                if child.group() != Some(process.group) {
                    send_to(process, *signal);
                }
            }
        }
    }

    /// Sends KILL to the child and to every member, after a new look for members. Returns `Needed` if it hit a process
    /// that still ran, so that the message may say "killed".
    pub(super) fn kill(&mut self, child: &Child, child_state: ChildState) -> Kill {
        let has_list = self.update(child);
        // Asked before KILL, which leaves nothing to ask about.
        let hits_child = child_state == ChildState::Runs && !child.is_protected();
        let hits_member = self
            .known
            .iter()
            .any(|process| !is_protected(Target::Process(process.pid)));
        let was_sent = child.signal(Signal::KILL).is_ok();
        for process in &self.known {
            send_to(process, Signal::KILL);
        }
        // Without a list, the caller has found members of the group, or the child still runs.
        let hits_unlisted = !has_list && was_sent;
        if hits_child || hits_member || hits_unlisted {
            Kill::Needed
        } else {
            Kill::NotNeeded
        }
    }

    /// Continues stopped members of the attempt's group, if it has one of its own, so that they can act on a signal.
    /// Running members get no CONT, which their handlers would see; nor does the child, which the caller knows to run.
    /// Its look for members, in the whole tree, is also the one that [`ProcessTree::protected`] goes by later.
    pub(crate) fn continue_group(&mut self, child: &Child) {
        let Some(group) = child.group() else { return };
        self.update(child);
        for process in &self.known {
            if process.group == group && process.is_stopped {
                send_to(process, Signal::CONT);
            }
        }
    }

    /// Returns the members that still run, besides the attempt's own process. If the system lists no processes, a group
    /// that still has members counts as one survivor; the ended child is reaped then, as its zombie would count as a
    /// member.
    pub(super) fn survivors(
        &mut self,
        child: &mut Child,
        child_state: ChildState,
    ) -> Vec<Survivor> {
        if self.update(child) {
            return self.known.iter().map(to_survivor).collect();
        }
        // While the child runs, other members of the group cannot be told from it.
        if child_state == ChildState::Runs || !child.has_group_members() {
            return Vec::new();
        }
        vec![Survivor {
            pid: child.pid(),
            program: "its process group".to_owned(),
            // The child itself is reaped.
            why: survival(Target::Group(child.pid())),
        }]
    }

    /// Returns the members found earlier that still run and that this user may not signal. Does not look for new
    /// members: after a signal, processes that the command leaves behind are not backoff's concern.
    pub(super) fn protected(&self) -> Vec<Survivor> {
        let mut protected = Vec::new();
        for process in &self.known {
            if still_runs(process) && is_protected(Target::Process(process.pid)) {
                protected.push(to_survivor(process));
            }
        }
        protected
    }

    /// Returns true if a process belongs to the tree: it is in the group that the attempt's own process (`child`)
    /// leads, has that process or one of `members` as its parent, or was a member before, whose parent may have died.
    fn is_member(&self, process: &Process, child: &Child, members: &[Process]) -> bool {
        child.group() == Some(process.group)
            || process.parent == child.pid()
            || members.iter().any(|member| member.pid == process.parent)
            || self.known.iter().any(|known| known.is_same(process))
    }

    /// Replaces `known` by the members that run now. Returns false, and changes nothing, if the system has no list of
    /// processes.
    fn update(&mut self, child: &Child) -> bool {
        let Some(mut candidates) = processes() else {
            return false;
        };
        let mut members: Vec<Process> = Vec::new();
        // Each round finds children of the members of earlier rounds.
        loop {
            let (found, others): (Vec<_>, Vec<_>) = candidates
                .into_iter()
                .partition(|process| self.is_member(process, child, &members));
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

/// Returns true unless the process has ended; a zombie has.
fn still_runs(process: &Process) -> bool {
    read_process(process.pid).is_some_and(|found| found.is_same(process) && !found.is_zombie)
}

/// Sends a signal to a process, unless the process has ended and another one got its number.
fn send_to(process: &Process, signal: Signal) {
    if read_process(process.pid).is_some_and(|found| found.is_same(process)) {
        let _ = send(Target::Process(process.pid), signal);
    }
}

/// Describes a member that still runs, for a message. The program is "?" if the system does not show its name.
fn to_survivor(process: &Process) -> Survivor {
    Survivor {
        pid: process.pid,
        program: program_name(process.pid).unwrap_or_else(|| "?".to_owned()),
        why: survival(Target::Process(process.pid)),
    }
}

/// Returns the reason why a process, or a group, still runs although it was to end: this user may not signal it, or it
/// does not die of KILL (it hangs in the kernel). The latter is true only after a KILL: `wait_for_tree` leaves such
/// processes out if none was sent.
pub(super) fn survival(target: Target) -> Survival {
    if is_protected(target) {
        Survival::Protected
    } else {
        Survival::Unkillable
    }
}
