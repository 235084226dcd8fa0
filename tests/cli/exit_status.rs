//! The exit table, row by row.

use crate::common::{BIN, backoff, clean, executable, probe, ran, run, shell, within};

#[test]
fn every_code_passes_through() {
    for code in 0..=255 {
        run!("-q -n 1 -- sh -c {}", format!("exit {code}")).expect_code(code);
    }
}

#[test]
fn the_last_attempts_code_counts() {
    let script = "exit $((BACKOFF_ATTEMPT + 10))";
    run!("-n 3 -b 1ms -- sh -c {}", script).expect_code(13);
}

#[test]
fn exhaustion_is_never_success() {
    let shown = run!("-n 3 -b 1ms -- false").expect_code(1);
    assert_eq!(shown.stderr.lines().count(), 3, "{shown:?}");
    assert!(
        shown
            .stderr
            .lines()
            .last()
            .unwrap()
            .starts_with("backoff: false: gave up after 3 attempts in "),
        "{shown:?}"
    );
}

#[test]
fn fails_fails_succeeds() {
    let shown = run!("-b 1ms -- sh -c 'echo $BACKOFF_ATTEMPT; test $BACKOFF_ATTEMPT = 3'").expect_code(0);
    assert_eq!(shown.stdout, "1\n2\n3\n");
    let lines: Vec<_> = shown.stderr.lines().collect();
    assert!(
        lines[0].starts_with("backoff: sh: attempt 1 of 5 failed: exit 1 after "),
        "{lines:?}"
    );
    assert!(lines[0].contains("; retrying in "), "{lines:?}");
    assert!(
        lines[2].starts_with("backoff: sh: succeeded on attempt 3 of 5 after "),
        "{lines:?}"
    );
    assert_eq!(lines.len(), 3);
}

#[test]
fn a_first_success_is_silent() {
    run!("-- true").expect_code(0).expect_silence();
}

#[test]
fn dies_by_the_commands_signal() {
    // Not STOP and its kin, which end nothing; real-time signals included.
    for signal in (1..=64).filter(|s| ![17, 18, 19, 20, 21, 22, 23, 28, 32, 33].contains(s)) {
        let shown = run(&mut shell(&format!(
            "ulimit -c 0; exec backoff -q -n 1 -- {} die {signal}",
            probe()
        )));
        assert_eq!(shown.signal(), Some(signal), "{shown:?}");
    }
}

#[test]
fn a_shell_sees_128_and_the_signal() {
    let shown = run(&mut shell("backoff -q -n 1 -- sh -c 'kill -KILL $$'; echo $?"));
    assert_eq!(shown.stdout, "137\n");
    let shown = run(&mut shell("backoff -q -n 1 -- sh -c 'kill -37 $$'; echo $?"));
    assert_eq!(shown.stdout, "165\n");
}

#[test]
fn no_second_core_file() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "cd {} && ulimit -c unlimited; backoff -q -n 1 -- sh -c 'ulimit -c 0; kill -ABRT $$'; ls",
        within(&dir, "")
    );
    assert_eq!(run(&mut shell(&script)).stdout, "");
}

#[test]
fn a_time_out_is_124_however_the_command_takes_it() {
    run!("-q -n 1 -t 50ms -- sleep 30").expect_code(124);
    run!(r#"-q -n 1 -t 50ms -- bash -c "trap 'exit 0' TERM; while :; do sleep 0.01; done""#).expect_code(124);
    run!(r#"-q -n 1 -t 50ms -k 50ms -- bash -c "trap '' TERM; while :; do sleep 0.01; done""#).expect_code(124);
    run!("-q -d 50ms -- sleep 30").expect_code(124);
}

#[test]
fn a_timed_out_attempt_is_retried() {
    run!("-n 2 -t 50ms -b 1ms -- sleep 30")
        .expect_code(124)
        .expect_stderr("attempt 1 of 2 failed: timed out (--timeout 50ms) after ");
}

#[test]
fn not_found_and_not_executable_are_final() {
    let dir = tempfile::tempdir().unwrap();
    let plain = within(&dir, "plain");
    std::fs::write(&plain, "echo no\n").unwrap();
    for (command, code) in [
        ("no-such-command-here", 127),
        ("/no/such/file", 127),
        ("", 127),
        ("/etc/passwd/x", 127),
        (plain.as_str(), 126),
        ("/", 126),
        (".", 126),
    ] {
        let shown = run!("-b 1ms -- {} secret", command)
            .expect_code(code)
            .expect_stderr("backoff: cannot run '");
        assert_eq!(shown.stderr.lines().count(), 1, "{shown:?}");
        assert!(
            shown.stderr.contains(command) && !shown.stderr.contains("secret"),
            "{shown:?}"
        );
    }
}

#[test]
fn a_command_that_cannot_start_leaves_no_zombie() {
    let script = "backoff -q -e 127 -n 30 -b 10ms -g constant -j none -- no-such-command-here & \
                  sleep 0.1; cat /proc/$!/task/$!/children; wait $!";
    // One may be on its way out at the moment of looking; unreaped, they would be about ten.
    let children = run(&mut shell(script))
        .expect_code(127)
        .stdout
        .split_whitespace()
        .count();
    assert!(children <= 1, "{children}");
}

#[test]
fn a_symbolic_link_to_nothing_is_told() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/nonexistent", dir.path().join("link")).unwrap();
    run!("-- {}", within(&dir, "link"))
        .expect_code(127)
        .expect_stderr("it is a symbolic link to nothing");
}

#[test]
fn a_missing_interpreter_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let script = script(&dir, "#!/no/such/interpreter\n");
    run!("-- {}", script)
        .expect_code(127)
        .expect_stderr("its interpreter '/no/such/interpreter' is missing\n");
}

#[test]
fn a_script_without_an_interpreter_line_runs_in_sh() {
    let dir = tempfile::tempdir().unwrap();
    let script = script(&dir, "echo \"ran $0 $1 $#\"; exit 3\n");
    let shown = run!("-q -n 1 -- {} 'a b'", script).expect_code(3);
    assert_eq!(shown.stdout, format!("ran {script} a b 1\n"));
    let path = format!("{}:/bin", dir.path().display());
    let shown = run(backoff("-q -n 1 -- script x").env("PATH", path)).expect_code(3);
    assert_eq!(shown.stdout, format!("ran {script} x 1\n"));
}

#[test]
fn what_cannot_start_is_retried_if_listed() {
    run!("-n 2 -b 1ms -e 127 -- no-such-command-here")
        .expect_code(127)
        .expect_stderr(
            "attempt 1 of 2 failed: cannot run 'no-such-command-here': command not found (--retry-exit); retrying",
        );
    run!("-n 2 -b 1ms -e 126 -- /")
        .expect_code(126)
        .expect_stderr("attempt 1 of 2 failed");
}

#[test]
fn a_busy_program_file_is_126() {
    let dir = tempfile::tempdir().unwrap();
    // Where one program is all of them, its name says which.
    let copy = within(&dir, "true");
    // Other processes copy it and hold it open, as in `executable`.
    run(clean("cp").args(["/bin/true", &copy])).expect_code(0);
    run(&mut shell(&format!("exec 3>>'{copy}'; backoff -- '{copy}'")))
        .expect_code(126)
        .expect_stderr("Text file busy");
    run!("-- {}", copy).expect_code(0).expect_silence();
}

#[test]
fn zero_that_counts_as_failure_is_not_zero() {
    run!("-q -n 1 --success-exit 3 -- true").expect_code(1);
    run!("-q -n 1 --success-exit 3 -- sh -c 'exit 3'").expect_code(3);
}

#[test]
fn a_chosen_status_on_exhaustion_only() {
    run!("-q -n 2 -b 1ms --exhausted-exit 75 -- false").expect_code(75);
    run!("-q -n 2 -b 1ms --exhausted-exit tempfail -- sh -c 'kill $$'").expect_code(75);
    run!("-q -t 20ms -n 1 --exhausted-exit 75 -- sleep 9").expect_code(75);
    run!("-q -d 20ms --exhausted-exit 75 -- sleep 9").expect_code(75);
    run!("-q -b 9s -m 9s -j none -d 5s --exhausted-exit 75 -- false").expect_code(75);
    run!("-q --stop-at-delay 0 --exhausted-exit 75 -- false").expect_code(75);
    run!("-q --stop-exit 1 --exhausted-exit 75 -- false").expect_code(1);
    run!("-q --exhausted-exit 75 -- no-such-command-here").expect_code(127);
    run!("-q --exhausted-exit 75 -- true").expect_code(0);
}

#[test]
fn a_chosen_status_for_late_success() {
    let flaky = "-q -b 1ms --flaky-exit 9 -- sh -c 'test $BACKOFF_ATTEMPT = 2'";
    ran(flaky).expect_code(9);
    run!("-q --flaky-exit 9 -- true").expect_code(0);
    run!("-q -b 1ms --flaky-exit 9 --consecutive 2 -- true").expect_code(0);
}

#[test]
fn help_and_version_go_to_standard_output() {
    for word in ["--help", "-h", "--version", "-V"] {
        let shown = run!("{}", word).expect_code(0).expect_silence();
        assert!(shown.stdout.contains("backoff"), "{shown:?}");
    }
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    for word in ["--help", "--version", "--plan", "--generate=man"] {
        let shown = run(&mut shell(&format!("backoff {word} >/dev/full"))).expect_code(125);
        assert!(shown.stderr.contains("No space left"), "{shown:?}");
        run(&mut shell(&format!("backoff {word} >&-"))).expect_code(125);
    }
}

#[test]
fn a_reader_that_is_gone_is_final_and_silent() {
    let shown = run(&mut shell("backoff -- yes | head -n 1; echo ${PIPESTATUS[*]}"));
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("y\n141 0\n", ""));
    let shown = run(&mut shell(
        "backoff -n 2 -b 1ms --retry-exit PIPE -- sh -c 'kill -PIPE $$'; echo $?",
    ));
    assert_eq!(shown.stdout, "141\n");
    assert_eq!(shown.stderr.lines().count(), 2, "{shown:?}");
}

/// However the command ends for that: it may ignore SIGPIPE, or be a shell that tells of a death by it.
#[test]
fn it_is_so_where_the_output_is_inherited() {
    let ended = |line: &str| {
        let shown = run(&mut shell(&format!("{line}; echo ${{PIPESTATUS[0]}}")));
        assert_eq!(shown.stderr, "", "{line}");
        shown.stdout
    };
    for redirection in ["", "2>&1"] {
        for options in ["-n 3 -b 1ms", "-n 3 -b 1ms -r x", "-n 3 -b 1ms -e 1,141"] {
            let line = |script: &str| format!("backoff {options} -- sh -c '{script}' {redirection} | head -n 1");
            assert_eq!(ended(&line("seq 1000000; exit $?")), "1\n141\n", "{options}");
        }
        let ignores = "trap \"\" PIPE; while echo y; do :; done 2>/dev/null; exit 1";
        let line = format!("backoff -n 3 -b 1ms -- sh -c '{ignores}' {redirection} | head -n 1");
        // What is no SIGPIPE may have another reason, and is said.
        let shown = run(&mut shell(&format!("{line}; exit ${{PIPESTATUS[0]}}"))).expect_code(1);
        assert_eq!(shown.stdout, "y\n");
        if redirection.is_empty() {
            shown
                .expect_stderr("gave up after 1 attempt")
                .expect_stderr("exit 1 (its reader is gone)");
        }
    }
    // What the run says of its end, whoever reads the output.
    let shown = run(&mut shell(
        "backoff -v -n 3 -b 1ms -- sh -c 'seq 1000000; exit $?' | head -n 1",
    ));
    shown
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr(" (its reader is gone)\n");
}

#[test]
fn other_failures_are_tried_again() {
    let gone = "mkfifo f; exec 3<>f; exec 4>f 3>&-;";
    let dir = tempfile::tempdir().unwrap();
    let line = |end: &str| format!("{gone} backoff -n 3 -b 1ms -- sh -c 'echo >>attempts; exit 7' {end}");
    for (end, attempts) in [
        // Of what is written there, backoff's own lines are a part.
        ("2>&4 4>&-", 3),
        ("| cat", 3),
        (">&-", 3),
        (">/dev/null", 3),
        (">&4 4>&-", 1),
    ] {
        let files = tempfile::tempdir_in(dir.path()).unwrap();
        run(shell(&line(end)).current_dir(files.path()));
        let file = std::fs::read_to_string(within(&files, "attempts")).unwrap();
        assert_eq!(file.lines().count(), attempts, "{end}");
    }
    // That the command cannot be started is said by nobody else.
    for command in ["no-such-program", "sh -c no-such-program"] {
        run(&mut shell(&format!(
            "set -o pipefail; backoff -- {command} | head -n 0"
        )))
        .expect_code(127)
        .expect_stderr("command not found");
    }
}

#[test]
fn no_process_to_be_had_is_our_own_failure() {
    let dir = tempfile::tempdir().unwrap();
    let copy = within(&dir, "backoff");
    run(clean("install").args(["-m", "755", *BIN, &copy])).expect_code(0);
    // The limit of processes does not bind root. Whom it binds may not be let into the directory.
    let user = if nix::unistd::geteuid().is_root() {
        "setpriv --reuid=54321 --regid=54321 --clear-groups"
    } else {
        "env"
    };
    let script = format!("cd /; exec 9<{copy}; {user} bash -c 'ulimit -u 1; exec /proc/self/fd/9 -b 1ms -- true'");
    let shown = run(&mut shell(&script)).expect_code(125);
    assert_eq!(
        shown.stderr,
        "backoff: cannot start a process: Resource temporarily unavailable\n"
    );
}

#[test]
fn arguments_too_long_are_126() {
    // 128 KiB is the kernel's limit for one argument; backoff's own is a little below it.
    let long = "x".repeat(131_000);
    run!("-- true {}", long).expect_code(0);
    // The limit of all arguments depends on that of the stack, which the first attempt lowers.
    let lower = "prlimit --pid $PPID --stack=262144; exit 1";
    let script = format!("backoff -n 3 -b 0 -- sh -c '{lower}' $(seq 14000)");
    run(&mut shell(&script))
        .expect_code(126)
        .expect_stderr("gave up after 2 attempts")
        .expect_stderr("Argument list too long");
}

fn script(dir: &tempfile::TempDir, text: &str) -> String {
    let path = within(dir, "script");
    executable(&path, text);
    path
}
