//! A harness for tests that need a program the machine may lack. Where it does, the test is listed as
//! ignored with the program's name; with REQUIRE_TEST_TOOLS set (as in CI) that is a failure.

use libtest_mimic::{Arguments, Trial};

use super::{clean, run};

/// A test's name, the programs that it needs, and what it does.
pub type Test = (&'static str, &'static [&'static str], fn());

/// The `main` of such tests, module by module.
pub fn main(modules: &[(&str, &'static [Test])]) {
    let required = std::env::var_os("REQUIRE_TEST_TOOLS").is_some();
    let tests = modules
        .iter()
        .flat_map(|(module, tests)| tests.iter().map(move |test| (module, test)));
    let trials = tests.map(|(module, (name, tools, test))| {
        let missing: Vec<&str> = tools.iter().copied().filter(|tool| !is_there(tool)).collect();
        let test = *test;
        let shown = if missing.is_empty() {
            format!("{module}::{name}")
        } else {
            format!("{module}::{name} (needs {})", missing.join(", "))
        };
        let lacks = !missing.is_empty();
        Trial::test(shown, move || {
            assert!(!lacks, "a program is missing");
            test();
            Ok(())
        })
        .with_ignored_flag(lacks && !required)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

/// Whether there is a program of this name.
pub fn is_there(tool: &str) -> bool {
    let proof = match tool {
        // The program alone is not enough: the system must allow what it does.
        "unshare" => "unshare --pid --fork --mount-proc --mount --map-root-user true".into(),
        "strace" => "strace -o /dev/null true".into(),
        // Not every cron has that.
        "crontab -n" => "crontab -h 2>&1 | grep -q 'dry run'".into(),
        "5GiB" => "test $(df -Pk ${TMPDIR:-/tmp} | awk 'END { print $4 }') -gt 5242880".into(),
        _ => format!("PATH=$PATH:/usr/sbin command -v {tool}"),
    };
    run(clean("sh").args(["-c", &proof])).status.success()
}
