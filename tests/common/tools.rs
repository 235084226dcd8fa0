//! A harness for tests that need a program the machine may lack. Where it does, the test is listed as
//! ignored with the program's name; with REQUIRE_TEST_TOOLS set (as in CI) that is a failure.

use std::collections::BTreeSet;

use libtest_mimic::{Arguments, Trial};

use super::{clean, run};

/// What a test needs that keeps gigabytes on disk: that everything is asked for.
pub const ASKED: &str = "REQUIRE_TEST_TOOLS=1";

/// A test's name, the programs that it needs, and what it does.
pub type Test = (&'static str, &'static [&'static str], fn());

/// The `main` of such tests, module by module.
#[allow(clippy::print_stdout, reason = "its last line")]
pub fn main(modules: &[(&str, &'static [Test])]) {
    let required = is_there(ASKED);
    let mut wanted = BTreeSet::new();
    let mut trials = Vec::new();
    for (module, tests) in modules {
        for (name, tools, test) in *tests {
            let missing: Vec<&str> = tools.iter().copied().filter(|tool| !is_there(tool)).collect();
            let shown = if missing.is_empty() {
                format!("{module}::{name}")
            } else {
                format!("{module}::{name} (needs {})", missing.join(", "))
            };
            let lacks = !missing.is_empty();
            wanted.extend(missing);
            let trial = Trial::test(shown, move || {
                assert!(!lacks, "a program is missing");
                test();
                Ok(())
            });
            trials.push(trial.with_ignored_flag(lacks && !required));
        }
    }
    let arguments = Arguments::from_args();
    let conclusion = libtest_mimic::run(&arguments, trials);
    // What was chosen by name need not be totalled.
    if conclusion.num_ignored > 0 && conclusion.num_filtered_out == 0 {
        println!("{}", left_out(conclusion.num_ignored, wanted));
    }
    conclusion.exit();
}

/// What is said last.
fn left_out(tests: u64, mut wanted: BTreeSet<&str>) -> String {
    let keeps_gigabytes = wanted.remove(ASKED);
    let mut ways = Vec::new();
    if !wanted.is_empty() {
        let wanted: Vec<&str> = wanted.into_iter().collect();
        ways.push(format!(
            "for want of {}: on Debian `.ci/run programs` installs them",
            wanted.join(", ")
        ));
    }
    if keeps_gigabytes {
        ways.push(format!("those that keep gigabytes: {ASKED} runs them"));
    }
    let plural = if tests == 1 { "" } else { "s" };
    format!("left out: {tests} test{plural}, {}", ways.join("; "))
}

#[test]
fn what_was_left_out_is_totalled() {
    assert_eq!(
        left_out(3, BTreeSet::from(["zsh", "curl", ASKED])),
        "left out: 3 tests, for want of curl, zsh: on Debian `.ci/run programs` installs them; \
         those that keep gigabytes: REQUIRE_TEST_TOOLS=1 runs them"
    );
    assert_eq!(
        left_out(1, BTreeSet::from(["curl"])),
        "left out: 1 test, for want of curl: on Debian `.ci/run programs` installs them"
    );
}

/// Whether there is a program of this name.
pub fn is_there(tool: &str) -> bool {
    let proof = match tool {
        // The program alone is not enough: the system must allow what it does.
        "unshare" => "unshare --pid --fork --mount-proc --mount --map-root-user true".into(),
        ASKED => "test -n \"$REQUIRE_TEST_TOOLS\"".into(),
        "strace" => "strace -o /dev/null true".into(),
        "root" => "test $(id -u) = 0".into(),
        // Root of a container may lack the right, and a file system may have no devices.
        "mknod" => {
            "cd \"$(mktemp -d)\" && mknod null c 1 3 2>/dev/null && : >null; s=$?; rm -f null; rmdir \"$PWD\"; exit $s"
                .into()
        }
        // Not every cron has that.
        "crontab -n" => "crontab -h 2>&1 | grep -q 'dry run'".into(),
        _ => format!("PATH=$PATH:/usr/sbin command -v {tool}"),
    };
    run(clean("sh").args(["-c", &proof])).status.success()
}
