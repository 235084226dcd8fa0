//! The colors of a log on a terminal. Other tests are in `tests/cases/output.md`.

use crate::util::pty::Terminal;

tests! {
    color_follows_the_terminal_and_the_conventions
}

fn color_follows_the_terminal_and_the_conventions() {
    const RED: &str = "\x1b[31m";
    for (variables, options, is_coloured) in [
        ("", "", true),
        // An empty value counts as unset.
        ("NO_COLOR=", "", true),
        ("NO_COLOR=1", "", false),
        ("TERM=dumb", "", false),
        ("TERM=", "", false),
        ("NO_COLOR=1", "--color always", true),
        ("CLICOLOR_FORCE=1", "--color never", false),
    ] {
        let line = format!(
            "-u NO_COLOR -u CLICOLOR_FORCE TERM=xterm {variables} backoff {options} -n 1 -- false"
        );
        let shown = Terminal::sh(&format!("env {line}")).rest();
        assert_eq!(shown.contains(RED), is_coloured, "{line}");
    }
}
