//! The countdown during a wait, on a real terminal.

use crate::util::pty::{CTRL_C, Terminal};

tests! {
    it_counts_and_is_gone_before_the_next_attempt
    it_is_not_there_unless_somebody_wants_it
    ctrl_c_erases_it
    in_the_background_it_does_not_write_over_others
    it_follows_the_width_of_the_window
    each_wait_has_one
}

const ERASED: &str = "\r\x1b[K";
const WAITS: &str = "-n 2 --delays 1.5s -j none";
const FAILS: &str = "sh -c 'echo attempt $BACKOFF_ATTEMPT; exit 7'";

/// Starts a run on an 80-column terminal.
fn on_terminal(variables: &str, options: &str, command: &str) -> Terminal {
    let line = format!(
        "env -u NO_COLOR TERM=xterm {variables} backoff --color never {options} -- {command}"
    );
    Terminal::sized(80, "sh", &["-c", &line])
}

/// Starts a shell on an 80-column terminal.
fn bash() -> Terminal {
    let mut terminal = Terminal::sized(80, "bash", &["--norc", "--noprofile", "-i"]);
    terminal.expect("prompt> ");
    terminal
}

fn it_counts_and_is_gone_before_the_next_attempt() {
    // The first frame may be nearly a second late.
    let shown = on_terminal("", "--label job -n 2 --delays 2.9s -j none", FAILS).rest();
    let rest = shown.split("; retrying in 2.9s\r\n").nth(1).unwrap();
    let frame =
        |left| format!("\rbackoff: job: starting attempt 2 of 2 in {left}s: exit 7\x1b[K");
    let mut after = rest;
    // A busy machine may skip one.
    for left in [3, 2, 1] {
        after = after.strip_prefix(&*frame(left)).unwrap_or(after);
    }
    assert!(after.len() < rest.len(), "{rest:?}");
    let next = "\r\x1b[Kattempt 2\r\nbackoff: job: gave up after 2";
    assert!(after.starts_with(next), "{rest:?}");
}

fn it_is_not_there_unless_somebody_wants_it() {
    // In parallel, as each case takes as long as its wait.
    std::thread::scope(|scope| {
        for (variables, options) in [
            ("", "-q"),
            ("", "--progress never"),
            ("TERM=dumb", ""),
            ("TERM=", ""),
            ("BACKOFF_PROGRESS=never", ""),
            ("", "-q --progress always"),
            ("", "--log-format json --progress always"),
            // A countdown of a short wait would only flicker.
            ("", "--delays 900ms"),
        ] {
            scope.spawn(move || {
                let shown = on_terminal(variables, &format!("{WAITS} {options}"), FAILS).rest();
                assert_no_countdown(&shown, &format!("{variables} {options}"));
            });
        }
        // backoff cannot cut the line if the width is unknown.
        scope.spawn(|| {
            let line = format!("TERM=xterm backoff --color never {WAITS} -- {FAILS}");
            assert_no_countdown(&Terminal::sh(&line).rest(), "an unknown width");
        });
    });
}

/// Asserts that a terminal shows the second attempt and no trace of a countdown.
fn assert_no_countdown(shown: &str, case: &str) {
    assert!(shown.contains("attempt 2\r\n"), "{case}: {shown:?}");
    assert!(!shown.contains('\x1b'), "{case}: {shown:?}");
    assert!(!shown.contains(" in 1s ("), "{case}: {shown:?}");
}

/// Starts a run that shows the countdown of a two-hour wait.
fn waiting() -> Terminal {
    let mut terminal = on_terminal("", "--delays 2h -j none", "sh -c 'exit 7'");
    terminal.expect("\rbackoff: sh: starting attempt 2 of 5 in 2h: exit 7\x1b[K");
    terminal
}

fn ctrl_c_erases_it() {
    let mut terminal = waiting();
    terminal.send(CTRL_C);
    assert!(terminal.rest().ends_with(ERASED));
}

fn in_the_background_it_does_not_write_over_others() {
    let mut terminal = bash();
    terminal.command(&format!(
        "TERM=xterm backoff --color never {WAITS} -- {FAILS} &"
    ));
    let before = terminal.expect("gave up after 2 attempts");
    assert!(
        before.contains("attempt 2") && !before.contains('\x1b'),
        "{before:?}"
    );
}

fn it_follows_the_width_of_the_window() {
    let mut terminal = waiting();
    // The kernel sends SIGWINCH to the foreground process group.
    for (columns, begin) in [
        // The time is never cut off.
        (40, " until attempt 2 of 5 (exit 7)"),
        (24, " until attempt "),
        (80, "\rbackoff: sh: starting attempt 2 of 5 in "),
    ] {
        terminal.resize(columns);
        let line = terminal.expect("\x1b[K");
        assert!(
            line.contains(begin) && line.len() <= usize::from(columns),
            "{line:?}"
        );
    }
}

fn each_wait_has_one() {
    for (options, begin, end) in [
        ("--initial-delay 9s", "1 of 5 in ", ": initial delay"),
        ("--splay 1h --seed 1", "1 of 5 in ", ": initial delay"),
        (
            "--consecutive 2 -b 9s --success-exit 7",
            "2 of 5 in ",
            ": to confirm the success",
        ),
        (
            "--delays 9s -j none -d 1h -n 5",
            "2 of 5 in 9s, deadline in 59m5",
            "s: exit 7",
        ),
        (
            "--delays 9s -j none -d 70s",
            "2 in 8s, deadline in 1m",
            "s: exit 7",
        ),
    ] {
        let mut terminal = on_terminal("", options, "sh -c 'exit 7'");
        terminal.expect(&format!("\rbackoff: sh: starting attempt {begin}"));
        let rest = terminal.expect("\x1b[K");
        assert!(rest.ends_with(end), "{rest:?}");
        terminal.send(CTRL_C);
        terminal.rest();
    }
}
