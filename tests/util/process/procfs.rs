//! Information on processes from `/proc`.

use crate::util::eventually;

/// Returns a process's file in `/proc`, or an empty string if it does not exist.
fn read(pid: i32, name: &str) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default()
}

/// Returns a field of `/proc/PID/stat`. The state, after the name, is field 0.
fn stat(pid: i32, field: usize) -> Option<String> {
    let stat = read(pid, "stat");
    stat[stat.rfind(')')? + 2..]
        .split(' ')
        .nth(field)
        .map(str::to_owned)
}

/// Returns the state letter, if the process exists.
pub fn state(pid: i32) -> Option<char> {
    stat(pid, 0)?.chars().next()
}

#[track_caller]
pub fn parent_of(pid: i32) -> i32 {
    stat(pid, 1).unwrap().parse().unwrap()
}

/// Returns true if the process has executed the program of this name.
pub fn is_named(pid: i32, name: &str) -> bool {
    read(pid, "comm").trim() == name
}

pub fn children_of(pid: i32) -> Vec<i32> {
    let children = read(pid, &format!("task/{pid}/children"));
    children
        .split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// Returns the number of a process's threads, or 0 if it is gone.
pub fn threads_of(pid: i32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count)
}

/// Returns the processes that were started with this variable in their environment.
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

/// Returns a value from `/proc/PID/status`, or an empty string if there is none.
fn status(pid: i32, field: &str) -> String {
    let status = read(pid, "status");
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(":\t"));
    value.unwrap_or_default().to_owned()
}

fn signals(pid: i32, field: &str) -> u64 {
    u64::from_str_radix(&status(pid, field), 16).unwrap_or(0)
}

/// Returns the signals that a process ignores. Bit 0 is signal 1.
pub fn ignored_signals(pid: i32) -> u64 {
    signals(pid, "SigIgn")
}

/// Returns true if the process catches SIGTERM, as backoff does once its handlers are installed.
pub fn hears_signals(pid: i32) -> bool {
    signals(pid, "SigCgt") & (1 << 14) != 0
}

/// Waits until a process has filled its pipe.
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

pub fn threads(pid: i32) -> u64 {
    status(pid, "Threads").parse().unwrap_or(0)
}

/// Returns how often a process has gone to sleep.
#[track_caller]
pub fn context_switches(pid: i32) -> u64 {
    status(pid, "voluntary_ctxt_switches").parse().unwrap()
}

/// Returns a process's open files, in the form of `ls -l /proc/PID/fd`.
#[track_caller]
pub fn descriptors(pid: i32) -> Vec<String> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let shown = |path: std::path::PathBuf| format!("{path:?} -> {:?}", std::fs::read_link(&path));
    open.map(|entry| shown(entry.unwrap().path())).collect()
}
