//! Signals without a controlling terminal: CI, cron, containers.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::process::{children_of, hears_signals, is_alive, is_named, state};
use crate::common::words::Words;
use crate::common::{IS_PORTABLE, Live, clean, detached, end_of, eventually, probe, run, shell, within};

const ENDING: [Signal; 4] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];

/// `backoff -- probe signals`, running; the probe's process number.
fn probe_under_backoff(options: impl Words, rest: impl Words) -> (Live, i32) {
    let mut live = live!("{..} -- {} {..}", options, probe(), rest);
    let pid = live.pid_of_probe();
    (live, pid)
}

#[test]
fn each_signal_is_passed_on_once() {
    let (mut live, pid) = probe_under_backoff("", "signals");
    // All that can be caught, except CHLD, which is backoff's own business, what stops jobs, and faults.
    let passed = (1..=64).filter(|s| ![4, 5, 7, 8, 9, 11, 17, 18, 19, 20, 21, 22, 31, 32, 33].contains(s));
    for signal in passed {
        let sent = run(clean("kill").arg(format!("-{signal}")).arg(live.pid().to_string()));
        assert!(sent.status.success(), "{sent:?}");
        live.expect_line(&signal.to_string());
    }
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    assert_eq!(live.finish().signal(), Some(9));
}

#[test]
fn a_burst_of_signals_is_survived() {
    let (live, _) = probe_under_backoff("", "signals 5");
    for _ in 0..100 {
        live.signal(Signal::SIGUSR1);
        live.signal(Signal::SIGUSR2);
        live.signal(Signal::SIGWINCH);
    }
    live.signal(Signal::SIGTERM);
    live.finish().expect_code(5);
}

#[test]
fn an_ordinary_command_ends_and_so_does_backoff() {
    for signal in ENDING {
        let (live, pid) = probe_under_backoff("-b 1ms", "sleep");
        live.signal(signal);
        let shown = live.finish().expect_silence();
        assert_eq!(shown.signal(), Some(signal as i32));
        assert!(!is_alive(pid));
    }
}

#[test]
fn no_attempt_follows_a_signal_even_if_the_command_fails_by_itself() {
    let (live, _) = probe_under_backoff("-n 9 -b 1ms", "signals 7");
    live.signal(Signal::SIGTERM);
    let shown = live.finish().expect_code(7);
    assert_eq!(shown.stdout, "15\n");
    assert_eq!(
        shown.stderr,
        "backoff: probe: interrupted by SIGTERM; no further attempt\n"
    );
}

#[test]
fn backoff_outlives_the_commands_cleaning_up() {
    let script = "trap 'sleep 0.3; echo cleaned; exit 4' TERM; echo ready; while :; do sleep 0.01; done";
    let mut live = live!("-- bash -c {}", script);
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    let shown = live.finish().expect_code(4);
    assert_eq!(shown.stdout, "cleaned\n");
}

#[test]
fn a_command_that_ignores_term_is_waited_for() {
    let script = "trap '' TERM; echo ready; sleep 0.5; exit 3";
    let mut live = live!("-- bash -c {}", script);
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    live.finish().expect_code(3);
}

#[test]
fn kill_follows_only_where_kill_after_was_given() {
    let script = "trap '' TERM; echo ready; while :; do sleep 0.01; done";
    let mut live = live!("-k 100ms -- bash -c {}", script);
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(9));
}

#[test]
fn the_whole_group_gets_it() {
    let script = "sleep 60 & echo $!; wait";
    let mut live = live!("-- bash -c {}", script);
    let grandchild: i32 = live.line().parse().unwrap();
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
    eventually("the grandchild ends", || !is_alive(grandchild));
}

#[test]
fn a_signal_to_backoffs_own_group_reaches_the_command_once() {
    let (mut live, _) = probe_under_backoff("", "signals 0");
    kill(Pid::from_raw(-live.pid()), Signal::SIGUSR1).unwrap();
    live.expect_line("10");
    kill(Pid::from_raw(-live.pid()), Signal::SIGTERM).unwrap();
    assert_eq!(live.finish().expect_code(0).stdout, "15\n");
}

#[test]
fn a_stopped_command_is_not_a_finished_one() {
    let (live, pid) = probe_under_backoff("", "signals 6");
    kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
    eventually("the command stops", || state(pid) == Some('T'));
    kill(Pid::from_raw(pid), Signal::SIGCONT).unwrap();
    live.signal(Signal::SIGTERM);
    live.finish().expect_code(6);
}

#[test]
fn a_stopped_command_is_continued_to_hear_its_end() {
    let (live, pid) = probe_under_backoff("", "sleep");
    kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
    eventually("the command stops", || state(pid) == Some('T'));
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
}

#[test]
fn tstp_stops_both_and_cont_resumes_both() {
    let (live, pid) = probe_under_backoff("", "sleep");
    for _ in 0..2 {
        live.signal(Signal::SIGTSTP);
        eventually("both stop", || {
            state(pid) == Some('T') && state(live.pid()) == Some('T')
        });
        live.signal(Signal::SIGCONT);
        eventually("both go on", || {
            state(pid) == Some('S') && state(live.pid()) == Some('S')
        });
    }
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
}

#[test]
fn a_stopped_job_ends_by_what_came_meanwhile() {
    // As of a terminal that is hung up: HUP, and then CONT.
    for signal in [Signal::SIGHUP, Signal::SIGTERM] {
        let (live, pid) = probe_under_backoff("", "sleep");
        live.signal(Signal::SIGTSTP);
        eventually("both stop", || {
            state(pid) == Some('T') && state(live.pid()) == Some('T')
        });
        live.signal(signal);
        live.signal(Signal::SIGCONT);
        eventually("the command ends", || !is_alive(pid));
        assert_eq!(live.finish().signal(), Some(signal as i32));
    }
}

#[test]
fn during_a_wait_a_signal_ends_backoff_at_once() {
    for signal in ENDING {
        let mut live = live!("-b 60s -m 60s -- sh -c 'echo $BACKOFF_ATTEMPT; exit 1'");
        live.expect_line("1");
        wait_until_waiting(&live);
        live.signal(signal);
        let shown = live.finish();
        assert_eq!(
            (shown.signal(), shown.stdout.as_str()),
            (Some(signal as i32), ""),
            "{shown:?}"
        );
    }
}

#[test]
fn the_first_wait_hears_signals_too() {
    for option in ["--initial-delay", "--splay"] {
        let live = live!("{} 1h -- echo no", option);
        wait_until_waiting(&live);
        live.signal(Signal::SIGTERM);
        let shown = live.finish();
        assert_eq!((shown.signal(), shown.stdout.as_str()), (Some(15), ""), "{shown:?}");
    }
}

#[test]
fn other_signals_neither_end_nor_shorten_nor_lengthen_a_wait() {
    let began = Instant::now();
    let mut live = live!("-g constant -j none -b 600ms -n 2 -- sh -c 'echo $BACKOFF_ATTEMPT; exit 1'");
    live.expect_line("1");
    wait_until_waiting(&live);
    for _ in 0..20 {
        for signal in [
            Signal::SIGWINCH,
            Signal::SIGCONT,
            Signal::SIGCHLD,
            Signal::SIGUSR2,
            Signal::SIGALRM,
        ] {
            live.signal(signal);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    live.finish().expect_code(1);
    let took = began.elapsed();
    assert!(
        took >= Duration::from_millis(600) && took < Duration::from_secs(10),
        "{took:?}"
    );
}

#[test]
fn usr1_ends_a_wait_and_only_that() {
    let began = Instant::now();
    let script =
        "trap 'echo told' USR1; echo $BACKOFF_ATTEMPT; [ $BACKOFF_ATTEMPT = 1 ] || { sleep 0.5 & wait; wait; }; exit 1";
    let mut live = live!("-v --every 5m -n 3 -- sh -c {}", script);
    live.expect_line("1");
    wait_until_waiting(&live);
    live.signal(Signal::SIGUSR1);
    live.expect_line("2");
    // While the attempt runs it is the command's, and the wait after it is not shortened.
    live.signal(Signal::SIGUSR1);
    live.expect_line("told");
    wait_until_waiting(&live);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(state(live.pid()), Some('S'));
    live.signal(Signal::SIGUSR1);
    live.expect_line("3");
    let shown = live.finish().expect_code(1);
    assert_eq!(
        shown.stderr.matches("backoff: sh: SIGUSR1 ended the wait\n").count(),
        2,
        "{shown:?}"
    );
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn usr1_ends_the_wait_before_the_first_attempt() {
    let live = live!("--initial-delay 5m -- echo here");
    wait_until_waiting(&live);
    live.signal(Signal::SIGUSR1);
    let shown = live.finish().expect_code(0).expect_silence();
    assert_eq!(shown.stdout, "here\n");
}

#[test]
fn a_stop_during_a_wait_stops_backoff_and_runs_nothing() {
    let mut live = live!("-g constant -j none -b 400ms -n 2 -- sh -c 'echo $BACKOFF_ATTEMPT; exit 1'");
    live.expect_line("1");
    wait_until_waiting(&live);
    live.signal(Signal::SIGTSTP);
    eventually("backoff stops", || state(live.pid()) == Some('T'));
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(state(live.pid()), Some('T'));
    live.signal(Signal::SIGCONT);
    assert_eq!(live.finish().expect_code(1).stdout, "2\n");
}

/// Until no child is left and backoff sleeps.
pub(crate) fn wait_until_waiting(live: &Live) {
    eventually("backoff waits", || {
        children_of(live.pid()).is_empty()
            && is_named(live.pid(), "backoff")
            && hears_signals(live.pid())
            && state(live.pid()) == Some('S')
    });
}

#[test]
fn what_the_caller_ignores_stays_ignored() {
    // As nohup does it.
    for (signal, name) in [
        (Signal::SIGHUP, "HUP"),
        (Signal::SIGINT, "INT"),
        (Signal::SIGTERM, "TERM"),
    ] {
        let script = format!("trap '' {name}; exec setsid backoff -b 1ms -n 2 -- sh -c 'echo $$; sleep 0.4; exit 3'");
        let mut live = Live::start(&mut shell(&script));
        let command: i32 = live.line().parse().unwrap();
        live.signal(signal);
        kill(Pid::from_raw(command), signal).unwrap();
        // Both ignore it: the attempt fails by itself and is retried.
        let shown = live.finish().expect_code(3);
        assert_eq!(shown.stdout.lines().count(), 1, "{shown:?}");
        assert!(shown.stderr.contains("attempt 1 of 2 failed: exit 3"), "{shown:?}");
    }
}

#[test]
fn with_signals_blocked_by_the_caller_nothing_hangs() {
    // Every signal blocked, as a careless multi-threaded parent leaves them.
    let blocked = "perl -e 'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(1..31)); exec @ARGV'";
    let blocked = run(&mut shell(&format!(
        "{blocked} setsid backoff -n 2 -b 20ms -t 100ms -k 100ms -- sleep 60"
    )));
    blocked.expect_code(124);
    let script = "perl -e 'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(15)); exec @ARGV' \
                  setsid backoff -b 60s -m 60s -- sh -c 'echo ready; exit 1'";
    let mut live = Live::start(&mut shell(script));
    live.expect_line("ready");
    wait_until_waiting(&live);
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
}

#[test]
fn ignored_child_signals_do_not_lose_the_status() {
    let ignoring = "exec perl -e '$SIG{CHLD} = \"IGNORE\"; exec @ARGV'";
    run(&mut shell(&format!(
        "{ignoring} backoff -q -n 2 -b 1ms -- sh -c 'exit 9'"
    )))
    .expect_code(9);
    let bare = run(&mut shell(&format!("{ignoring} grep SigIgn /proc/self/status")));
    let wrapped = run(&mut shell(&format!(
        "{ignoring} backoff -- grep SigIgn /proc/self/status"
    )));
    assert_eq!(wrapped.stdout, bare.stdout);
    let mask = u64::from_str_radix(bare.stdout.trim_start_matches("SigIgn:\t").trim(), 16).unwrap();
    assert!(mask & (1 << 16) != 0, "{bare:?}");
}

#[test]
fn a_killed_backoff_leaves_no_command_behind() {
    if *IS_PORTABLE {
        // Only on Linux does the kernel end the command.
        return;
    }
    let (live, pid) = probe_under_backoff("", "sleep");
    live.signal(Signal::SIGKILL);
    eventually("the command ends", || !is_alive(pid));
}

#[test]
fn a_killed_backoff_leaves_nothing_stopped() {
    if *IS_PORTABLE {
        return;
    }
    for (before, after) in [("-- sh -c", ""), ("--on-give-up", "-n 1 -- false")] {
        let live = Live::start(&mut detached(words!("-q {..} {} {..}", before, "exec sleep 60", after)));
        let pid = sleeping_child(live.pid());
        kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
        eventually("it stops", || state(pid) == Some('T'));
        live.signal(Signal::SIGKILL);
        eventually("it ends", || !is_alive(pid));
    }
}

/// The `sleep` that a process has started, as soon as there is one.
fn sleeping_child(parent: i32) -> i32 {
    let mut child = None;
    eventually("a child", || {
        child = children_of(parent).into_iter().find(|pid| is_named(*pid, "sleep"));
        child.is_some()
    });
    child.unwrap()
}

#[test]
fn at_any_instant_a_signal_is_heard_and_nothing_runs_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let script = format!("echo $$ >>{log}; exit 1");
    for round in 0..60 {
        let mut live = live!("-q -n unlimited -b 0 -m 0 -- sh -c {}", script);
        std::thread::sleep(Duration::from_micros(300 * round));
        live.signal(Signal::SIGTERM);
        let pid = live.pid();
        let status = end_of("TERM", &mut live.child);
        assert!(!status.success(), "{status:?}");
        let after = std::fs::read_to_string(&log).unwrap_or_default();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(
            std::fs::read_to_string(&log).unwrap_or_default(),
            after,
            "an attempt ran after {pid} had gone"
        );
    }
}

#[test]
fn full_standard_error_does_not_make_backoff_deaf() {
    // The pipe is full and stays so: bash's sleep holds its reading end.
    let script = "exec 3> >(sleep 60); echo $!; head -c 65536 /dev/zero >&3; \
                  exec setsid backoff -b 1ms -- sh -c 'exit 1' 2>&3";
    let mut live = Live::start(&mut shell(script));
    let holder: i32 = live.line().parse().unwrap();
    eventually("backoff writes", || {
        is_named(live.pid(), "backoff") && hears_signals(live.pid()) && state(live.pid()) == Some('S')
    });
    live.signal(Signal::SIGTERM);
    let status = end_of("TERM", &mut live.child);
    kill(Pid::from_raw(holder), Signal::SIGKILL).unwrap();
    assert!(!status.success(), "{status:?}");
}

#[test]
fn what_nobody_reads_does_not_hold_up_what_a_signal_has_ended() {
    for options in [
        "-v -b 1m -m 1m -- false",
        "--log-format json -b 1m -m 1m -- false",
        "--log-format json -- sleep 60",
        "-v --report /dev/stderr -- sleep 60",
        "-q --report /dev/stderr -- sleep 60",
        "-q --report /nonexistent/report -- sleep 60",
    ] {
        let script = format!(
            "exec 3> >(exec sleep 60); echo $!; head -c 65536 /dev/zero >&3; exec setsid backoff {options} 2>&3"
        );
        let mut live = Live::start(&mut shell(&script));
        let holder: i32 = live.line().parse().unwrap();
        eventually("backoff is up", || {
            is_named(live.pid(), "backoff") && hears_signals(live.pid()) && state(live.pid()) == Some('S')
        });
        // It waits, for its reader or for the command.
        std::thread::sleep(Duration::from_millis(200));
        live.signal(Signal::SIGTERM);
        eventually(&format!("{options}: it ends"), || {
            live.child.try_wait().unwrap().is_some() || state(live.pid()) == Some('Z')
        });
        kill(Pid::from_raw(holder), Signal::SIGKILL).unwrap();
        assert_eq!(end_of(options, &mut live.child).signal(), Some(15), "{options}");
    }
}

#[test]
fn an_alarm_that_the_caller_set_ends_the_run() {
    let script = "exec perl -e 'alarm 1; exec @ARGV' backoff -n 9 -b 10ms -- sleep 30";
    let shown = run(&mut shell(script));
    assert_eq!((shown.signal(), shown.stderr.as_str()), (Some(14), ""));
    let script = "exec perl -e 'alarm 1; exec @ARGV' backoff -q -b 30s -m 30s -- false";
    assert_eq!(run(&mut shell(script)).signal(), Some(14));
}

#[test]
fn a_limit_of_descriptors_lowered_meanwhile_does_not_make_backoff_deaf() {
    let (live, _) = probe_under_backoff("", "signals 5");
    let pid = live.pid().to_string();
    assert!(
        run(clean("prlimit").args(["--pid", &pid, "--nofile=0"]))
            .status
            .success()
    );
    live.signal(Signal::SIGTERM);
    live.finish().expect_code(5);
}

#[test]
fn a_command_that_stops_itself_where_nobody_could_continue_it_runs_on() {
    for signal in ["TSTP", "TTIN", "TTOU"] {
        let script = format!("kill -{signal} $$; echo on; kill -{signal} $$; exit 5");
        let shown = run(&mut detached(words!("-q -n 1 -- sh -c {}", script))).expect_code(5);
        assert_eq!(shown.stdout, "on\n", "{signal}");
    }
}

#[test]
fn no_stop_of_the_commands_own_holds_up_a_bound() {
    for (options, signal) in [("-t 300ms", "TSTP"), ("-d 300ms", "STOP"), ("--pty -t 300ms", "STOP")] {
        let began = Instant::now();
        let script = format!("kill -{signal} $$; sleep 20");
        run(&mut detached(words!("-q -n 1 -k 5s {..} -- sh -c {}", options, script))).expect_code(124);
        assert!(began.elapsed() < Duration::from_secs(4), "{options} {signal}");
    }
}

#[test]
fn a_stop_that_the_command_ignored_is_not_made_up_for_later() {
    let script = "trap '' TSTP; echo ready; sleep 1.5; kill -STOP $$; sleep 20";
    let mut live = Live::start(&mut detached(words!("-q -n 1 -t 2500ms -k 5s -- sh -c {}", script)));
    live.expect_line("ready");
    live.signal(Signal::SIGTSTP);
    live.finish().expect_code(124);
}

#[test]
fn whoever_of_the_group_is_stopped_hears_that_it_is_to_end() {
    let script = "trap 'echo cleaned; exit 0' TERM; kill -STOP $BASHPID; sleep 20";
    let script = format!("trap '' TERM; ({script}) & echo $!; wait; exit 5");
    let mut live = live!("-q -n 1 -- bash -c {}", script);
    let member: i32 = live.line().parse().unwrap();
    eventually("it stops", || state(member) == Some('T'));
    live.signal(Signal::SIGTERM);
    let shown = live.finish().expect_code(5);
    assert_eq!(shown.stdout, "cleaned\n");
}

#[test]
fn the_ci_way_of_cancelling_ends_everything() {
    // INT, then TERM, then KILL, to backoff alone.
    let script = "trap '' INT; echo ready; while :; do sleep 0.01; done";
    let mut live = live!("-- bash -c {}", script);
    live.expect_line("ready");
    live.signal(Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(100));
    assert!(is_alive(live.pid()));
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().signal(), Some(15));
}

#[test]
fn a_file_that_backoff_may_not_make_larger_is_no_signal_for_the_command() {
    // Standard input is kept in a file.
    let script = "ulimit -f 2048; head -c 20000000 /dev/zero | \
                  setsid -w backoff -- sh -c 'cat | wc -c; exit 0'; echo ${PIPESTATUS[*]}";
    assert_eq!(run(&mut shell(script)).stdout, "20000000\n0 0\n");
    // The start of the attempt cannot be logged.
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let script = format!(
        "head -c 9999 /dev/zero >{log}; ulimit -f 1; \
         setsid -w backoff -b 1ms -n 2 --log-format json --log-file {log} -- sh -c 'sleep 0.2; echo ran; exit 3'"
    );
    let shown = run(&mut shell(&script)).expect_code(3);
    assert_eq!(shown.stdout, "ran\nran\n");
    let why = format!("backoff: warning: cannot write to --log-file {log:?}: File too large; going on without it\n");
    assert_eq!(shown.stderr, why);
    // The report comes last.
    let report = within(&dir, "report");
    let script = format!("ulimit -f 0; setsid -w backoff -q -n 1 --report {report} -- sh -c 'exit 3'");
    let why = format!("backoff: warning: cannot write to --report {report:?}: File too large\n");
    assert_eq!(run(&mut shell(&script)).expect_code(3).stderr, why);
}

#[test]
fn a_limit_on_the_size_of_files_that_the_command_meets_is_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        "ulimit -f 1; exec setsid backoff -q -n 1 -- dd if=/dev/zero of={} count=9",
        within(&dir, "file")
    );
    assert_eq!(run(&mut shell(&script)).signal(), Some(25));
}

#[test]
fn a_command_that_has_left_its_group_is_signalled_once() {
    let leaves = "setpgrp(0, getppid())";
    for options in ["-t 300ms", "-d 300ms"] {
        let began = Instant::now();
        let script = format!("{leaves}; sleep 20; exit 5");
        run(&mut detached(words!(
            "-q -n 1 {..} -k 5s -- perl -e {}",
            options,
            script
        )))
        .expect_code(124);
        assert!(began.elapsed() < Duration::from_secs(4), "{options}");
        // Nor does KILL miss it.
        let script = format!("$SIG{{TERM}} = 'IGNORE'; {leaves}; $end = time + 20; sleep 1 while time < $end");
        run(&mut detached(words!(
            "-q -n 1 {..} -k 300ms -- perl -e {}",
            options,
            script
        )))
        .expect_code(124);
        assert!(began.elapsed() < Duration::from_secs(9), "{options}");
    }
    let signals = || ENDING.into_iter().chain([Signal::SIGUSR1]);
    let cases = ["", leaves].map(|leaves| signals().map(move |signal| (leaves, signal)));
    // Each takes its time to see that no second one comes.
    std::thread::scope(|scope| {
        for (leaves, signal) in cases.into_iter().flatten() {
            scope.spawn(move || {
                let script = "$| = 1; $SIG{$_} = sub { $got++ } for qw(TERM INT HUP QUIT USR1); eval shift; \
                              print \"ready\\n\"; sleep 1 until $got; select undef, undef, undef, 0.3; \
                              print \"$got\\n\"; exit 5";
                let mut live = live!("-n 1 -q -- perl -e {} {}", script, leaves);
                live.expect_line("ready");
                live.signal(signal);
                assert_eq!(live.finish().expect_code(5).stdout, "1\n", "{leaves} {signal}");
            });
        }
    });
}

#[test]
fn a_command_in_its_group_gets_the_signal_of_a_bound_once() {
    for leaves in ["", "setpgrp(0, getppid())"] {
        let script = "$| = 1; $SIG{TERM} = sub { $got++ }; eval shift; sleep 1 until $got; \
                      select undef, undef, undef, 0.3; print \"$got\\n\"";
        let command = words!("-n 1 -q -t 1s -k 5s -- perl -e {} {}", script, leaves);
        let shown = run(&mut detached(command)).expect_code(124);
        assert_eq!(shown.stdout, "1\n", "{leaves}");
    }
}
