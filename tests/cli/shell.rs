//! In front of real work: scripts, pipes, loops, make, cron.

use crate::common::words::Words;
use crate::common::{IS_PORTABLE, Live, Shown, clean, path_with_backoff, run, shell};

#[test]
fn lists_and_options_of_the_shell() {
    assert_eq!(
        run(&mut shell("backoff -q -b 1ms -n 2 -- false || echo x")).stdout,
        "x\n"
    );
    assert_eq!(run(&mut shell("backoff -- true && echo y")).stdout, "y\n");
    let shown = run(&mut shell(
        "set -euo pipefail; backoff -q -b 1ms -n 2 -- sh -c 'exit 6'; echo not reached",
    ))
    .expect_code(6);
    assert_eq!(shown.stdout, "");
    run(&mut shell(
        "set -o pipefail; backoff -q -n 1 -- sh -c 'echo x; exit 6' | cat >/dev/null",
    ))
    .expect_code(6);
    let shown = run(&mut shell(
        "x=$(backoff -b 1ms -- sh -c 'echo try-$BACKOFF_ATTEMPT; test $BACKOFF_ATTEMPT = 2'); echo \"[$x]\"",
    ));
    assert_eq!(shown.stdout, "[try-1\ntry-2]\n");
    assert_eq!(
        run(&mut shell("if backoff -q -n 1 -- false; then echo a; else echo b; fi")).stdout,
        "b\n"
    );
    assert_eq!(
        run(&mut shell("printf '%s\\n' 1 2 3 | xargs -n 1 backoff -- echo")).stdout,
        "1\n2\n3\n"
    );
    assert_eq!(
        run(&mut shell(
            "export -f 2>/dev/null; f() { echo in-f; }; export -f f; backoff -- bash -c f"
        ))
        .stdout,
        "in-f\n"
    );
}

#[test]
fn a_loop_over_lines_loses_none() {
    if *IS_PORTABLE {
        // It has no `tee(2)`, and reads ahead.
        return;
    }
    let shown = run(&mut shell(
        "while read -r x; do backoff -q -b 1ms -n 2 -- sh -c 'exit 1' || echo \"$x\"; done < <(seq 5)",
    ));
    assert_eq!(shown.stdout, "1\n2\n3\n4\n5\n");
}

#[test]
fn exec_and_background_jobs() {
    run(&mut shell("exec backoff -q -n 1 -- sh -c 'exit 8'")).expect_code(8);
    let shown = run(&mut shell(
        "backoff -- sh -c 'sleep 0.1; exit 0' & wait $!; echo $?; backoff -q -n 1 -- sh -c 'exit 4' & wait $!; echo $?",
    ));
    assert_eq!(shown.stdout, "0\n4\n");
}

#[test]
fn the_output_arrives_as_it_is_written() {
    let mut live = Live::start(&mut shell(
        "backoff -- sh -c 'echo first; read x; echo $x' < <(sleep 0.3; echo second)",
    ));
    live.expect_line("first");
    live.expect_line("second");
    live.finish().expect_code(0);
}

#[test]
fn larger_than_every_pipe_at_once() {
    let script = "head -c 8000000 /dev/zero | backoff -- sh -c 'tee /dev/stderr' 2> >(wc -c >&2) | wc -c";
    let shown = run(&mut shell(script)).expect_code(0);
    assert_eq!(shown.stdout.trim(), "8000000");
}

#[test]
fn a_hundred_at_once() {
    let shown = run(&mut shell(
        "for i in $(seq 100); do backoff -q -b 1ms -n 3 -- sh -c 'exit 3' & p+=($!); done; for p in ${p[*]}; do wait $p; echo $?; done",
    ));
    assert_eq!(shown.stdout, "3\n".repeat(100));
}

#[test]
fn cron_like() {
    // An empty environment, no terminal, no standard input, SIGPIPE ignored by the parent.
    for stdin in ["</dev/null", "0<&-"] {
        let script = format!(
            "trap '' PIPE; exec env -i STARTED_BY_TEST=\"$STARTED_BY_TEST\" PATH=\"$PATH\" HOME=/ SHELL=/bin/sh setsid -w backoff -b 1ms -n 3 -- \
             sh -c 'grep SigIgn /proc/self/status >&2; echo out; test $BACKOFF_ATTEMPT = 2' {stdin}"
        );
        let shown = run(&mut shell(&script)).expect_code(0);
        assert_eq!(shown.stdout, "out\nout\n");
        let mask = shown
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:\t"))
            .unwrap();
        assert!(u64::from_str_radix(mask, 16).unwrap() & (1 << 12) != 0, "{shown:?}");
        assert!(shown.stderr.contains("succeeded on attempt 2 of 3"));
    }
}

#[test]
fn under_nohup() {
    let dir = tempfile::tempdir().unwrap();
    let script = "nohup backoff -q -b 1ms -n 2 -- sh -c 'kill -HUP $PPID; kill -HUP $$; echo survived; exit 5' >out 2>err; echo $?; cat out";
    let shown = run(shell(script).current_dir(dir.path()));
    assert_eq!(shown.stdout, "5\nsurvived\nsurvived\n");
}

/// Runs make in a directory with this Makefile. make is there wherever C is.
fn make(text: &str, args: impl Words) -> Shown {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("Makefile"), text).unwrap();
    run(clean("make")
        .args(args.words())
        .current_dir(dir.path())
        .env("PATH", path_with_backoff())
        .env_remove("MAKEFLAGS")
        .env_remove("MFLAGS")
        .env_remove("MAKELEVEL"))
}

#[test]
fn a_failing_recipe_fails_the_target_with_its_status() {
    let text = "all: a b\na:\n\tbackoff -q -b 1ms -n 2 -- sh -c 'exit 7'\nb:\n\tbackoff -b 1ms -- sh -c 'test $$BACKOFF_ATTEMPT = 2'\n";
    let shown = make(text, "-j2 -k").expect_code(2);
    assert!(shown.stderr.contains("[Makefile:3: a] Error 7"), "{shown:?}");
    assert!(shown.stderr.contains("succeeded on attempt 2"), "{shown:?}");
}

#[test]
fn the_jobserver_survives() {
    let text = "all:\n\t+backoff -q -b 1ms -n 3 -- $(MAKE) inner FAIL=$$BACKOFF_ATTEMPT\ninner: x y\n\
                x y:\n\t@echo start $@; sleep 0.2; echo end $@\n";
    let shown = make(text, "-j2").expect_code(0);
    assert!(!shown.stderr.contains("jobserver"), "{shown:?}");
    let order: Vec<&str> = shown
        .stdout
        .lines()
        .filter(|line| line.starts_with("start") || line.starts_with("end"))
        .collect();
    assert!(
        order[0].starts_with("start") && order[1].starts_with("start"),
        "both at once: {order:?}"
    );
}
