//! `--on-retry` and `--on-give-up`.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::process::{is_alive, state};
use crate::common::pty::Terminal;
use crate::common::{BIN, Live, backoff, eventually, ran, run, shell, within};

#[test]
fn they_see_what_happened() {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let hook = |name: &str| {
        format!(
            "echo {name} $BACKOFF_ATTEMPT/$BACKOFF_ATTEMPT_LIMIT exit=$BACKOFF_EXIT signal=$BACKOFF_EXIT_SIGNAL \
             reason=$BACKOFF_REASON delay=$BACKOFF_DELAY previous=$BACKOFF_PREVIOUS_EXIT depth=$BACKOFF_DEPTH >>{log}"
        )
    };
    let (retry, give_up) = (hook("retry"), hook("gave-up"));
    let args = words!(
        "-q -n 3 --delays 20ms -j none --on-retry {} --on-give-up {}",
        retry,
        give_up
    );
    let command = "-r 'over.*' -- sh -c 'echo overload; test $BACKOFF_ATTEMPT != 2 || kill $$; exit 7'";
    let shown = run!("{..} {..}", args, command).expect_code(7);
    assert_eq!(shown.stdout, "overload\n".repeat(3));
    assert_eq!(shown.stderr, "");
    assert_eq!(
        fs::read_to_string(&log).unwrap(),
        "retry 1/3 exit=7 signal= reason=overload delay=0.020 previous= depth=1\n\
         retry 2/3 exit=143 signal=15 reason=overload delay=0.020 previous=7 depth=1\n\
         gave-up 3/3 exit=7 signal= reason=overload delay= previous=143 depth=1\n"
    );
}

#[test]
fn what_an_attempt_died_of_is_no_option_of_a_run_inside() {
    let inner = "backoff -n 1 --signal TERM -t 1s -- sh -c 'trap \"echo got TERM; exit\" TERM; sleep 5 & wait'";
    let by_default = inner.replace("--signal TERM ", "");
    for hook in [inner, &by_default] {
        let script = "backoff -q -n 1 --on-give-up \"$HOOK\" -- sh -c 'kill -USR1 $$'";
        let shown = run(shell(script).env("HOOK", hook));
        assert_eq!(shown.signal(), Some(10), "{shown:?}");
        shown.expect_stderr("got TERM\n");
    }
}

#[test]
fn a_slow_one_starts_no_wait_past_the_deadline() {
    let began = Instant::now();
    let args = "-d 4s --delays 3s -j none --on-retry 'sleep 2' --on-give-up 'echo over'";
    let shown = run!("{..} -- false", args).expect_code(1);
    assert!(began.elapsed() < Duration::from_secs(4), "{shown:?}");
    let shown = shown.expect_stderr("; retrying in 3.0s\n");
    shown.expect_stderr("exit 1 (the next attempt would begin after --deadline 4s)\nover\n");
}

#[test]
fn one_that_runs_is_stopped_with_backoff() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "pid");
    // A shell that waits for its child to execute a program cannot stop.
    let hook = format!("echo $$ >{path}.new; mv {path}.new {path}; exec sleep 3");
    let live = Live::start(&mut backoff(words!(
        "-n 2 -b 1ms --on-retry {} -- sh -c 'exit 5'",
        hook
    )));
    eventually("the hook runs", || fs::metadata(&path).is_ok());
    let pid: i32 = fs::read_to_string(&path).unwrap().trim().parse().unwrap();
    for _ in 0..2 {
        live.signal(Signal::SIGTSTP);
        eventually("both stop", || {
            (state(live.pid()), state(pid)) == (Some('T'), Some('T'))
        });
        live.signal(Signal::SIGCONT);
        eventually("both go on", || {
            state(live.pid()) == Some('S') && state(pid) != Some('T')
        });
    }
    live.finish().expect_code(5);
}

#[test]
fn without_standard_error_they_print_nowhere() {
    let says = "echo said";
    let script = format!(
        "backoff -n 2 -b 1ms --on-retry '{says}' --on-give-up '{says}' --retry-if '{says}' -- sh -c 'echo out; exit 1' 2>&-"
    );
    assert_eq!(run(&mut shell(&script)).expect_code(1).stdout, "out\nout\n");
}

#[test]
fn a_success_calls_none_and_one_after_a_retry_one() {
    let both = "--on-retry 'echo retry' --on-give-up 'echo gave-up' -q -b 1ms";
    let with = |command: &str| run!("{..} -- {..}", both, command).expect_code(0).stderr;
    assert_eq!(with("true"), "");
    assert_eq!(with("sh -c 'test $BACKOFF_ATTEMPT = 2'"), "retry\n");
}

#[test]
fn giving_up_has_many_reasons() {
    for args in [
        "-n 1 -- false",
        "--stop-exit 1 -- false",
        "-d 9s -b 1h -m 1h -- false",
        "-- no-such-command",
    ] {
        let shown = run!("-q --on-give-up 'echo $BACKOFF_EXIT' {..}", args);
        assert!(
            shown.stderr.ends_with(&format!("{}\n", shown.code().unwrap())),
            "{args:?}: {shown:?}"
        );
    }
    // Not where somebody else goes on, or nobody wants more.
    let mut nested = backoff("-q --on-give-up 'echo hook' --nested once -- false");
    run(nested.env("BACKOFF_DEPTH", "1")).expect_code(1).expect_silence();
    run(&mut shell("backoff --on-give-up 'echo hook' -- yes | head -n 1")).expect_silence();
}

#[test]
fn their_output_goes_to_standard_error() {
    let shown = run!("-q -n 2 -b 1ms --on-retry 'echo out; echo err >&2' -- false").expect_code(1);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("", "out\nerr\n"));
}

#[test]
fn their_failure_is_told_and_changes_nothing() {
    let args = "-q -n 2 -b 1ms --on-retry 'exit 3' --on-give-up 'kill -9 $$' -- sh -c 'exit 7'";
    let shown = ran(args).expect_code(7);
    assert_eq!(
        shown.stderr,
        "backoff: warning: --on-retry failed: exit 3\nbackoff: warning: --on-give-up failed: killed by SIGKILL\n"
    );
}

#[test]
fn they_have_no_input() {
    let script = "printf 'for the command\\n' | backoff -q -n 2 -b 1ms --on-retry 'wc -c; readlink /proc/self/fd/0' -- \
                  sh -c 'cat; exit 1'";
    let shown = run(&mut shell(script));
    assert_eq!(shown.stdout, "for the command\n".repeat(2));
    assert_eq!(shown.stderr, "0\n/dev/null\n");
}

/// So much of the failed attempt's output as was asked for, beginning with a line if that is near.
#[test]
fn they_get_the_end_of_the_output_if_asked_to() {
    let hooks = "--on-retry 'sed s/^/retry-/' --before-retry 'sed s/^/before-/' --on-give-up 'sed s/^/gave-up-/'";
    let script = "echo out $BACKOFF_ATTEMPT; echo err >&2; exit 1";
    for (options, stderr) in [
        ("--stdout null --stderr null", ""),
        ("--stdout final --stderr final", "err\n"),
    ] {
        let shown = run!(
            "-q -n 2 -b 1ms --hook-output {..} {..} -- sh -c {}",
            options,
            hooks,
            script
        );
        let hooks = "retry-out 1\nretry-err\nbefore-out 1\nbefore-err\n";
        assert_eq!(
            shown.stderr,
            format!("{hooks}{stderr}gave-up-out 2\ngave-up-err\n"),
            "{options}"
        );
    }
    let end = |size: &str, script: &str| {
        let args = words!("-q -n 1 --hook-output={} --stdout null", size);
        run!(
            "{..} --on-give-up 'cat; echo .' -- sh -c {}",
            args,
            format!("{script}; exit 1")
        )
        .stderr
    };
    assert_eq!(end("10", "seq 1 12"), "10\n11\n12\n.\n");
    assert_eq!(end("11", "seq 1 12"), "9\n10\n11\n12\n.\n");
    assert_eq!(end("8", "printf 'a line that is long'"), " is long.\n");
    assert_eq!(end("off", "echo x"), ".\n");
    let shown = end("1MiB", "head -c 3000000 /dev/zero | tr '\\0' x");
    assert_eq!(shown.len(), (1 << 20) + 2);
    // Nothing of an attempt that printed nothing, and of the streams that are looked at.
    let shown =
        run!("-q -n 2 -b 1ms --hook-output --on-give-up 'wc -c' -- sh -c 'echo $BACKOFF_ATTEMPT | grep 1; exit 1'");
    assert_eq!(shown.stderr, "0\n");
    let shown =
        run!("-q -n 1 --match-on stdout --hook-output --on-give-up cat -- sh -c 'echo out; echo err >&2; exit 1'");
    assert_eq!(shown.stderr, "err\nout\n");
}

#[test]
fn their_input_is_for_somebody() {
    run!("--hook-output -- true")
        .expect_code(125)
        .expect_stderr("--hook-output needs a hook that reads it; try --on-give-up");
    run(backoff("-vv -- true").env("BACKOFF_HOOK_OUTPUT", "1"))
        .expect_stderr("(stdin auto, stdout inherited, stderr inherited)");
    let shown = run!("-vv --hook-output --on-retry : -- true");
    shown.expect_stderr("stdout observed (--hook-output), stderr observed (--hook-output)");
    for bad in ["0B", "2MiB", "much", ""] {
        run!("--hook-output={} --on-retry : -- true", bad)
            .expect_code(125)
            .expect_stderr("backoff: --hook-output: ");
    }
}

/// What there is to know of an attempt is known to the next one, too.
#[test]
fn the_next_attempt_sees_what_was_wrong() {
    let script = "echo \"[$BACKOFF_REASON] [${BACKOFF_RAN_MS:+ran}]\"; case $BACKOFF_ATTEMPT in 1) exit 7;; 2) printf 'a\\000b bad\\n'; exit 1;; esac";
    let shown = run!(
        "-q -n 4 -b 1ms --fail-match 'a\\x00b bad' --success-match never -- sh -c {}",
        script
    );
    let lines: Vec<&str> = shown.stdout.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(
        lines,
        [
            "[] []",
            "[exit 7] [ran]",
            "[a\\u{0}b bad] [ran]",
            "[no line matches --success-match (exit 0)] [ran]"
        ]
    );
    // After a success there is nothing wrong.
    let shown = run!("-q -b 1ms --consecutive 2 -- sh -c 'echo [$BACKOFF_REASON] $BACKOFF_PREVIOUS_EXIT'");
    assert_eq!(shown.stdout, "[]\n[] 0\n");
    let shown = run!("-q -n 2 -b 1ms --on-retry 'echo $BACKOFF_RAN_MS' -- sh -c 'sleep 0.2; exit 1'");
    let ran: u64 = shown.stderr.trim().parse().unwrap();
    assert!((200..20_000).contains(&ran), "{ran}");
}

#[test]
fn they_have_no_terminal() {
    let hook = "echo from-$(ps -o tty= -p $$ | tr -d ' '); (: </dev/tty) 2>/dev/null || echo no-terminal";
    let terminal = Terminal::start(
        *BIN,
        words!("-q -n 2 -b 1ms --on-retry {} -- sh -c 'tty; exit 1'", hook),
    );
    let shown = terminal.rest();
    assert!(shown.contains("from-?"), "{shown:?}");
    assert!(shown.contains("no-terminal"), "{shown:?}");
    assert_eq!(shown.matches("/dev/pts/").count(), 2, "{shown:?}");
}

#[test]
fn the_deadline_bounds_them() {
    let long = "exec sleep 60";
    let began = Instant::now();
    let shown = run!("-d 1s -b 1ms --on-retry {} -- false", long).expect_code(1);
    assert!(began.elapsed() < Duration::from_secs(5), "at once: {shown:?}");
    let shown = shown.expect_stderr("backoff: warning: --on-retry failed: ended by the deadline\n");
    shown.expect_stderr("gave up after 1 attempt in ");

    let began = Instant::now();
    let shown = run!("-d 1s -n 1 --on-give-up {} -- false", long).expect_code(1);
    assert!(began.elapsed() >= Duration::from_secs(5), "it has some time: {shown:?}");
    shown.expect_stderr("backoff: warning: --on-give-up failed: ended by the deadline\n");
}

#[test]
fn one_that_begins_after_the_deadline_has_some_time() {
    let args = "-q -d 200ms --on-give-up 'sleep 0.3; echo told' -- sleep 60";
    ran(args).expect_code(124).expect_stderr("told\n");
}

#[test]
fn a_signal_ends_them_and_the_run() {
    for (option, others) in [("--on-retry", "1h"), ("--on-give-up", "1ms")] {
        let attempts = if option == "--on-retry" { "2" } else { "1" };
        let hook = "echo $$ >&2; exec sleep 60 2>/dev/null";
        let mut command = shell("exec backoff \"$@\" 2>&1");
        command.args([
            "bash", "-q", "-n", attempts, "-b", others, "-m", "1h", option, hook, "--", "false",
        ]);
        let mut live = Live::start(&mut command);
        let pid: i32 = live.line().parse().unwrap();
        live.signal(Signal::SIGTERM);
        assert_eq!(live.finish().signal(), Some(15), "{option}");
        eventually("the hook is gone", || !is_alive(pid));
    }
}

#[test]
fn an_empty_one_is_none() {
    run(backoff("-q -n 2 -b 1ms -- false").env("BACKOFF_ON_RETRY", "")).expect_silence();
}
