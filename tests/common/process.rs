//! What `/proc` tells of processes.

use super::eventually;

/// A file of a process in `/proc`; empty if it is not there.
fn read(pid: i32, name: &str) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default()
}

/// A field of `/proc/PID/stat`, counted from the state, which comes after the name.
fn stat(pid: i32, field: usize) -> Option<String> {
    let stat = read(pid, "stat");
    stat[stat.rfind(')')? + 2..].split(' ').nth(field).map(str::to_owned)
}

/// The state letter, if the process is there.
pub fn state(pid: i32) -> Option<char> {
    stat(pid, 0)?.chars().next()
}

/// Whether a process runs; a zombie does not.
pub fn is_alive(pid: i32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}

#[track_caller]
pub fn parent_of(pid: i32) -> i32 {
    stat(pid, 1).unwrap().parse().unwrap()
}

/// Whether a process has executed the program of this name.
pub fn is_named(pid: i32, name: &str) -> bool {
    read(pid, "comm").trim() == name
}

pub fn children_of(pid: i32) -> Vec<i32> {
    let children = read(pid, &format!("task/{pid}/children"));
    children.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// The processes that were started with this variable in their environment.
pub fn with_variable(name: &str, value: &str) -> Vec<i32> {
    let variable = format!("{name}={value}");
    let all = std::fs::read_dir("/proc").into_iter().flatten();
    let pids = all
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|line| line == variable.as_bytes())
    })
    .collect()
}

fn descendants_of(pid: i32) -> Vec<i32> {
    let below = |child| [vec![child], descendants_of(child)].concat();
    children_of(pid).into_iter().flat_map(below).collect()
}

/// How many descendants of a process are stopped.
pub fn stopped_below(root: i32) -> usize {
    let is_stopped = |pid: &i32| state(*pid) == Some('T');
    descendants_of(root).iter().filter(|pid| is_stopped(pid)).count()
}

/// How many live descendants of a process have this name.
pub fn descendants_named(root: i32, name: &str) -> usize {
    let is_it = |pid: &i32| is_named(*pid, name) && is_alive(*pid);
    descendants_of(root).iter().filter(|pid| is_it(pid)).count()
}

/// Whether the descendants of this name all sleep, and there is one.
pub fn sleeps_below(root: i32, name: &str) -> bool {
    let mut named = descendants_of(root);
    named.retain(|pid| is_named(*pid, name));
    !named.is_empty() && named.iter().all(|pid| state(*pid) == Some('S'))
}

/// A set of signals in `/proc/PID/status`.
fn signals(pid: i32, field: &str) -> u64 {
    let status = read(pid, "status");
    let set = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(":\t"));
    u64::from_str_radix(set.unwrap_or("0"), 16).unwrap()
}

/// The signals that a process ignores: bit 0 is signal 1.
pub fn ignored_signals(pid: i32) -> u64 {
    signals(pid, "SigIgn")
}

/// Returns true if a process catches TERM, as backoff does once it hears signals.
pub fn hears_signals(pid: i32) -> bool {
    signals(pid, "SigCgt") & (1 << 14) != 0
}

/// Waits until a process has written all that its pipe takes.
pub fn until_it_is_stuck(pid: i32) {
    let written = || {
        let io = read(pid, "io");
        io.lines()
            .find_map(|line| line.strip_prefix("wchar: "))
            .unwrap()
            .to_owned()
    };
    let (mut last, mut times) = (written(), 0);
    eventually("a full pipe", || {
        let now = written();
        times = if now == last { times + 1 } else { 0 };
        last = now;
        times > 20 && last.parse::<u64>().unwrap() > 32_768
    });
}

/// A number in `/proc/PID/status`.
#[track_caller]
fn status(pid: i32, field: &str) -> u64 {
    let status = read(pid, "status");
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(":\t"));
    value.unwrap().parse().unwrap()
}

#[track_caller]
pub fn threads(pid: i32) -> u64 {
    status(pid, "Threads")
}

/// How often a process has gone to sleep.
#[track_caller]
pub fn context_switches(pid: i32) -> u64 {
    status(pid, "voluntary_ctxt_switches")
}

/// What a process has open, as `ls -l` of `/proc/PID/fd` shows it.
#[track_caller]
pub fn descriptors(pid: i32) -> Vec<String> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let shown = |path: std::path::PathBuf| format!("{path:?} -> {:?}", std::fs::read_link(&path));
    open.map(|entry| shown(entry.unwrap().path())).collect()
}
