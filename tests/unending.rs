//! Programs that hang on start, processes that cannot be killed, and commands with their own terminal.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::util::process::{children_of, is_alive};
use crate::util::pty::{CTRL_C, Terminal};
use crate::util::slowfs::SlowFs;
use crate::util::{BIN, Ends, Live, backoff, clean, eventually, within};

tests! {
    control_c_in_a_terminal_of_the_command_ends_the_run ["script", "setsid"]
    limits_hold_without_a_list_of_processes ["unshare"]
    a_subreaper_leaves_no_zombies ["perl"]
    a_background_job_ends_with_its_terminal ["bash", "setsid"]
    outputs_to_one_file_tear_no_line ["perl"]
}

/// Tests that need root.
pub mod root {
    use super::*;

    tests! {
        a_limit_ends_a_program_that_hangs_while_it_starts ["fuse"]
        signals_act_while_a_program_starts ["fuse", "setsid"]
        a_command_that_does_not_die_of_kill_is_given_up ["fuse"]
        a_frozen_command_is_given_up ["freezer"]
        a_process_of_another_user_is_named ["root", "cc", "setpriv"]
        without_kill_a_protected_process_is_not_waited_for ["root", "cc", "setpriv"]
        term_names_a_process_that_it_cannot_reach ["root", "cc", "setpriv"]
        control_c_below_sudo_ends_the_run ["root", "sudo", "setsid"]
    }
}

/// A run whose output goes to files, as a process that survives the run would keep a pipe open.
struct Run {
    dir: TempDir,
    live: Live,
}

impl Run {
    fn start(command: &mut Command) -> Run {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(dir.path().join(name)).unwrap();
        let live = command.stdout(file("out")).stderr(file("err")).unread();
        Run { dir, live }
    }

    /// Returns the first line of a stream, once there is one.
    fn line(&self, stream: &str) -> String {
        let mut line = String::new();
        eventually("a line", || {
            line = std::fs::read_to_string(self.dir.path().join(stream)).unwrap();
            line.contains('\n')
        });
        line.lines().next().unwrap().to_owned()
    }

    fn output(mut self) -> Output {
        let status = self.live.status();
        let stream = |name: &str| std::fs::read(self.dir.path().join(name)).unwrap();
        Output {
            status,
            stdout: stream("out"),
            stderr: stream("err"),
        }
    }
}

fn to_its_end(command: &mut Command) -> Output {
    Run::start(command).output()
}

fn out(run: &Output) -> String {
    String::from_utf8_lossy(&run.stdout).into_owned()
}

fn err(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Puts a program on a file system whose `open` has this effect.
fn hanging_program(effect: &str) -> (SlowFs, String) {
    let fs = SlowFs::mount();
    let program = format!("{}/cmd", fs.dir());
    std::fs::write(&program, "#!/bin/sh\necho ran\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fs.control(&format!("open {effect} cmd\n"));
    (fs, program)
}

fn a_limit_ends_a_program_that_hangs_while_it_starts() {
    let (_fs, program) = hanging_program("wait");
    for limit in ["-d", "-t"] {
        let run = to_its_end(&mut backoff(format!(
            "-n 1 {limit} 300ms -k 20s -- {program}"
        )));
        assert_eq!(run.status.code(), Some(124), "{limit}: {run:?}");
        assert!(!err(&run).contains("KILL"), "{run:?}");
    }
}

fn signals_act_while_a_program_starts() {
    let (fs, program) = hanging_program("wait");
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let run = Run::start(&mut backoff(format!("-v -b 1ms -- {program}")));
        let started = run.line("err");
        assert!(started.contains("starting"), "{started}");
        run.live.signal(signal);
        let end = run.output();
        assert_eq!(end.status.signal(), Some(signal as i32), "{end:?}");
    }
    let mut terminal = Terminal::with(&format!("backoff -b 1ms -- {program}"));
    eventually("the program hangs", || {
        let mut below = children_of(terminal.pid())
            .into_iter()
            .flat_map(children_of);
        below.any(|pid| fs.holds(pid))
    });
    terminal.send(CTRL_C);
    terminal.expect_status(130);
}

fn a_command_that_does_not_die_of_kill_is_given_up() {
    let (fs, program) = hanging_program("hang");
    for limit in ["-t", "-d"] {
        for more in [
            "",
            "--until never",
            "-e timeout --exhausted-exit 75",
            "--until failure",
        ] {
            let options = format!("-n 3 -b 1ms {limit} 500ms -k 100ms {more} -- {program}");
            let run = to_its_end(&mut backoff(&options));
            assert_eq!(run.status.code(), Some(124), "{options}: {run:?}");
            let said = err(&run);
            assert_eq!(said.lines().count(), 1, "{said}");
            assert!(
                said.contains("after 1 attempt") && said.contains("PID "),
                "{said}"
            );
            assert!(said.contains("(cmd) survived SIGKILL"), "{said}");
        }
    }
    let run = Run::start(&mut backoff(format!("-b 1ms -k 100ms -- {program}")));
    eventually("the child hangs", || {
        let children = children_of(run.live.pid());
        children.iter().any(|child| fs.holds(*child))
    });
    run.live.signal(Signal::SIGTERM);
    let end = run.output();
    assert_eq!(end.status.code(), Some(124), "{end:?}");
}

fn a_frozen_command_is_given_up() {
    let name = format!("/sys/fs/cgroup/freezer/backoff-test-{}", std::process::id());
    std::fs::create_dir(&name).unwrap();
    let freezes = format!("echo $$ >{name}/tasks; echo FROZEN >{name}/freezer.state; true");
    let mut command = backoff("-n 3 -b 1ms -t 1s -k 100ms -- sh -c");
    let run = to_its_end(command.arg(freezes));
    std::fs::write(format!("{name}/freezer.state"), "THAWED").unwrap();
    eventually("it ends once it is thawed", || {
        std::fs::remove_dir(&name).is_ok()
    });
    assert_eq!(run.status.code(), Some(124), "{run:?}");
    let said = err(&run);
    assert!(
        said.contains("after 1 attempt") && said.contains("survived SIGKILL"),
        "{said}"
    );
}

/// Returns a directory with a setuid program `own` that becomes root, prints its PID and sleeps.
fn set_user_id() -> TempDir {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let source = r#"#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>
int main(void) { setresuid(0, 0, 0); printf("%d\n", getpid()); fflush(stdout); return sleep(60); }"#;
    std::fs::write(dir.path().join("own.c"), source).unwrap();
    let built = Command::new("cc")
        .args(["-o", &within(&dir, "own"), &within(&dir, "own.c")])
        .status();
    assert!(built.unwrap().success());
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    };
    open(&dir.path().join("own"), 0o4755);
    open(dir.path(), 0o755);
    // The user may have no access to the build directory.
    std::fs::copy(*BIN, dir.path().join("backoff")).unwrap();
    open(&dir.path().join("backoff"), 0o755);
    dir
}

fn as_nobody(dir: &TempDir, options: &str) -> Command {
    let mut command = clean("setpriv");
    command.args([
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "./backoff",
    ]);
    command.args(crate::util::words(options)).current_dir(dir);
    command
}

/// Kills the process with this PID, which backoff could not kill.
fn end_survivor(number: &str) -> i32 {
    let pid: i32 = number.trim().parse().unwrap();
    assert!(is_alive(pid), "{pid} was ended");
    crate::util::send(pid, Signal::SIGKILL);
    pid
}

fn a_process_of_another_user_is_named() {
    let dir = set_user_id();
    for command in ["./own", "sh -c './own; true'", "sh -c './own & wait'"] {
        let run = to_its_end(&mut as_nobody(
            &dir,
            &format!("-n 3 -b 1ms -t 1500ms -k 300ms -- {command}"),
        ));
        assert_eq!(run.status.code(), Some(124), "{command}: {run:?}");
        let pid = end_survivor(&out(&run));
        let said = err(&run);
        let named = format!("PID {pid} (own) cannot be signaled (Operation not permitted)");
        assert!(
            said.contains(&named) && said.contains("after 1 attempt"),
            "{command}: {said}"
        );
        assert!(!said.contains("needed SIGKILL"), "{command}: {said}");
    }
}

fn without_kill_a_protected_process_is_not_waited_for() {
    let dir = set_user_id();
    let run = to_its_end(&mut as_nobody(
        &dir,
        "-n 3 -b 1ms -t 1500ms -k 0 --log-format json -- ./own",
    ));
    assert_eq!(run.status.code(), Some(124), "{run:?}");
    let pid = end_survivor(&out(&run));
    let survivor =
        format!("\"survivors\":[{{\"pid\":{pid},\"program\":\"own\",\"why\":\"not_permitted\"}}]");
    assert!(err(&run).contains(&survivor), "{run:?}");
}

fn term_names_a_process_that_it_cannot_reach() {
    let dir = set_user_id();
    let run = Run::start(&mut as_nobody(&dir, "-b 1ms -- ./own"));
    let number = run.line("out");
    run.live.signal(Signal::SIGTERM);
    let end = run.output();
    let pid = end_survivor(&number);
    assert_eq!(end.status.code(), Some(124), "{end:?}");
    let named = format!("PID {pid} (own) cannot be signaled");
    assert!(err(&end).contains(&named), "{end:?}");
}

fn control_c_in_a_terminal_of_the_command_ends_the_run() {
    // dash holds a SIGINT that arrives between vfork and the exec of sleep until sleep exits. With `exec`, dash does
    // not fork.
    let mut terminal =
        Terminal::with("backoff -b 60s -m 60s -- script -qec 'echo up; exec sleep 60' /dev/null");
    terminal.expect("up");
    terminal.send(CTRL_C);
    terminal.expect("no further attempt");
    terminal.expect_status(130);
}

fn control_c_below_sudo_ends_the_run() {
    let mut terminal =
        Terminal::with("backoff -b 60s -m 60s -- sudo sh -c 'echo up; exec sleep 60'");
    terminal.expect("up");
    terminal.send(CTRL_C);
    terminal.expect_status(130);
}

fn limits_hold_without_a_list_of_processes() {
    let run = |options: &str| {
        let line = format!("umount -l /proc; exec {} {options}", *BIN);
        clean("unshare")
            .args(["--mount", "--map-root-user", "sh", "-c", &line])
            .ends()
    };
    let gentle = run("-n 1 -t 300ms -k 40s -- sh -c 'sleep 60; true'");
    assert_eq!(gentle.status.code(), Some(124), "{gentle:?}");
    assert!(!err(&gentle).contains("KILL"), "{gentle:?}");
    let stubborn = run("-n 1 -t 1s -k 100ms -- sh -c 'trap \"\" TERM; sleep 60; true'");
    assert_eq!(stubborn.status.code(), Some(124), "{stubborn:?}");
    assert!(err(&stubborn).contains("needed SIGKILL"), "{stubborn:?}");
}

fn a_subreaper_leaves_no_zombies() {
    // PR_SET_CHILD_SUBREAPER (36) survives exec.
    let line = r#"
        case $(uname -m) in x86_64) prctl=157;; *) prctl=167;; esac
        exec perl -e 'syscall(shift, 36, 1, 0, 0, 0); exec @ARGV' $prctl "$0" -qq -n 1 -- sh -c '
            for i in 1 2 3; do (sleep 0.05 & ) ; done
            until [ -z "$(ps --ppid $PPID -o stat= | grep Z)" ] && [ -e started ]; do
                sleep 0.1; : >started
                [ $((n += 1)) -lt 300 ] || exit 9
            done'"#;
    let dir = tempfile::tempdir().unwrap();
    let run = clean("sh")
        .args(["-c", line, *BIN])
        .current_dir(&dir)
        .ends();
    assert_eq!(run.status.code(), Some(0), "{run:?}");
}

fn a_background_job_ends_with_its_terminal() {
    let mut terminal = Terminal::bash();
    terminal.command("backoff --pty -- cat & echo job-$!-");
    terminal.expect("job-");
    let pid: i32 = terminal.expect("-").trim_end_matches('-').parse().unwrap();
    eventually("it runs cat", || {
        !crate::util::process::children_of(pid).is_empty()
    });
    let command = crate::util::process::children_of(pid)[0];
    crate::util::send(terminal.pid(), Signal::SIGKILL);
    drop(terminal);
    eventually("the job is gone", || !is_alive(pid) && !is_alive(command));
}

fn outputs_to_one_file_tear_no_line() {
    // Exits with 9 if the machine was so busy that the parts of a line may have been written separately.
    let writer = r#"use Time::HiRes "time"; $|=1; for $i (1..20){$t=time; print STDERR "warn $i"; print STDERR "\n"; $e=9 if time-$t>.05; print "line $i\n"} exit $e"#;
    let dir = tempfile::tempdir().unwrap();
    let mut whole = 0;
    for options in [
        "",
        "--stderr failure --stdout failure",
        "--match-on both -r x",
    ] {
        for round in 0..20 {
            let log =
                format!("$1 -n1 -qq --fail-match @@ {options} -- perl -e '{writer}' >log 2>&1");
            let run = clean("sh")
                .args(["-c", &log, "sh", *BIN])
                .current_dir(&dir)
                .ends();
            if run.status.code() == Some(9) {
                continue;
            }
            assert_eq!(run.status.code(), Some(0), "{run:?}");
            whole += 1;
            let written = std::fs::read_to_string(dir.path().join("log")).unwrap();
            for line in written.lines() {
                let (word, number) = line.split_once(' ').unwrap_or_default();
                let is_whole = ["warn", "line"].contains(&word) && number.parse::<u8>().is_ok();
                assert!(is_whole, "round {round} {options}: {line:?} of {written:?}");
            }
            let lines = if options.contains("failure") { 0 } else { 40 };
            assert_eq!(written.lines().count(), lines, "{written:?}");
        }
    }
    assert!(whole > 0, "the machine is too busy for any round");
}
