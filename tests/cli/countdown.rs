//! The countdown of a wait, on a real terminal.

use crate::common::process::state;
use crate::common::pty::{CTRL_C, CTRL_Z, Terminal};
use crate::common::{BIN, eventually};

const ERASED: &str = "\r\x1b[K";
const SIZE: Option<(u16, u16)> = Some((12, 80));
const WAITS: &str = "-n 2 --delays 1.5s -j none";
const FAILS: &str = "sh -c 'echo attempt $BACKOFF_ATTEMPT; exit 7'";

/// A run on a terminal with a size.
fn on_terminal(columns: u16, variables: &str, options: &str, command: &str) -> Terminal {
    let line = "-u NO_COLOR TERM=xterm {..} {} --color never {..} -- {..}";
    let args = words!(line, variables, *BIN, options, command);
    Terminal::sized(Some((12, columns)), "env", args)
}

/// Returns a run's output on a terminal.
fn shown(variables: &str, options: &str) -> String {
    on_terminal(80, variables, &format!("{WAITS} {options}"), FAILS).rest()
}

#[test]
fn it_counts_and_is_gone_before_the_next_attempt() {
    // Nearly a second is left for the first frame to be late.
    let shown = on_terminal(80, "", "-n 2 --delays 2.9s -j none", FAILS).rest();
    let rest = shown.split("; retrying in 2.9s\r\n").nth(1).unwrap();
    let frame = |left| format!("\rbackoff: sh: starting attempt 2 of 2 in {left}s (exit 7)\x1b[K");
    let frames = [frame(3), frame(2), frame(1)].concat();
    let after = rest.strip_prefix(&*frames).unwrap_or_else(|| panic!("{rest:?}"));
    assert!(
        after.starts_with("\r\x1b[Kattempt 2\r\nbackoff: sh: gave up after 2"),
        "{rest:?}"
    );
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
            !shown.contains('\x1b') && !shown.contains(" in 1s ("),
            "{variables:?} {options:?}: {shown:?}"
        );
    };
    // Each takes the time of its wait.
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || is_not_there(case));
        }
        // A line as wide as an unknown number of columns cannot be cut.
        let args = words!("TERM=xterm {} --color never {..} -- {..}", *BIN, WAITS, FAILS);
        scope.spawn(move || assert!(!Terminal::start("env", &args).rest().contains('\x1b')));
        scope.spawn(|| assert!(shown("TERM=dumb", "--progress always").contains(ERASED)));
        let piped = run!("{..} --progress always -- {..}", WAITS, FAILS);
        assert!(
            !piped.stderr.contains('\r') && !piped.stderr.contains('\x1b'),
            "{piped:?}"
        );
    });
}

/// A run that waits for hours, with its countdown shown.
fn waiting() -> Terminal {
    let mut terminal = on_terminal(80, "", "--delays 2h -j none", "sh -c 'exit 7'");
    terminal.expect("\rbackoff: sh: starting attempt 2 of 5 in 2h (exit 7)\x1b[K");
    terminal
}

#[test]
fn ctrl_c_erases_it() {
    let mut terminal = waiting();
    terminal.send(CTRL_C);
    assert!(terminal.rest().ends_with(ERASED));
}

#[test]
fn a_signal_that_stops_it_erases_it() {
    let mut terminal = Terminal::sized(SIZE, "bash", "--norc --noprofile -i");
    terminal.expect("prompt> ");
    terminal.command(&format!(
        "TERM=xterm {} --delays 1h -j none -- sh -c 'echo pid $PPID; exit 7'",
        *BIN
    ));
    terminal.expect("pid ");
    let pid: i32 = terminal.expect("\r\n").trim().parse().unwrap();
    terminal.expect("(exit 7)\x1b[K");
    terminal.send(CTRL_Z);
    assert!(terminal.expect("Stopped").contains(ERASED));
    eventually("it has stopped", || state(pid) == Some('T'));
    terminal.command("fg");
    terminal.expect("(exit 7)\x1b[K");
    terminal.send(CTRL_C);
    assert!(terminal.expect("prompt> ").contains(ERASED));
}

#[test]
fn in_the_background_it_does_not_write_over_others() {
    let mut terminal = Terminal::sized(SIZE, "bash", "--norc --noprofile -i");
    terminal.expect("prompt> ");
    terminal.command(&format!(
        "TERM=xterm {} -q --progress always --delays 2s -j none -n 2 -- true; TERM=xterm {} --color never --delays 1500ms -j none -n 2 -- sh -c 'echo run $BACKOFF_ATTEMPT; exit 7' &",
        *BIN,
        *BIN
    ));
    let before = terminal.expect("gave up after 2 attempts");
    assert!(before.contains("run 2") && !before.contains('\x1b'), "{before:?}");
}

#[test]
fn it_follows_the_width_of_the_window() {
    let mut terminal = waiting();
    // The kernel tells the foreground group.
    for (columns, begin) in [
        (39, "\rbackoff: sh: starting attempt 2 of ..."),
        (24, "\rbackoff: sh: startin..."),
        (80, "\rbackoff: sh: starting attempt 2 of 5 in "),
    ] {
        terminal.resize(12, columns);
        let line = terminal.expect("\x1b[K");
        assert!(line.contains(begin) && line.len() <= usize::from(columns), "{line:?}");
    }
    terminal.send(CTRL_C);
}

#[test]
fn a_terminal_that_was_stopped_holds_it_up() {
    let mut terminal = on_terminal(80, "", WAITS, FAILS);
    terminal.expect("(exit 7)\x1b[K");
    terminal.send("\x13");
    std::thread::sleep(std::time::Duration::from_millis(1700));
    terminal.send("\x11");
    let shown = terminal.rest();
    assert!(
        shown.contains("\r\x1b[Kattempt 2\r\nbackoff: sh: gave up after 2"),
        "{shown:?}"
    );
}

#[test]
fn each_wait_has_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().to_str().unwrap();
    for (options, begin, end) in [
        ("--initial-delay 9s", "1 of 5 in ", "(initial delay)"),
        ("--splay 1h --seed 1", "1 of 5 in ", "(initial delay)"),
        (
            "--consecutive 2 -b 9s --success-exit 7",
            "2 of 5 in ",
            "(to confirm the success)",
        ),
        (
            "--delays 9s -j none -d 1h -n 5",
            "2 of 5 in 9s, deadline in 59m5",
            "s (exit 7)",
        ),
        ("--delays 9s -j none -d 70s", "2 in 8s, deadline in 1m", "s (exit 7)"),
    ] {
        let mut terminal = on_terminal(80, "", options, "sh -c 'exit 7'");
        terminal.expect(&format!("\rbackoff: sh: starting attempt {begin}"));
        let rest = terminal.expect("\x1b[K");
        assert!(rest.ends_with(end), "{rest:?}");
        terminal.send(CTRL_C);
        terminal.rest();
    }
    run!("--budget b --store {} -n 1 -b 9s -j none -- false", store).expect_code(1);
    let options = format!("--budget b --store {store} --cool-off");
    let mut terminal = on_terminal(80, "", &options, "sh -c 'exit 7'");
    terminal.expect("\rbackoff: sh: starting attempt 1 of 5 in ");
    terminal.expect("s (cool-off)\x1b[K");
    terminal.send(CTRL_C);
}
