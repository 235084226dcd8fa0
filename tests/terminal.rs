//! A real pseudo-terminal, with and without an interactive shell.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use crate::util::process::{
    descendants_named, is_alive, parent_of, state,
    stopped_below,
};
use nix::sys::signal::Signal;

use crate::util::pty::{
    CTRL_BACKSLASH, CTRL_C, CTRL_Z, Terminal, closing_leaves_nothing_behind,
};
use crate::util::{Ends, IS_LINUX, clean, eventually, probe, send, sleep_until, within};

tests! {
    the_command_sees_the_terminal_itself
    the_command_reads_a_line
    control_c_ends_command_and_backoff
    the_command_gets_exactly_one_int
    control_c_during_a_wait
    one_control_c_ends_a_loop_wholly
    control_z_that_the_command_ignores_stops_nothing
    control_z_and_fg_twice_over
    a_stopped_and_continued_command_gets_one_cont_and_keeps_its_code
    a_group_that_is_stopped_and_continued_as_a_whole_gets_one_cont
    control_z_during_a_wait_stops_and_runs_nothing
    time_spent_stopped_does_not_count_against_the_time_out
    time_spent_stopped_counts_against_the_deadline
    a_background_job_that_reads_is_stopped_as_the_bare_command_is
    pipelines_behave_as_without_backoff
    an_interrupt_of_backoff_alone_ends_the_run_once
    a_resized_window_is_one_winch ["linux"]
    a_killed_backoff_leaves_nothing_stopped
    a_closed_terminal_leaves_nothing_behind
    term_to_backoff_alone_reaches_the_command
    a_time_out_ends_the_tree_in_a_shared_group
    an_interactive_shell_runs_under_it
    an_explicit_kill_after_follows_keys_too
    without_kill_after_no_kill_follows_keys
    stopping_and_continuing_the_group_in_haste_never_leaves_it_stopped
    as_the_sessions_leader_it_dies_of_control_c
}

fn the_command_sees_the_terminal_itself() {
    let mut terminal = Terminal::with(
        "backoff -- sh -c 'test -t 0 && test -t 1 && test -t 2 && tty && echo is-a-tty'",
    );
    terminal.expect("is-a-tty");
}

fn the_command_reads_a_line() {
    let mut terminal = Terminal::with("backoff -- sh -c 'echo ask; read answer; echo got-$answer'");
    terminal.expect("ask");
    terminal.send("yes\n");
    terminal.expect("got-yes");
    // A script has no job control.
    terminal
        .command("bash -c 'backoff -- sh -c \"echo ask; read answer; echo got-\\$answer\"; true'");
    terminal.expect("ask");
    terminal.send("again\n");
    terminal.expect("got-again");
}

fn control_c_ends_command_and_backoff() {
    let mut terminal = Terminal::bash();
    for (key, status) in [(CTRL_C, 130), (CTRL_BACKSLASH, 131)] {
        terminal.command(&format!("ulimit -c 0; backoff -- {} sleep", probe()));
        terminal.expect("ready ");
        terminal.send(key);
        terminal.expect_status(status);
    }
}

fn the_command_gets_exactly_one_int() {
    let mut terminal = Terminal::with(&format!("backoff -- {} signals 7; echo status-$?", probe()));
    let pid = terminal.pid_of_probe();
    terminal.send(CTRL_C);
    terminal.expect("2\r\n");
    terminal.send(CTRL_C);
    terminal.expect("2\r\n");
    send(pid, Signal::SIGTERM);
    // The probe handled SIGINT, so backoff exits with the probe's code. It received no other signal.
    assert_eq!(terminal.expect("15\r\n").replace("^C", ""), "");
    terminal.expect("status-7");
}

fn control_c_during_a_wait() {
    let mut terminal = Terminal::with("backoff -b 60s -m 60s -- false");
    terminal.expect("retrying in");
    terminal.expect("\n");
    terminal.send(CTRL_C);
    terminal.expect_status(130);
}

fn one_control_c_ends_a_loop_wholly() {
    let mut terminal = Terminal::with(&format!(
        "bash -c 'for i in 1 2 3; do echo round-$i; backoff -- {} sleep; done'",
        probe()
    ));
    terminal.expect("ready ");
    terminal.send(CTRL_C);
    let meanwhile = terminal.expect("prompt> ");
    assert!(!meanwhile.contains("round-"), "{meanwhile:?}");
    terminal.command("echo status-$?");
    terminal.expect("status-130");
    // A loop in the interactive shell also ends.
    terminal.command("for i in 1 2 3; do echo round-$i; backoff -- sleep 9; done; echo over");
    terminal.expect("round-1\r\n");
    let shell = terminal.pid();
    eventually("sleep runs", || descendants_named(shell, "sleep") == 1);
    terminal.send(CTRL_C);
    let meanwhile = terminal.expect("prompt> ");
    assert!(!meanwhile.contains("round-"), "{meanwhile:?}");
}

fn control_z_that_the_command_ignores_stops_nothing() {
    let mut terminal = Terminal::bash();
    // The command is retried, succeeds, fails, or is ended by Ctrl-C.
    for (options, script, ends_by_key, end) in [
        ("-qq -n 2 --delays 1ms", "sleep 4; exit 3", false, 3),
        ("-v", "sleep 0.5; exit 0", false, 0),
        ("-n 1", "sleep 0.5; exit 3", false, 3),
        ("--stdout failure", "sleep 60", true, 130),
    ] {
        let script = format!(
            "trap \"\" TSTP; echo ready >/dev/tty; sleep 0.3; echo later >/dev/tty; {script}"
        );
        terminal.command(&format!("backoff {options} -- sh -c '{script}'"));
        terminal.expect("ready\r\n");
        terminal.send(CTRL_Z);
        // The signals of two keys sent at once would arrive in the order of their numbers.
        terminal.expect("later\r\n");
        if ends_by_key {
            // A shell that is about to start its command may lose the signal.
            let shell = terminal.pid();
            eventually("sleep runs", || descendants_named(shell, "sleep") == 1);
            terminal.send(CTRL_C);
        }
        let meanwhile = terminal.expect_status(end);
        assert!(!meanwhile.contains("Stopped"), "{options}: {meanwhile:?}");
    }
}

fn control_z_and_fg_twice_over() {
    let mut terminal = Terminal::with(&format!("backoff -- {} sleep", probe()));
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    for _ in 0..2 {
        terminal.send(CTRL_Z);
        terminal.expect("Stopped");
        terminal.expect("prompt> ");
        terminal.command("jobs -s | wc -l");
        terminal.expect("1");
        terminal.expect("prompt> ");
        terminal.send("fg\n");
        eventually("both go on", || {
            state(pid) == Some('S') && state(backoff) == Some('S')
        });
    }
    terminal.send(CTRL_C);
    terminal.expect("prompt> ");
}

fn a_stopped_and_continued_command_gets_one_cont_and_keeps_its_code() {
    let mut terminal = Terminal::with(&format!("backoff -n 1 -- {} signals 7", probe()));
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    // The probe handles SIGTSTP without stopping, so backoff does not stop either.
    terminal.send(CTRL_Z);
    terminal.expect("20\r\n");
    eventually("backoff sleeps", || state(backoff) == Some('S'));
    // SIGSTOP cannot be caught, so the shell shows the job as stopped.
    send(pid, Signal::SIGSTOP);
    terminal.expect("Stopped");
    assert_eq!(state(backoff), Some('T'));
    terminal.command("fg");
    terminal.expect("18\r\n");
    send(pid, Signal::SIGTERM);
    assert_eq!(terminal.expect("15\r\n"), "");
    terminal.expect_status(7);
}

fn a_group_that_is_stopped_and_continued_as_a_whole_gets_one_cont() {
    let mut terminal = Terminal::with(&format!("backoff -n 1 -- {} signals 7", probe()));
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    send(-backoff, Signal::SIGSTOP);
    terminal.expect("Stopped");
    // The shell only watches backoff, so the command may stop later.
    eventually("both have stopped", || state(pid) == Some('T'));
    terminal.command("fg");
    terminal.expect("18\r\n");
    send(pid, Signal::SIGTERM);
    assert_eq!(terminal.expect("15\r\n"), "");
}

fn control_z_during_a_wait_stops_and_runs_nothing() {
    let mut terminal = Terminal::with(
        "backoff -n 2 -g constant -j none -b 3s -- sh -c 'echo try-$BACKOFF_ATTEMPT; exit 4'; echo status-$?",
    );
    terminal.expect("retrying in");
    terminal.expect("\n");
    let began = Instant::now();
    terminal.send(CTRL_Z);
    terminal.expect("Stopped");
    terminal.expect("prompt> ");
    // The wait is over by the time of `fg`.
    sleep_until(began, Duration::from_millis(3200));
    terminal.send("fg\n");
    assert!(!terminal.expect("backoff -n 2").contains("try-2"));
    terminal.expect("try-2");
}

fn time_spent_stopped_does_not_count_against_the_time_out() {
    let dir = tempfile::tempdir().unwrap();
    let go = within(&dir, "go");
    let script = format!("echo ready; until test -e {go}; do sleep 0.05; done; echo finished");
    let mut terminal = Terminal::with(&format!("backoff -n 1 -t 4s -- bash -c '{script}'"));
    terminal.expect("ready\r\n");
    terminal.send(CTRL_Z);
    terminal.expect("Stopped");
    std::thread::sleep(Duration::from_millis(4200));
    File::create(go).unwrap();
    terminal.command("fg; echo status-$?");
    terminal.expect("finished\r\n");
    terminal.expect("status-0");
}

fn time_spent_stopped_counts_against_the_deadline() {
    let mut terminal = Terminal::with(&format!("backoff -d 4s -- {} sleep", probe()));
    terminal.expect("ready ");
    terminal.send(CTRL_Z);
    terminal.expect("Stopped");
    std::thread::sleep(Duration::from_millis(4200));
    terminal.command("fg; echo status-$?");
    terminal.expect("status-124");
}

fn a_background_job_that_reads_is_stopped_as_the_bare_command_is() {
    let mut terminal = Terminal::with("backoff -- cat &");
    let shell = terminal.pid();
    eventually("both stop", || stopped_below(shell) == 2);
    terminal.command("jobs");
    terminal.expect("Stopped");
    terminal.command("fg");
    eventually("both go on", || stopped_below(shell) == 0);
    terminal.expect("backoff -- cat\r\n");
    terminal.send("hello\n");
    terminal.expect("hello\r\nhello\r\n");
    terminal.send(CTRL_C);
    terminal.expect("prompt> ");
}

fn pipelines_behave_as_without_backoff() {
    let mut terminal = Terminal::with(
        "backoff -- sh -c 'echo question >/dev/tty; read a </dev/tty; echo got-$a' | cat",
    );
    terminal.expect("question");
    terminal.send("answer\n");
    terminal.expect("got-answer");
    terminal.command("backoff -n 1 -- sh -c 'echo line; exit 3' | cat; echo ${PIPESTATUS[0]}");
    terminal.expect("\r\n3\r\n");
    terminal.command("backoff -- sleep 60 | cat");
    let shell = terminal.pid();
    eventually("sleep runs", || descendants_named(shell, "sleep") == 1);
    terminal.send(CTRL_C);
    terminal.expect("prompt> ");
    eventually("sleep ends", || descendants_named(shell, "sleep") == 0);
}

/// On other systems than Linux, backoff takes it for Ctrl-C, which the terminal sends to the command itself.
fn an_interrupt_of_backoff_alone_ends_the_run_once() {
    let line = format!("backoff -n 3 -b 1ms -- {} signals 7", probe());
    let mut terminal = Terminal::with(&line);
    let pid = terminal.pid_of_probe();
    send(parent_of(pid), Signal::SIGINT);
    if IS_LINUX {
        terminal.expect("2\r\n");
    }
    send(pid, Signal::SIGTERM);
    assert_eq!(terminal.expect("15\r\n"), "");
    terminal.expect("interrupted by SIGINT; no further attempt");
    terminal.expect_status(7);
}

fn a_resized_window_is_one_winch() {
    let mut terminal = Terminal::with(&format!("backoff -- {} signals 7", probe()));
    let pid = terminal.pid_of_probe();
    let tty = std::fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    let tty = tty.to_str().unwrap();
    clean("stty").args(["-F", tty, "cols", "50"]).code(0);
    terminal.expect("28\r\n");
    send(pid, Signal::SIGTERM);
    assert_eq!(terminal.expect("15\r\n"), "");
}

fn a_killed_backoff_leaves_nothing_stopped() {
    for options in ["", "--pty"] {
        let mut terminal = Terminal::with(&format!("backoff {options} -- {} sleep", probe()));
        let pid = terminal.pid_of_probe();
        let backoff = parent_of(pid);
        terminal.send(CTRL_Z);
        terminal.expect("Stopped");
        send(backoff, Signal::SIGKILL);
        eventually("the command ends", || !is_alive(pid));
    }
}

fn a_closed_terminal_leaves_nothing_behind() {
    closing_leaves_nothing_behind("");
}

fn term_to_backoff_alone_reaches_the_command() {
    let mut terminal = Terminal::with(&format!("backoff -- {} signals 7; echo status-$?", probe()));
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    send(backoff, Signal::SIGUSR1);
    terminal.expect("10\r\n");
    send(backoff, Signal::SIGTERM);
    terminal.expect("15\r\n");
    terminal.expect("status-7");
}

fn a_time_out_ends_the_tree_in_a_shared_group() {
    let mut terminal = Terminal::with(
        "backoff -n 1 -t 2s -- bash -c 'sleep 61 & setsid sleep 62 & wait'; echo status-$?",
    );
    let shell = terminal.pid();
    eventually("both run", || descendants_named(shell, "sleep") == 2);
    terminal.expect("status-124");
    assert_eq!(descendants_named(shell, "sleep"), 0);
    // The shell and the other processes of its group are not part of the tree.
    terminal.command("echo still-here");
    terminal.expect("still-here");
}

fn an_interactive_shell_runs_under_it() {
    let mut terminal = Terminal::with("backoff -n 1 -- bash --norc --noprofile -i");
    terminal.expect("prompt> ");
    terminal.command("sleep 60");
    let shell = terminal.pid();
    eventually("sleep runs", || descendants_named(shell, "sleep") == 1);
    terminal.send(CTRL_Z);
    terminal.expect("Stopped");
    terminal.command("fg");
    eventually("sleep goes on", || stopped_below(shell) == 0);
    terminal.send(CTRL_C);
    terminal.expect("prompt> ");
    terminal.command("exit 3");
    terminal.command("echo status-$?");
    terminal.expect("status-3");
}

fn an_explicit_kill_after_follows_keys_too() {
    let mut terminal = Terminal::bash();
    for options in ["-k 200ms", "-k 200ms --pty"] {
        for key in [CTRL_C, CTRL_BACKSLASH] {
            terminal.command(&format!(
                "backoff {options} -- {} signals 7; echo status-$?",
                probe()
            ));
            let pid = terminal.pid_of_probe();
            terminal.send(key);
            terminal.expect(" and needed SIGKILL; no further attempt");
            terminal.expect("status-137");
            assert!(!is_alive(pid));
            terminal.expect("prompt> ");
        }
    }
}

fn without_kill_after_no_kill_follows_keys() {
    let mut terminal = Terminal::with(&format!(
        "backoff -t 30s -- {} signals 7; echo status-$?",
        probe()
    ));
    let pid = terminal.pid_of_probe();
    terminal.send(CTRL_C);
    terminal.expect("2\r\n");
    // By default `--kill-after` is 5 s, but only a limit uses it.
    std::thread::sleep(Duration::from_millis(5300));
    send(pid, Signal::SIGTERM);
    terminal.expect("status-7");
}

fn stopping_and_continuing_the_group_in_haste_never_leaves_it_stopped() {
    let mut terminal = Terminal::with(&format!("backoff -n 1 -- {} sleep", probe()));
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    for round in 0..300_u64 {
        send(-backoff, Signal::SIGTSTP);
        std::thread::sleep(Duration::from_micros(round % 8 * 100));
        send(-backoff, Signal::SIGCONT);
    }
    eventually("both go on", || {
        state(pid) == Some('S') && state(backoff) == Some('S')
    });
    // If backoff stopped later, it would miss this signal.
    send(backoff, Signal::SIGTERM);
    eventually("both end", || !is_alive(pid) && !is_alive(backoff));
}

fn as_the_sessions_leader_it_dies_of_control_c() {
    let mut terminal = Terminal::backoff(&format!("-- {} sleep", probe()), &[]);
    terminal.expect("ready ");
    terminal.send(CTRL_C);
    assert_eq!(terminal.finish().signal(), Some(2));
}
