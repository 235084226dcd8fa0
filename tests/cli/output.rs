//! The command's output: passed on as it comes, looked at by rules, and what follows from what they see.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::ptsname_r;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::process::{is_alive, until_it_is_stuck};
use crate::common::pty::{Terminal, new_master};
use crate::common::words::Words;
use crate::common::{BIN, Shown, backoff, end_of, eventually, finish, ran, run, shell, wait_for, within};

/// One attempt of a shell script, quietly.
fn once(rules: impl Words, script: &str) -> Shown {
    run!("-q -n 1 {..} -- sh -c {}", rules, script)
}

/// Up to three attempts of a shell script.
pub fn thrice(rules: impl Words, script: &str) -> Shown {
    run!("-n 3 -b 1ms {..} -- sh -c {}", rules, script)
}

// ---------------------------------------------------------------- streams

#[test]
fn only_a_stream_that_somebody_looks_at_is_not_the_callers_own() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["out", "err", "seen"].map(|name| within(&dir, name));
    let script = format!(
        "links=$(readlink /proc/$$/fd/1 /proc/$$/fd/2); echo \"$links\" >'{}'; exit 1",
        names[2]
    );
    for (rules, observed) in [
        ("", [false, false]),
        ("-e 7 -t 9s --stop-exit TERM", [false, false]),
        ("--match-on stderr", [false, false]),
        ("--stdin replay", [false, false]),
        ("-r x", [true, true]),
        ("--stop-match x", [true, true]),
        ("--fail-match x --match-on stdout", [true, false]),
        ("--success-match x --match-on stderr", [false, true]),
        ("--retry-if 'exit 1'", [true, true]),
        ("--retry-if 'exit 1' --match-on stderr", [false, true]),
        ("--retry-after --match-on stdout", [true, false]),
        ("--idle-timeout 9s", [true, true]),
        ("--idle-timeout 0", [false, false]),
        ("--stdout final", [true, false]),
        ("--stdout success", [true, false]),
        ("--stderr failure", [false, true]),
        ("--stderr final -r x --match-on stdout", [true, true]),
    ] {
        let [out, err] = [&names[0], &names[1]].map(|name| std::fs::File::create(name).unwrap());
        let args = words!("-q -n 1 {..} -- sh -c {}", rules, script);
        let mut child = backoff(&args).stdout(out).stderr(err).spawn().unwrap();
        assert!(!end_of(rules, &mut child).success());
        let links = std::fs::read_to_string(&names[2]).unwrap();
        for ((link, own), observed) in links.lines().zip(&names).zip(observed) {
            let own = std::fs::canonicalize(own).unwrap();
            assert_eq!(link != own.to_str().unwrap(), observed, "{rules:?}: {link}");
        }
    }
}

#[test]
fn a_terminal_stays_one_where_nobody_looks() {
    let script = "test -t 0; a=$?; test -t 1; b=$?; test -t 2; echo [$a $b $?] >/dev/tty; exit 1";
    for (rules, shown) in [
        ("-e 7", "[0 0 0]"),
        ("--fail-match x --match-on stderr", "[0 0 1]"),
        ("--fail-match x --match-on stdout", "[0 1 0]"),
        ("-r x", "[0 1 1]"),
    ] {
        let args = words!("-q -n 1 {..} -- sh -c {}", rules, script);
        let mut terminal = Terminal::start(*BIN, &args);
        terminal.expect(shown);
        terminal.finish();
    }
}

#[test]
fn the_callers_descriptions_keep_their_flags() {
    // O_NONBLOCK is 04000; whoever shares the description would see it.
    let shown = run(&mut shell(
        "{ backoff -r x --stdin replay -- sh -c 'cat; cat /proc/$PPID/fdinfo/[012] | grep flags'; \
           cat /proc/self/fdinfo/[012] | grep flags; } < <(echo) 2> >(cat >&2) | cat",
    ))
    .expect_code(0);
    let flags: Vec<u32> = shown
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("flags:\t"))
        .map(|flags| u32::from_str_radix(flags, 8).unwrap())
        .collect();
    assert_eq!(flags.len(), 6, "{shown:?}");
    assert!(flags.iter().all(|flags| flags & 0o4000 == 0), "{shown:?}");
}

#[test]
fn both_streams_are_byte_exact_and_large_at_once() {
    let shown = run(&mut shell(
        "d=$(mktemp -d); trap 'rm -r $d' EXIT; cd $d; head -c 3000000 /dev/urandom >f; printf 'no end' >>f
         backoff -r '^no such line$' --fail-match ZZZZZZZZZZ --retry-after -i 9s -- \
             sh -c 'cat f & cat f >&2; wait' >o 2>e; echo $?; cmp f o && cmp f e && echo same",
    ));
    assert_eq!(shown.stdout, "0\nsame\n", "{shown:?}");
}

#[test]
fn a_piece_of_output_arrives_at_once() {
    for rules in ["-r x", "-i 20s", "--retry-if 'exit 1'"] {
        let args = words!(
            "{..} -- sh -c 'printf one; read x; printf two >&2; read x; echo three'",
            rules
        );
        let mut child = backoff(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut three = [0; 3];
        wait_for("one", child.id(), || {
            child.stdout.as_mut().unwrap().read_exact(&mut three).unwrap();
        });
        assert_eq!(&three, b"one");
        stdin.write_all(b"\n").unwrap();
        wait_for("two", child.id(), || {
            child.stderr.as_mut().unwrap().read_exact(&mut three).unwrap();
        });
        assert_eq!(&three, b"two");
        stdin.write_all(b"\n").unwrap();
        assert_eq!(finish("three", child).stdout, "three\n");
    }
}

#[test]
fn a_slow_reader_loses_nothing() {
    let shown = run(&mut shell(
        "backoff -r x --stop-match y -- sh -c 'head -c 3000000 /dev/zero & head -c 2000000 /dev/zero >&2; wait' \
             2> >(sleep 0.2; wc -c >&2) | (sleep 0.4; wc -c); wait",
    ));
    assert_eq!(shown.stdout.trim(), "3000000");
    eventually("the other count", || shown.stderr.trim() == "2000000");
}

// ---------------------------------------------------------------- matching

#[test]
fn a_match_at_the_border_of_a_read_is_seen() {
    for before in 65_536 - 6..=65_536 {
        for fill in ["head -c BEFORE /dev/zero", "yes '' | head -c BEFORE"] {
            let script = format!(
                "{}; echo needle; echo more",
                fill.replace("BEFORE", &before.to_string())
            );
            once("--fail-match 'needle$'", &script).expect_code(1);
        }
    }
}

#[test]
fn a_long_line_takes_little_memory() {
    for (size, rules) in [(12 << 20, "--retry-after -r '^needle$'"), (80 << 20, "")] {
        // Half of a needle lies on each side of a border.
        let script = format!(
            "ulimit -v 65536 -t 30; exec backoff -n 1 --fail-match 'needle in a haystack$' {} -- \
             sh -c 'head -c {size} /dev/zero; printf \"a needle in a haystack\"'",
            rules
        );
        let mut child = shell(&script)
            .env("LC_ALL", "C")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let count = wait_for("the long line", child.id(), || {
            std::io::copy(child.stdout.as_mut().unwrap(), &mut std::io::sink()).unwrap()
        });
        assert_eq!(count, size + 22);
        finish("the end", child)
            .expect_code(1)
            .expect_stderr("matched \"needle in a haystack\" (exit 0; --fail-match");
    }
}

#[test]
fn no_pattern_takes_for_ever() {
    let began = Instant::now();
    for regex in [
        "(a+)+$",
        "^(a|aa)+$",
        "(a*)*b",
        "(a|b|ab)*c{20}",
        "(.*)(.*)(.*)(.*)x",
        "a{0,500}b",
    ] {
        once(
            words!("--fail-match {} -r {}", regex, regex),
            "head -c 300000 /dev/zero | tr '\\0' a; echo !",
        );
    }
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

// ---------------------------------------------------------------- which outcome is what

// ---------------------------------------------------------------- --retry-if

#[test]
fn the_predicates_variables() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "seen");
    let note = format!(
        "echo \"$BACKOFF_ATTEMPT $BACKOFF_ATTEMPT_LIMIT $BACKOFF_DEPTH [$BACKOFF_PREVIOUS_EXIT] $BACKOFF_EXIT \
         [$BACKOFF_EXIT_SIGNAL] $BACKOFF_REASON $BACKOFF_RUN_ID ${{BACKOFF_ELAPSED:+elapsed}}\" >>'{file}'"
    );
    let script = "echo $BACKOFF_RUN_ID; case $BACKOFF_ATTEMPT in 1) exit 7;; 2) kill -KILL $$;; 3) echo worse; esac";
    let shown = thrice(words!("--retry-if {} --fail-match wors.", note), script).expect_code(1);
    let id = shown.stdout.lines().next().unwrap();
    let seen = std::fs::read_to_string(&file).unwrap();
    let seen: Vec<String> = seen.lines().map(|line| line.replace(id, "ID")).collect();
    assert_eq!(seen[0], "1 3 1 [] 7 [] exit 7 ID elapsed");
    assert!(seen[1].starts_with("2 3 1 [7] 137 ["), "{seen:?}");
    assert!(seen[1].contains("[9]") || seen[1].contains("KILL]"), "{seen:?}");
    assert!(
        seen.get(2)
            .is_none_or(|line| line.starts_with("3 3 1 [137] 0 [] ") && line.contains("worse"))
    );
}

#[test]
fn the_predicate_has_a_reason_whatever_matched() {
    let ask = "echo \"reason: ${BACKOFF_REASON-unset}\" >&2; exit 1";
    for text in [r"bad \0 bytes\n", r"bad \377 bytes\n", r"bad \033[31m bytes\n"] {
        let shown = run!(
            "-q -n 2 --fail-match '(?-u)bad.*' --retry-if {} -- printf {}",
            ask,
            text
        );
        assert!(
            shown.stderr.contains("reason: ") && shown.stderr.contains("bad "),
            "{text}: {shown:?}"
        );
    }
}

#[test]
fn of_the_predicates_own_output_errors_are_shown() {
    let shown = thrice(
        "--retry-if 'echo said; echo complained >&2; exit 1'",
        "echo out; exit 7",
    );
    assert_eq!(shown.stdout, "out\n");
    assert!(
        !shown.stderr.contains("said") && shown.stderr.contains("complained\n"),
        "{shown:?}"
    );
    run!("-q --success-if 'echo true' -- true").expect_silence();
    // Works without a standard error, too.
    let shown = run(&mut shell(
        "backoff -n 2 -b 1ms --retry-if 'echo x >&2; exit 0' -- false 2>&-; echo $?",
    ));
    assert_eq!(shown.stdout, "1\n");
}

#[test]
fn the_predicate_cannot_hang_the_run() {
    let began = Instant::now();
    let hang = "-d 1s -k 100ms --retry-if 'sleep 60; :'";
    let shown = thrice(hang, "exit 7");
    assert_eq!(shown.stdout, "");
    shown.expect_code(7).expect_stderr("ended by the deadline");
    assert!(began.elapsed() < Duration::from_secs(10));

    let mut live = live!("--retry-if 'echo $$ >&2; exec sleep 60' -- sh -c 'exec 2>&1; exit 7'");
    let asked = live.line_of_stderr();
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
    assert!(!is_alive(asked.trim().parse().unwrap()));

    // Processes that a predicate leaves running are not waited for.
    let shown = thrice("--retry-if 'sleep 3 >/dev/null 2>&1 & exit 1'", "exit 7").expect_code(7);
    assert!(began.elapsed() < Duration::from_secs(15), "{shown:?}");
}

// ---------------------------------------------------------------- --retry-after

/// How long `backoff` said it would wait.
fn waits(shown: &Shown) -> Vec<Duration> {
    let lines = shown
        .stderr
        .lines()
        .filter_map(|line| line.split_once("; retrying in "));
    lines
        .map(|(_, wait)| {
            let wait = wait.strip_suffix(", as the output asked").unwrap_or(wait);
            let (number, unit) = wait.split_at(wait.find(|c: char| c.is_ascii_alphabetic()).unwrap());
            let scale = [("ms", 1e-3), ("s", 1.0)].into_iter().find(|known| known.0 == unit);
            Duration::from_secs_f64(number.parse::<f64>().unwrap() * scale.unwrap().1)
        })
        .collect()
}

#[test]
fn the_wait_that_output_asks_for() {
    for text in [
        r"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0.2\r\nContent-Length: 0\r\n\r\n",
        r"< retry-after: .2\r\n< date: now",
        r#"{"error":{"code":429},"retry_after":0.2}"#,
        r"x-ms-retry-after-ms: 200\n",
        r"Rate limit reached for requests. Please try again in 200ms.\n",
        r"error: busy\nretry after 0.05s\nretry after 0.2s\nretry after 0.1s\n",
        r"\377\0garbage\nRetry-After: 0.2",
    ] {
        let script = format!("printf '{text}' >&2; test $BACKOFF_ATTEMPT = 2");
        let began = Instant::now();
        let shown = thrice("-j none --retry-after", &script).expect_code(0);
        assert!(began.elapsed() >= Duration::from_millis(200), "{text}: {shown:?}");
        assert_eq!(waits(&shown), [Duration::from_millis(200)], "{text}: {shown:?}");
    }
    // The longest of both streams; only on those that are looked at; off by default.
    let script = "echo retry after 0.1s; echo retry after 0.2s >&2; test $BACKOFF_ATTEMPT = 2";
    for (rules, wait) in [
        ("-j none --retry-after", 200),
        ("-j none --retry-after --match-on stdout", 100),
        ("-j none -r 'x|retry'", 1),
        ("-j none --retry-after -b 300ms", 300),
    ] {
        let shown = thrice(rules, script).expect_code(0);
        assert_eq!(waits(&shown), [Duration::from_millis(wait)], "{rules:?}");
    }
}

#[test]
fn jitter_is_added_to_what_was_asked() {
    for jitter in ["full", "equal", "decorrelated", "additive", "proportional"] {
        let shown = run!(
            "-n 4 -b 20ms -j {} --retry-after -- sh -c 'echo retry after 25ms; exit 1'",
            jitter
        )
        .expect_code(1);
        let waits = waits(&shown);
        assert_eq!(waits.len(), 3);
        assert!(
            waits.iter().all(|wait| *wait >= Duration::from_millis(25)),
            "{jitter}: {waits:?}"
        );
    }
}

#[test]
fn a_policy_without_jitter_does_not_make_a_crowd_of_those_who_were_told_the_same() {
    for options in ["-p sip -b 1ms -f 1", "-j none -b 1ms -f 1"] {
        let mut command = backoff(words!("{..} -n 9 -- sh -c 'echo retry after 30ms; exit 1'", options));
        let waits = waits(&run(command.env("BACKOFF_RETRY_AFTER", "1")));
        let range = Duration::from_millis(30)..Duration::from_millis(34);
        assert!(waits.iter().all(|wait| range.contains(wait)), "{options}: {waits:?}");
        let mut lengths = waits.clone();
        lengths.dedup();
        assert!(lengths.len() > 1, "{options}: {waits:?}");
    }
}

#[test]
fn a_wait_too_long_is_not_waited_for() {
    let ask = |rules: &str, text: &str| {
        let began = Instant::now();
        let shown = thrice(words!("--retry-after {..}", rules), &format!("echo '{text}'; exit 7"));
        assert!(began.elapsed() < Duration::from_secs(5), "{shown:?}");
        assert_eq!(shown.stdout.lines().count(), 1, "{shown:?}");
        shown
    };
    ask("", "Retry-After: 301")
        .expect_code(7)
        .expect_stderr("--max-retry-after");
    ask("--max-retry-after 10s", "Retry-After: 11")
        .expect_code(7)
        .expect_stderr("the output asked to wait 11s, longer than --max-retry-after");
    ask("--exhausted-exit 75", "Retry-After: 99999999999999999999").expect_code(75);
    ask("-d 10s", "Retry-After: 30")
        .expect_code(7)
        .expect_stderr("deadline");
    let date = run(&mut shell("date -u -d '+1 hour' '+%a, %d %b %Y %H:%M:%S GMT'"));
    ask("", &format!("Retry-After: {}", date.stdout.trim()))
        .expect_code(7)
        .expect_stderr("asked to wait ");
    // The past asks for nothing, and success for no wait.
    let shown = thrice(
        "--retry-after",
        "echo 'Retry-After: Fri, 31 Dec 1999 23:59:59 GMT'; exit 7",
    );
    shown.expect_code(7).expect_stderr("gave up after 3 attempts");
    thrice("--retry-after", "echo Retry-After: 9999")
        .expect_code(0)
        .expect_silence();
}

// ---------------------------------------------------------------- --idle-timeout

#[test]
fn silence_ends_an_attempt() {
    let began = Instant::now();
    let shown = run!("-n 1 -i 1s -- sh -c 'echo out; exec sleep 60'").expect_code(124);
    assert_eq!(shown.stdout, "out\n");
    shown.expect_stderr(": no output for 1s (--idle-timeout; ");
    let passed_on = |redirect: &str, keep: &str| {
        // Longer in all than the limit, with pauses that are much shorter.
        let script = format!("for i in 1 2 3 4; do sleep 0.8; echo $i {redirect}; done; exec sleep 60");
        let shown = once(words!("-i 3s {..}", keep), &script).expect_code(124);
        let expected = if keep.contains("null") { "" } else { "1\n2\n3\n4\n" };
        assert_eq!([shown.stdout, shown.stderr].concat(), expected, "{keep:?}");
    };
    // At once, as they only wait.
    std::thread::scope(|scope| {
        for redirect in ["", ">&2"] {
            for keep in ["", "--stdout final --stderr final", "--stdout null --stderr null"] {
                scope.spawn(move || passed_on(redirect, keep));
            }
        }
    });
    assert!(began.elapsed() < Duration::from_secs(40));
    run!("-n 2 -b 1ms -i 50ms -- sleep 60")
        .expect_code(124)
        .expect_stderr("attempt 1 of 2 failed: no output for 50ms (--idle-timeout) after ");
    run!("-n 2 -i 50ms --stop-exit timeout -- sleep 60")
        .expect_code(124)
        .expect_stderr("gave up after 1 attempt");
    run!("-i 0 -- sleep 0.1").expect_code(0);
    let stubborn = "trap '' TERM; while :; do sleep 0.01; done";
    once("-i 50ms -k 50ms", stubborn).expect_code(124);
    once("-i 50ms", "trap 'echo; exit 0' TERM; while :; do sleep 0.01; done").expect_code(124);
}

#[test]
fn a_slow_reader_is_no_silence() {
    let shown = run(&mut shell(
        "backoff -n 1 -i 1s -- head -c 1000000 /dev/zero | (sleep 2; wc -c); echo ${PIPESTATUS[0]}",
    ));
    assert_eq!(shown.stdout, "1000000\n0\n", "{shown:?}");
}

// ---------------------------------------------------------------- the reader

#[test]
fn a_reader_that_is_gone_ends_the_run_silently() {
    for rules in [
        "-r y",
        "-r x",
        "--stop-match x",
        "-i 9s",
        "--retry-if 'exit 0'",
        "--retry-after",
        "-r y -e 1,141",
    ] {
        let shown = run(&mut shell(&format!(
            "backoff {rules} -- yes | head -n 1; echo ${{PIPESTATUS[0]}}"
        )));
        assert_eq!(
            (shown.stdout.as_str(), shown.stderr.as_str()),
            ("y\n141\n", ""),
            "{rules}"
        );
    }
    // So it does where the reader of standard error is gone.
    let shown = run(&mut shell(
        "{ backoff -r x -- sh -c 'yes >&2' 2>&1 >&3 | head -n 1; echo ${PIPESTATUS[0]}; } 3>&1",
    ));
    assert!(shown.stdout.starts_with("y\n") && shown.stdout != "y\n0\n", "{shown:?}");
    // A command that takes no notice is not run again, and may succeed.
    let shown = run(&mut shell(
        "trap '' PIPE; backoff -r . -- sh -c 'echo run >&2; seq 100000 2>/dev/null; exit 5' | head -n 1; echo ${PIPESTATUS[0]}",
    ));
    assert_eq!(shown.stdout, "1\n5\n", "{shown:?}");
    assert_eq!(
        shown.stderr.lines().filter(|line| *line == "run").count(),
        1,
        "{shown:?}"
    );
}

#[test]
fn output_that_cannot_be_written_is_our_own_failure() {
    for redirect in [">/dev/full", ">&-"] {
        let shown = run(&mut shell(&format!("backoff -r x -- seq 5 {redirect}"))).expect_code(125);
        assert!(shown.stderr.starts_with("backoff: standard output: "), "{shown:?}");
        assert_eq!(shown.stderr.lines().count(), 1, "{shown:?}");
        run(&mut shell(&format!("backoff -r x -- true {redirect}"))).expect_code(0);
        // Without an observer it is the command's own affair.
        run(&mut shell(&format!(
            "backoff -q -n 1 -- sh -c 'echo x 2>/dev/null || exit 9' {redirect}"
        )))
        .expect_code(9);
    }
    run(&mut shell(
        "backoff -r x -- sh -c 'echo x >&2' 2>/dev/full; test $? = 125",
    ))
    .expect_code(0);
}

#[test]
fn a_daemon_that_keeps_the_pipe_is_not_waited_for() {
    for rules in ["-r x", "--stdout final", "-i 9s"] {
        let began = Instant::now();
        let mut live = live!("{..} -- sh -c 'sleep 20 2>/dev/null & echo $!; exit 0'", rules);
        let daemon: i32 = live.line().parse().unwrap();
        live.finish().expect_code(0);
        assert!(began.elapsed() < Duration::from_secs(3), "{rules:?}");
        assert!(is_alive(daemon), "{rules:?}");
        kill(Pid::from_raw(daemon), Signal::SIGKILL).unwrap();
    }
}

/// The result of the first run that took less time than backoff waits for output or its reader: on a busy machine others
/// may come too late. The run returns how long that took.
#[track_caller]
fn in_time<T>(limit: Duration, run: impl Fn() -> (Duration, T)) -> T {
    let mut runs = (0..20).map(|_| run());
    let in_time = runs.find(|(took, _)| *took < limit);
    in_time.unwrap_or_else(|| panic!("no run took less than {limit:?}")).1
}

#[test]
fn a_pipelines_last_words_are_heard() {
    let timed = |args: Vec<String>| {
        in_time(Duration::from_millis(300), || {
            let began = Instant::now();
            let shown = ran(&args);
            (began.elapsed(), shown)
        })
    };
    let script = "exec > >(sleep 0.02; echo last; sleep 0.02; echo words); exit 3";
    for rules in ["-r x", "--stdout final", "--retry-if 'exit 1'"] {
        let shown = timed(words!("{..} -q -n 1 -- bash -c {}", rules, script)).expect_code(3);
        assert_eq!(shown.stdout, "last\nwords\n", "{rules:?}");
    }
    let script = "exec > >(sleep 0.02; printf 'bad end'); exit 0";
    timed(words!("-q -n 1 --fail-match 'bad end$' -- bash -c {}", script)).expect_code(1);
}

#[test]
fn signals_pass_while_output_is_observed() {
    let mut live = live!(
        "-r x -- bash -c {}",
        "trap 'echo last; exit 6' TERM; echo ready; while :; do sleep 0.01; done"
    );
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    let shown = live.finish().expect_code(6);
    assert_eq!(shown.stdout, "last\n");
    // Also while nobody empties our own pipe.
    let mut stuck = live!("-r x -- yes");
    stuck.expect_line("y");
    until_it_is_stuck(stuck.pid());
    stuck.signal(Signal::SIGTERM);
    assert!(stuck.ends_unread().is_some(), "TERM, and nobody reads");
}

#[test]
fn a_slow_reader_gets_all_though_a_signal_came() {
    let all: String = (1..=20_000).map(|number| format!("{number}\n")).collect();
    // The signal is for seq, too, which may still be at it.
    let trap = "trap 'exit 0' TERM; (trap '' TERM; exec seq 20000); while :; do sleep 0.01; done";
    for words in [words!("-r x -- seq 20000"), words!("-r x -- bash -c {}", trap)] {
        let shown = in_time(Duration::from_secs(1), || {
            let live = live!("{..}", words);
            until_it_is_stuck(live.pid());
            let told = Instant::now();
            live.signal(Signal::SIGTERM);
            std::thread::sleep(Duration::from_millis(500));
            let shown = live.finish();
            let took = told.elapsed();
            match shown.code() {
                // Never with a gap.
                Some(0) => assert!(shown.stdout == all, "{} bytes", shown.stdout.len()),
                _ => assert_eq!(shown.signal(), Some(Signal::SIGTERM as i32), "{words:?}"),
            }
            (took, shown)
        });
        shown.expect_code(0);
    }
}

#[test]
fn output_that_a_time_out_cut_off_is_read_before_the_next_attempt() {
    let script = "test $BACKOFF_ATTEMPT = 2 || { seq 20000; echo written >&2; sleep 60; }; echo ok";
    let all: String = (1..=20_000).map(|number| format!("{number}\n")).collect::<String>() + "ok\n";
    let shown = in_time(Duration::from_secs(2), || {
        let began = Instant::now();
        let live = live!("-q -n 2 -b 0 -t 1s -r x -- sh -c {}", script);
        until_it_is_stuck(live.pid());
        std::thread::sleep(Duration::from_millis(1500));
        let shown = live.finish();
        // A time-out may have cut seq itself off.
        let is_whole = shown.stderr.contains("written");
        if is_whole && shown.code() == Some(0) {
            assert!(shown.stdout == all, "{} bytes", shown.stdout.len());
        }
        (if is_whole { began.elapsed() } else { Duration::MAX }, shown)
    });
    shown.expect_code(0);
    // One that does not read on gets no second attempt's output after the gap.
    let mut stuck = live!("-n 2 -b 0 -t 1s -r x -- sh -c {}", script);
    assert_eq!(stuck.ends_unread().and_then(|status| status.code()), Some(124));
    let shown = stuck.finish();
    assert!(
        all.starts_with(&shown.stdout) && !shown.stdout.contains("ok"),
        "{shown:?}"
    );
    assert!(shown.stderr.contains("gave up after 1 attempt"), "{}", shown.stderr);
    assert!(
        shown.stderr.contains("cut off, as its reader stopped reading"),
        "{}",
        shown.stderr
    );
}

/// The other side of a terminal: to open it by its number would make another terminal.
#[test]
fn what_is_another_device_when_it_is_opened_is_written_as_it_is() {
    for rules in ["", "-r x", "--stdout final"] {
        let ours = new_master();
        let mut options = File::options();
        options.read(true).custom_flags(OFlag::O_NOCTTY.bits());
        let mut theirs = options.open(ptsname_r(&ours).unwrap()).unwrap();
        let mut command = backoff(words!("-q {..} -- echo hi", rules));
        command.stdout(ours.as_fd().try_clone_to_owned().unwrap());
        let mut child = command.spawn().unwrap();
        assert!(end_of(rules, &mut child).success(), "{rules}");
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

#[test]
fn a_bound_holds_though_nobody_reads_the_output() {
    for bound in ["-d 1s", "-t 1s -n 1"] {
        let mut stuck = live!("{..} -r x -- yes", bound);
        stuck.expect_line("y");
        let status = stuck.ends_unread();
        assert_eq!(status.and_then(|status| status.code()), Some(124), "{bound}");
    }
}

#[test]
fn a_short_output_that_nobody_can_read_ends_like_the_bare_command() {
    let text = "mkfifo f; exec 3<>f 4>f 3>&-; WRAP sh -c 'echo x' >&4 4>&-; echo $?";
    for wrapper in ["", "backoff --", "backoff -r x --", "backoff --stdout final --"] {
        let dir = tempfile::tempdir().unwrap();
        let shown = run(shell(&text.replace("WRAP", wrapper)).current_dir(dir.path()));
        assert_eq!(shown.stdout, "141\n", "{wrapper:?}: {shown:?}");
    }
}
