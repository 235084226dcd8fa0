//! The countdown of a wait, on a real terminal.

use crate::common::process::state;
use crate::common::pty::Terminal;
use crate::common::{BIN, clean, eventually, run};

const ERASE: &str = "\r\x1b[K";
const WAITS: &str = "-n 2 --delays 1.5s -j none";
const FAILS: &str = "sh -c 'echo attempt $BACKOFF_ATTEMPT; exit 7'";

/// What a terminal shows of a run.
fn shown(variables: &str, options: &str) -> String {
    let line = "-u NO_COLOR TERM=xterm {..} {} --color never {..} {..} -- {..}";
    Terminal::start("env", words!(line, variables, *BIN, WAITS, options, FAILS)).rest()
}

#[test]
fn it_counts_and_is_gone_before_the_next_attempt() {
    let shown = shown("", "");
    let rest = shown.split("; retrying in 1.5s\r\n").nth(1).unwrap();
    let frames: Vec<&str> = rest.split(ERASE).collect();
    assert_eq!(
        frames[..3],
        [
            "",
            "backoff: sh: attempt 2 of 2 in 2s (exit 7)",
            "backoff: sh: attempt 2 of 2 in 1s (exit 7)"
        ]
    );
    // Erased, then what the command says; nothing is left in its line.
    assert!(frames[3].starts_with("attempt 2\r\n"), "{shown:?}");
    assert_eq!(frames.len(), 4, "redrawn once a second: {shown:?}");
}

#[test]
fn it_is_not_there_where_nobody_wants_it() {
    let cases = [
        ("", "-q"),
        ("", "--progress never"),
        ("TERM=dumb", ""),
        ("TERM=", ""),
        ("BACKOFF_PROGRESS=never", ""),
        ("", "-q --progress always"),
        ("", "--log-format json --progress always"),
        // Short waits would only flicker.
        ("", "--delays 900ms"),
    ];
    let is_not_there = |(variables, options)| {
        let shown = shown(variables, options);
        assert!(shown.contains("attempt 2\r\n"), "{shown:?}");
        assert!(
            !shown.contains(ERASE) && !shown.contains(" in 1s ("),
            "{variables:?} {options:?}: {shown:?}"
        );
    };
    // Each takes the time of its wait.
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || is_not_there(case));
        }
    });
    assert!(shown("TERM=dumb", "--progress always").contains(ERASE));
    let piped = run!("{..} --progress always -- {..}", WAITS, FAILS);
    assert!(!piped.stderr.contains('\r'), "{piped:?}");
}

/// A run that waits for an hour, with its countdown shown.
fn waiting() -> (Terminal, i32) {
    let args = words!("TERM=xterm {} --delays 1h -j none -- sh -c 'echo $PPID; exit 7'", *BIN);
    let mut terminal = Terminal::start("env", &args);
    let pid = terminal.expect("\r\n").trim().parse().unwrap();
    terminal.expect("attempt 2 of 5 in 1h00m (exit 7)");
    (terminal, pid)
}

#[test]
fn ctrl_c_takes_it_away() {
    let (mut terminal, _) = waiting();
    terminal.send("\x03");
    let shown = terminal.rest();
    assert!(
        shown.trim_end_matches("^C").ends_with(ERASE) || shown.ends_with(ERASE),
        "{shown:?}"
    );
}

#[test]
fn a_signal_that_stops_it_takes_it_away() {
    let mut terminal = Terminal::bash();
    terminal.command(&format!(
        "TERM=xterm {} --delays 1h -j none -- sh -c 'echo pid $PPID; exit 7'",
        *BIN
    ));
    terminal.expect("pid ");
    let pid: i32 = terminal.expect("\r\n").trim().parse().unwrap();
    terminal.expect("in 1h00m (exit 7)");
    terminal.send("\x1a");
    let before = terminal.expect("Stopped");
    assert!(before.contains(ERASE), "{before:?}");
    eventually("it has stopped", || state(pid) == Some('T'));
    terminal.command("fg");
    terminal.expect("attempt 2 of 5 in ");
    terminal.send("\x03");
    terminal.expect("prompt> ");
}

#[test]
fn in_the_background_it_does_not_write_over_others() {
    let mut terminal = Terminal::bash();
    terminal.command(&format!(
        "TERM=xterm {} -q --progress always --delays 2s -j none -n 2 -- true; TERM=xterm {} --delays 1500ms -j none -n 2 -- sh -c 'echo run $BACKOFF_ATTEMPT; exit 7' &",
        *BIN,
        *BIN
    ));
    let before = terminal.expect("gave up after 2 attempts");
    assert!(before.contains("run 2") && !before.contains(ERASE), "{before:?}");
}

#[test]
fn it_follows_the_width_of_the_window() {
    let (mut terminal, pid) = waiting();
    let path = std::fs::read_link(format!("/proc/{pid}/fd/2")).unwrap();
    // The kernel tells the foreground group.
    run(clean("stty").arg("-F").arg(path).args(["cols", "24"])).expect_code(0);
    terminal.expect(&format!("{ERASE}backoff: sh: attempt 2 "));
    let rest = terminal.expect(ERASE);
    assert_eq!(rest, "", "23 of 24 columns");
    terminal.send("\x03");
}
