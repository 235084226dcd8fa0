//! A job of cron: what it prints is mailed, so that it must print nothing unless it has failed for good.

use std::fs;
use std::process::Command;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::common::{BIN, Live, Shown, eventually, executable, leftovers, run, within};

/// Prints its number on both streams, in the locale of a job of cron or another; succeeds where $OK_AT says.
const JOB: &str = "#!/bin/sh
echo out $BACKOFF_ATTEMPT
echo err $BACKOFF_ATTEMPT in ${LC_ALL-none} >&2
[ $BACKOFF_ATTEMPT = \"$OK_AT\" ]
";

/// A directory with `backoff` and scripts in its `bin`.
fn machine(scripts: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(within(&dir, "bin")).unwrap();
    executable(
        &within(&dir, "bin/backoff"),
        &format!("#!/bin/sh\nexec {} \"$@\"\n", *BIN),
    );
    for (name, script) in scripts {
        executable(&within(&dir, &format!("bin/{name}")), script);
    }
    dir
}

/// A line of a crontab, as cron runs it. It is not to be splayed.
fn line(dir: &TempDir, line: &str) -> Command {
    let mut command = Command::new("setsid");
    command
        .args(["/bin/sh", "-c", line])
        .current_dir(dir.path())
        .stdin(std::process::Stdio::null())
        .env_clear()
        .envs([leftovers::mark()])
        .env("PATH", format!("{}:/usr/bin:/bin", within(dir, "bin")))
        .env("HOME", dir.path())
        .env("SHELL", "/bin/sh")
        .env("LOGNAME", "somebody")
        .env("BACKOFF_SPLAY", "0")
        .env("BACKOFF_BASE", "1ms");
    command
}

/// The job under `-p cron` with these options; it succeeds at this attempt.
fn job(dir: &TempDir, options: &str, ok_at: u8) -> Shown {
    let mut command = line(dir, &format!("backoff -p cron {options} -- job"));
    run(command.env("OK_AT", ok_at.to_string()))
}

#[track_caller]
fn says_nothing(shown: Shown) {
    let shown = shown.expect_code(0).expect_silence();
    assert_eq!(shown.stdout, "");
}

/// Asserts that the lines begin like this, in order.
#[track_caller]
fn lines_begin(text: &str, beginnings: &[&str]) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), beginnings.len(), "{text}");
    for (line, beginning) in lines.iter().zip(beginnings) {
        assert!(line.starts_with(beginning), "{line:?} is not {beginning:?}...: {text}");
    }
}

#[test]
fn it_is_mailed_when_it_has_failed_for_good_and_only_then() {
    let dir = machine(&[("job", JOB)]);
    says_nothing(job(&dir, "", 1));
    says_nothing(job(&dir, "", 3));
    let shown = job(&dir, "-n 3", 0).expect_code(1);
    assert_eq!(shown.stdout, "out 1\nout 2\nout 3\n");
    lines_begin(
        &shown.stderr,
        &[
            "err 1 in C.UTF-8",
            "backoff: job: attempt 1 of 3 failed: exit 1 ",
            "err 2 in C.UTF-8",
            "backoff: job: attempt 2 of 3 failed: exit 1 ",
            "err 3 in C.UTF-8",
            "backoff: job: gave up after 3 attempts in ",
        ],
    );
    // A mail has both streams: all of standard output comes first.
    let mail = run(&mut line(&dir, "backoff -p cron -q -n 2 -- job 2>&1"))
        .expect_code(1)
        .stdout;
    lines_begin(&mail, &["out 1", "out 2", "err 1", "err 2"]);
}

#[test]
fn a_flag_and_a_variable_win_over_the_policy() {
    let dir = machine(&[("job", JOB)]);
    let shown = job(&dir, "--stdout stream --stderr stream", 2).expect_code(0);
    assert_eq!(shown.stdout, "out 1\nout 2\n");
    shown.expect_stderr("backoff: job: succeeded on attempt 2 ");
    let shown = run(&mut line(
        &dir,
        "env -u BACKOFF_SPLAY backoff -p cron -vv -t 1ms -n 1 --splay 0 -- false",
    ));
    shown.expect_stderr("splay = 0 (--splay)").expect_stderr("c-locale = ");
    let listed = run(&mut line(&dir, "backoff --list-policies")).stdout;
    let sets = "  stdout = failure\n  stderr = failure\n  splay = 30s\n  c-locale = true\n";
    assert!(listed.contains(sets), "{listed}");
}

#[test]
fn what_hooks_and_predicates_print_waits_as_well() {
    let dir = machine(&[("job", JOB)]);
    let asked = "--on-retry 'echo told; echo loudly >&2' --before-retry 'echo prepared' --retry-if 'grep err >&2'";
    says_nothing(job(&dir, asked, 3));
    let shown = job(&dir, &format!("{asked} --on-give-up 'echo gave up' -n 2"), 0).expect_code(1);
    lines_begin(
        &shown.stderr,
        &[
            "err 1",
            "err 1",
            "backoff: job: attempt 1 of 2 failed",
            "told",
            "loudly",
            "prepared",
            "err 2",
            "err 2",
            "backoff: job: gave up",
            "gave up",
        ],
    );
}

#[test]
fn hooks_need_no_temporary_directory() {
    let dir = machine(&[("job", JOB)]);
    let hooks = "--on-retry 'echo told' --retry-if 'grep err >&2'";
    let once = |ok_at: &str| {
        let mut command = line(&dir, &format!("backoff -p cron -q -n 2 {hooks} -- job"));
        run(command.env("TMPDIR", "/nonexistent").env("OK_AT", ok_at))
    };
    says_nothing(once("2"));
    let shown = once("0").expect_code(1);
    lines_begin(&shown.stderr, &["err 1", "err 1", "told", "err 2", "err 2"]);
}

#[test]
fn warnings_wait_as_well() {
    let dir = machine(&[("job", JOB)]);
    for (options, warning) in [
        ("--budget b --store /proc/none", "going on without the budget"),
        ("--on-retry 'exit 3'", "--on-retry failed: exit 3"),
        ("--log-file /proc/none/log", "cannot write to --log-file"),
    ] {
        says_nothing(job(&dir, options, 2));
        let shown = job(&dir, &format!("{options} -n 2"), 0).expect_code(1);
        assert_eq!(shown.stderr.matches(warning).count(), 1, "{shown:?}");
    }
    // After the end, too.
    says_nothing(job(&dir, "--report /proc/none/report", 1));
    job(&dir, "-n 1 --report /proc/none/report", 0).expect_stderr("cannot write to --report");
}

#[test]
fn a_log_file_has_its_lines_in_any_case() {
    let dir = machine(&[("job", JOB)]);
    says_nothing(job(&dir, "--log-file log", 2));
    let log = fs::read_to_string(within(&dir, "log")).unwrap();
    assert!(log.contains(" backoff: job: attempt 1 ") && log.contains(" backoff: job: succeeded on attempt 2 "));
    let shown = job(&dir, "-n 1 --log-file log", 0).expect_code(1);
    assert_eq!(shown.stderr, "err 1 in C.UTF-8\n");
}

#[test]
fn a_signal_during_a_wait_ends_it_with_all_that_was_said() {
    let dir = machine(&[("job", JOB)]);
    let mut command = line(
        &dir,
        "exec backoff -p cron -b 1h -m 1h -j none --on-retry 'echo >waits' -- job",
    );
    let live = Live::start(&mut command);
    eventually("the hook", || fs::metadata(within(&dir, "waits")).is_ok());
    live.signal(Signal::SIGTERM);
    let shown = live.finish();
    assert_eq!((shown.signal(), &*shown.stdout), (Some(15), "out 1\n"));
    lines_begin(&shown.stderr, &["err 1", "backoff: job: attempt 1 of 5 failed"]);
}

#[test]
fn a_run_without_an_attempt_says_why() {
    let dir = machine(&[("job", JOB)]);
    let options = "-b 1h -m 1h -j none --budget b";
    job(&dir, &format!("-n 1 {options}"), 0).expect_code(1);
    let shown = job(&dir, &format!("{options} --cool-off -d 1m"), 1).expect_code(124);
    lines_begin(&shown.stderr, &["backoff: job: gave up before the first attempt: "]);
    job(&dir, &format!("{options} --cool-off=skip"), 1)
        .expect_code(75)
        .expect_silence();
    let shown = run(&mut line(&dir, "backoff -p cron -- /no/such/job")).expect_code(127);
    assert_eq!(shown.stderr, "backoff: cannot run '/no/such/job': command not found\n");
}

#[test]
fn a_failure_that_is_waited_for_is_told_and_that_none_came() {
    let dir = machine(&[("job", JOB)]);
    let shown = job(&dir, "--until failure -n 3", 1).expect_code(0);
    assert_eq!(shown.stdout, "out 1\nout 2\n");
    shown.expect_stderr("backoff: job: the failure came on attempt 2 of 3");
    let shown = run(&mut line(&dir, "backoff -p cron --until failure -n 2 -- true")).expect_code(1);
    lines_begin(&shown.stderr, &["backoff: true: gave up after 2 attempts in "]);
    let shown = run(&mut line(&dir, "backoff -p cron --until never -n 2 -- true"));
    says_nothing(shown);
}

#[test]
fn lines_that_cannot_be_written_change_no_status() {
    let dir = machine(&[("quiet", "#!/bin/sh\nexit 3\n"), ("job", JOB)]);
    for redirect in ["2>/dev/full", "2>&-"] {
        run(&mut line(&dir, &format!("backoff -p cron -n 2 -- quiet {redirect}"))).expect_code(3);
        run(&mut line(&dir, &format!("backoff -p cron -n 2 -- job {redirect}"))).expect_code(125);
    }
}

#[test]
fn much_is_kept_and_a_disk_that_is_full_is_said() {
    let much = "#!/bin/sh\nhead -c 3000000 /dev/zero\nhead -c 3000000 /dev/zero >&2\nexit 3\n";
    let dir = machine(&[("much", much)]);
    let shown = run(&mut line(&dir, "backoff -p cron -q -n 3 -- much")).expect_code(3);
    assert_eq!((shown.stdout.len(), shown.stderr.len()), (9_000_000, 9_000_000));
    let shown = run(&mut line(&dir, "TMPDIR=/nonexistent backoff -p cron -q -n 3 -- much")).expect_code(125);
    assert!(
        shown.stderr.contains("cannot be kept in /nonexistent"),
        "{:?}",
        shown.status
    );
}

#[test]
fn an_alert_comes_with_the_third_run_in_a_row() {
    const LINE: &str =
        r#"backoff -p cron --budget sync --on-give-up '[ "$BACKOFF_FAILED_RUNS" -lt 3 ] || alert' -- sync"#;
    assert!(
        include_str!("../../docs/recipes.md")
            .lines()
            .any(|recipe| recipe == LINE)
    );
    let dir = machine(&[
        ("sync", "#!/bin/sh\n[ -e there ] || { echo lost; exit 1; }\n"),
        ("alert", "#!/bin/sh\necho alert >>alerts\n"),
    ]);
    let alerts = || {
        fs::read_to_string(within(&dir, "alerts"))
            .unwrap_or_default()
            .lines()
            .count()
    };
    let once = || run(line(&dir, LINE).env("BACKOFF_ATTEMPTS", "2"));
    for expected in [0, 0, 1, 2] {
        let shown = once().expect_code(1);
        assert_eq!((&*shown.stdout, alerts()), ("lost\nlost\n", expected));
        shown.expect_stderr("backoff: sync: gave up after 2 attempts");
    }
    fs::write(within(&dir, "there"), "").unwrap();
    says_nothing(once());
    fs::remove_file(within(&dir, "there")).unwrap();
    once().expect_code(1);
    assert_eq!(alerts(), 2, "a success begins anew");
}

#[test]
fn a_policy_of_ones_own_may_do_the_same_and_more() {
    let dir = machine(&[("job", JOB)]);
    let policy = "[policy.night]\nstdout = 'failure'\nstderr = 'failure'\nc-locale = true\nattempts = 2\nlabel = 'night shift'\n\
                  on-give-up = 'echo gave up >>told'\nretry-match = 'out'\nbudget = 'night'\nquiet = false\n";
    fs::write(within(&dir, "night.toml"), policy).unwrap();
    let once = |ok_at: &str| run(line(&dir, "backoff --config night.toml -p night -- job").env("OK_AT", ok_at));
    says_nothing(once("2"));
    once("0")
        .expect_code(1)
        .expect_stderr("backoff: night shift: gave up after 2 attempts");
    assert_eq!(fs::read_to_string(within(&dir, "told")).unwrap(), "gave up\n");
    for action in [
        "plan = true",
        "generate = 'man'",
        "list-presets = true",
        "config = 'none'",
    ] {
        fs::write(within(&dir, "night.toml"), format!("[policy.night]\n{action}\n")).unwrap();
        once("1")
            .expect_code(125)
            .expect_stderr("cannot be set in a configuration file");
    }
}
