//! Standard input that is written while the command runs. Other tests are in `tests/cases/stdin.md`.

use std::io::Write;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;

use crate::util::process::{children_of, hears_signals, is_alive, is_named};
use crate::util::{
    Ends, Live, backoff, clean, eventually, long_sleep, path_with_backoff, within,
};

tests! {
    input_arrives_as_it_is_written
    a_second_attempt_reads_on_where_the_writer_is
    replay_reads_to_the_end_before_the_command_starts ["linux"]
    a_writer_that_stalls_does_not_hold_a_signal
    nothing_is_left_in_the_temporary_directory_after_kill
    each_attempt_reads_all_of_a_socket
    a_script_fed_through_a_socket_runs_on
    a_socket_that_listens_stays_one
    a_socket_that_is_standard_output_too_stays_one
}

/// Starts a run whose standard input is a pipe.
fn piped(line: &str, script: &str) -> Live {
    backoff(line).arg(script).stdin(Stdio::piped()).live()
}

fn input_arrives_as_it_is_written() {
    for mode in ["auto", "inherit"] {
        let mut live = piped(
            &format!("--stdin {mode} -- sh -c"),
            "while read x; do echo got $x; done; echo end",
        );
        for word in ["one", "two", "three"] {
            live.write(&format!("{word}\n"));
            live.expect_line(&format!("got {word}"));
        }
        live.code(0).stdout("end\n");
    }
}

fn a_second_attempt_reads_on_where_the_writer_is() {
    let script = "read x; echo $x; test $BACKOFF_ATTEMPT = 2 && read x && echo $x";
    let mut live = piped("-qq -b 1ms -- sh -c", script);
    live.write("one\n");
    live.expect_line("one");
    live.expect_line("one");
    live.write("two\n");
    live.expect_line("two");
    live.code(0);
}

fn replay_reads_to_the_end_before_the_command_starts() {
    let mut live = piped("-qq --stdin replay -- sh -c", "echo started; cat");
    live.write("one\n");
    let wchan = format!("/proc/{}/wchan", live.pid());
    eventually("the first line is taken", || {
        std::fs::read_to_string(&wchan).unwrap_or_default() != "pipe_read"
            && is_named(live.pid(), "backoff")
    });
    assert_eq!(children_of(live.pid()), [0; 0]);
    live.write("two\n");
    live.code(0).stdout("started\none\ntwo\n");
}

fn a_writer_that_stalls_does_not_hold_a_signal() {
    for (options, script, is_ready) in [
        ("--stdin replay", "cat; echo never", false),
        ("", "echo ready; exec cat", true),
        (
            "-qq -b 1ms",
            "test $BACKOFF_ATTEMPT = 2 || exit 1; echo ready; exec cat",
            true,
        ),
    ] {
        let mut live = piped(&format!("{options} -- sh -c"), script);
        live.write("some\n");
        if is_ready {
            live.expect_line("ready");
            live.expect_line("some");
        } else {
            eventually("its handlers are installed", || {
                is_named(live.pid(), "backoff") && hears_signals(live.pid())
            });
        }
        // Keeps the pipe open.
        let _stdin = live.child.stdin.take();
        live.signal(Signal::SIGTERM);
        live.killed_by(Signal::SIGTERM);
    }
}

fn nothing_is_left_in_the_temporary_directory_after_kill() {
    let dir = tempfile::tempdir().unwrap();
    for mode in ["auto", "replay"] {
        let script = format!("cat >/dev/null; echo $$; exec sleep {}", long_sleep());
        let mut command = backoff(format!("--stdin {mode} -- sh -c"));
        let mut live = command
            .arg(script)
            .stdin(Stdio::piped())
            .env("TMPDIR", dir.path())
            .live();
        live.write(&"\0".repeat(3_000_000));
        drop(live.child.stdin.take());
        let pid = live.number();
        live.signal(Signal::SIGKILL);
        live.killed_by(Signal::SIGKILL);
        eventually("the command ends with it", || !is_alive(pid));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

/// Makes standard input a socket with these bytes and then end of file, as Node's `spawnSync` does.
fn from_socket<'a>(command: &'a mut Command, bytes: &[u8]) -> &'a mut Command {
    let (socket, mut writer) = UnixStream::pair().unwrap();
    writer.write_all(bytes).unwrap();
    writer.shutdown(Shutdown::Write).unwrap();
    command.stdin(OwnedFd::from(socket))
}

fn each_attempt_reads_all_of_a_socket() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "seen");
    let input: String = (0..20_000).map(|i| format!("line {i}\n")).collect();
    from_socket(&mut backoff("-qq -b 1ms -n 3 -- sh -c"), input.as_bytes())
        .arg("cat >>$SEEN; exit 7")
        .env("SEEN", &file)
        .code(7);
    assert!(std::fs::read_to_string(&file).unwrap() == input.repeat(3));
}

fn a_script_fed_through_a_socket_runs_on() {
    let script =
        "backoff -qq -b 1ms -n 2 -- sh -c 'read x; echo $x; exit 7'\nfor read\necho end $?\n";
    from_socket(clean("bash").arg("-s"), script.as_bytes())
        .env("PATH", path_with_backoff())
        .code(0)
        .stdout("for read\nfor read\nend 7\n");
}

fn a_socket_that_listens_stays_one() {
    let dir = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(within(&dir, "socket")).unwrap();
    let mut run = backoff("-n 2 -- test -S /dev/stdin");
    run.stdin(OwnedFd::from(listener)).code(0);
}

fn a_socket_that_is_standard_output_too_stays_one() {
    let (socket, _peer) = UnixStream::pair().unwrap();
    let mut run = backoff("-- test -S /dev/stdin");
    run.stdin(OwnedFd::from(socket.try_clone().unwrap()));
    run.stdout(OwnedFd::from(socket)).unread().code(0);
}
