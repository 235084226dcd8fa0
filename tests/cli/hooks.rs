//! Hooks of a running command: signals, stops, terminals. What they see and print is in `tests/cases/hooks.md`.

use std::fs;

use nix::sys::signal::Signal;

use crate::common::process::{is_alive, state};
use crate::common::pty::Terminal;
use crate::common::{BIN, Live, backoff, eventually, shell, within};

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
fn a_signal_ends_before_retry_and_the_run() {
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

/// A program that asks for a passphrase is where the command would be.
#[test]
fn before_retry_shares_the_terminal() {
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
