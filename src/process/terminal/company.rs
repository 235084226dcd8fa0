//! Who else uses our terminal: the shell and its other jobs, the other members of a pipeline, what a script has started
//! beside backoff.

use nix::libc;
use nix::sys::signal::killpg;
use nix::unistd::{Pid, getpgrp, getpid, getppid, getsid};

use super::claim::{Claim, claim, is_backoff};
use crate::process::sys::processes::{Process, processes};
use crate::process::sys::stdio;

/// Whether nobody in backoff's process group may have set the terminal's modes, but for whoever has started backoff and
/// waits, and for what backoff has started.
pub(super) fn is_alone() -> bool {
    match processes() {
        Some(all) => members(&all).iter().all(|member| claim(member) == Claim::Nothing),
        // Whoever leads the group was the first of a pipeline, and this one was also the last.
        None => getpgrp() == getpid() && stdio::is_terminal(stdio::IN) && stdio::is_terminal(stdio::OUT),
    }
}

/// Whether no other member of backoff's job has the screen. Another run of backoff may: each sets up anew what it shows.
pub(super) fn is_screen_free() -> bool {
    let has_screen = |member: &Process| claim(member) == Claim::Screen && !is_backoff(member.pid);
    processes().is_none_or(|all| !members(&all).iter().any(has_screen))
}

/// The other members of backoff's job.
fn members(all: &[Process]) -> Vec<Process> {
    others(all, getpgrp().as_raw(), getpid().as_raw(), &callers(all))
}

/// Whether a process group was left behind: neither the shell nor what the shell has started is in it.
pub(super) fn is_left_behind(group: Pid) -> bool {
    let Some(all) = processes() else {
        return killpg(group, None).is_err();
    };
    let callers = callers(&all);
    let is_callers = |process: &Process| process.group == group.as_raw() && callers.contains(&process.pid);
    !all.iter().any(is_callers) && others(&all, group.as_raw(), getpid().as_raw(), &callers).is_empty()
}

/// Those of this session that have started backoff, one another.
fn callers(all: &[Process]) -> Vec<libc::pid_t> {
    let session = getsid(None);
    let mut callers = Vec::new();
    let mut next = getppid().as_raw();
    while getsid(Some(Pid::from_raw(next))) == session
        && let Some(caller) = all.iter().find(|process| process.pid == next)
    {
        callers.push(next);
        next = caller.parent;
    }
    callers
}

/// Who else the callers have started that is in this group. What an attempt has left behind is no caller's.
fn others(all: &[Process], group: libc::pid_t, own: libc::pid_t, callers: &[libc::pid_t]) -> Vec<Process> {
    let mut found = Vec::new();
    let mut parents = callers.to_vec();
    while let Some(parent) = parents.pop() {
        let is_other = |process: &&Process| process.pid != own && !callers.contains(&process.pid);
        for process in all.iter().filter(|process| process.parent == parent).filter(is_other) {
            if process.group == group && !process.is_zombie {
                found.push(*process);
            }
            parents.push(process.pid);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: libc::pid_t, parent: libc::pid_t, group: libc::pid_t) -> Process {
        Process {
            pid,
            parent,
            group,
            terminal: 0,
            started: 0,
            is_zombie: false,
            is_stopped: false,
        }
    }

    #[test]
    fn a_pipeline_is_company_and_what_an_attempt_left_is_none() {
        let mut all = vec![
            process(1, 0, 1),
            process(10, 1, 10),
            // backoff, its command, and what an earlier one left.
            process(20, 10, 20),
            process(21, 20, 20),
            process(22, 1, 20),
            // Another job of the shell.
            process(30, 10, 30),
        ];
        assert!(others(&all, 20, 20, &[10]).is_empty());
        assert!(!others(&all, 30, 20, &[10]).is_empty());
        assert!(!others(&all, 30, 20, &[10]).is_empty());
        all.push(process(23, 10, 20));
        assert!(!others(&all, 20, 20, &[10]).is_empty());
        all[6].is_zombie = true;
        assert!(others(&all, 20, 20, &[10]).is_empty());
        // In a subshell of the pipeline.
        all.extend([process(24, 10, 24), process(25, 24, 20)]);
        assert!(!others(&all, 20, 20, &[10]).is_empty());
        assert!(others(&all, 20, 20, &[]).is_empty());
    }
}
