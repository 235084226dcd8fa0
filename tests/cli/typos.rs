//! A command that is no program, or that is to run one that is not there.

use crate::common::{Shown, backoff, executable, run, shell, within};

/// With no programs to be found but for a shell.
fn without_programs(line: &str) -> Shown {
    let dir = tempfile::tempdir().unwrap();
    run(backoff(line).env("PATH", dir.path())).expect_code(127)
}

#[test]
fn words_of_a_shell_are_told_from_programs() {
    for (word, says) in [
        ("cd", "cd is a word of the shell; try backoff sh -c 'cd ...'"),
        (
            "export",
            "export is a word of the shell; try backoff sh -c 'export ...'",
        ),
        (
            "source",
            "source is a word of the shell; try backoff bash -c 'source ...'",
        ),
        ("while", "while is a word of the shell; try backoff sh -c 'while ...'"),
        ("[[", "[[ is a word of the shell; try backoff bash -c '[[ ...'"),
        ("~/bin/x", "a command line needs a shell; try backoff sh -c '...'"),
        (
            "\u{2013}n",
            "it begins with a dash that is not \"-\"; try the one of the keyboard",
        ),
        (
            "\u{2014}attempts",
            "it begins with a dash that is not \"-\"; try the one of the keyboard",
        ),
    ] {
        let shown = without_programs(&format!("-- '{word}' x"));
        let line = format!("backoff: cannot run '{word}': command not found; {says}\n");
        assert_eq!(shown.stderr, line);
    }
    let shown = without_programs("3s -- true");
    let says = "only options of backoff stand before --";
    assert_eq!(
        shown.stderr,
        format!("backoff: cannot run '3s': command not found; {says}\n")
    );
    // Nothing is known of a typo.
    for word in ["gti", "x~", "a-b"] {
        let shown = without_programs(&format!("-- {word} --"));
        assert!(!shown.stderr.contains(';'), "{shown:?}");
    }
    // A path names a file, whatever that is called.
    for path in ["/no/such/cd", "./no-such-file"] {
        let line = format!("backoff: cannot run '{path}': command not found\n");
        assert_eq!(without_programs(&format!("-- {path}")).stderr, line);
    }
    // A file of that name is there.
    let dir = tempfile::tempdir().unwrap();
    executable(&within(&dir, "cd"), "#!/no/such/interpreter\n");
    let shown = run(backoff("-- cd").env("PATH", dir.path())).expect_code(127);
    assert!(
        !shown.stderr.contains("word of the shell") && !shown.stderr.contains("aliases"),
        "{shown:?}"
    );
}

/// An interactive shell knows a function; backoff does not.
#[test]
fn a_function_of_the_shell_is_no_program() {
    run(&mut shell(
        "deploy() { echo deployed; }; export -f deploy; backoff deploy",
    ))
    .expect_code(127)
    .expect_stderr("cannot run 'deploy': it is a function of bash, and no program; try bash -c '...'\n");
}

/// 126 and 127 are final only if exec of the command itself failed.
#[test]
fn what_a_shell_or_wrapper_does_not_find_is_a_failure_like_others() {
    let dir = tempfile::tempdir().unwrap();
    let script = within(&dir, "by-env");
    executable(&script, "#!/usr/bin/env no-such-program\n");
    let not_found = "failed: exit 127 (\"command not found\", in a shell) after ";
    for (words, code, says) in [
        (words!("sh -c no-such-program"), 127, not_found),
        (words!("sh -c 'no-such-program || exit 9'"), 9, "failed: exit 9 after "),
        (words!("env no-such-program"), 127, not_found),
        (words!("timeout 9 sh -c 'exit 127'"), 127, not_found),
        (words!("{}", script), 127, not_found),
        (words!("sh -c /"), 126, "failed: exit 126 after "),
        (words!("sh /no/such/script"), 2, "failed: exit 2 after "),
    ] {
        // As bash has it, also where sh is bash.
        let shown = run!("-n 2 -b 1ms -- {..}", words).expect_stderr("gave up after 2 attempts in ");
        match code {
            2 => assert!([Some(2), Some(127)].contains(&shown.code()), "{shown:?}"),
            _ => drop(shown.expect_code(code).expect_stderr(says)),
        }
    }
    // Not installed yet: the third attempt finds it.
    let tool = within(&dir, "tool");
    let hook = format!("[ $BACKOFF_ATTEMPT -lt 2 ] || {{ echo '#!/bin/sh' >{tool}; chmod +x {tool}; }}");
    run!("-b 1ms --before-retry {} -- env {}", hook, tool).expect_stderr("succeeded on attempt 3 of 5");
    // It is a failure that came, a loop goes on, and rules decide about it.
    run!("-q --until failure -- sh -c no-such-program").expect_code(0);
    run!("-n 3 -b 1ms --until never -- env no-such-program").expect_stderr("gave up after 3 attempts");
    run!("--stop-exit 127 -- env no-such-program").expect_stderr(": gave up after 1 attempt in ");
    run!("-e 7 -- sh -c no-such-program")
        .expect_stderr("exit 127 (\"command not found\", in a shell; permanent: no retry rule matches)\n");
    run!("-q --success-exit 127 -- env no-such-program").expect_code(127);
    run!("--success-exit 127 -- sh -c 'exit 127'").expect_silence();
}
