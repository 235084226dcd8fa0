//! Output that is kept, and printed when it is known whether it is the last attempt's.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::process::{state, until_it_is_stuck};
use crate::common::words::Words;
use crate::common::{Shown, backoff, detached, eventually, finish, line_of_stderr, long_sleep, run, shell};

/// Each attempt prints its number on both streams; the third succeeds.
const THIRD: &str = "echo out $BACKOFF_ATTEMPT; echo err $BACKOFF_ATTEMPT >&2; test $BACKOFF_ATTEMPT = 3";

/// Some attempts of a shell script, with short waits and few words.
fn held(attempts: &str, rules: impl Words, script: &str) -> Shown {
    run!("-q -b 1ms -n {} {..} -- sh -c {}", attempts, rules, script)
}

/// Starts it, and waits until the first line on standard error says this.
#[track_caller]
fn until_it_says(what: &str, command: &mut Command) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let line = line_of_stderr(&mut child);
    assert!(line.contains(what), "{line}");
    child
}

/// A run that waits, having kept the line "part"; how long, and by when it is to end, say the options.
#[track_caller]
fn waiting(options: impl Words) -> Child {
    let kept = "-j none --stdout final -- sh -c 'echo part; exit 3'";
    until_it_says("; retrying in ", &mut detached(words!("{..} {..}", options, kept)))
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

#[test]
fn what_is_printed_and_when() {
    let (o, e) = ("--stdout", "--stderr");
    for (option, keep, succeeds, prints) in [
        (o, "stream", true, "1 2 3"),
        (o, "final", true, "3"),
        (o, "success", true, "3"),
        (o, "failure", true, ""),
        (o, "null", true, ""),
        (o, "stream", false, "1 2"),
        (o, "final", false, "2"),
        (o, "success", false, ""),
        (o, "failure", false, "1 2"),
        (o, "null", false, ""),
        (e, "stream", true, "1 2 3"),
        (e, "final", true, "3"),
        (e, "failure", true, ""),
        (e, "null", true, ""),
        (e, "stream", false, "1 2"),
        (e, "final", false, "2"),
        (e, "failure", false, "1 2"),
        (e, "null", false, ""),
    ] {
        let shown = held(if succeeds { "3" } else { "2" }, words!("{} {}", option, keep), THIRD);
        assert_eq!(shown.code(), Some(i32::from(!succeeds)));
        let (stream, other) = if option == o {
            (&shown.stdout, &shown.stderr)
        } else {
            (&shown.stderr, &shown.stdout)
        };
        let numbers: Vec<&str> = stream
            .split_whitespace()
            .filter(|word| word.parse::<u8>().is_ok())
            .collect();
        assert_eq!(numbers.join(" "), prints, "{option}={keep}: {shown:?}");
        // The other stream is as ever.
        assert_eq!(other.lines().count(), if succeeds { 3 } else { 2 }, "{shown:?}");
    }
    // For cron: all that was wrong, if it was wrong in the end.
    let shown = held("2", words!("{} failure", e), THIRD).expect_code(1);
    assert!(shown.stderr.ends_with("err 2\n"), "{shown:?}");
    for (word, option) in [("success", e), ("Final", o), ("", e)] {
        let shown = run!("{} {} -- echo ran", option, word).expect_code(125);
        assert!(shown.stdout.is_empty() && shown.stderr.contains(option), "{shown:?}");
    }
}

#[test]
fn it_is_held_until_the_end_and_no_longer() {
    let args = "--stdout final -- sh -c 'echo early; echo ready >&2; read x; echo late'";
    let mut child = until_it_says("ready", backoff(args).stdin(Stdio::piped()));
    let stdout = child.stdout.as_ref().unwrap();
    let mut fds = [nix::poll::PollFd::new(
        std::os::fd::AsFd::as_fd(stdout),
        nix::poll::PollFlags::POLLIN,
    )];
    assert_eq!(nix::poll::poll(&mut fds, 50u16).unwrap(), 0, "nothing is printed yet");
    drop(child.stdin.take());
    assert_eq!(finish("what was kept", child).stdout, "early\nlate\n");
}

#[test]
fn what_judges_success_by_output_decides_what_is_printed() {
    let keep = "--stdout success --stderr failure";
    let both = "echo bad; echo err >&2";
    let shown = held("1", words!("{..} --fail-match bad", keep), both).expect_code(1);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("", "err\n"));
    let shown = held(
        "1",
        words!("{..} --success-exit 3", keep),
        "echo good; echo err >&2; exit 3",
    )
    .expect_code(3);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("good\n", ""));
    let shown = held("2", words!("{..} --success-match good", keep), both).expect_code(1);
    assert_eq!(shown.stdout, "");
    assert!(shown.stderr.ends_with("err\n"));
    // Permanent failures, and what cannot start after it has printed something.
    let shown = held("5", "--stdout final --stop-exit 9", "echo last; exit 9").expect_code(9);
    assert_eq!(shown.stdout, "last\n");
    let shown = run!("-q --stdout final --stderr failure -- no-such-command-here").expect_code(127);
    assert_eq!(shown.stdout, "");
    let shown = held("9", "--stdout final --consecutive 2", "echo $BACKOFF_ATTEMPT").expect_code(0);
    assert_eq!(shown.stdout, "2\n");
}

#[test]
fn messages_and_held_errors_come_one_after_the_other() {
    let shown = run!("-b 1ms -n 2 --stderr final -- sh -c 'echo err >&2; exit 3'");
    let lines: Vec<&str> = shown.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{shown:?}");
    assert!(lines[0].starts_with("backoff: sh: attempt 1 of 2 failed"), "{shown:?}");
    assert!(
        lines.contains(&"err") && lines.iter().any(|line| line.starts_with("backoff: sh: gave up")),
        "{shown:?}"
    );
}

#[test]
fn bytes_are_kept_as_they_are() {
    for size in [0, 1, 65_536, 1_048_575, 1_048_576, 1_048_577, 3_000_000] {
        let text = format!(
            "d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; head -c {size} /dev/urandom >f
             backoff -q -b 1ms --stdout final --stderr final -- sh -c 'cat f; cat f >&2; test $BACKOFF_ATTEMPT = 2' >o 2>e
             cmp f o && cmp f e && echo same"
        );
        assert_eq!(run(&mut shell(&text)).stdout, "same\n", "{size}");
    }
}

#[test]
fn much_output_takes_little_memory() {
    for size in [24 << 20, 100 << 20] {
        let text = format!(
            "export LC_ALL=C; (ulimit -v 65536; exec backoff --stdout final -- head -c {size} /dev/zero) | wc -c; \
             echo ${{PIPESTATUS[0]}}"
        );
        assert_eq!(run(&mut shell(&text)).stdout, format!("{size}\n0\n"));
    }
}

#[test]
fn nothing_is_left_in_the_temporary_directory() {
    let dir = tempfile::tempdir().unwrap();
    let is_empty = || std::fs::read_dir(dir.path()).unwrap().count() == 0;
    let much = "head -c 3000000 /dev/zero; echo ready >&2";
    for script in [
        format!("{much}; exit 0"),
        format!("{much}; exit 7"),
        format!("{much}; kill -KILL $$"),
        format!("{much}; ls -A \"$TMPDIR\" >&2"),
    ] {
        let args = words!("-q -n 2 -b 1ms --stdout final --retry-if 'exit 0' -- sh -c {}", script);
        let shown = run(backoff(&args).env("TMPDIR", dir.path()));
        assert_eq!(shown.stdout.len(), 3_000_000);
        assert!(shown.stderr.lines().all(|line| line == "ready"), "{shown:?}");
        assert!(is_empty());
    }
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        let script = format!("{much}; exec sleep {}", long_sleep());
        let args = words!("--stdout final -- sh -c {}", script);
        let child = until_it_says("ready", detached(&args).env("TMPDIR", dir.path()));
        send(&child, signal);
        let output = finish(signal.as_str(), child);
        let kept = if signal == Signal::SIGKILL { 0 } else { 3_000_000 };
        assert_eq!(output.stdout.len(), kept, "{signal}");
        assert!(is_empty());
    }
}

#[test]
fn a_temporary_directory_that_is_missing_matters_only_if_it_is_needed() {
    for rules in ["--stdout final", "--stderr final", "--retry-if 'exit 1'"] {
        let args = words!("-q {..} -- sh -c 'echo little; exit 6'", rules);
        let args = words!("-n 1 {..}", args);
        let shown = run(backoff(&args).env("TMPDIR", "/nonexistent")).expect_code(6);
        assert_eq!(shown.stdout, "little\n", "{shown:?}");
    }
    let args = "--stdout final -- head -c 3000000 /dev/zero";
    let shown = run(backoff(args).env("TMPDIR", "/nonexistent")).expect_code(125);
    assert!(
        shown.stderr.contains("/nonexistent") && shown.stderr.lines().count() == 1,
        "{shown:?}"
    );
}

#[test]
fn an_answer_that_cannot_be_had_loses_no_held_output() {
    // What --retry-if would read cannot be kept: our own failure, but what was held is there.
    let args = words!(
        "--stdout final --retry-if 'exit 0' -- sh -c {}",
        "head -c 900000 /dev/zero; head -c 900000 /dev/zero >&2; exit 6"
    );
    let shown = run(backoff(&args).env("TMPDIR", "/nonexistent"));
    assert!(
        shown.stdout.len() == 900_000,
        "{} {:?} {}",
        shown.stdout.len(),
        shown.status,
        shown.stderr.len()
    );
}

#[test]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    let shown = run(&mut shell(
        "ulimit -f 2000; backoff --stdout final -- head -c 5000000 /dev/zero",
    ))
    .expect_code(125);
    assert!(shown.stderr.contains("File too large"), "{shown:?}");
}

#[test]
fn what_cannot_be_printed_is_our_own_failure() {
    for (redirect, why) in [(">/dev/full", "No space left"), (">&-", "Bad file descriptor")] {
        for script in ["echo x", "echo x; exit 7", "head -c 3000000 /dev/zero"] {
            let text = format!("backoff -n 1 --stdout final -- sh -c '{script}' {redirect}");
            let shown = run(&mut shell(&text)).expect_code(125);
            assert!(
                shown.stderr.contains("standard output: ") && shown.stderr.contains(why),
                "{shown:?}"
            );
        }
        // Nothing to print is no failure.
        run(&mut shell(&format!("backoff --stdout final -- true {redirect}"))).expect_code(0);
        run(&mut shell(&format!(
            "backoff -q -n 1 --stdout success -- sh -c 'echo x; exit 7' {redirect}"
        )))
        .expect_code(7);
    }
    // A store is asked beside the attempt, by a thread that must not get the number of a descriptor that is closed.
    let dir = tempfile::tempdir().unwrap();
    for options in ["--stdout final", "-r x"] {
        let text = format!(
            "backoff -n 1 --budget b --store {} {options} -- echo x >&-",
            dir.path().display()
        );
        run(&mut shell(&text)).expect_code(125);
    }
    run(&mut shell(
        "backoff -q -n 1 --stderr failure -- sh -c 'echo x >&2; exit 7' 2>/dev/full",
    ))
    .expect_code(125);
}

#[test]
fn a_reader_that_is_gone_ends_the_run() {
    for keep in ["final", "success"] {
        // The reader is gone before the command prints.
        let text =
            format!("mkfifo f; exec 3<>f; exec 4>f 3>&-; backoff --stdout {keep} -- sh -c 'echo x' >&4 4>&-; echo $?");
        let dir = tempfile::tempdir().unwrap();
        let shown = run(shell(&text).current_dir(dir.path()));
        assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("141\n", ""), "{keep}");
        // A command that never ends would fill the disk for nobody.
        let text = format!("mkfifo f; exec 3<>f; exec 4>f 3>&-; backoff --stdout {keep} -- yes >&4 4>&-; echo $?");
        let dir = tempfile::tempdir().unwrap();
        let shown = run(shell(&text).current_dir(dir.path()));
        assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("141\n", ""), "{keep}");
    }
    let shown = run(&mut shell(
        "backoff --stdout final -- yes | head -c 0; echo ${PIPESTATUS[0]}",
    ));
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("141\n", ""));
    // A reader that takes only the beginning.
    let shown = run(&mut shell(
        "backoff --stdout final -- seq 1000000 | head -n 1; echo ${PIPESTATUS[0]}",
    ));
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("1\n141\n", ""));
}

#[test]
fn a_slow_reader_gets_all_of_it() {
    let shown = run(&mut shell(
        "backoff --stdout final -- head -c 3000000 /dev/zero | (sleep 0.2; wc -c)",
    ));
    assert_eq!(shown.stdout, "3000000\n");
}

#[test]
fn a_timed_out_attempt_prints_what_it_had_said() {
    let began = Instant::now();
    for (rules, stubborn) in [
        ("-t 1s", ""),
        ("-d 1s", ""),
        ("-i 1s", ""),
        ("-t 1s -k 50ms", "trap \"\" TERM;"),
    ] {
        let script = format!("{stubborn} echo part; sleep 60 & wait; wait");
        let rules = words!("{..} --stdout final --stderr failure", rules);
        let shown = held("1", &rules, &script).expect_code(124);
        assert_eq!(shown.stdout, "part\n", "{rules:?}");
        // A success only.
        let rules = words!("{..} --stdout success", rules);
        assert_eq!(held("1", &rules, &script).expect_code(124).stdout, "");
    }
    assert!(began.elapsed() < Duration::from_secs(45));
}

#[test]
fn a_signal_prints_what_was_kept_of_the_last_attempt() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        // During the wait.
        let child = waiting("-b 25s");
        send(&child, signal);
        let shown = finish("the end", child);
        assert_eq!((shown.signal(), shown.stdout.as_str()), (Some(signal as i32), "part\n"));
    }
    // During an attempt; whatever it adds is part of it.
    let script = "trap 'echo last; exit 6' TERM; echo part; echo ready >&2; while :; do sleep 0.01; done";
    for (keep, prints) in [("final", "part\nlast\n"), ("success", ""), ("null", "")] {
        let child = until_it_says(
            "ready",
            &mut detached(words!("--stdout {} -- bash -c {}", keep, script)),
        );
        send(&child, Signal::SIGTERM);
        let shown = finish("the end", child).expect_code(6);
        assert_eq!(shown.stdout, prints, "{keep}");
    }
    // A success is what is called one.
    let script = "trap 'exit 3' TERM; echo part; echo ready >&2; while :; do sleep 0.01; done";
    let options = "-q --success-exit 3 --stdout success";
    let child = until_it_says("ready", &mut detached(words!("{..} -- bash -c {}", options, script)));
    send(&child, Signal::SIGTERM);
    let shown = finish("the end", child).expect_code(3);
    assert_eq!(shown.stdout, "part\n");
}

#[test]
fn a_signal_ends_a_run_whose_held_output_nobody_reads() {
    let mut live = live!("--stdout final -- seq 1000000");
    live.expect_line("1");
    until_it_is_stuck(live.pid());
    live.signal(Signal::SIGTERM);
    assert!(live.ends_unread().is_some(), "TERM, and nobody reads");
}

#[test]
fn a_deadline_that_passed_while_stopped_prints_what_was_kept() {
    // Between the two there is time for an attempt on the slowest machine.
    let child = waiting("-b 3s -d 6s");
    send(&child, Signal::SIGSTOP);
    let stopped = Instant::now();
    let pid = child.id() as i32;
    eventually("it is stopped for long", || {
        state(pid) == Some('T') && stopped.elapsed() > Duration::from_secs(6)
    });
    send(&child, Signal::SIGCONT);
    let shown = finish("the end", child).expect_code(3);
    assert_eq!(shown.stdout, "part\n");
}

#[test]
fn what_is_held_is_printed_once() {
    // A signal comes when the reader has taken some of it: what follows is the rest, or a part of that.
    let mut live = live!("--stdout final -- seq 1000000");
    live.expect_line("1");
    until_it_is_stuck(live.pid());
    live.signal(Signal::SIGTERM);
    let all: String = (2..=1_000_000).map(|number| format!("{number}\n")).collect();
    let rest = live.finish().stdout;
    assert!(
        all.starts_with(&rest),
        "it began again: {} of {}",
        rest.len(),
        all.len()
    );
}

#[test]
fn no_descriptor_of_ours_reaches_a_command() {
    // Descriptors above 2 that the tests themselves were given are everybody's.
    let list = "echo $(ls /proc/self/fd)";
    let own = run(&mut shell(&format!("seq 300000 | sh -c '{list}'"))).stdout;
    for rules in [
        "-r x",
        "--stdout final --stderr final",
        "--stdin replay",
        "-i 9s",
        "--retry-after --retry-if 'exit 0'",
        "--stdout null --stderr failure",
    ] {
        let text = format!(
            "f=$(mktemp); seq 300000 | backoff -q -n 3 -b 1ms {rules} -- \
             sh -c '{list} >>$0; head -c 2000000 /dev/zero; exit 1' $f >/dev/null; cat $f; rm $f"
        );
        let shown = run(&mut shell(&text));
        let tries = if rules == "-r x" { 1 } else { 3 };
        assert_eq!(shown.stdout, own.repeat(tries), "{rules}");
    }
    let text =
        format!("seq 300000 | backoff -q -n 2 -b 1ms --stdout final --stdin replay --retry-if '{list} >&2' -- false");
    assert_eq!(run(&mut shell(&text)).stderr, own.repeat(2));
}

#[test]
fn many_attempts_need_few_descriptors() {
    let shown = run(&mut shell(
        "ulimit -n 24; seq 300000 | backoff -q -n 60 -b 0 --stdout final --stderr final --retry-if 'exit 0' -- \
         sh -c 'head -c 1500000 /dev/zero >&2; head -c 1500000 /dev/zero; exit 4' 2>/dev/null | wc -c; echo ${PIPESTATUS[1]}",
    ));
    assert_eq!(shown.stdout, "1500000\n4\n", "{shown:?}");
}
