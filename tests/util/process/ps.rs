//! Information on processes from `ps`, for systems without `/proc`.

use crate::util::{clean, eventually};

/// Returns what `ps` prints for these arguments, or an empty string if there is no such process.
fn ps(args: &[&str]) -> String {
    let output = clean("ps").args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn field(pid: i32, name: &str) -> String {
    let shown = ps(&["-o", &format!("{name}="), "-p", &pid.to_string()]);
    shown.trim().to_owned()
}

/// Returns the state letter that Linux uses, if the process exists.
pub fn state(pid: i32) -> Option<char> {
    match field(pid, "stat").chars().next()? {
        // Has slept for more than 20 seconds.
        'I' => Some('S'),
        letter => Some(letter),
    }
}

#[track_caller]
pub fn parent_of(pid: i32) -> i32 {
    field(pid, "ppid").parse().unwrap()
}

/// Returns true if the process has executed the program of this name.
pub fn is_named(pid: i32, name: &str) -> bool {
    let shown = field(pid, "comm");
    std::path::Path::new(&shown).file_name() == Some(name.as_ref())
}

pub fn children_of(pid: i32) -> Vec<i32> {
    let parent = pid.to_string();
    let table = ps(&["-A", "-o", "pid=,ppid="]);
    let child = |line: &str| {
        let (pid, its_parent) = line.trim().split_once(' ')?;
        (its_parent.trim() == parent).then(|| pid.parse().unwrap())
    };
    table.lines().filter_map(child).collect()
}

/// Returns the number of a process's threads, or 0 if it is gone. On macOS, `ps -M` prints a line for each, below a
/// header.
pub fn threads_of(pid: i32) -> usize {
    ps(&["-M", "-p", &pid.to_string()])
        .lines()
        .count()
        .saturating_sub(1)
}

/// Returns the processes that were started with this variable in their environment.
pub fn with_variable(name: &str, value: &str) -> Vec<i32> {
    let variable = format!("{name}={value}");
    // The environment follows the command, but only for this user's processes.
    let table = ps(&["-A", "-E", "-ww", "-o", "pid=,command="]);
    let having = |line: &str| {
        let mut words = line.split_whitespace();
        let pid = words.next()?.parse().ok()?;
        words.any(|word| word == variable).then_some(pid)
    };
    table.lines().filter_map(having).collect()
}

/// Returns 0, as no common option of `ps` shows ignored signals.
pub fn ignored_signals(_pid: i32) -> u64 {
    0
}

/// Returns true if the process sleeps for a while. backoff installs its handlers first.
pub fn hears_signals(pid: i32) -> bool {
    (0..10).all(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        state(pid) == Some('S')
    })
}

/// Waits until a process sleeps, as it does once it has filled its pipe.
pub fn until_it_is_stuck(pid: i32) {
    let mut times = 0;
    eventually("a full pipe", || {
        times = if state(pid) == Some('S') {
            times + 1
        } else {
            0
        };
        times > 50
    });
}

/// Returns a process's open files, as `lsof` lists them.
pub fn descriptors(pid: i32) -> Vec<String> {
    let output = clean("lsof").args(["-nP", "-p", &pid.to_string()]).output();
    let shown = String::from_utf8(output.unwrap().stdout).unwrap();
    shown.lines().map(str::to_owned).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn it_tells_what_proc_tells() {
    use crate::util::process::procfs;
    use crate::util::{Live, PATIENCE};

    let mut live = Live::start(clean("sh").args(["-c", "sleep 60 & echo $!; wait"]));
    let child: i32 = live.line().parse().unwrap();
    let parent = live.pid();
    let began = std::time::Instant::now();
    while !procfs::is_named(child, "sleep") {
        assert!(began.elapsed() < PATIENCE);
    }
    assert!(is_named(child, "sleep") && !is_named(parent, "sleep"));
    assert_eq!(parent_of(child), parent);
    assert_eq!(children_of(parent), procfs::children_of(parent));
    assert_eq!(state(child), Some('S'));
    assert_eq!(state(i32::MAX), None);
    crate::util::send(child, nix::sys::signal::Signal::SIGKILL);
}
