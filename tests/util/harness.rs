//! A harness for tests that need programs. If a program is missing, the test is listed as ignored with the program's
//! name. With REQUIRE_TEST_TOOLS, as in CI, the test fails.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, PoisonError, RwLock};

use libtest_mimic::{Arguments, Trial};

use super::{Ends, clean};

/// A pseudo-program for tests that keep gigabytes on disk. They run only if all tests are required.
pub const ASKED: &str = "REQUIRE_TEST_TOOLS=1";

/// Modules whose tests run alone, as they load the machine or need a store to answer within 250 ms.
const ALONE: [&str; 4] = ["interrupted", "redis", "sequences", "storm"];

/// Modules whose tests load the machine, and how many of these run at the same time. Other tests mostly wait.
const HEAVY: [&str; 5] = ["completions", "faults", "install", "unending", "with_tools"];
const MOST_HEAVY: usize = 4;

/// Pseudo-programs that cannot be installed. A test without them is ignored even if all tests are required.
const OF_THE_MACHINE: [&str; 2] = ["freezer", "linux"];

/// A test's name, the programs that it needs, and its function.
pub type Test = (&'static str, &'static [&'static str], fn());

/// A test that is created when the tests are listed.
pub type Case = (String, Vec<&'static str>, Box<dyn FnOnce() + Send>);

/// Runs the cases and then the tests of each module.
#[allow(clippy::print_stdout, reason = "its last line")]
pub fn main(modules: &[(&'static str, &'static [Test])], cases: Vec<Case>) {
    let required = is_there(ASKED);
    let mut wanted = BTreeSet::new();
    let mut trials = Vec::new();
    for (name, programs, test) in cases.into_iter().chain(modules.iter().flat_map(cases_of)) {
        let missing: Vec<&str> = programs
            .into_iter()
            .filter(|program| !is_there(program))
            .collect();
        let is_required = required && !missing.iter().any(|it| OF_THE_MACHINE.contains(it));
        trials.push(trial(name, &missing, is_required, test));
        wanted.extend(missing);
    }
    let mut arguments = Arguments::from_args();
    let threads = std::env::var("RUST_TEST_THREADS").ok();
    let threads = threads.and_then(|text| text.parse().ok()).unwrap_or(16);
    arguments.test_threads.get_or_insert(threads);
    let conclusion = libtest_mimic::run(&arguments, trials);
    // A filtered run needs no summary.
    if conclusion.num_ignored > 0 && conclusion.num_filtered_out == 0 {
        println!("{}", left_out(conclusion.num_ignored, wanted));
    }
    conclusion.exit();
}

fn cases_of((module, tests): &(&'static str, &'static [Test])) -> Vec<Case> {
    let file = module.split("::").next().unwrap();
    let case = |&(name, programs, test): &Test| -> Case {
        let name = format!("{module}::{name}");
        (
            name,
            programs.to_vec(),
            Box::new(move || in_turn(file, test)),
        )
    };
    tests.iter().map(case).collect()
}

/// Runs a test once [`ALONE`] and [`HEAVY`] allow it.
pub fn in_turn(file: &str, test: impl FnOnce()) {
    static RUNNING: RwLock<()> = RwLock::new(());
    static HEAVY_RUNNING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());
    if ALONE.contains(&file) {
        let _alone = RUNNING.write().unwrap_or_else(PoisonError::into_inner);
        return test();
    }
    let is_heavy = HEAVY.contains(&file);
    let (count, changed) = &HEAVY_RUNNING;
    if is_heavy {
        let count = count.lock().unwrap();
        *changed
            .wait_while(count, |count| *count == MOST_HEAVY)
            .unwrap() += 1;
    }
    let _running = RUNNING.read().unwrap_or_else(PoisonError::into_inner);
    let result = catch_unwind(AssertUnwindSafe(test));
    if is_heavy {
        *count.lock().unwrap() -= 1;
        changed.notify_one();
    }
    if let Err(panic) = result {
        resume_unwind(panic);
    }
}

/// Returns a test that is ignored if a program is missing, or fails if it is required.
fn trial(
    name: String,
    missing: &[&str],
    is_required: bool,
    test: Box<dyn FnOnce() + Send>,
) -> Trial {
    let lacks = !missing.is_empty();
    let shown = match missing {
        [] => name,
        _ => format!("{name} (needs {})", missing.join(", ")),
    };
    let trial = Trial::test(shown, move || {
        assert!(!lacks, "a program is missing");
        test();
        Ok(())
    });
    trial.with_ignored_flag(lacks && !is_required)
}

/// Returns the summary of ignored tests.
fn left_out(tests: u64, mut wanted: BTreeSet<&str>) -> String {
    let keeps_gigabytes = wanted.remove(ASKED);
    let mut ways = Vec::new();
    if !wanted.is_empty() {
        let wanted: Vec<&str> = wanted.into_iter().collect();
        ways.push(format!(
            "missing {}: on Debian `.ci/run programs` installs them",
            wanted.join(", ")
        ));
    }
    if keeps_gigabytes {
        ways.push(format!("those that keep gigabytes: {ASKED} runs them"));
    }
    let plural = if tests == 1 { "" } else { "s" };
    format!("left out: {tests} test{plural}, {}", ways.join("; "))
}

/// Returns true if a program or pseudo-program is available.
pub fn is_there(tool: &str) -> bool {
    let proof = match tool {
        // The system must also allow the calls.
        "unshare" => "unshare --pid --fork --mount-proc --mount --map-root-user true".into(),
        ASKED => "test -n \"$REQUIRE_TEST_TOOLS\"".into(),
        "strace" => "strace -o /dev/null true".into(),
        "root" => "test $(id -u) = 0".into(),
        "linux" => "test $(uname) = Linux".into(),
        // For `slowfs`. Root in a container may not be allowed to mount.
        "fuse" => "test $(id -u) = 0 && : <>/dev/fuse && command -v cc && unshare --mount true".into(),
        // A cgroup v1 freezer, in which SIGKILL waits until it is thawed.
        "freezer" => "test $(id -u) = 0 && test -w /sys/fs/cgroup/freezer/tasks".into(),
        // Without a password, and with a separate terminal for the command.
        "sudo" => "sudo -n true && sudo -n cat /etc/sudoers | grep -q use_pty".into(),
        // Root in a container may not be allowed to, and a file system may not support devices.
        "mknod" => {
            "cd \"$(mktemp -d)\" && mknod null c 1 3 2>/dev/null && : >null; s=$?; rm -f null; rmdir \"$PWD\"; exit $s"
                .into()
        }
        // Some crons lack this option.
        "crontab -n" => "crontab -h 2>&1 | grep -q 'dry run'".into(),
        _ => format!("PATH=$PATH:/usr/sbin command -v {tool}"),
    };
    clean("sh").args(["-c", &proof]).ends().status.success()
}
