//! `--pty`: the command's own terminal, and the restored terminal of backoff. Other tests are in `tests/cases/pty.md`.

use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::common::process::{descendants_named, is_alive, parent_of, state, stopped_below};
use crate::common::pty::{
    CTRL_BACKSLASH, CTRL_C, CTRL_D, CTRL_Z, Terminal, closing_leaves_nothing_behind,
};
use crate::common::{Ends, HIGHEST, IS_LINUX, backoff, clean, eventually, probe, send, within};

#[test]
fn on_a_terminal_all_three_are_one_of_its_size() {
    let mut terminal = Terminal::with("stty rows 33 cols 99");
    terminal.expect("prompt> ");
    let script = "for fd in 0 1 2; do test -t $fd && echo terminal-$fd; done; stty size </dev/tty";
    terminal.command(&format!("tty; backoff --pty -- sh -c 'tty; {script}'"));
    let ours = terminal.expect("\r\n");
    assert_ne!(terminal.expect("\r\n"), ours);
    terminal.expect("terminal-0\r\nterminal-1\r\nterminal-2\r\n33 99\r\n");
}

#[test]
fn a_standard_input_that_is_no_terminal_stays() {
    let mut terminal = Terminal::with(
        "echo piped | backoff -b 1ms --pty -- sh -c 'test ! -t 0 && cat && test $BACKOFF_ATTEMPT = 2'",
    );
    terminal.expect("piped\r");
    terminal.expect("retrying");
    terminal.expect("piped\r");
    terminal.expect("prompt> ");
    terminal.command("backoff --stdin null --pty -- sh -c 'test -t 0 || echo null-$(cat | wc -c)'");
    terminal.expect("null-0");
}

#[test]
fn lines_are_not_held_back() {
    // Without a terminal, grep buffers its whole output.
    let script = "(echo first; sleep 60) | grep --color=never first";
    let mut live = backoff("--pty -- sh -c").arg(script).live();
    live.expect_line("first\r");
    live.signal(Signal::SIGTERM);
    live.killed_by(Signal::SIGTERM);
}

#[test]
fn signals_reach_the_command() {
    let mut live = backoff(format!("-qq --pty -- {} signals 7", probe())).live();
    let backoff = parent_of(live.pid_of_probe());
    for (signal, number) in [
        (Signal::SIGHUP, "1\r"),
        (Signal::SIGUSR1, "10\r"),
        (Signal::SIGTERM, "15\r"),
    ] {
        send(backoff, signal);
        live.expect_line(number);
    }
    live.code(7);
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs /proc")]
fn a_window_that_changes_is_one_winch() {
    let mut terminal = Terminal::with(&format!("backoff --pty -- {} signals 7", probe()));
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    let ours = std::fs::read_link(format!("/proc/{backoff}/fd/0")).unwrap();
    let theirs = std::fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    let stty = |tty: &std::path::Path, words: &str| {
        clean("stty")
            .arg("-F")
            .arg(tty)
            .args(words.split(' '))
            .code(0)
            .out()
    };
    stty(&ours, "rows 40 cols 50");
    // backoff forwards SIGPWR after the SIGWINCH that came before it, and the probe reads signals in the order of their
    // numbers.
    let winches = |terminal: &mut Terminal| {
        send(backoff, HIGHEST);
        terminal.expect("30\r\n").matches("28\r\n").count()
    };
    // stty sets rows and columns one after the other, so the command may get two SIGWINCH.
    eventually("the size follows", || stty(&theirs, "size") == "40 50\n");
    assert!([1, 2].contains(&winches(&mut terminal)));
    stty(&ours, "cols 60");
    assert_eq!(winches(&mut terminal), 1);
    // Without a change, the terminal sends none, but a process may, as to a command without --pty.
    stty(&ours, "cols 60");
    assert_eq!(winches(&mut terminal), 0);
    // A system that does not mark the sender takes it for the terminal's.
    if IS_LINUX {
        send(backoff, Signal::SIGWINCH);
        assert_eq!(winches(&mut terminal), 1);
    }
    send(pid, Signal::SIGTERM);
    assert_eq!(terminal.expect("15\r\n"), "");
}

#[test]
fn control_c_ends_command_and_backoff() {
    let mut terminal = Terminal::bash();
    let before = terminal.settings();
    for (key, status) in [(CTRL_C, 130), (CTRL_BACKSLASH, 131)] {
        terminal.command(&format!(
            "ulimit -c 0; backoff -b 1ms --pty -- {} sleep",
            probe()
        ));
        terminal.expect("ready ");
        terminal.until_raw();
        terminal.send(key);
        let meanwhile = terminal.expect_status(status);
        assert!(!meanwhile.contains("ready"), "{meanwhile:?}");
        assert_eq!(terminal.settings(), before);
    }
}

#[test]
fn a_command_that_handles_control_c_gets_it_once_and_is_not_run_again() {
    let mut terminal = Terminal::with(&format!(
        "backoff -b 1ms --pty -- {} signals 7; echo status-$?",
        probe()
    ));
    let pid = terminal.pid_of_probe();
    terminal.until_raw();
    terminal.send(CTRL_C);
    terminal.expect("2\r\n");
    // The second key comes after all that the first one caused.
    terminal.send(CTRL_BACKSLASH);
    // The line discipline first sends the signal, and then shows the key.
    assert_eq!(terminal.expect("3\r\n").replace("^C", ""), "");
    send(pid, Signal::SIGTERM);
    assert_eq!(terminal.expect("15\r\n").replace("^\\", ""), "");
    terminal.expect("status-7");
}

#[test]
fn a_key_reaches_the_command_if_backoff_ignores_its_signal() {
    let mut terminal = Terminal::with(&format!(
        "trap '' INT QUIT TSTP; backoff -n 1 --pty -- {} signals 7; echo status-$?",
        probe()
    ));
    let pid = terminal.pid_of_probe();
    terminal.until_raw();
    for (key, number) in [(CTRL_C, "2\r\n"), (CTRL_BACKSLASH, "3\r\n")] {
        terminal.send(key);
        terminal.expect(number);
    }
    send(pid, Signal::SIGTERM);
    terminal.expect("status-7");
}

#[test]
fn keys_that_are_read_together_arrive_once_each() {
    for _ in 0..5 {
        let mut terminal = Terminal::with(&format!("backoff -n 1 --pty -- {} signals 7", probe()));
        let pid = terminal.pid_of_probe();
        terminal.until_raw();
        terminal.send(&format!("{CTRL_C}{CTRL_BACKSLASH}"));
        let mut shown = terminal.expect("3\r\n");
        send(pid, Signal::SIGTERM);
        shown += &terminal.expect("15\r\n");
        let signals = shown.replace("^C", "").replace("^\\", "");
        assert_eq!(signals, "2\r\n");
    }
}

#[test]
fn one_control_c_ends_a_script_wholly() {
    let mut terminal = Terminal::with(&format!(
        "bash -c 'for i in 1 2 3; do echo round-$i; backoff --pty -- {} sleep; done'",
        probe()
    ));
    terminal.expect("ready ");
    terminal.until_raw();
    terminal.send(CTRL_C);
    let meanwhile = terminal.expect_status(130);
    assert!(!meanwhile.contains("round-"), "{meanwhile:?}");
}

#[test]
fn control_c_during_a_wait() {
    let mut terminal = Terminal::bash();
    let before = terminal.settings();
    terminal.command("backoff -b 60s -m 60s --pty -- false");
    terminal.expect("retrying in");
    terminal.expect("\n");
    // Between two attempts, backoff restores the terminal.
    terminal.send(CTRL_C);
    terminal.expect_status(130);
    assert_eq!(terminal.settings(), before);
}

#[test]
fn control_z_and_fg_twice_over() {
    let mut terminal = Terminal::bash();
    let before = terminal.settings();
    terminal.command(&format!("backoff --pty -- {} sleep", probe()));
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    for _ in 0..2 {
        terminal.until_raw();
        terminal.send(CTRL_Z);
        terminal.expect("Stopped");
        terminal.expect("prompt> ");
        assert!(state(pid) == Some('T') && state(backoff) == Some('T'));
        assert_eq!(terminal.settings(), before);
        terminal.command("fg");
        terminal.expect("\r\n");
        eventually("both go on", || {
            state(pid) == Some('S') && state(backoff) == Some('S')
        });
    }
    terminal.until_raw();
    terminal.send(CTRL_C);
    terminal.expect_status(130);
}

const SCRIPT_THAT_ASKS: &str = "bash -c 'backoff --pty -- sh -c \"echo ready \\$\\$; read answer; echo got-\\$answer\"; echo after'";

/// Runs a script that asks a question, stops it five times, and continues it by `fg`. `stop` gets the command's process
/// number.
fn comes_back(stop: impl Fn(&mut Terminal, i32)) {
    let mut terminal = Terminal::with(SCRIPT_THAT_ASKS);
    let pid = terminal.pid_of_probe();
    for _ in 0..5 {
        terminal.until_raw();
        stop(&mut terminal, pid);
        terminal.expect("prompt> ");
        terminal.command("fg");
        terminal.expect("\r\n");
    }
    terminal.until_raw();
    terminal.send("this\n");
    terminal.expect("got-this");
    terminal.expect("after");
}

#[test]
fn control_z_stops_a_script_wholly() {
    comes_back(|terminal, pid| {
        terminal.send(CTRL_Z);
        terminal.expect("Stopped");
        // The shell sees that the script has stopped, which happens last.
        assert_eq!(state(pid), Some('T'));
    });
}

#[test]
fn the_keyboard_comes_back_from_a_shell_that_took_it_while_backoff_ran() {
    comes_back(|terminal, pid| {
        // The shell stops waiting for the job when the only process it knows has stopped.
        send(parent_of(parent_of(pid)), Signal::SIGSTOP);
        terminal.expect("Stopped");
    });
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "needs /proc")]
fn a_key_is_not_revoked_by_a_cont_that_is_heard_with_it() {
    let mut terminal = Terminal::with(SCRIPT_THAT_ASKS);
    let pid = terminal.pid_of_probe();
    let backoff = parent_of(pid);
    terminal.until_raw();
    // The shell does not know this process, and so leaves the terminal as it is.
    let send = |signal| send(backoff, signal);
    send(Signal::SIGSTOP);
    eventually("it has stopped", || state(backoff) == Some('T'));
    let flags = nix::libc::O_NOCTTY;
    let mut keyboard = std::fs::OpenOptions::new();
    let keyboard = keyboard
        .read(true)
        .custom_flags(flags)
        .open(format!("/proc/{backoff}/fd/0"));
    let keyboard = keyboard.unwrap();
    terminal.send(CTRL_Z);
    eventually("the key can be read", || {
        let mut fds = [PollFd::new(keyboard.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO).unwrap() > 0
    });
    send(Signal::SIGCONT);
    terminal.expect("Stopped");
    assert_eq!(state(pid), Some('T'));
}

#[test]
fn a_key_that_ends_the_job_is_not_stopped_by_control_z() {
    for (key, status) in [(CTRL_C, 130), (CTRL_BACKSLASH, 131)] {
        for _ in 0..5 {
            let mut terminal = Terminal::bash();
            // The command is not a shell, which may miss a key while it starts a program.
            terminal.command(&format!("ulimit -c 0; backoff --pty -- {} sleep", probe()));
            terminal.pid_of_probe();
            terminal.until_raw();
            terminal.send(&format!("{key}{CTRL_Z}"));
            terminal.expect("prompt> ");
            terminal.command("echo status-$? stopped-$(jobs -s | wc -l)");
            terminal.expect(&format!("status-{status} stopped-0"));
        }
    }
}

#[test]
fn control_z_stops_what_control_c_does_not_end() {
    let mut terminal = Terminal::with(
        "backoff --pty -- bash -c 'trap \"echo int-$((1))\" INT; echo ready $$; while :; do sleep 0.05; done'",
    );
    terminal.pid_of_probe();
    terminal.until_raw();
    terminal.send(CTRL_C);
    terminal.expect("int-1");
    terminal.until_raw();
    terminal.send(CTRL_Z);
    terminal.expect("Stopped");
    terminal.expect("prompt> ");
    terminal.send("kill %1; fg\n");
    terminal.expect("prompt> ");
}

#[test]
fn what_is_written_before_a_stop_is_shown_before() {
    let mut terminal = Terminal::bash();
    // Each text is longer than one read, but shorter than the capacity of a terminal without a reader.
    let script = "for i in {1..20}; do printf %06000d-tidied-$i 0; kill -STOP $$; done; echo over";
    terminal.command(&format!("backoff --pty -- bash -c '{script}'"));
    for i in 1..=20 {
        let before = terminal.expect("Stopped");
        assert!(before.contains(&format!("tidied-{i}")), "round {i}");
        terminal.expect("prompt> ");
        terminal.command("fg");
    }
    terminal.expect("over");
}

#[test]
fn control_d_ends_what_reads() {
    let mut terminal = Terminal::with("backoff --pty -- cat; echo status-$?");
    terminal.until_raw();
    terminal.send("line\n");
    // The terminal shows the echo and the copy.
    terminal.expect("line\r\nline\r\n");
    terminal.send(CTRL_D);
    terminal.expect("status-0");
}

#[test]
fn the_terminal_is_as_it_was_however_the_run_ends() {
    let mut terminal = Terminal::bash();
    let before = terminal.settings();
    for (words, status) in [
        ("--pty -- true", 0),
        ("-n 1 --pty -- sh -c 'exit 9'", 9),
        ("-n 2 -b 1ms --pty -- sh -c 'stty raw -echo; exit 3'", 3),
        ("-n 1 --pty -- sh -c 'kill -SEGV $$'", 139),
        ("-n 1 -t 100ms --pty -- sleep 60", 124),
        ("--pty -- /nowhere/command", 127),
    ] {
        terminal.command(&format!("(ulimit -c 0; backoff {words}); echo status-$?"));
        terminal.expect(&format!("status-{status}\r\n"));
        terminal.expect("prompt> ");
        assert_eq!(terminal.settings(), before, "{words}");
    }
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        terminal.command(&format!("backoff --pty -- {} sleep", probe()));
        let pid = terminal.pid_of_probe();
        terminal.until_raw();
        send(parent_of(pid), signal);
        terminal.expect_status(128 + signal as i32);
        assert_eq!(terminal.settings(), before, "{signal}");
    }
}

#[test]
fn messages_are_not_stairs() {
    let mut terminal =
        Terminal::with("backoff -v -n 2 -b 1ms --pty -- sh -c 'stty raw; exit 3'; echo over");
    let shown = terminal.expect("over\r\n");
    assert!(shown.matches('\n').count() >= 3);
    assert_eq!(
        shown.matches('\n').count(),
        shown.matches("\r\n").count(),
        "{shown:?}"
    );
}

#[test]
fn a_raw_program_gets_every_byte() {
    let mut terminal = Terminal::with(
        "backoff -n 1 --pty -- sh -c 'stty raw -echo; echo go; head -c 6 | od -An -tx1; stty sane; exit 5'; echo status-$?",
    );
    terminal.expect("go");
    terminal.until_raw();
    terminal.send("\x03\x1a\x04\x11\r\x7f");
    terminal.expect("03 1a 04 11 0d 7f");
    terminal.expect("status-5");
}

#[test]
fn an_interactive_shell_has_its_own_jobs() {
    let mut terminal = Terminal::with("backoff -n 1 --pty -- bash --norc --noprofile -i");
    terminal.expect("prompt> ");
    terminal.until_raw();
    let shell = terminal.pid();
    for _ in 0..2 {
        terminal.command("sleep 60");
        // The shell gives sleep the terminal before it starts or continues it.
        eventually("sleep runs", || descendants_named(shell, "sleep") == 1);
        terminal.send(CTRL_Z);
        terminal.expect("Stopped");
        terminal.expect("prompt> ");
        terminal.command("fg");
        terminal.expect("sleep 60\r\n");
        eventually("sleep goes on", || stopped_below(shell) == 0);
        terminal.send(CTRL_C);
        terminal.expect("prompt> ");
    }
    terminal.command("exit 3");
    terminal.expect("gave up");
    terminal.expect_status(3);
}

#[test]
fn in_the_background_nothing_is_taken_from_the_shell() {
    let mut terminal = Terminal::bash();
    let before = terminal.settings();
    terminal.command("backoff --pty -- sh -c 'printf begun-%s 1; read answer; echo got-$answer' &");
    if !terminal.expect("begun-1").contains("prompt> ") {
        terminal.expect("prompt> ");
    }
    assert_eq!(terminal.settings(), before);
    terminal.command("echo to-the-shell");
    terminal.expect("to-the-shell\r\n");
    terminal.expect("prompt> ");
    terminal.command("fg");
    terminal.expect("\r\n");
    terminal.until_raw();
    terminal.send("it\n");
    terminal.expect("got-it");
}

#[test]
fn begun_in_the_background_its_terminal_is_a_usual_one() {
    let mut terminal = Terminal::bash();
    let before = terminal.settings();
    // After the delay the shell edits a line.
    terminal
        .command("backoff --initial-delay 500ms --pty -- sh -c 'stty -a; read answer; echo got-$answer; stty -echo' &");
    let theirs = terminal.expect("ixon");
    let theirs = theirs + &terminal.expect("echoke");
    for usual in [" icanon", " echo ", "isig ", " icrnl"] {
        assert!(theirs.contains(usual), "{usual}: {theirs}");
    }
    terminal.command("fg");
    terminal.expect("\r\n");
    terminal.until_raw();
    // The terminal echoes the line, and then the command reads it.
    terminal.send("it\n");
    terminal.expect("it\r\ngot-it\r\n");
    terminal.expect("prompt> ");
    assert_eq!(terminal.settings(), before);
}

#[test]
fn in_a_pipeline_the_keyboard_is_not_taken_from_the_reader() {
    let mut terminal = Terminal::with(
        "backoff --pty -- echo shown | (read line; read answer </dev/tty; echo $line-$answer)",
    );
    terminal.send("yes\n");
    terminal.expect("shown\r-yes");
}

#[test]
fn a_closed_terminal_leaves_nothing_behind() {
    closing_leaves_nothing_behind("--pty");
}

/// Counts its HUPs, of which each makes backoff look at its terminal again, and writes the number to a file: after five
/// undisturbed steps since the first one, or at the twentieth.
const SCRIPT_THAT_COUNTS_HUPS: &str = r#"
exec 2>/dev/null
hups=0 quiet=0 steps=0 file=$1
end() { echo $hups >"$file"; exit; }
trap 'hups=$((hups + 1)); kill -WINCH $PPID; test $hups -lt 20 || end' HUP
echo begun-$((1))
until [ $quiet = 5 ] || [ $steps = 600 ]; do
    sleep 0.1 && [ $hups != 0 ] && quiet=$((quiet + 1))
    steps=$((steps + 1))
done
end
"#;

#[test]
fn a_command_that_outlives_its_terminal_gets_one_hup() {
    // The leader of the session, a job in the foreground of one that lives on, and one in the background of a shell,
    // which would forward HUP to it had it not disowned it.
    for (before, after) in [("exec", ""), ("trap : HUP;", "; :"), ("", " & disown")] {
        let dir = tempfile::tempdir().unwrap();
        let script = within(&dir, "script");
        let counted = within(&dir, "counted");
        std::fs::write(&script, SCRIPT_THAT_COUNTS_HUPS).unwrap();
        let line = format!("{before} backoff --pty -n 1 -- sh {script} {counted}{after}");
        let mut terminal = if before.is_empty() {
            Terminal::with(&line)
        } else {
            Terminal::sh(&line)
        };
        terminal.expect("begun-1");
        terminal.master = std::fs::File::open("/").unwrap();
        let mut hups = String::new();
        eventually("the command ends", || {
            hups = std::fs::read_to_string(&counted).unwrap_or_default();
            hups.ends_with('\n')
        });
        assert_eq!(hups, "1\n", "{line}");
    }
}

#[test]
fn as_the_sessions_leader_it_dies_of_control_c_and_does_not_stop() {
    let mut terminal = Terminal::backoff(&format!("--pty -- {} sleep", probe()), &[]);
    let pid = terminal.pid_of_probe();
    terminal.until_raw();
    terminal.send(CTRL_Z);
    // backoff reads this key after CTRL_Z, and the terminal of the command shows it.
    terminal.send("x");
    terminal.expect("x");
    // Perhaps running, on a busy machine.
    assert_ne!(state(pid), Some('T'));
    terminal.send(CTRL_C);
    assert_eq!(terminal.finish().signal(), Some(2));
}

#[test]
fn a_killed_backoff_takes_the_command_with_it() {
    let mut live = backoff(format!("--pty -- {} sleep", probe())).live();
    let pid = live.pid_of_probe();
    live.signal(Signal::SIGKILL);
    eventually("the command ends", || !is_alive(pid));
}
