//! Tests that need a program that may be missing, and also a terminal or gigabytes.

use std::time::Duration;

use nix::sys::signal::Signal;

use crate::util::process::{parent_of, sleeps_below};
use crate::util::pty::Terminal;
use crate::util::harness::ASKED;
use crate::util::{Ends, HIGHEST, PATIENCE, eventually, probe, send, shell, within};

/// Time limit for gigabytes on a slow disk.
const FOR_GIGABYTES: Duration = PATIENCE.saturating_mul(6);

tests! {
    a_program_that_fills_the_screen_runs_on_a_pty ["less", "setsid"]
    a_wait_hears_keys_after_an_editor_was_killed ["vim"]
    a_key_typed_before_backoff_sees_its_child_arrives_once ["strace"]
    four_gigabytes_of_output_are_kept_in_little_memory [ASKED]
    a_gigabyte_of_input_is_intact_on_the_third_attempt [ASKED]
}

fn a_wait_hears_keys_after_an_editor_was_killed() {
    let mut terminal = Terminal::bash();
    terminal.command("TERM=xterm backoff -b 60s -m 60s -t 1s -s KILL -- vim -u NONE");
    terminal.expect("retrying in");
    terminal.send("\x03");
    terminal.expect("prompt> ");
    terminal.command("echo status-$?");
    terminal.expect("status-130");
}

fn a_key_typed_before_backoff_sees_its_child_arrives_once() {
    // backoff's fork returns only after the command has started and received the key's signal.
    let late = "strace -qq -o /dev/null -e inject=clone,clone3,fork,vfork:delay_exit=1000000";
    let mut terminal = Terminal::with(&format!(
        "{late} backoff -n 1 -- {} signals 7; echo status-$?",
        probe()
    ));
    let pid = terminal.pid_of_probe();
    terminal.send("\x03");
    terminal.expect("2\r\n");
    // backoff forwards this signal after all earlier ones.
    send(parent_of(pid), HIGHEST);
    assert_eq!(terminal.expect("29\r\n").replace("^C", ""), "");
    send(pid, Signal::SIGTERM);
    terminal.expect("15\r\n");
    terminal.expect("status-7");
}

fn a_program_that_fills_the_screen_runs_on_a_pty() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "lines");
    let lines: String = (1..=500).map(|i| format!("line-{i:03}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    let mut terminal = Terminal::bash();
    terminal.command("export TERM=xterm LESS= LESSOPEN=; stty rows 20 cols 70");
    terminal.expect("prompt> ");
    terminal.command("stty -g | sed s/^/settings-/");
    terminal.expect("settings-");
    let before = terminal.expect("\r\n");
    terminal.command(&format!(
        "backoff -n 1 --match-on stdout -r never-there --pty -- less -- {file}"
    ));
    // One screen as high as the terminal, in the alternate buffer.
    terminal.expect("\x1b[?1049h");
    terminal.expect("line-019");
    assert!(!terminal.shown.contains("line-020"));
    terminal.send(" ");
    terminal.expect("line-038");
    // less may miss a SIGWINCH just before it reads a key.
    eventually("it waits for a key", || {
        sleeps_below(terminal.pid(), "less")
    });
    terminal.send("\x1a");
    terminal.expect("Stopped");
    terminal.send("fg\n");
    // less redraws the screen.
    terminal.expect("line-020");
    terminal.expect("line-038");
    terminal.send("/line-4.7\r");
    terminal.expect("line-425");
    terminal.send("q");
    terminal.expect("\x1b[?1049l");
    terminal.expect("prompt> ");
    terminal.command("echo status-$?; stty -g");
    terminal.expect("status-0\r\n");
    assert_eq!(terminal.expect("\r\n"), before);
}

fn four_gigabytes_of_output_are_kept_in_little_memory() {
    let limited = "ulimit -v 65536; exec backoff -b 1ms --stdout final -n 2 -- \
                   sh -c 'head -c 4294967296 /dev/zero; test $BACKOFF_ATTEMPT = 1'";
    let mut live = shell(&format!(
        "export LC_ALL=C; ({limited}) | wc -c; echo ${{PIPESTATUS[0]}}"
    ))
    .live();
    live.patience = FOR_GIGABYTES;
    drop(live.code(0).stdout("4294967296\n0\n").texts());
}

fn a_gigabyte_of_input_is_intact_on_the_third_attempt() {
    let mut script = shell(
        "export LC_ALL=C; much() { yes 'a line of some text' | head -c 1073741824; }; much | cksum
         much | (ulimit -v 65536; backoff -qq -b 1ms -- sh -c 'cksum; test $BACKOFF_ATTEMPT = 3')",
    );
    let mut live = script.live();
    live.patience = FOR_GIGABYTES;
    let sums = live.code(0).out();
    let (first, _) = sums.split_once('\n').unwrap();
    assert!(first.ends_with(" 1073741824"), "{sums}");
    assert_eq!(sums, format!("{first}\n").repeat(4));
}
