//! Each line says why: which bound, which option, which rule, who asked for the wait, what is missing.

use nix::sys::signal::Signal;

use crate::common::{executable, run, within};

#[test]
fn a_time_out_names_its_bound() {
    run!("-n 1 -t 100ms -- sleep 30").expect_stderr(": timed out (--timeout 100ms) (no attempt is left");
    run!("-n 1 -i 100ms -- sleep 30").expect_stderr(": no output for 100ms (--idle-timeout) (no attempt is left");
    run!("-n 1 -d 100ms -- sleep 30").expect_stderr(": ended by the deadline (--deadline 100ms)");
    // Whose turn it was.
    let shown = run!("-n 2 -b 1ms -t 100ms,200ms -- sleep 30");
    shown
        .expect_stderr(" failed: timed out (--timeout 100ms) after ")
        .expect_stderr(": timed out (--timeout 200ms) (no attempt");
    let shown = run!("-n 1 -t 100ms --log-format json -- sleep 30");
    shown.expect_stderr(r#""reason":"timed out (--timeout 100ms)""#);
    run!("-n 1 -t 100ms --on-give-up 'echo \"[$BACKOFF_REASON]\"' -- sleep 30")
        .expect_stderr("[timed out (--timeout 100ms)]");
}

#[test]
fn that_kill_was_needed_is_said() {
    let deaf = "trap '' TERM; echo on; sleep 30; sleep 30";
    let shown = run!("-n 2 -b 1ms -t 1s -k 100ms -- sh -c {}", deaf).expect_code(124);
    shown
        .expect_stderr(" failed: timed out (--timeout 1s) and needed KILL after ")
        .expect_stderr(": timed out (--timeout 1s) and needed KILL (no attempt");
    run!("-n 1 -d 1s -k 100ms -- sh -c {}", deaf).expect_stderr(": ended by the deadline and needed KILL (");
    for obeys in ["-s TERM", "-s KILL"] {
        let shown = run!("-n 1 -t 100ms -k 10s {..} -- sleep 30", obeys);
        assert!(!shown.stderr.contains("needed"), "{shown:?}");
    }
    run!("-n 2 -b 1ms -k 100ms -d 2s --on-retry {} -- false", deaf)
        .expect_stderr("--on-retry failed: ended by the deadline and needed KILL\n");
}

#[test]
fn a_failure_against_the_exit_code_names_the_option() {
    for (options, script, why) in [
        ("--fail-match bad", "echo bad", "matched \"bad\" (exit 0; --fail-match)"),
        (
            "--success-exit 3 --fail-match bad",
            "echo bad; exit 3",
            "matched \"bad\" (exit 3; --fail-match)",
        ),
        ("--success-exit 3", "exit 0", "not in --success-exit (exit 0)"),
        (
            "--success-match good",
            "exit 0",
            "no line matches --success-match (exit 0)",
        ),
        ("--success-if 'exit 1'", "exit 0", "--success-if says no (exit 0)"),
        (
            "--fail-match bad --stop-match worse",
            "echo bad; echo worse",
            "matched \"worse\" (exit 0; --fail-match) (permanent: --stop-match)",
        ),
        (
            "--success-match good --stop-match worse",
            "echo worse",
            "matched \"worse\" (exit 0; no line matches --success-match)",
        ),
        // Its own exit code says it.
        ("--fail-match bad", "echo bad; exit 1", "matched \"bad\" (exit 1) ("),
    ] {
        run!("-n 1 {..} -- sh -c {}", options, script).expect_stderr(&format!(": {why}"));
    }
}

#[test]
fn who_made_a_failure_transient_is_named() {
    for (options, script, why) in [
        (
            "-r busy",
            "echo busy; exit 1",
            "matched \"busy\" (exit 1) (--retry-match) after ",
        ),
        ("--for curl", "exit 28", "exit 28 (--for curl) after "),
        ("-e 7", "exit 7", "exit 7 (--retry-exit) after "),
        ("--retry-if true", "exit 7", "exit 7 (--retry-if) after "),
        ("", "exit 7", "exit 7 after "),
    ] {
        let shown = run!("-n 2 -b 1ms {..} -- sh -c {}", options, script);
        shown.expect_stderr(&format!("attempt 1 of 2 failed: {why}"));
    }
}

#[test]
fn a_wait_that_the_output_asked_for_says_so() {
    let asks = "echo Retry-After: 0.1; exit 1";
    let first = |options: &str| {
        let shown = run!("-n 2 -j none {..} -- sh -c {}", options, asks);
        shown.stderr.lines().next().unwrap().to_owned()
    };
    assert!(first("-b 1ms --retry-after").ends_with("; retrying in 0.10s, as the output asked"));
    // It is longer by itself.
    assert!(first("-b 200ms --retry-after").ends_with("; retrying in 0.20s"));
    assert!(first("-b 1ms").ends_with("; retrying in 1ms"));
    let capped = first("-b 1ms --retry-after --max-retry-after 50ms --until never");
    assert!(
        capped.ends_with("; retrying in 50ms, as the output asked for more than --max-retry-after"),
        "{capped}"
    );
}

#[test]
fn what_a_script_lacks_is_named() {
    let dir = tempfile::tempdir().unwrap();
    for (text, why) in [
        (
            "#!/bin/sh\r\necho\r\n",
            r"its lines end in CRLF, and there is no interpreter $'/bin/sh\r'",
        ),
        ("#! \t/no/such -x\n", "its interpreter '/no/such' is missing"),
        ("#!/no/such", "its interpreter '/no/such' is missing"),
    ] {
        let path = within(&dir, "script");
        executable(&path, text);
        let shown = run!("-- {}", path).expect_code(127);
        assert_eq!(shown.stderr, format!("backoff: cannot run '{path}': {why}\n"));
    }
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn a_binary_without_its_loader_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let [bytes, path] = ["bytes", "program"].map(|name| within(&dir, name));
    let mut program = std::fs::read("/bin/true").unwrap();
    let loader = b"/ld-linux";
    let at = program.windows(loader.len()).position(|part| part == loader).unwrap();
    program[at + 1] = b'x';
    std::fs::write(&bytes, program).unwrap();
    // Another process writes what is executed, as in `executable`.
    run(crate::common::clean("install").args(["-m", "755", &bytes, &path])).expect_code(0);
    let shown = run!("-- {}", path).expect_code(127);
    let why = "it exists, but its interpreter or loader is missing";
    assert_eq!(shown.stderr, format!("backoff: cannot run '{path}': {why}\n"));
}

#[test]
fn times_have_three_digits_at_most() {
    let shown = run!("-n 3 -b 100us -j none -- false");
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).count();
    let is_time = |word: &&str| word.ends_with('s') && word.contains(|c: char| c.is_ascii_digit());
    for time in shown.stderr.split([' ', ';', ':', '\n']).filter(is_time) {
        assert!(digits(time) <= 3 && !time.ends_with("us"), "{time} in {shown:?}");
    }
    shown.expect_stderr("; retrying in <1ms\n");
}

/// With TERM after its first line.
fn interrupted(options: &str, script: &str) -> crate::common::Shown {
    let mut live = live!("{..} -- sh -c {}", options, script);
    live.expect_line("on");
    live.signal(Signal::SIGTERM);
    live.finish()
}

#[test]
fn an_interrupted_run_says_so_if_the_command_does_not() {
    let says = "backoff: sh: interrupted by SIGTERM; no further attempt\n";
    let ends = |how: &str| format!("trap '{how}' TERM; echo on; while :; do sleep 0.05; done");
    // The shell has its own word for what happened to what it was waiting for.
    let said = |options: &str, how: &str| interrupted(options, &ends(how)).stderr.replace("Terminated\n", "");
    for how in ["exit 7", "trap - INT; kill -INT $$", "exit 130"] {
        assert_eq!(said("", how), says, "{how}");
    }
    // It would have gone on after a success.
    assert_eq!(said("--until never", "exit 0"), says);
    // It has ended as the signal asked, or as if; or it has done what it was for.
    for how in ["trap - TERM; kill -TERM $$", "exit 143", "exit 0"] {
        assert_eq!(said("", how), "", "{how}");
    }
    assert_eq!(said("-q", "exit 7"), "");
    assert!(said("-v", "exit 0").ends_with(says));
    let killed = interrupted("-k 200ms", "trap '' TERM; echo on; exec sleep 60").stderr;
    assert_eq!(
        killed,
        "backoff: sh: interrupted by SIGTERM and needed KILL; no further attempt\n"
    );
}

#[test]
fn a_log_that_cannot_be_opened_is_said_before_it_is_missed() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "none/log");
    let shown = run!("--log-file {} -- true", path).expect_code(0);
    let warning = |path: &str, why: &str| {
        format!("backoff: warning: cannot write to --log-file {path:?}: {why}; going on without it\n")
    };
    assert_eq!(shown.stderr, warning(&path, "No such file or directory"));
    let shown = run!("-q --log-file / -- true").expect_code(0);
    assert_eq!(shown.stderr, warning("/", "Is a directory"));
    // It may be there already, or may be made; and for nothing it is not made.
    let path = within(&dir, "log");
    run!("--log-file {} -- true", path).expect_code(0).expect_silence();
    assert!(std::fs::metadata(&path).is_err());
    std::fs::write(&path, "before\n").unwrap();
    run!("--log-file {} -- true", path).expect_code(0).expect_silence();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before\n");
}
