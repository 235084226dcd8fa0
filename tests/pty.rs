//! `--pty` on a terminal. Other tests are in `tests/cases/streams.md`.

use nix::sys::signal::Signal;

use crate::util::process::parent_of;
use crate::util::pty::{CTRL_C, CTRL_Z, Terminal};
use crate::util::{Ends, backoff, clean, eventually, probe, send};

tests! {
    an_examined_output_is_a_terminal_of_our_size
    an_output_that_is_not_examined_stays_our_terminal
    lines_are_not_held_back
    a_window_that_changes_changes_the_commands ["linux"]
    control_c_ends_command_and_run
    control_z_and_fg_twice_over
    the_terminal_is_as_it_was_however_the_run_ends
    messages_are_not_stairs
    a_raw_program_gets_every_byte
}

fn an_examined_output_is_a_terminal_of_our_size() {
    let mut terminal = Terminal::with("stty rows 33 cols 99");
    terminal.expect("prompt> ");
    let script = "for fd in 0 1 2; do test -t $fd && echo terminal-$fd; done; stty size <&1";
    terminal.command(&format!("backoff -r never-there --pty -- sh -c '{script}'"));
    terminal.expect("terminal-0\r\nterminal-1\r\nterminal-2\r\n33 99\r\n");
}

fn an_output_that_is_not_examined_stays_our_terminal() {
    let mut terminal = Terminal::bash();
    terminal.command("tty; backoff --pty -- sh -c 'tty; tty <&1; tty <&2'");
    let ours = terminal.expect("\r\n").to_owned();
    terminal.expect(&format!("{ours}\r\n{ours}\r\n{ours}\r\n"));
    // A pager needs our terminal as standard error, as it reads keys from there.
    terminal.command("backoff --match-on stdout -r x --pty -- sh -c 'tty <&2; tty <&1'");
    terminal.expect(&format!("{ours}\r\n"));
    assert_ne!(terminal.expect("\r\n"), ours);
}

fn lines_are_not_held_back() {
    // Without a terminal, grep buffers its whole output.
    let script = "(echo first; sleep 60) | grep --color=never first";
    let mut live = backoff("--pty -- sh -c").arg(script).live();
    live.expect_line("first");
    live.signal(Signal::SIGTERM);
    live.killed_by(Signal::SIGTERM);
}

fn a_window_that_changes_changes_the_commands() {
    let script = format!("backoff -r x --pty -- {} signals 7", probe());
    let mut terminal = Terminal::with(&script);
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    let stty = |process: i32, fd: i32, words: &str| {
        clean("stty")
            .arg("-F")
            .arg(std::fs::read_link(format!("/proc/{process}/fd/{fd}")).unwrap())
            .args(words.split(' '))
            .code(0)
            .out()
    };
    stty(backoff, 0, "rows 40 cols 50");
    eventually("the size follows", || stty(pid, 1, "size") == "40 50\n");
    send(pid, Signal::SIGTERM);
    let winches = terminal.expect("15\r\n").matches("28\r\n").count();
    // One from the terminal, and one when the pseudo-terminal is resized. stty sets rows and columns separately.
    assert!((1..=4).contains(&winches), "{winches}");
}

fn control_c_ends_command_and_run() {
    let mut terminal =
        Terminal::with("backoff -r x --pty -- sh -c 'echo go; exec sleep 60'; echo no");
    terminal.expect("go\r\n");
    terminal.send(CTRL_C);
    let shown = terminal.expect("prompt> ");
    assert!(!shown.contains("no\r\n"), "{shown}");
}

fn control_z_and_fg_twice_over() {
    // A shell that has just called vfork(2) would only stop after its child.
    let go = r#"$| = 1; while (1) { print "go\n"; select undef, undef, undef, 0.05 }"#;
    let mut terminal = Terminal::with(&format!("backoff -r x --pty -- perl -e '{go}'"));
    terminal.expect("go\r\n");
    for _ in 0..2 {
        terminal.send(CTRL_Z);
        terminal.expect("Stopped");
        terminal.expect("prompt> ");
        terminal.command("fg");
        terminal.expect("go\r\n");
    }
    terminal.send(CTRL_C);
    terminal.expect("prompt> ");
}

fn the_terminal_is_as_it_was_however_the_run_ends() {
    let mut terminal = Terminal::bash();
    let before = terminal.settings();
    for (words, status) in [
        ("--pty -- true", 0),
        (
            "-n 2 -b 1ms -r x --pty -- sh -c 'stty raw -echo; exit 3'",
            3,
        ),
        (
            "-n 1 -r x --pty -- sh -c 'stty raw -echo; kill -SEGV $$'",
            139,
        ),
        (
            "-n 1 -r x -t 100ms --pty -- sh -c 'stty raw; sleep 60'",
            124,
        ),
        ("--pty -- /nowhere/command", 127),
    ] {
        terminal.command(&format!("(ulimit -c 0; backoff {words}); echo status-$?"));
        terminal.expect(&format!("status-{status}\r\n"));
        terminal.expect("prompt> ");
        assert_eq!(terminal.settings(), before, "{words}");
    }
}

fn messages_are_not_stairs() {
    let mut terminal = Terminal::with(
        "backoff -v -n 2 -b 1ms -r never --pty -- sh -c 'stty raw; exit 3'; echo over",
    );
    let shown = terminal.expect("over\r\n");
    assert!(shown.matches('\n').count() >= 2);
    let line_ends = shown.matches("\r\n").count();
    assert_eq!(shown.matches('\n').count(), line_ends, "{shown:?}");
}

fn a_raw_program_gets_every_byte() {
    let mut terminal = Terminal::with(
        "backoff -n 1 -r x --pty -- sh -c 'stty raw -echo; echo go; head -c 6 | od -An -tx1; stty sane; exit 5'; echo status-$?",
    );
    terminal.expect("go");
    terminal.until_raw();
    terminal.send("\x03\x1a\x04\x11\r\x7f");
    terminal.expect("03 1a 04 11 0d 7f");
    terminal.expect("status-5");
}
