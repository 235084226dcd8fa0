//! Counting one run, with nothing in its environment but PATH.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::Counts;
use crate::{Result, builds};

/// What is run, and where: a folder that is first on PATH.
pub struct Place<'a> {
    pub backoff: &'a str,
    pub dir: &'a Path,
}

impl Place<'_> {
    /// These words before backoff, and those after it.
    fn command(&self, before: &[&str], after: &[&str]) -> Command {
        let words = [before, &[self.backoff], after].concat();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .current_dir(self.dir)
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.dir.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }
}

pub fn counts(place: &Place<'_>, words: &[&str]) -> Result<Counts> {
    Ok([instructions(place, words)?, faults(place, words)?, calls(place, words)?])
}

/// In user space, of backoff without its children.
fn instructions(place: &Place<'_>, words: &[&str]) -> Result<u64> {
    let valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let told = place.command(&valgrind, words).stderr(Stdio::piped()).output();
    let told = told.map_err(|error| format!("valgrind: {error}"))?.stderr;
    let told = String::from_utf8_lossy(&told);
    let count = told.lines().find_map(|line| line.split_once("Collected : "));
    let (_, count) = count.ok_or_else(|| format!("valgrind counted nothing: {told}"))?;
    Ok(count.trim().parse()?)
}

/// Of backoff without its children, as the kernel counts them in /proc until nobody waits for it any more. Addresses are
/// random, and so is whether two things share a page: the least of some runs is the same each time. How much a fault maps
/// hangs on how the program got into memory: here it was read from the disk.
fn faults(place: &Place<'_>, words: &[&str]) -> Result<u64> {
    const RUNS: usize = 20;
    /// Of /proc/PID/stat, counted from what follows the name.
    const MINOR_FAULTS: usize = 7;
    builds::forget_pages(place.backoff)?;
    place.command(&[], words).status()?;
    let mut least = u64::MAX;
    for _ in 0..RUNS {
        let mut child = place.command(&[], words).spawn()?;
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        waitid(Id::Pid(Pid::from_raw(child.id().try_into()?)), ended)?;
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
        child.wait()?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no name in /proc/PID/stat")?;
        let faults = fields.split_whitespace().nth(MINOR_FAULTS).unwrap_or_default();
        least = least.min(faults.parse()?);
    }
    Ok(least)
}

fn calls(place: &Place<'_>, words: &[&str]) -> Result<u64> {
    let trace = place.dir.join("trace");
    let file = trace.to_str().ok_or("a temporary directory that is not UTF-8")?;
    let status = place.command(&["strace", "-f", "-qq", "-o", file], words).status();
    status.map_err(|error| format!("strace: {error}"))?;
    Ok(calls_of_backoff(&fs::read_to_string(trace)?))
}

/// Those of backoff and of its children until they have become the command: up to an `execve` that succeeds.
fn calls_of_backoff(trace: &str) -> u64 {
    let mut commands = HashSet::new();
    let mut count = 0;
    let mut backoff = None;
    for line in trace.lines() {
        let Some((pid, event)) = line.split_once(' ') else {
            continue;
        };
        let event = event.trim_start();
        // Of a call that another process interrupted, both halves are there.
        let ends = event.starts_with("<... ");
        let is_call = !ends && !event.starts_with("---") && !event.starts_with("+++");
        if is_call && !commands.contains(pid) {
            count += 1;
        }
        let is_backoff = *backoff.get_or_insert(pid) == pid;
        let starts_command = event.trim_start_matches("<... ").starts_with("execve") && event.ends_with("= 0");
        if starts_command && !is_backoff {
            commands.insert(pid);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_command_are_not_counted() {
        let trace = "\
10    execve(\"backoff\", [\"backoff\"], 0x1 /* 1 var */) = 0
10    clone(child_stack=0x8, flags=CLONE_VM|CLONE_VFORK|SIGCHLD <unfinished ...>
11    execve(\"/none/true\", [\"true\"], 0x1 /* 1 var */) = -1 ENOENT (No such file or directory)
11    execve(\"/bin/true\", [\"true\"], 0x1 /* 1 var */ <unfinished ...>
10    <... clone resumed>)              = 11
11    <... execve resumed>)             = 0
10    ppoll([{fd=3, events=POLLIN}], 1, NULL, NULL, 8 <unfinished ...>
11    brk(NULL)                         = 0x5
11    exit_group(0)                     = ?
11    +++ exited with 0 +++
10    <... ppoll resumed>)              = 1
10    --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=11} ---
10    exit_group(0)                     = ?
";
        assert_eq!(calls_of_backoff(trace), 6);
    }
}
