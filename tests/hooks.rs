//! Hooks with signals, stops and terminals. Other tests are in `tests/cases/hooks.md`.

use nix::sys::signal::Signal;

use crate::util::process::{is_alive, state};
use crate::util::pty::Terminal;
use crate::util::{Ends, backoff, eventually};

tests! {
    a_stop_during_a_hook_stops_backoff_at_once
    a_signal_ends_a_hook_and_the_run
    hooks_have_no_terminal
    before_retry_shares_the_terminal
}

fn a_stop_during_a_hook_stops_backoff_at_once() {
    let mut command =
        backoff("-qq -n 2 -b 1ms --on-retry 'echo $$ >&2; exec sleep 3 2>&-' -- sh -c 'exit 5'");
    let mut live = command.live();
    live.line_of_stderr();
    for _ in 0..2 {
        live.signal(Signal::SIGTSTP);
        eventually("it stops", || state(live.pid()) == Some('T'));
        live.signal(Signal::SIGCONT);
        eventually("it goes on", || state(live.pid()) == Some('S'));
    }
    live.code(5);
}

fn a_signal_ends_a_hook_and_the_run() {
    let hook = "echo $$ >&2; exec sleep 60 >&- 2>&-";
    for (options, signal) in [
        ("-b 1h -m 1h --on-retry", Signal::SIGTERM),
        ("-n 1 --on-give-up", Signal::SIGTERM),
        ("-b 1ms --before-retry", Signal::SIGTERM),
        ("-b 1ms --before-retry", Signal::SIGINT),
        ("-b 1ms --before-retry", Signal::SIGHUP),
    ] {
        let mut command = backoff(format!("-qq {options}"));
        let mut live = command.args([hook, "--", "false"]).live();
        let pid = live.line_of_stderr().parse().unwrap();
        live.signal(signal);
        live.killed_by(signal);
        eventually("the hook is gone", || !is_alive(pid));
    }
}

fn hooks_have_no_terminal() {
    let hook =
        "echo from-$(ps -o tty= -p $$ | tr -d ' '); (: </dev/tty) 2>/dev/null || echo no-terminal";
    let args = [hook, "--", "sh", "-c", "tty; exit 1"];
    let shown = Terminal::backoff("-qq -n 2 -b 1ms --on-retry", &args).rest();
    assert!(
        shown.contains("from-?") && shown.contains("no-terminal"),
        "{shown:?}"
    );
    assert_eq!(shown.matches("/dev/pts/").count(), 2, "{shown:?}");
}

/// `--before-retry` may run a program that asks for a passphrase.
fn before_retry_shares_the_terminal() {
    let hook = "read -r answer </dev/tty; echo got-$answer";
    let args = [
        hook,
        "--",
        "sh",
        "-c",
        "echo ready-$BACKOFF_ATTEMPT; exit 5",
    ];
    let mut terminal = Terminal::backoff("-qq -n 2 -b 1ms --before-retry", &args);
    terminal.expect("ready-1");
    terminal.send("word\r");
    let shown = terminal.rest();
    assert!(
        shown.contains("got-word") && shown.contains("ready-2"),
        "{shown:?}"
    );
}
