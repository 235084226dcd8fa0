//! A log on a terminal. The other tests are in `tests/cases/log.md`.

use crate::common::BIN;
use crate::common::pty::Terminal;
use crate::common::words::Words;

/// Returns a run's output on a terminal.
fn on_a_terminal(args: impl Words, variables: &[&str]) -> String {
    let line = "-u NO_COLOR -u CLICOLOR_FORCE TERM=xterm {..} {} {..}";
    Terminal::start("env", words!(line, variables, *BIN, args)).rest()
}

#[test]
fn colour_follows_the_terminal_and_the_conventions() {
    const RED: &str = "\x1b[31m";
    let args = "-n 1 -- false";
    let with = |option: &'static str| words!("--color {} {..}", option, args);
    assert!(on_a_terminal(args, &[]).contains(RED));
    assert!(
        on_a_terminal(args, &["NO_COLOR="]).contains(RED),
        "empty counts as unset"
    );
    for plain in ["NO_COLOR=1", "TERM=dumb", "TERM="] {
        assert!(!on_a_terminal(args, &[plain]).contains(RED), "{plain:?}");
    }
    assert!(on_a_terminal(with("always"), &["NO_COLOR=1"]).contains(RED));
    assert!(!on_a_terminal(with("never"), &["CLICOLOR_FORCE=1"]).contains(RED));
}

#[test]
fn the_countdown_says_it_too() {
    let args = words!("--label job -n 2 --delays 1.6s -j none -- false");
    let shown = Terminal::sized(
        Some((24, 80)),
        "env",
        words!("-u NO_COLOR TERM=xterm {} {..}", *BIN, args),
    )
    .rest();
    // How much is left is for the tests of the countdown to say.
    assert!(shown.contains("backoff: job: starting attempt 2 of 2 in "), "{shown:?}");
    assert!(shown.contains("s (exit 1)\x1b[K"), "{shown:?}");
}
