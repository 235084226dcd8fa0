//! A message begins a line, whatever the command has left where it is shown.

use crate::common::pty::Terminal;
use crate::common::{BIN, run, shell};

const RUN: &str = "-n 2 -b 1ms -j none --color never";

/// The rows of a terminal after a run whose attempts print this.
fn rows(variables: &str, options: &str, prints: &str) -> Vec<String> {
    let script = format!("printf '{prints}'; exit 3");
    let line = "TERM=xterm {..} {} {..} {..} -- sh -c {}";
    let args = words!(line, variables, *BIN, RUN, options, script);
    let rows = Terminal::sized(Some((6, 100)), "env", args).last_rows();
    rows.iter().map(|row| short(row)).collect()
}

/// A row with its message in short.
fn short(row: &str) -> String {
    let short = |text: &str, message: &str, name: &str| {
        let begin = text.find(message).unwrap_or(text.len());
        let name = if begin < text.len() { name } else { "" };
        text[..begin].to_owned() + name
    };
    let row = short(row, "backoff: sh: attempt 1 of 2 failed", "RETRY");
    short(&row, "backoff: sh: gave up after 2 attempts", "GAVE UP")
}

#[test]
fn on_a_terminal_it_does_so_wherever_the_cursor_was() {
    let wide = "x".repeat(100);
    let nearly = "x".repeat(99);
    for (prints, row) in [
        ("part", "part"),
        ("x", "x"),
        (&nearly, &*nearly),
        (&wide, &*wide),
        ("whole\\n", "whole"),
        ("over\\rpart", "part"),
    ] {
        assert_eq!(rows("", "", prints), [row, "RETRY", row, "GAVE UP"], "{prints}");
        // Where it is known, it makes no difference.
        assert_eq!(rows("", "--fail-match zzz", prints).len(), 4, "{prints}");
    }
    assert_eq!(rows("", "", ""), ["RETRY", "GAVE UP"]);
    // A log that is shown there.
    let log = rows("", "--log-file -", "part");
    assert_eq!(log.iter().filter(|row| *row == "part").count(), 2, "{log:#?}");
    // At the foot of the screen.
    let rows = rows("", "", "1\\n2\\n3\\n4\\n5\\n6\\npart");
    assert_eq!(rows[5..8], ["6", "part", "RETRY"]);
}

#[test]
fn on_a_terminal_nothing_but_blanks_is_shown_for_that() {
    for (variables, options, is_there) in [
        ("TERM=xterm", "", true),
        ("TERM=xterm", "--log-format json", true),
        // It can only print.
        ("TERM=dumb", "", false),
        ("TERM=", "", false),
    ] {
        let args = words!("{..} {} {..} {..} -- false", variables, *BIN, RUN, options);
        let shown = Terminal::sized(Some((24, 100)), "env", args).rest();
        assert_eq!(shown.contains(&" ".repeat(100)), is_there, "{variables}: {shown:?}");
    }
    // Nobody knows how wide it is.
    let shown = Terminal::start("env", words!("TERM=xterm {} {..} -- false", *BIN, RUN)).rest();
    assert!(!shown.contains("  "), "{shown:?}");
    // Another job has the terminal.
    let mut terminal = Terminal::sized(Some((24, 100)), "bash", "--norc --noprofile -i");
    terminal.expect("prompt> ");
    terminal.command(&format!("TERM=xterm {} {RUN} -- false & wait; echo o''ver", *BIN));
    let shown = terminal.expect("over\r\n");
    assert!(
        shown.contains("gave up") && !shown.contains(&" ".repeat(100)),
        "{shown:?}"
    );
}

/// What comes out where a run's standard output and error go to the same place.
fn in_one_place(options: &str, script: &str) -> Vec<String> {
    let line = format!("backoff {RUN} {options} -- sh -c '{script}' 2>&1");
    let shown = run(&mut shell(&line));
    shown.stdout.lines().map(short).collect()
}

#[test]
fn elsewhere_it_does_so_where_the_output_was_read() {
    let ended = ["part", "RETRY", "part", "GAVE UP"];
    for (options, script) in [
        ("-r part", "printf part; exit 3"),
        ("-r part", "printf part >&2; exit 3"),
        ("-r part", "echo whole >&2; sleep 0.1; printf part; exit 3"),
        ("-r part --match-on stdout", "printf part; exit 3"),
        ("-r part --match-on stderr", "printf part >&2; exit 3"),
        ("-i 9s", "printf part; exit 3"),
        ("--stderr failure", "printf part >&2; exit 3"),
        ("-r part --stderr failure", "printf part >&2; exit 3"),
        ("--pty", "printf part; exit 3"),
    ] {
        let mut lines = in_one_place(options, script);
        lines.retain(|line| line != "whole");
        assert_eq!(lines, ended, "{options} {script}");
    }
    let whole = in_one_place("--fail-match zzz", "printf part; sleep 0.1; echo >&2; exit 3");
    assert_eq!(whole, ended);
    // Printed at the end.
    let kept = in_one_place("--stdout final", "printf part; exit 3");
    assert_eq!(kept, ["RETRY", "part", "GAVE UP"]);
    // It went elsewhere.
    let shown = run!("{..} -r part -- sh -c 'printf part; exit 3'", RUN);
    assert_eq!(shown.stdout, "partpart");
    assert!(shown.stderr.starts_with("backoff: sh: attempt 1"), "{shown:?}");
    // Nobody read it.
    assert_eq!(in_one_place("", "printf part; exit 3"), ["partRETRY", "partGAVE UP"]);
}
