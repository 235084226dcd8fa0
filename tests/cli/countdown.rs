//! The countdown of a wait, on a real terminal.

use crate::common::process::state;
use crate::common::pty::{CTRL_C, CTRL_Z, Terminal};
use crate::common::{BIN, IS_PORTABLE, eventually};

/// What a frame begins with: a row is made free below the cursor.
const FRAME: &str = "\x1bD\x1b[A";
const SIZE: Option<(u16, u16)> = Some((12, 80));
const WAITS: &str = "-n 2 --delays 1.5s -j none";
const FAILS: &str = "sh -c 'echo attempt $BACKOFF_ATTEMPT; exit 7'";

/// A run on a terminal with a size.
fn on_terminal(columns: u16, variables: &str, options: &str, command: &str) -> Terminal {
    let line = "-u NO_COLOR TERM=xterm {..} {} --color never {..} -- {..}";
    let args = words!(line, variables, *BIN, options, command);
    Terminal::sized(Some((12, columns)), "env", args)
}

/// What a terminal shows of a run.
fn shown(variables: &str, options: &str) -> String {
    on_terminal(80, variables, &format!("{WAITS} {options}"), FAILS).rest()
}

/// Whether a line is there, `...` standing for anything.
fn has(lines: &[String], wanted: &str) -> bool {
    let wanted = regex::escape(wanted).replace(r"\.\.\.", ".*");
    let wanted = regex::Regex::new(&format!("^{wanted}$")).unwrap();
    lines.iter().any(|line| wanted.is_match(line))
}

/// What is left once a run is over: the lines of attempts and messages, and not one of the countdown.
#[track_caller]
fn expect_nothing_stale(lines: &[String]) {
    let is_stale =
        |line: &String| line.contains(" in ") && !line.contains("retrying in") && !line.contains(" attempts in ");
    assert!(!lines.iter().any(is_stale), "{lines:#?}");
    // None is glued to another.
    assert!(
        lines.iter().all(|line| line.matches("backoff: ").count() <= 1),
        "{lines:#?}"
    );
    assert!(has(lines, "backoff: sh: gave up after 2 attempts in ..."), "{lines:#?}");
}

#[test]
fn it_counts_and_is_gone_before_the_next_attempt() {
    // Nearly a second is left for the first frame to be late.
    let shown = on_terminal(80, "", "-n 2 --delays 2.9s -j none", FAILS).rest();
    let rest = shown.split("; retrying in 2.9s\r\n").nth(1).unwrap();
    let frames: Vec<&str> = rest.split(FRAME).skip(1).collect();
    assert_eq!(frames.len(), 3, "redrawn once a second: {shown:?}");
    for (frame, left) in frames.iter().zip([3, 2, 1]) {
        let wanted = format!("backoff: sh: attempt 2 of 2 in {left}s (exit 7)\x1b[K");
        assert!(frame.contains(&wanted), "{frames:?}");
    }
    let lines = on_terminal(100, "", WAITS, FAILS).last_rows();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert_eq!([&*lines[0], &*lines[2]], ["attempt 1", "attempt 2"]);
    expect_nothing_stale(&lines);
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
            !shown.contains(FRAME) && !shown.contains(" in 1s ("),
            "{variables:?} {options:?}: {shown:?}"
        );
    };
    // Each takes the time of its wait.
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || is_not_there(case));
        }
        // Where nobody knows how large the terminal is, there is no last row.
        let args = words!("TERM=xterm {} {..} -- {..}", *BIN, WAITS, FAILS);
        scope.spawn(move || assert!(!Terminal::start("env", &args).rest().contains(FRAME)));
        scope.spawn(|| assert!(shown("TERM=dumb", "--progress always").contains(FRAME)));
        let piped = run!("{..} --progress always -- {..}", WAITS, FAILS);
        assert!(
            !piped.stderr.contains('\r') && !piped.stderr.contains('\x1b'),
            "{piped:?}"
        );
    });
}

/// A run that waits for an hour, with its countdown shown.
fn waiting() -> Terminal {
    let mut terminal = on_terminal(80, "", "--delays 2h -j none", "sh -c 'exit 7'");
    terminal.until(|lines| has(lines, "backoff: sh: attempt 2 of 5 in 2h00m (exit 7)"));
    terminal
}

#[test]
fn ctrl_c_takes_it_away() {
    let mut terminal = waiting();
    terminal.send(CTRL_C);
    let lines = terminal.last_lines();
    assert!(!lines.iter().any(|line| line.contains("attempt 2")), "{lines:#?}");
}

#[test]
fn a_signal_that_stops_it_takes_it_away() {
    let mut terminal = Terminal::sized(SIZE, "bash", "--norc --noprofile -i");
    terminal.expect("prompt> ");
    terminal.command(&format!(
        "TERM=xterm {} --delays 1h -j none -- sh -c 'echo pid $PPID; exit 7'",
        *BIN
    ));
    terminal.expect("pid ");
    let pid: i32 = terminal.expect("\r\n").trim().parse().unwrap();
    let is_there = |lines: &[String]| has(lines, "backoff: sh: attempt 2 of 5 in ... (exit 7)");
    terminal.until(is_there);
    terminal.send(CTRL_Z);
    terminal.until(|lines| lines.iter().any(|line| line.contains("Stopped")) && !is_there(lines));
    eventually("it has stopped", || state(pid) == Some('T'));
    terminal.command("fg");
    terminal.until(is_there);
    terminal.send(CTRL_C);
    terminal.until(|lines| lines.last().is_some_and(|line| line == "prompt>") && !is_there(lines));
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
    for (columns, line) in [
        (39, "backoff: sh: attempt 2 of ... in 2h00m"),
        (40, "backoff: sh: attempt 2 of 5 in 2h00m..."),
        (24, "backoff: sh... in 2h00m"),
        (20, "backoff... in 2h00m"),
        (80, "backoff: sh: attempt 2 of 5 in 2h00m (exit 7)"),
    ] {
        terminal.resize(12, columns);
        terminal.until(|lines| {
            lines
                .last()
                .is_some_and(|last| last == line || last == &line.replace("2h00m", "1h59m"))
        });
    }
    terminal.send(CTRL_C);
}

/// A run that waits, with its countdown shown.
fn waits(delay: &str, command: &str) -> Terminal {
    let options = format!("-n 2 -j none --delays {delay}");
    let mut terminal = on_terminal(80, "", &options, command);
    terminal.until(|lines| has(lines, "backoff: sh: attempt 2 of 2 in ... (exit 7)"));
    terminal
}

#[test]
fn what_is_typed_leaves_nothing_stale() {
    let mut terminal = waits("3s", "sh -c 'exit 7'");
    for _ in 0..3 {
        terminal.send("typed\n\n");
        terminal.until(|lines| has(lines, "typed"));
    }
    expect_nothing_stale(&terminal.last_rows());
}

#[test]
fn what_an_attempt_prints_late_leaves_nothing_stale() {
    let late = "sh -c '(sleep 1; echo late; echo \"and later\"; printf last) & exit 7'";
    let mut terminal = waits("3s", late);
    terminal.until(|lines| has(lines, "late") && has(lines, "and later") && has(lines, "last"));
    expect_nothing_stale(&terminal.last_rows());
}

#[test]
fn a_narrower_window_leaves_nothing_stale() {
    let mut terminal = waits("3s", "sh -c 'exit 7'");
    terminal.resize(12, 30);
    terminal.until(|lines| has(lines, "backoff: sh: attempt... in ..."));
    expect_nothing_stale(&terminal.last_lines());
}

#[test]
fn a_terminal_that_was_stopped_shows_nothing_stale() {
    // It goes on during the wait, or after it.
    let goes_on = |delay: &str| {
        let mut terminal = waits(delay, "sh -c 'exit 7'");
        terminal.send("\x13");
        std::thread::sleep(std::time::Duration::from_millis(1500));
        terminal.send("\x11");
        expect_nothing_stale(&terminal.last_rows());
    };
    std::thread::scope(|scope| {
        scope.spawn(|| goes_on("3s"));
        goes_on("1200ms");
    });
}

#[test]
fn each_wait_has_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().to_str().unwrap();
    for (options, line) in [
        (
            "--initial-delay 9s",
            "backoff: sh: attempt 1 of 5 in ... (the delay before it)",
        ),
        (
            "--splay 1h --seed 1",
            "backoff: sh: attempt 1 of 5 in ... (the delay before it)",
        ),
        (
            "--consecutive 2 -b 9s --success-exit 7",
            "backoff: sh: attempt 2 of 5 in ... (to confirm the success)",
        ),
        (
            "--delays 9s -j none -d 1h -n 5",
            "backoff: sh: attempt 2 of 5 in 9s, deadline in 59m5...s (exit 7)",
        ),
        (
            "--delays 9s -j none -d 70s",
            "backoff: sh: attempt 2 in 8s, deadline in 1m0...s (exit 7)",
        ),
    ] {
        let mut terminal = on_terminal(80, "", options, "sh -c 'exit 7'");
        terminal.until(|lines| has(lines, line));
        terminal.send(CTRL_C);
        terminal.last_lines();
    }
    run!("--budget b --store {} -n 1 -b 9s -j none -- false", store).expect_code(1);
    let options = format!("--budget b --store {store} --cool-off");
    let mut terminal = on_terminal(80, "", &options, "sh -c 'exit 7'");
    terminal.until(|lines| has(lines, "backoff: sh: attempt 1 of 5 in ... (cooling off)"));
    terminal.send(CTRL_C);
}

#[test]
fn it_leaves_another_program_of_the_job_its_screen() {
    for (reader, is_there) in [("trap : WINCH; ", false), ("", true)] {
        let dir = tempfile::tempdir().unwrap();
        let ready = dir.path().join("ready");
        let ready = ready.to_str().unwrap();
        let mut terminal = Terminal::sized(SIZE, "bash", "--norc --noprofile -i");
        terminal.expect("prompt> ");
        terminal.command(&format!(
            "TERM=xterm {} --color never {WAITS} -- sh -c 'until test -d {ready}; do sleep 0.02; done; exit 7' | sh -c '{reader}mkdir {ready}; cat; :'",
            *BIN
        ));
        let shown = terminal.expect("gave up after 2 attempts");
        // Elsewhere nobody can look at what others do with the terminal: it might be anybody's.
        let is_there = is_there && !*IS_PORTABLE;
        assert_eq!(shown.contains(FRAME), is_there, "{shown:?}");
        assert_eq!(shown.contains(&" ".repeat(80)), is_there, "{shown:?}");
        terminal.expect("prompt> ");
    }
}
