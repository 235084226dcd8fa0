//! `--before-retry`: what is done before the next attempt, and what it passes on.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::process::is_alive;
use crate::common::pty::Terminal;
use crate::common::{BIN, Live, backoff, eventually, executable, run, shell, within};

#[test]
fn it_runs_after_the_wait_and_before_each_attempt_but_the_first() {
    let script = "echo attempt $BACKOFF_ATTEMPT >&2; exit 3";
    let hook = "echo prepared after $BACKOFF_ATTEMPT: $BACKOFF_EXIT $BACKOFF_REASON ${BACKOFF_RAN_MS:?}$BACKOFF_PREVIOUS_EXIT | \
                sed 's/ [0-9]*$//'";
    let args = "-q -n 3 -b 1ms --on-retry 'echo waiting'";
    let shown = run!("{..} --before-retry {} -- sh -c {}", args, hook, script).expect_code(3);
    assert_eq!(shown.stdout, "");
    assert_eq!(
        shown.stderr,
        "attempt 1\nwaiting\nprepared after 1: 3 exit 3\nattempt 2\nwaiting\nprepared after 2: 3 exit 3\nattempt 3\n"
    );
    // A success is not retried, nor confirmed by one.
    run!("-q -n 3 -b 1ms --consecutive 2 --before-retry 'echo no' -- true")
        .expect_code(0)
        .expect_silence();
}

#[test]
fn its_failure_is_final_with_the_status_of_the_last_attempt() {
    for (hook, how) in [
        ("exit 9", "exit 9"),
        ("kill -KILL $$", "killed by SIGKILL"),
        ("no-such-command-here 2>&-", "exit 127"),
    ] {
        let args = words!("-b 1ms --exhausted-exit 75 --before-retry {}", hook);
        let shown = run!("{..} -- sh -c 'echo try; exit 3'", args).expect_code(3);
        assert_eq!(shown.stdout, "try\n");
        let line = format!(": exit 3 (permanent: --before-retry failed: {how})\n");
        assert!(
            shown.stderr.ends_with(&line) && shown.stderr.matches("gave up").count() == 1,
            "{shown:?}"
        );
    }
    // What was judged a failure is one, and whoever is told of the end is told of this one.
    let shown =
        run!("-q -b 1ms --fail-match no --before-retry false --on-give-up 'echo told $BACKOFF_EXIT' -- echo no");
    assert_eq!(shown.expect_code(1).stderr, "told 1\n");
    let args = "-n 3 -b 1ms --log-format json --before-retry false -- false";
    run!("{..}", args)
        .expect_code(1)
        .expect_stderr("\"reason\":\"permanent\"");
}

#[test]
fn variables_that_it_writes_reach_what_runs_later() {
    let hook = "printf 'TOKEN=%s\\n\\nTEXT= a = \"b\" ' t$BACKOFF_ATTEMPT >>\"$BACKOFF_ENV\"; test $BACKOFF_ATTEMPT = 1 || echo OTHER=o >$BACKOFF_ENV";
    let script = "echo \"[$TOKEN] [$TEXT] [$OTHER] ${BACKOFF_ENV-none}\"; exit 1";
    let args = "-q -n 3 -b 1ms --on-retry 'echo with [$TOKEN]'";
    let mut command = backoff(words!("{..} --before-retry {} -- sh -c {}", args, hook, script));
    let shown = run(command.env("TOKEN", "own").env("OTHER", "kept")).expect_code(1);
    assert_eq!(
        shown.stdout,
        "[own] [] [kept] none\n[t1] [ a = \"b\" ] [kept] none\n[t1] [ a = \"b\" ] [o] none\n"
    );
    assert_eq!(shown.stderr, "with [own]\nwith [t1]\n");
    // In place of one that backoff sets, and of bytes that are no text.
    let hook = "printf 'LC_ALL=C\\nX=\\377\\n' >$BACKOFF_ENV";
    let script = "env | grep -c ^LC_ALL=; echo $LC_ALL; printf %s \"$X\" | od -An -tx1; exit 1";
    let shown = run!("-q -n 2 -b 1ms --c-locale --before-retry {} -- sh -c {}", hook, script);
    assert_eq!(shown.stdout, "1\nC.UTF-8\n1\nC\n ff\n");
}

#[test]
fn lines_that_are_no_variables_are_told_once() {
    let hook = "printf 'A=1\\nexport B=2\\nBACKOFF_ATTEMPTS=9\\n\\033[31m\\nC=\\0\\nD=4\\n' >$BACKOFF_ENV";
    let script = "echo $A-$B-$C-$D; exit 1";
    let shown = run!("-q -n 2 -b 1ms --before-retry {} -- sh -c {}", hook, script).expect_code(1);
    assert_eq!(shown.stdout, "---\n1---4\n");
    assert_eq!(
        shown.stderr,
        "backoff: warning: --before-retry: line 2 of BACKOFF_ENV is not taken: \"export B\" is not a name for a variable, \
         nor are 3 other lines\n"
    );
    let taken = |hook: &str| run!("-q -n 2 -b 1ms --before-retry {} -- sh -c {}", hook, script).stderr;
    assert!(
        taken("echo BACKOFF_ATTEMPTS=9 >$BACKOFF_ENV").contains("BACKOFF_ATTEMPTS is one of backoff's own variables")
    );
    assert!(taken("printf '\\033[31m' >$BACKOFF_ENV").contains(r#""\u{1b}[31m" is not KEY=VALUE"#));
    assert!(taken("printf 'C=a\\0b' >$BACKOFF_ENV").contains("the value of C holds a NUL"));
    let much = "head -c 100000 /dev/zero | tr '\\0' x | sed 's/^/A=1\\nB=/' >$BACKOFF_ENV";
    assert!(taken(much).contains("line 2 of BACKOFF_ENV is not taken: all variables together are larger than 64KiB"));
}

/// Whatever is put in the place of the file is read without waiting, and removed.
#[test]
fn the_file_is_private_and_gone_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let files = || fs::read_dir(dir.path()).unwrap().count();
    let with = |hook: &str| {
        let mut command = backoff(words!("-n 2 -b 1ms --before-retry {} -- sh -c 'echo $A; exit 1'", hook));
        let shown = run(command.env("TMPDIR", dir.path())).expect_code(1);
        assert_eq!(files(), 0, "{hook}");
        shown
    };
    let shown = with("stat -c %a $BACKOFF_ENV; wc -c <$BACKOFF_ENV; dirname $BACKOFF_ENV");
    shown.expect_stderr(&format!("600\n0\n{}\n", dir.path().display()));
    for hook in ["exit 1", "kill -KILL $$", ":"] {
        with(hook);
    }
    // The next attempt would be without what the hook meant to hand to it.
    for (hook, why) in [
        ("rm $BACKOFF_ENV", "No such file or directory"),
        ("rm $BACKOFF_ENV; mkfifo $BACKOFF_ENV", "it is not a file any more"),
        ("ln -sf /etc/passwd $BACKOFF_ENV", "Too many levels of symbolic links"),
    ] {
        let shown = with(hook);
        assert_eq!(
            (shown.stdout.as_str(), shown.stderr.lines().count()),
            ("\n", 2),
            "{shown:?}"
        );
        shown
            .expect_stderr(": exit 1 (permanent: --before-retry failed: the file of BACKOFF_ENV cannot be read: ")
            .expect_stderr(&format!(": {why})\n"));
    }
    let shown = with("echo A=moved >$TMPDIR/new; mv $TMPDIR/new $BACKOFF_ENV");
    assert_eq!(shown.stdout, "\nmoved\n");
}

/// The directory of a fresh tool may be known only once it has been prepared.
#[test]
fn a_path_that_it_writes_finds_the_command() {
    let dir = tempfile::tempdir().unwrap();
    executable(&within(&dir, "late-tool"), "#!/bin/sh\necho found it\n");
    let hook = format!("echo \"PATH={}:$PATH\" >$BACKOFF_ENV", dir.path().display());
    let shown = run!("-q -n 3 -b 1ms -e 127 --before-retry {} -- late-tool", hook).expect_code(0);
    assert_eq!(shown.stdout, "found it\n");
    // And no longer the one that stood in the PATH before.
    let hook = "echo PATH=/nonexistent >$BACKOFF_ENV";
    run!("-n 3 -b 1ms --before-retry {} -- false", hook)
        .expect_code(127)
        .expect_stderr(": command not found (permanent");
}

#[test]
fn without_a_place_for_the_file_it_runs_all_the_same() {
    let hook = "echo \"prepared [$BACKOFF_ENV]\"";
    let mut command = backoff(words!(
        "-q -n 2 -b 1ms --before-retry {} -- sh -c 'echo try; exit 3'",
        hook
    ));
    let shown = run(command.env("TMPDIR", "/nonexistent")).expect_code(3);
    assert_eq!(shown.stdout, "try\ntry\n");
    assert_eq!(
        shown.stderr,
        "prepared []\nbackoff: warning: --before-retry: the file of BACKOFF_ENV cannot be made: /nonexistent: No such file or directory\n"
    );
}

#[test]
fn the_deadline_bounds_it() {
    let began = Instant::now();
    let args = "-d 2s -k 100ms -b 1ms --exhausted-exit 75 --before-retry 'exec sleep 60'";
    let shown = run!("{..} -- sh -c 'echo try; exit 3'", args).expect_code(75);
    assert!(began.elapsed() < Duration::from_secs(8), "{shown:?}");
    assert_eq!(shown.stdout, "try\n");
    shown
        .expect_stderr("backoff: warning: --before-retry failed: ended by the deadline\n")
        .expect_stderr("gave up after 1 attempt in ");
}

#[test]
fn a_signal_ends_it_and_the_run() {
    let dir = tempfile::tempdir().unwrap();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut command = shell("exec backoff \"$@\" 2>&1");
        let hook = "echo $$; echo A=1 >$BACKOFF_ENV; exec sleep 60 >&- 2>&-";
        command.args(words!("bash -q -b 1ms --before-retry {} -- false", hook));
        let mut live = Live::start(command.env("TMPDIR", dir.path()));
        let pid: i32 = live.line().parse().unwrap();
        live.signal(signal);
        assert_eq!(live.finish().signal(), Some(signal as i32));
        eventually("it is gone", || !is_alive(pid));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{signal}");
    }
}

/// A program that asks for a passphrase is where the command would be.
#[test]
fn it_shares_the_terminal() {
    let hook = "read -r answer </dev/tty; echo got-$answer";
    let args = words!(
        "-q -n 2 -b 1ms --before-retry {} -- sh -c 'echo ready-$BACKOFF_ATTEMPT; exit 5'",
        hook
    );
    let mut terminal = Terminal::start(*BIN, args);
    terminal.expect("ready-1");
    terminal.send("word\r");
    let shown = terminal.rest();
    assert!(shown.contains("got-word") && shown.contains("ready-2"), "{shown:?}");
}

#[test]
fn its_output_goes_to_standard_error_and_it_reads_nothing() {
    let script = "printf 'for the command\\n' | backoff -q -n 2 -b 1ms --before-retry 'echo out; wc -c' -- \
                  sh -c 'cat; exit 1'";
    let shown = run(&mut shell(script));
    assert_eq!(shown.stdout, "for the command\n".repeat(2));
    assert_eq!(shown.stderr, "out\n0\n");
}

/// The preset knows which failures the same command cannot get over by itself.
#[test]
fn what_others_pushed_first_is_worth_a_retry_only_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let git = within(&dir, "git");
    executable(
        &git,
        "#!/bin/sh\necho ' ! [rejected]        main -> main (fetch first)' >&2\nexit 1\n",
    );
    let shown = run!("-n 2 -b 1ms --for git -- {} push", git).expect_code(1);
    shown
        .expect_stderr("gave up after 1 attempt in ")
        .expect_stderr("(permanent: --for git)");
    let shown = run!("-n 2 -b 1ms --for git --before-retry true -- {} push", git).expect_code(1);
    shown.expect_stderr("gave up after 2 attempts in ");
    run!("-n 2 -b 1ms --for git --before-retry false -- {} push", git)
        .expect_code(1)
        .expect_stderr("permanent: --before-retry failed: exit 1");
}
