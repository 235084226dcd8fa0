//! Terminal modes after an attempt that a limit or a signal ended.

use nix::sys::termios::{LocalFlags, Termios};
use nix::unistd::tcgetpgrp;

use crate::util::eventually;
use crate::util::process::{descendants_named, stopped_below};
use crate::util::pty::{CTRL_BACKSLASH, CTRL_C, CTRL_Z, Terminal};

tests! {
    a_wait_hears_keys_whatever_the_attempt_has_left
    a_wait_stops_whatever_the_attempt_has_left
    what_was_ended_leaves_the_terminal_as_it_was
    what_ends_by_itself_leaves_the_terminal_as_it_likes
    in_the_background_the_shell_keeps_its_terminal
}

/// Commands that leave the terminal in a mode in which keys send no signals.
const LEFT: [&str; 4] = [
    "-- sh -c 'stty raw -echo; exit 3'",
    "-- sh -c 'ulimit -c 0; stty raw -echo; kill -SEGV $$'",
    "-t 200ms -- sh -c 'stty -isig -echo; exec sleep 60'",
    "-t 200ms -s KILL -- sh -c 'stty raw -echo; exec sleep 60'",
];

/// Runs a line without job control, on a terminal whose modes no other process changes. Returns the modes before the
/// line.
fn script(line: &str) -> (Terminal, Termios) {
    let mut terminal = Terminal::sh(&format!("echo begin; read go; {line}; read end"));
    terminal.expect("begin\r\n");
    let before = terminal.modes();
    terminal.send("\n");
    (terminal, before)
}

fn a_wait_hears_keys_whatever_the_attempt_has_left() {
    for left in LEFT {
        for (key, status) in [(CTRL_C, 130), (CTRL_BACKSLASH, 131)] {
            let mut terminal =
                Terminal::with(&format!("ulimit -c 0; backoff -b 60s -m 60s {left}"));
            terminal.expect("retrying in");
            // The line ends with a carriage return and a newline.
            assert!(terminal.expect("\n").ends_with('\r'), "{left}");
            terminal.send(key);
            terminal.expect_status(status);
        }
    }
}

fn a_wait_stops_whatever_the_attempt_has_left() {
    let mut terminal = Terminal::with(&format!("backoff -b 60s -m 60s {}", LEFT[2]));
    terminal.expect("retrying in");
    for _ in 0..2 {
        terminal.expect("\n");
        terminal.send(CTRL_Z);
        terminal.expect("Stopped");
        terminal.expect("prompt> ");
        terminal.command("fg");
        // The shell first hands the terminal to backoff, then continues it.
        let shell = terminal.pid();
        eventually("it goes on", || stopped_below(shell) == 0);
    }
    terminal.expect("\n");
    terminal.send(CTRL_C);
    terminal.expect("prompt> ");
}

fn what_was_ended_leaves_the_terminal_as_it_was() {
    for line in [
        "backoff -n 1 -- sh -c 'stty raw -echo; kill -KILL $$'",
        "backoff -n 1 -t 200ms -- sh -c 'stty raw -echo; exec sleep 60'",
        "backoff -d 200ms -- sh -c 'stty raw -echo; exec sleep 60'",
        // First a signal ends the command, then the deadline ends a predicate.
        "backoff -- sh -c 'stty raw -echo; kill -TERM $PPID; exec sleep 60'",
        "backoff -n 1 -d 200ms --retry-if 'stty raw -echo </dev/tty; exec sleep 60' -- false",
        // The command fails by itself.
        "backoff -n 1 -- sh -c 'stty raw -echo; exit 1'",
        // After a limit, backoff restores the modes even if its output is a pipe.
        "backoff -n 1 -t 200ms -- sh -c 'stty raw -echo; exec sleep 60' | { tee /dev/null; exit 1; }",
        // Standard output goes elsewhere, but the terminal is the command's standard input.
        "backoff -n 1 -t 200ms --pty -- sh -c 'stty raw -echo; exec sleep 60' >/dev/null",
    ] {
        let (mut terminal, before) = script(&format!("{line}; echo status-$?"));
        terminal.expect("status-1");
        assert_eq!(terminal.modes(), before, "{line}");
    }
}

fn what_ends_by_itself_leaves_the_terminal_as_it_likes() {
    for line in [
        "stty -echo -ixon",
        // Each attempt begins with the modes that the first attempt found.
        "sh -c 'test $BACKOFF_ATTEMPT = 2 && exec stty -echo -ixon; stty raw; exit 3'",
    ] {
        let (mut terminal, before) =
            script(&format!("backoff -n 2 -b 1ms -- {line}; echo status-$?"));
        terminal.expect("status-");
        let left = terminal.modes();
        assert_ne!(left, before, "{line}");
        let (mut bare, _) = script("stty -echo -ixon; echo over");
        bare.expect("over");
        assert_eq!(left, bare.modes(), "{line}");
    }
}

fn in_the_background_the_shell_keeps_its_terminal() {
    let mut terminal = Terminal::with("backoff -n 1 -t 2s -- sh -c 'stty -ixon; exec sleep 60'");
    let shell = terminal.pid();
    eventually("sleep runs", || descendants_named(shell, "sleep") == 1);
    terminal.send(CTRL_Z);
    terminal.expect("Stopped");
    terminal.expect("prompt> ");
    terminal.command("bg");
    terminal.expect("prompt> ");
    let edits_lines =
        |terminal: &Terminal| !terminal.modes().local_flags.contains(LocalFlags::ICANON);
    eventually("the shell edits lines", || edits_lines(&terminal));
    terminal.expect("timed out");
    eventually("backoff ends", || descendants_named(shell, "backoff") == 0);
    assert!(edits_lines(&terminal));
    assert_eq!(tcgetpgrp(&terminal.master).unwrap().as_raw(), shell);
    terminal.command("echo still-here");
    terminal.expect("still-here");
}
