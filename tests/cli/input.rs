//! The command's standard input: what each attempt reads, and what is left for those who come after.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::common::process::{children_of, hears_signals, is_alive, is_named};
use crate::common::{
    IS_PORTABLE, Live, Shown, backoff, clean, detached, eventually, long_sleep, path_with_backoff, run, shell,
    wait_for, within,
};

/// Runs a shell script in which `b` is backoff with short waits and few words.
#[track_caller]
fn script(text: &str) -> Shown {
    run(&mut shell(&format!("b() {{ backoff -q -b 1ms -n 3 \"$@\"; }}\n{text}")))
}

#[track_caller]
fn prints(text: &str, expected: &str) {
    let shown = script(text);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), (expected, ""), "{text}");
}

// ---------------------------------------------------------------- auto: pipes

#[test]
fn every_attempt_reads_the_same_from_a_pipe() {
    for mode in ["auto", "replay"] {
        prints(
            &format!("seq 3 | b --stdin {mode} -- sh -c 'cat; exit 1'"),
            "1\n2\n3\n1\n2\n3\n1\n2\n3\n",
        );
        // Each as much as it wants, more or less than the one before.
        prints(
            &format!("echo abcdefgh | b --stdin {mode} -- sh -c 'head -c $((2 * BACKOFF_ATTEMPT)); echo; exit 1'"),
            "ab\nabcd\nabcdef\n",
        );
        prints(
            &format!("echo abcdefgh | b --stdin {mode} -- sh -c 'head -c $((8 - 2 * BACKOFF_ATTEMPT)); echo; exit 1'"),
            "abcdef\nabcd\nab\n",
        );
        prints(&format!(": | b --stdin {mode} -- sh -c 'wc -c; exit 1'"), "0\n0\n0\n");
        let sums = script(&format!(
            "seq 100000 | b --stdin {mode} -- sh -c 'head -c 1000 | cksum; exit 1'"
        ));
        let expected = script("seq 100000 | head -c 1000 | cksum").stdout;
        assert_eq!(sums.stdout, expected.repeat(3));
        let shown = script(&format!(
            "seq 100000 | b --stdin {mode} -- sh -c 'head -c 1000 >/dev/null; exit 1'; echo ${{PIPESTATUS[1]}}"
        ));
        assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("1\n", ""));
    }
}

#[test]
fn binary_input_is_the_same_each_time() {
    for mode in ["auto", "replay"] {
        let shown = script(&format!(
            "d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; head -c 3000000 /dev/urandom >f
             b --stdin {mode} -- sh -c 'cat >got$BACKOFF_ATTEMPT; exit 1' < <(cat f)
             for i in 1 2 3; do cmp f got$i && echo same; done"
        ));
        assert_eq!(shown.stdout, "same\n".repeat(3), "{shown:?}");
    }
}

#[test]
fn much_input_takes_little_memory() {
    let shown = script(
        "export LC_ALL=C; head -c 104857600 /dev/zero | (ulimit -v 65536; \
         b -- sh -c 'wc -c; test $BACKOFF_ATTEMPT = 3'); echo ${PIPESTATUS[*]}",
    );
    assert_eq!(shown.stdout, "104857600\n104857600\n104857600\n0 0\n", "{shown:?}");
}

#[test]
fn no_byte_is_taken_that_the_command_did_not_read() {
    prints(
        "(echo a; echo b) | { backoff --stdin null -- cat; echo -; cat; }",
        "-\na\nb\n",
    );
    if *IS_PORTABLE {
        // It has no `tee(2)`, and reads ahead.
        return;
    }
    prints("(echo a; echo b) | { backoff -- head -c 2; cat; }", "a\nb\n");
    prints("(echo a; echo b) | { backoff -- true; cat; }", "a\nb\n");
    prints("(echo a; echo b) | { b -- false; cat; }", "a\nb\n");
    prints(
        "(echo a; echo b) | { b -- sh -c 'head -c 2; exit 1'; echo -; cat; }",
        "a\na\na\n-\nb\n",
    );
    // Line by line, as a shell reads a pipe.
    prints(
        "seq 5 | while read -r x; do echo $x; b -- sh -c 'exit 1'; done",
        "1\n2\n3\n4\n5\n",
    );
    prints(
        "seq 6 | while read -r x; do b -- sh -c 'read y; echo $0 $y; test $BACKOFF_ATTEMPT = 2' $x; done",
        "1 2\n1 2\n3 4\n3 4\n5 6\n5 6\n",
    );
    prints(
        "seq 100000 | { b -- sh -c 'head -c 100000 >/dev/null; exit 1'; wc -c; }",
        "488895\n",
    );
}

#[test]
fn input_arrives_as_it_is_written() {
    for mode in ["auto", "inherit"] {
        let args = words!(
            "--stdin {} -- sh -c 'while read x; do echo got $x; done; echo end'",
            mode
        );
        let mut live = Live::start(backoff(&args).stdin(Stdio::piped()));
        let mut stdin = live.child.stdin.take().unwrap();
        for word in ["one", "two", "three"] {
            writeln!(stdin, "{word}").unwrap();
            live.expect_line(&format!("got {word}"));
        }
        drop(stdin);
        live.expect_line("end");
        live.finish().expect_code(0);
    }
}

#[test]
fn a_second_attempt_reads_on_where_the_writer_is() {
    let args = "-q -b 1ms -- sh -c 'read x; echo $x; test $BACKOFF_ATTEMPT = 2 && read x && echo $x'";
    let mut live = Live::start(backoff(args).stdin(Stdio::piped()));
    let mut stdin = live.child.stdin.take().unwrap();
    writeln!(stdin, "one").unwrap();
    live.expect_line("one");
    live.expect_line("one");
    writeln!(stdin, "two").unwrap();
    live.expect_line("two");
    live.finish().expect_code(0);
}

#[test]
fn a_writer_feels_a_command_that_stops_reading() {
    // The command closes its input; the writer must not be read empty for it, nor backoff wait.
    let began = Instant::now();
    prints(
        "yes | backoff -- sh -c 'exec <&-; sleep 0.1; echo done'; echo ${PIPESTATUS[*]}",
        "done\n141 0\n",
    );
    prints("yes | b -- sh -c 'read x; exit 4'; echo ${PIPESTATUS[*]}", "141 4\n");
    prints("yes | b -- head -n 1; echo ${PIPESTATUS[*]}", "y\n141 0\n");
    prints("backoff -- true < <(exec sleep 5 2>/dev/null); echo ended", "ended\n");
    assert!(began.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_command_that_closes_its_input_unread_is_not_waited_for() {
    let began = Instant::now();
    for size in [0, 5, 700_000] {
        for options in ["--stdin replay", "--stdin auto"] {
            // At once, and for each attempt anew; and after some of it was read.
            for (command, shown) in [
                ("exec <&-; echo $BACKOFF_ATTEMPT; exit 4", "1\n2\n3\n"),
                ("exec <&-; sleep 0.05; echo late; exit 4", "late\nlate\nlate\n"),
                (
                    "head -c 3 >/dev/null; exec <&-; sleep 0.05; echo some; exit 4",
                    "some\nsome\nsome\n",
                ),
            ] {
                let line =
                    format!("head -c {size} /dev/zero | b {options} -- sh -c '{command}'; echo ${{PIPESTATUS[1]}}");
                prints(&line, &format!("{shown}4\n"));
            }
        }
    }
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_background_reader_does_not_hold_the_run() {
    let began = Instant::now();
    prints(
        "(echo x; sleep 0.1) | backoff -- sh -c 'cat >/dev/null & exit 0'; echo $?",
        "0\n",
    );
    assert!(began.elapsed() < Duration::from_secs(5));
}

// ---------------------------------------------------------------- auto: files and the rest

#[test]
fn a_file_is_rewound_to_where_the_attempt_began() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "file");
    std::fs::write(&file, "head\none\ntwo\n").unwrap();
    let text = format!("{{ read h; b -- sh -c 'cat; exit 1'; }} <'{file}'");
    prints(&text, &"one\ntwo\n".repeat(3));
    // The next reader continues where the last attempt stopped.
    let text = format!("{{ b -- sh -c 'head -c 5; exit 1'; echo -; cat; }} <'{file}'");
    prints(&text, "head\nhead\nhead\n-\none\ntwo\n");
    prints(&format!("{{ b -- false; cat; }} <'{file}'"), "head\none\ntwo\n");
    prints(&format!("{{ backoff -- true; cat; }} <'{file}'"), "head\none\ntwo\n");
    let text = format!("while read -r x; do b -- sh -c 'exit 1'; echo $x; done <'{file}'");
    prints(&text, "head\none\ntwo\n");
    // Not where that would make it write over what it has written.
    let text = format!("b -- sh -c 'echo $BACKOFF_ATTEMPT; exit 1' 0<>'{file}' 1>&0; cat '{file}'");
    prints(&text, "1\n2\n3\nne\ntwo\n");
    std::fs::write(&file, "head\none\ntwo\n").unwrap();
    // As it is inherited, it is the same file to the command.
    let text = format!("backoff -- readlink /proc/self/fd/0 <'{file}'");
    let path = std::fs::canonicalize(&file).unwrap();
    prints(&text, &format!("{}\n", path.display()));
    prints("b -- sh -c 'cat; exit 1' <<< here", &"here\n".repeat(3));
    let text = format!("b --stdin inherit -- sh -c 'cat; exit 1' <'{file}'");
    prints(&text, "head\none\ntwo\n");
    let text = format!("b --stdin replay -- sh -c 'cat; exit 1' <'{file}'");
    prints(&text, &"head\none\ntwo\n".repeat(3));
    let text = format!("b --stdin replay -- readlink /proc/self/fd/0 <'{file}'");
    assert!(script(&text).stdout.starts_with("pipe:"));
}

#[test]
fn what_is_no_file_and_no_pipe_is_inherited() {
    prints("backoff -- readlink /proc/self/fd/0 </dev/null", "/dev/null\n");
    prints(
        "b -- sh -c 'head -c 3 | od -An -c; exit 1' </dev/zero",
        &"  \\0  \\0  \\0\n".repeat(3),
    );
    prints(
        "backoff --stdin null -- readlink /proc/self/fd/0 </dev/zero",
        "/dev/null\n",
    );
    prints(
        "exec 3< <(echo x); readlink /proc/self/fd/3 >/dev/null; b --stdin inherit -- cat <&3",
        "x\n",
    );
    let text =
        "p=$(readlink /proc/self/fd/3 3<&0); echo x | backoff --stdin inherit -- sh -c 'test -p /dev/stdin && cat'";
    prints(text, "x\n");
    prints(
        "seq 3 | b --stdin inherit -- sh -c 'read x; echo $x; exit 1'",
        "1\n2\n3\n",
    );
}

#[test]
fn a_closed_input_stays_closed() {
    prints(
        "backoff -- sh -c 'test -e /proc/self/fd/0 || echo closed' <&-",
        "closed\n",
    );
    prints(
        "backoff -r x -- sh -c 'test -e /proc/self/fd/0 || echo closed' <&-",
        "closed\n",
    );
    prints(
        "backoff --stdin inherit -- sh -c 'test -e /proc/self/fd/0 || echo closed' <&-",
        "closed\n",
    );
    prints("backoff --stdin null -- readlink /proc/self/fd/0 <&-", "/dev/null\n");
    let shown = script("backoff --stdin replay -- echo ran <&-").expect_code(125);
    assert_eq!(
        (shown.stdout.as_str(), shown.stderr.lines().count()),
        ("", 1),
        "{shown:?}"
    );
    // With the others closed as well, and backoff's own descriptors in none of their places.
    let shown = script("echo x | backoff -r y -- sh -c 'ls /proc/self/fd | head -n 1 >&2; read x; echo $x >&2' >&-");
    assert_eq!(shown.expect_code(0).stderr, "0\nx\n");
}

// ---------------------------------------------------------------- replay

#[test]
fn what_cannot_be_read_for_replay_is_an_error() {
    let shown = script("backoff --stdin replay -- echo ran </").expect_code(125);
    assert_eq!(shown.stdout, "");
    assert_eq!(shown.stderr, "backoff: standard input: Is a directory\n");
}

#[test]
fn much_is_replayed_byte_for_byte() {
    let count = script("seq 500000 | cksum").stdout;
    prints(
        "seq 500000 | backoff -q -n 2 -b 0 --stdin replay -- sh -c 'cksum; exit 4'",
        &count.repeat(2),
    );
    // Output that passes the limit only after it has moved to a file.
    let shown = script(
        "seq 500000 | backoff -n 2 -b 0 --stdin replay --stdin-limit 1500001 -- sh -c 'cksum; exit 4'; echo ${PIPESTATUS[*]}",
    );
    assert_eq!(shown.stdout, format!("{count}0 4\n"), "{shown:?}");
    shown.expect_stderr("--stdin-limit allows");
}

#[test]
fn replay_reads_to_the_end_before_the_command_starts() {
    let args = "-q --stdin replay -- sh -c 'echo started; cat'";
    let mut live = Live::start(backoff(args).stdin(Stdio::piped()));
    let mut stdin = live.child.stdin.take().unwrap();
    stdin.write_all(b"one\n").unwrap();
    let pid = live.pid();
    eventually("the first line is taken", || {
        let info = std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
        info != "pipe_read" && children_of(pid).is_empty()
    });
    assert_eq!(children_of(pid), [0; 0]);
    stdin.write_all(b"two\n").unwrap();
    drop(stdin);
    for line in ["started", "one", "two"] {
        live.expect_line(line);
    }
    live.finish().expect_code(0);
    prints(
        "(echo a; echo b) | { backoff --stdin replay -- head -c 2; cat; }",
        "a\n",
    );
}

#[test]
fn a_writer_that_stalls_does_not_hold_a_signal() {
    for (args, ready) in [
        ("--stdin replay -- sh -c 'cat; echo never'", false),
        ("-- sh -c 'echo ready; exec cat'", true),
        (
            "-b 1ms -- sh -c 'test $BACKOFF_ATTEMPT = 2 || exit 1; echo ready; exec cat'",
            true,
        ),
    ] {
        let mut live = Live::start(detached(args).stdin(Stdio::piped()));
        let mut stdin = live.child.stdin.take().unwrap();
        stdin.write_all(b"some\n").unwrap();
        if ready {
            live.expect_line("ready");
            live.expect_line("some");
        } else {
            // It has taken what there was.
            eventually("its signals are taken over", || {
                is_named(live.pid(), "backoff") && hears_signals(live.pid())
            });
        }
        let began = Instant::now();
        live.signal(Signal::SIGTERM);
        assert_eq!(live.finish().signal(), Some(15));
        assert!(began.elapsed() < Duration::from_secs(2));
        drop(stdin);
    }
}

#[test]
fn the_deadline_holds_while_input_is_read() {
    let began = Instant::now();
    let shown = script("backoff -d 200ms --stdin replay -- echo ran < <(exec sleep 9 2>/dev/null); echo $?");
    assert_eq!(shown.stdout, "124\n", "{shown:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

// ---------------------------------------------------------------- the limit

#[test]
fn past_the_limit_a_failure_is_final_and_says_so() {
    for mode in ["auto", "replay"] {
        let b = format!("backoff -b 1ms --stdin {mode}");
        let text = format!(
            "seq 100000 | {b} --stdin-limit 64KiB -- sh -c 'cksum; exit 4'; echo ${{PIPESTATUS[*]}}; seq 100000 | cksum"
        );
        let shown = script(&text);
        let lines: Vec<&str> = shown.stdout.lines().collect();
        assert_eq!(lines.len(), 3, "{shown:?}");
        assert_eq!((lines[0], lines[1]), (lines[2], "0 4"), "it still flows: {shown:?}");
        assert_eq!(shown.stderr.lines().count(), 1, "{shown:?}");
        shown
            .expect_stderr("--stdin-limit")
            .expect_stderr("gave up after 1 attempt");
        // A success is one; a failure within the limit is retried.
        let text = format!("seq 100000 | {b} --stdin-limit 1 -- sh -c 'wc -c'; echo ${{PIPESTATUS[*]}}");
        prints(&text, "588895\n0 0\n");
        let text = format!("printf 12345 | {b} -n 2 -q --stdin-limit 5 -- sh -c 'cat; echo; exit 4'");
        prints(&text, "12345\n12345\n");
        let text = format!("printf 123456 | {b} -n 2 -q --stdin-limit 5 -- sh -c 'cat; echo; exit 4'");
        prints(&text, "123456\n");
        let text = format!("echo | BACKOFF_STDIN_LIMIT=0 {b} -n 2 -q -- sh -c 'cat; exit 4'");
        prints(&text, "\n");
    }
    // The amount that the command read counts; without `tee(2)`, the amount read for it.
    if !*IS_PORTABLE {
        prints(
            "seq 100000 | b --stdin-limit 1k -- sh -c 'head -c 2; exit 4'",
            "1\n1\n1\n",
        );
        prints("seq 100000 | b --stdin-limit 1 -- sh -c 'echo x; exit 4'", "x\nx\nx\n");
    }
    // A file has no limit.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "here\n").unwrap();
    prints(
        &format!("b --stdin-limit 1 -- sh -c 'cat; exit 4' <'{}'", file.path().display()),
        &"here\n".repeat(3),
    );
    for bad in ["x", "-1", "1.5.5", "10XB"] {
        let shown = script(&format!("backoff --stdin-limit={bad} -- echo ran")).expect_code(125);
        assert!(shown.stdout.is_empty() && shown.stderr.contains(bad), "{shown:?}");
    }
}

#[test]
fn an_input_that_cannot_be_kept_does_not_spoil_a_success() {
    for rules in ["", "-r x", "--stdout final"] {
        let text = format!(
            "head -c 3000000 /dev/zero | TMPDIR=/nonexistent backoff {rules} -- wc -c; echo ${{PIPESTATUS[*]}}"
        );
        assert_eq!(script(&text).stdout, "3000000\n0 0\n", "{rules}");
    }
}

#[test]
fn an_input_that_cannot_be_kept_makes_a_failure_final() {
    for (fault, why) in [
        ("TMPDIR=/nonexistent; export TMPDIR", "/nonexistent: No such file"),
        ("ulimit -f 1500", "File too large"),
    ] {
        for mode in ["auto", "replay"] {
            let shown = script(&format!(
                "{fault}; head -c 3000000 /dev/zero | backoff -b 1ms --stdin {mode} -- sh -c 'wc -c; exit 6'; echo ${{PIPESTATUS[*]}}"
            ));
            assert_eq!(shown.stdout, "3000000\n0 6\n", "{mode} {shown:?}");
            assert_eq!(shown.stderr.lines().count(), 1, "{mode} {shown:?}");
            let begin = "backoff: sh: gave up after 1 attempt";
            shown
                .expect_stderr(begin)
                .expect_stderr("(standard input cannot be replayed: ")
                .expect_stderr(why);
        }
    }
}

#[test]
fn nothing_is_left_in_the_temporary_directory() {
    let dir = tempfile::tempdir().unwrap();
    for mode in ["auto", "replay"] {
        let args = words!("--stdin {} -b 1ms -- sh -c", mode);
        for last in ["cat >/dev/null; exit 1", "cat >/dev/null"] {
            let text = format!("head -c 3000000 /dev/zero | backoff -q {} \"$0\"", args.join(" "));
            let mut command = clean("bash");
            command
                .args(["-c", &text, last])
                .env("PATH", path_with_backoff())
                .env("TMPDIR", dir.path());
            run(&mut command);
        }
        // Also after KILL.
        let mut live = Live::start(
            detached(words!(
                "{..} {}",
                args,
                format!("cat >/dev/null; echo $$; exec sleep {}", long_sleep())
            ))
            .stdin(Stdio::piped())
            .env("TMPDIR", dir.path()),
        );
        let mut stdin = live.child.stdin.take().unwrap();
        wait_for("a reader", live.child.id(), || {
            stdin.write_all(&vec![0; 3_000_000]).unwrap();
        });
        drop(stdin);
        let pid: i32 = live.line().parse().unwrap();
        live.signal(Signal::SIGKILL);
        live.finish();
        eventually("the command ends with it", || !is_alive(pid));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
