//! Output while a command runs, and its readers. The output of finished runs is in `tests/cases/streams.md`.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Stdio;
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::util::process::{has_ended_children_only, is_alive, until_it_is_stuck};
use crate::util::pty::{Terminal, new_master, slave_path};
use crate::util::{Ends, backoff, eventually, send};

tests! {
    a_terminal_stays_one_unless_it_is_looked_at
    a_piece_of_output_arrives_at_once
    a_signal_ends_a_predicate_and_the_run
    a_daemon_that_keeps_the_pipe_is_not_waited_for
    a_pipelines_last_words_are_heard
    signals_pass_while_output_is_observed
    a_slow_reader_gets_all_though_a_signal_came
    output_that_a_timeout_cut_off_is_read_before_the_next_attempt
    a_number_that_names_another_device_is_written_as_it_is
    a_limit_holds_though_nobody_reads_the_output
}

/// Returns what `seq` prints.
fn numbers(from: u32, to: u32) -> String {
    (from..=to).map(|number| format!("{number}\n")).collect()
}

fn a_terminal_stays_one_unless_it_is_looked_at() {
    let script = "test -t 0; a=$?; test -t 1; b=$?; test -t 2; echo [$a $b $?] >/dev/tty; exit 1";
    for (rules, shown) in [
        ("-e 7", "[0 0 0]"),
        ("--fail-match x --match-on stderr", "[0 0 1]"),
        ("--fail-match x --match-on stdout", "[0 1 0]"),
        ("-r x", "[0 1 1]"),
    ] {
        let mut terminal = Terminal::backoff(&format!("-qq -n 1 {rules} -- sh -c"), &[script]);
        terminal.expect(shown);
        terminal.finish();
    }
}

fn a_piece_of_output_arrives_at_once() {
    let script = "printf 'one\n2'; read x; printf '\ntwo\n' >&2; read x; echo three";
    for rules in ["-r x", "-i 20s", "--retry-if 'exit 1'"] {
        let mut command = backoff(format!("{rules} -- sh -c"));
        let mut live = command.arg(script).stdin(Stdio::piped()).live();
        live.expect_line("one");
        live.write("\n");
        assert_eq!([live.line_of_stderr(), live.line_of_stderr()], ["", "two"]);
        live.write("\n");
        live.code(0).stdout("2three\n");
    }
}

fn a_signal_ends_a_predicate_and_the_run() {
    for line in [
        "--retry-if 'echo $$ >&2; exec sleep 60' -- false",
        "--success-if 'echo $$ >&2; exec sleep 60' -- true",
    ] {
        let mut live = backoff(line).live();
        let asked = live.line_of_stderr().parse().unwrap();
        live.signal(Signal::SIGTERM);
        live.killed_by(Signal::SIGTERM);
        assert!(!is_alive(asked));
    }
}

fn a_daemon_that_keeps_the_pipe_is_not_waited_for() {
    for rules in ["-r x", "--stdout final", "-i 9s"] {
        let script = "'sleep 60 2>/dev/null & echo $!; exit 0'";
        let mut live = backoff(format!("{rules} -- sh -c {script}")).live();
        let daemon = live.number();
        live.code(0);
        assert!(is_alive(daemon), "{rules:?}");
        send(daemon, Signal::SIGKILL);
    }
}

fn a_pipelines_last_words_are_heard() {
    let ended = |options: &str, script: &str| {
        let output = backoff(format!("-qq -n 1 {options} -- bash -c"))
            .arg(script)
            .ends();
        (output.status.code(), output.stdout)
    };
    let script = "exec > >(sleep 0.02; echo last; sleep 0.02; echo words); exit 3";
    for rules in ["-r x", "--stdout final", "--retry-if 'exit 1'"] {
        assert_eq!(
            ended(rules, script),
            (Some(3), b"last\nwords\n".to_vec()),
            "{rules:?}"
        );
    }
    let script = "exec > >(sleep 0.02; printf 'bad end'); exit 0";
    assert_eq!(ended("--fail-match 'bad end$'", script).0, Some(1));
}

fn signals_pass_while_output_is_observed() {
    let script = "trap 'echo last; exit 6' TERM; echo ready; while :; do sleep 0.01; done 2>&-";
    let mut live = backoff("-qq -r x -- bash -c").arg(script).live();
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    live.code(6).stdout("last\n");
    // A signal also ends a run whose output nobody reads.
    let mut stuck = backoff("-r x -- yes").live();
    stuck.expect_line("y");
    until_it_is_stuck(stuck.pid());
    stuck.signal(Signal::SIGTERM);
    stuck.status();
}

fn a_slow_reader_gets_all_though_a_signal_came() {
    // seq is also sent SIGTERM, perhaps while it writes, so here it ignores the signal.
    let trap =
        "trap 'exit 0' TERM; (trap '' TERM; exec seq 20000); while :; do sleep 0.01; done 2>&-";
    for command in [["seq", "20000", ""], ["bash", "-c", trap]] {
        let words = command.iter().filter(|word| !word.is_empty());
        let live = backoff("-r x --").args(words).live();
        until_it_is_stuck(live.pid());
        live.signal(Signal::SIGTERM);
        std::thread::sleep(Duration::from_millis(500));
        let output = live.output();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout == numbers(1, 20000).as_bytes(), "a gap");
    }
}

fn output_that_a_timeout_cut_off_is_read_before_the_next_attempt() {
    let script = "test $BACKOFF_ATTEMPT = 2 || { seq 20000; echo written >&2; sleep 60; }; echo ok";
    let all = numbers(1, 20000) + "ok\n";
    let live = backoff("-qq -n 2 -b 0 -t 1s -r x -- sh -c")
        .arg(script)
        .live();
    until_it_is_stuck(live.pid());
    eventually("the timeout has ended the command", || {
        has_ended_children_only(live.pid())
    });
    let output = live.output();
    // On a busy machine, the timeout may have killed seq itself.
    let is_whole = !output.stderr.is_empty();
    if is_whole {
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout == all.as_bytes());
    }
    // If nobody reads on, no output of a second attempt follows the gap.
    let mut stuck = backoff("-n 2 -b 0 -t 1s -r x -- sh -c").arg(script).live();
    assert_eq!(stuck.status().code(), Some(124));
    let (stdout, stderr) = stuck.code(124).texts();
    assert!(
        all.starts_with(&stdout) && !stdout.contains("ok"),
        "{stdout}"
    );
    assert!(stderr.contains("gave up after 1 attempt"), "{stderr}");
    assert!(
        stderr.contains("output not read, as its reader stopped reading"),
        "{stderr}"
    );
}

/// Asserts that backoff does not reopen a pseudo-terminal's master by descriptor number, as this would create another
/// terminal.
fn a_number_that_names_another_device_is_written_as_it_is() {
    for rules in ["", "-r x", "--stdout final"] {
        let ours = new_master();
        let mut options = File::options();
        options.read(true).custom_flags(OFlag::O_NOCTTY.bits());
        let mut theirs = options.open(slave_path(&ours)).unwrap();
        let stdout = ours.as_fd().try_clone_to_owned().unwrap();
        let mut child = backoff(format!("-qq {rules} -- echo hi"))
            .stdout(stdout)
            .unread();
        assert!(child.status().success(), "{rules}");
        let mut fds = [PollFd::new(theirs.as_fd(), PollFlags::POLLIN)];
        assert_eq!(
            poll(&mut fds, PollTimeout::from(5000_u16)),
            Ok(1),
            "{rules}: nothing has arrived"
        );
        let mut got = [0; 3];
        theirs.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"hi\n", "{rules}");
    }
}

fn a_limit_holds_though_nobody_reads_the_output() {
    for limit in ["-d 1s", "-t 1s -n 1"] {
        let mut stuck = backoff(format!("{limit} -r x -- yes")).live();
        stuck.expect_line("y");
        assert_eq!(stuck.status().code(), Some(124), "{limit}");
    }
}
