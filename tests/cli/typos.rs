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
        ("cd", "cd is a shell built-in; try backoff sh -c 'cd ...'"),
        ("test", "test is a shell built-in; try backoff sh -c 'test ...'"),
        (
            "export",
            "export is a shell built-in, and does nothing outside of the shell that runs it",
        ),
        (
            "alias",
            "alias is a shell built-in, and does nothing outside of the shell that runs it",
        ),
        (
            "fg",
            "fg is a shell built-in, and does nothing outside of the shell that runs it",
        ),
        (
            "pushd",
            "pushd is a shell built-in, and does nothing outside of the shell that runs it",
        ),
        ("source", "source is a shell built-in; try backoff bash -c 'source ...'"),
        ("while", "while is a shell keyword; try backoff sh -c 'while ...'"),
        ("[[", "[[ is a shell keyword; try backoff bash -c '[[ ...'"),
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
        !shown.stderr.contains("built-in") && !shown.stderr.contains("aliases"),
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

#[test]
fn a_typo_behind_another_program_is_final() {
    let dir = tempfile::tempdir().unwrap();
    let plain = within(&dir, "plain");
    std::fs::write(&plain, "echo no\n").unwrap();
    let folder = within(&dir, "");
    let missing = "permanent: cannot run 'no-such-program': command not found)\n";
    let denied = format!("permanent: cannot run '{plain}': Permission denied)\n");
    for (words, code, says) in [
        (words!("sh -c 'no-such-program x'"), 127, missing),
        (words!("sh -c 'exec no-such-program'"), 127, missing),
        (words!("bash -euc 'A=b no-such-program' name"), 127, missing),
        (words!("env no-such-program"), 127, missing),
        (words!("env A=b no-such-program"), 127, missing),
        (words!("timeout 9 no-such-program"), 127, missing),
        (words!("timeout -k 1 9 nice -n 1 no-such-program"), 127, missing),
        (words!("env A=b sh -c 'timeout 9 no-such-program'"), 127, missing),
        (words!("bash -c {}", plain), 126, &*denied),
        (words!("env {}", plain), 126, &denied),
        (words!("sh -c {}", folder), 126, "it is a directory)\n"),
    ] {
        let shown = run!("-b 1ms -- {..}", words).expect_code(code).expect_stderr(says);
        assert!(shown.stderr.contains(": gave up after 1 attempt in "), "{shown:?}");
    }
}

/// As that of a command that cannot be started.
#[test]
fn such_a_typo_is_neither_a_failure_that_came_nor_a_loop() {
    run!("-q --until failure -- sh -c no-such-program").expect_code(127);
    run!("-q --until never -- env no-such-program").expect_code(127);
    run!("-q --retry-if true -- env no-such-program").expect_code(127);
    for rule in ["-e 127", "-r 'no-such-program'"] {
        run!("-n 3 -b 1ms {..} -- env no-such-program", rule)
            .expect_code(127)
            .expect_stderr("gave up after 3 attempts");
    }
    let shown = run!("--success-exit 127 -- sh -c no-such-program").expect_code(127);
    assert!(!shown.stderr.contains("backoff"), "{shown:?}");
    // Without any rule that speaks of it.
    run!("-r x --stop-exit 9 -- sh -c no-such-program").expect_stderr("permanent: cannot run 'no-such-program'");
}

#[test]
fn what_may_be_there_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let gone = within(&dir, "gone");
    executable(&gone, "#!/bin/sh\nexit 127\n");
    let env = within(&dir, "by-env");
    executable(&env, "#!/usr/bin/env sh\nexit 127\n");
    let waits = "wait 99999";
    for words in [
        // It is there, and ends so itself.
        words!("env {}", gone),
        words!("sh -c {}", gone),
        words!("sh -c 'exit 127'"),
        // The shell does this itself.
        words!("bash -c {}", waits),
        words!("bash -c 'command {}'", waits),
        // More than one command, or one that is not spelled out.
        words!("sh -c 'true; no-such-program'"),
        words!("sh -c '$NONE no-such-program'"),
        // It is looked for elsewhere.
        words!("env PATH=/bin:/usr/bin no-such-program"),
        words!("sh -c 'PATH=/bin:/usr/bin no-such-program'"),
        words!("env -i PATH=/bin:/usr/bin no-such-program"),
        words!("env -C / no-such-program"),
        words!("env -u HOME {}", gone),
        // A script that is there, with an interpreter that is.
        words!("sh {}", gone),
        words!("{}", env),
        words!("sh -c {}", env),
        words!("bash -lc no-such-program"),
    ] {
        run!("-n 2 -b 1ms -- {..}", words)
            .expect_code(127)
            .expect_stderr("gave up after 2 attempts");
    }
}

#[test]
fn a_shell_that_knows_more_is_left_alone() {
    let twice = "gave up after 2 attempts";
    let script = "missing() { return 127; }; export -f missing; backoff -n 2 -b 1ms -- bash -c missing";
    run(&mut shell(script)).expect_code(127).expect_stderr(twice);
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "file");
    std::fs::write(&file, "missing() { return 127; }\n").unwrap();
    let mut command = backoff("-n 2 -b 1ms -- bash -c missing");
    run(command.env("BASH_ENV", &file))
        .expect_code(127)
        .expect_stderr(twice);
}

#[test]
fn a_script_that_cannot_be_started_is_final() {
    let dir = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = within(&dir, name);
        executable(&path, text);
        path
    };
    let env = script("by-env", "#!/usr/bin/env no-such-program\n");
    let env_crlf = script("by-env-crlf", "#!/usr/bin/env python3\r\nprint(1)\r\n");
    let crlf = script("crlf", "#!/bin/sh\r\necho\r\n");
    let plain = script("plain", "#!/no/such/interpreter\n");
    let missing = within(&dir, "missing");
    let no_program = format!("cannot run '{env}': its interpreter 'no-such-program' is missing)\n");
    let no_python = format!("'{env_crlf}': its lines end in CRLF, and there is no interpreter $'python3\\r')\n");
    let no_sh = format!("'{crlf}': its lines end in CRLF, and there is no interpreter $'/bin/sh\\r')\n");
    let no_interpreter = format!("cannot run '{plain}': its interpreter '/no/such/interpreter' is missing)\n");
    let no_script = format!("cannot run '{missing}': No such file or directory)\n");
    for (words, says) in [
        (words!("{}", env), &no_program),
        (words!("sh -c {}", env), &no_program),
        (words!("timeout 9 {}", env), &no_program),
        (words!("env -i {}", env), &no_program),
        (words!("{}", env_crlf), &no_python),
        (words!("bash -c {}", env_crlf), &no_python),
        (words!("sh -c {}", crlf), &no_sh),
        (words!("env {}", crlf), &no_sh),
        (words!("bash -c {}", plain), &no_interpreter),
        (words!("sh -c '{} x'", plain), &no_interpreter),
        (words!("sh {}", missing), &no_script),
        (words!("bash -u {} x", missing), &no_script),
        (words!("timeout 9 sh {}", missing), &no_script),
        (words!("sh -c 'bash {}'", missing), &no_script),
    ] {
        let shown = run!("-b 1ms -- {..}", words).expect_stderr(says);
        assert!(shown.stderr.contains(": gave up after 1 attempt in "), "{shown:?}");
        // As any typo: it is no failure that came.
        let shown = run!("-q --until failure -- {..}", words);
        assert_ne!(shown.code(), Some(0), "{shown:?}");
    }
    // A shell looks for it in PATH as well.
    executable(&within(&dir, "only-here"), "exit 127\n");
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    run(backoff("-n 2 -b 1ms -- bash only-here").env("PATH", path)).expect_stderr("gave up after 2 attempts");
}

#[test]
fn options_of_env_that_change_nothing_are_known() {
    for words in ["-i", "-", "-u HOME", "--unset=HOME A=b", "-i A=b", "-u PATH"] {
        run!("-b 1ms -- env {..} no-such-program", words)
            .expect_code(127)
            .expect_stderr("gave up after 1 attempt in ")
            .expect_stderr("permanent: cannot run 'no-such-program'");
    }
    run!("-b 1ms -- env A=b -i no-such-program").expect_stderr("permanent: cannot run '-i': command not found");
}

/// It is looked for as the command has PATH, which a hook may change.
#[test]
fn a_program_is_looked_for_where_the_command_would_find_it() {
    let dir = tempfile::tempdir().unwrap();
    executable(&within(&dir, "only-here"), "#!/bin/sh\nexit 127\n");
    let own = std::env::var("PATH").unwrap();
    let path = format!("{}:{own}", dir.path().display());
    let ended = |options: &[String]| {
        let words = words!("-n 3 -b 1ms {..} -- env only-here", options);
        run(backoff(words).env("PATH", &path)).expect_code(127)
    };
    ended(&[]).expect_stderr("gave up after 3 attempts");
    let hook = format!("echo 'PATH={own}' >>$BACKOFF_ENV");
    ended(&["--before-retry".to_owned(), hook])
        .expect_stderr("gave up after 2 attempts")
        .expect_stderr("permanent: cannot run 'only-here'");
}
