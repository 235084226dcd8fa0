//! Signals without a controlling terminal: CI, cron, containers. Other tests are in `tests/cases/attempts.md`.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal::{self, *};

use crate::util::process::{
    children_of, hears_signals, is_alive, is_named, sleeping_child, state,
};
use crate::util::{
    Ends, HIGHEST, IS_LINUX, Live, backoff, clean, eventually, probe, send, shell,
    sleep_until, within,
};

tests! {
    each_signal_is_forwarded_once ["linux"]
    a_burst_of_signals_is_survived
    an_ordinary_command_ends_and_so_does_backoff
    no_attempt_follows_a_signal_even_if_the_command_fails_by_itself
    backoff_waits_for_a_command_that_cleans_up_or_ignores_the_signal
    kill_follows_only_an_explicit_kill_after
    the_whole_group_gets_it
    a_reload_reaches_the_command_alone
    a_crash_after_a_reload_is_retried
    a_command_that_exits_as_if_it_had_died_of_hup_is_not_retried
    a_signal_to_the_group_of_backoff_reaches_the_command_once
    a_stopped_command_is_continued_to_hear_its_end
    tstp_stops_both_and_cont_resumes_both
    time_spent_stopped_is_no_silence
    a_stopped_job_ends_by_the_signal_that_came_meanwhile
    during_a_wait_a_signal_ends_backoff_at_once
    other_signals_neither_end_nor_shorten_nor_lengthen_a_wait
    usr1_ends_a_wait_and_only_that
    a_stop_during_a_wait_stops_backoff_and_runs_nothing
    a_signal_that_the_caller_ignores_stays_ignored
    a_signal_that_the_caller_blocks_is_heard
    a_killed_backoff_leaves_no_command_behind_not_even_a_stopped_one
    at_any_instant_a_signal_is_heard_and_nothing_runs_after_it
    a_full_standard_error_does_not_hold_up_a_run_that_a_signal_has_ended
    the_ci_way_of_cancelling_ends_everything
    a_command_is_signalled_once_in_its_group_and_out_of_it
}

const ENDING: [Signal; 4] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];

/// Starts the probe under backoff. Returns the run and the probe's PID.
fn probe_under_backoff(options: &str, args: &str) -> (Live, i32) {
    let mut live = backoff(format!("{options} -- {} {args}", probe())).live();
    let pid = live.pid_of_probe();
    (live, pid)
}

/// Starts a run of a script, and waits until the script prints "ready".
fn ready(options: &str, script: &str) -> Live {
    let mut live = backoff(format!("{options} -- bash -c")).arg(script).live();
    live.expect_line("ready");
    live
}

/// Waits until backoff and the process are stopped.
#[track_caller]
fn both_stop(live: &Live, pid: i32) {
    eventually("both stop", || {
        (state(pid), state(live.pid())) == (Some('T'), Some('T'))
    });
}

/// Waits until no child is left and backoff sleeps.
#[track_caller]
pub fn wait_until_waiting(live: &Live) {
    eventually("backoff waits", || {
        children_of(live.pid()).is_empty() && is_asleep(live)
    });
}

/// Returns true if backoff has installed its signal handlers and sleeps.
fn is_asleep(live: &Live) -> bool {
    is_named(live.pid(), "backoff") && hears_signals(live.pid()) && state(live.pid()) == Some('S')
}

fn each_signal_is_forwarded_once() {
    let (mut live, pid) = probe_under_backoff("", "signals");
    // Job control signals and SIGCHLD have their own tests. Others keep their default action.
    let forwarded = [1, 2, 3, 10, 12, 13, 14, 15, 23, 24, 25, 26, 27, 28, 29];
    for signal in forwarded {
        clean("kill")
            .arg(format!("-{signal}"))
            .arg(live.pid().to_string())
            .code(0);
        live.expect_line(&signal.to_string());
    }
    send(pid, SIGKILL);
    drop(live.killed_by(SIGKILL).texts());
}

fn a_burst_of_signals_is_survived() {
    let (live, _) = probe_under_backoff("-qq", "signals 5");
    for _ in 0..100 {
        for signal in [SIGUSR1, SIGUSR2, SIGWINCH] {
            live.signal(signal);
        }
    }
    live.signal(SIGTERM);
    live.code(5).stdout("...\n15\n");
}

fn an_ordinary_command_ends_and_so_does_backoff() {
    for signal in ENDING {
        let (live, pid) = probe_under_backoff("-b 1ms", "sleep");
        live.signal(signal);
        live.killed_by(signal);
        assert!(!is_alive(pid));
    }
}

fn no_attempt_follows_a_signal_even_if_the_command_fails_by_itself() {
    let (live, _) = probe_under_backoff("-n 9 -b 1ms", "signals 7");
    live.signal(SIGTERM);
    let says = "backoff: probe: interrupted by SIGTERM; no further attempt\n";
    live.code(7).stdout("15\n").stderr(says);
}

fn backoff_waits_for_a_command_that_cleans_up_or_ignores_the_signal() {
    for (script, code, prints) in [
        (
            "trap 'sleep 0.3; echo cleaned; exit 4' TERM; echo ready; while :; do sleep 0.01; done 2>&-",
            4,
            "cleaned\n",
        ),
        ("trap '' TERM; echo ready; sleep 0.5; exit 3", 3, ""),
    ] {
        let live = ready("-qq", script);
        live.signal(SIGTERM);
        live.code(code).stdout(prints);
    }
}

fn kill_follows_only_an_explicit_kill_after() {
    let live = ready(
        "-qq -k 100ms",
        "trap '' TERM; echo ready; while :; do sleep 0.01; done 2>&-",
    );
    live.signal(SIGTERM);
    live.killed_by(SIGKILL);
}

fn the_whole_group_gets_it() {
    let mut live = backoff("-- bash -c 'sleep 60 & echo $!; wait'").live();
    let grandchild = live.number();
    live.signal(SIGTERM);
    live.killed_by(SIGTERM);
    eventually("the grandchild ends", || !is_alive(grandchild));
}

/// These signals make a supervisor reload, but would kill its workers.
fn a_reload_reaches_the_command_alone() {
    let script = r#"$| = 1; my $who = fork ? "main" : "worker";
        $SIG{$_} = sub { print "$who $_[0]\n" } for qw(HUP USR1 USR2 WINCH ALRM);
        print "ready\n"; sleep 1 while 1"#;
    let mut live = backoff("-qq -- perl -e").arg(script).live();
    live.expect_line("ready");
    live.expect_line("ready");
    for signal in [SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM] {
        live.signal(signal);
        live.expect_line(&format!("main {}", &signal.as_str()["SIG".len()..]));
    }
    live.signal(SIGTERM);
    live.killed_by(SIGTERM).stdout("");
}

fn a_crash_after_a_reload_is_retried() {
    let script = "trap 'echo reloaded' HUP; trap 'exit 1' USR1; echo ready; while :; do sleep 0.01; done 2>&-";
    let mut live = ready("-qq -n 2 -b 1ms -k 1ms", script);
    for again in ["ready", ""] {
        live.signal(SIGHUP);
        live.expect_line("reloaded");
        live.signal(SIGUSR1);
        if !again.is_empty() {
            live.expect_line(again);
        }
    }
    live.code(1).stdout("");
}

fn a_command_that_exits_as_if_it_had_died_of_hup_is_not_retried() {
    let script = "trap 'exit 129' HUP; echo ready; while :; do sleep 0.01; done 2>&-";
    let live = ready("-n 9 -b 1ms", script);
    live.signal(SIGHUP);
    live.code(129).stdout("").stderr("");
}

fn a_signal_to_the_group_of_backoff_reaches_the_command_once() {
    let (mut live, _) = probe_under_backoff("", "signals 0");
    send(-live.pid(), SIGUSR1);
    live.expect_line("10");
    send(-live.pid(), SIGTERM);
    live.code(0).stdout("15\n");
}

fn a_stopped_command_is_continued_to_hear_its_end() {
    let (live, pid) = probe_under_backoff("-qq", "signals 6");
    send(pid, SIGSTOP);
    eventually("the command stops", || state(pid) == Some('T'));
    live.signal(SIGTERM);
    live.code(6).stdout("...\n15\n...");
}

fn tstp_stops_both_and_cont_resumes_both() {
    let (live, pid) = probe_under_backoff("", "sleep");
    for _ in 0..2 {
        live.signal(SIGTSTP);
        both_stop(&live, pid);
        live.signal(SIGCONT);
        eventually("both go on", || {
            (state(pid), state(live.pid())) == (Some('S'), Some('S'))
        });
    }
    live.signal(SIGTERM);
    live.killed_by(SIGTERM);
}

fn time_spent_stopped_is_no_silence() {
    // The limit of 4 s counts the time before and after the stop.
    let began = Instant::now();
    let (live, pid) = probe_under_backoff("-qq -n 1 -i 4s", "sleep");
    std::thread::sleep(Duration::from_secs(1));
    live.signal(SIGTSTP);
    both_stop(&live, pid);
    let before = began.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    let continued = Instant::now();
    live.signal(SIGCONT);
    live.code(124);
    let silent = before + continued.elapsed();
    assert!(silent >= Duration::from_secs(4), "{silent:?}");
}

/// When a terminal hangs up, a stopped job is sent SIGHUP and then SIGCONT.
fn a_stopped_job_ends_by_the_signal_that_came_meanwhile() {
    for signal in [SIGHUP, SIGTERM] {
        let (live, pid) = probe_under_backoff("", "sleep");
        live.signal(SIGTSTP);
        both_stop(&live, pid);
        live.signal(signal);
        live.signal(SIGCONT);
        eventually("the command ends", || !is_alive(pid));
        live.killed_by(signal);
    }
}

fn during_a_wait_a_signal_ends_backoff_at_once() {
    for signal in ENDING {
        let live = ready("-qq -b 60s -m 60s", "echo ready; exit 1");
        wait_until_waiting(&live);
        live.signal(signal);
        live.killed_by(signal);
    }
    for option in ["--initial-delay", "--splay"] {
        let live = backoff(format!("-qq {option} 1h -- echo no")).live();
        wait_until_waiting(&live);
        live.signal(SIGTERM);
        live.killed_by(SIGTERM);
    }
}

fn other_signals_neither_end_nor_shorten_nor_lengthen_a_wait() {
    let began = Instant::now();
    let live = ready("-qq -g constant -j none -b 5s -n 2", "echo ready; exit 1");
    wait_until_waiting(&live);
    let mut last_signal = began;
    while began.elapsed() < Duration::from_secs(3) {
        for signal in [SIGWINCH, SIGCONT, SIGCHLD, SIGUSR2, SIGALRM] {
            live.signal(signal);
        }
        last_signal = Instant::now();
        std::thread::sleep(Duration::from_millis(50));
    }
    live.code(1).stdout("ready\n");
    assert!(began.elapsed() >= Duration::from_secs(5));
    // A wait that each signal restarted would end five seconds after the last signal.
    assert!(last_signal.elapsed() < Duration::from_secs(5));
}

fn usr1_ends_a_wait_and_only_that() {
    let script = "trap 'echo told' USR1; echo $BACKOFF_ATTEMPT; [ $BACKOFF_ATTEMPT = 1 ] || { sleep 0.5 & wait; wait; }; exit 1";
    let mut live = backoff("-v --every 5m -n 3 -- sh -c").arg(script).live();
    live.expect_line("1");
    wait_until_waiting(&live);
    live.signal(SIGUSR1);
    live.expect_line("2");
    // During an attempt, backoff forwards SIGUSR1, and the next wait is not shortened.
    live.signal(SIGUSR1);
    live.expect_line("told");
    wait_until_waiting(&live);
    live.signal(SIGUSR1);
    let (stdout, stderr) = live.code(1).texts();
    assert_eq!(stdout, "3\n");
    assert_eq!(
        stderr
            .matches("backoff: sh: SIGUSR1 ended the wait\n")
            .count(),
        2,
        "{stderr}"
    );

    let live = backoff("--initial-delay 5m -- echo here").live();
    wait_until_waiting(&live);
    live.signal(SIGUSR1);
    live.code(0).stdout("here\n");
}

fn a_stop_during_a_wait_stops_backoff_and_runs_nothing() {
    // The wait is long enough for a slow machine to stop backoff, and is over when backoff continues.
    let live = ready("-qq -g constant -j none -b 3s -n 2", "echo ready; exit 1");
    let began = Instant::now();
    wait_until_waiting(&live);
    live.signal(SIGTSTP);
    eventually("backoff stops", || state(live.pid()) == Some('T'));
    sleep_until(began, Duration::from_millis(3200));
    assert_eq!(state(live.pid()), Some('T'));
    live.signal(SIGCONT);
    live.code(1).stdout("ready\n");
}

/// This is how nohup ignores SIGHUP.
fn a_signal_that_the_caller_ignores_stays_ignored() {
    for (signal, name) in [(SIGHUP, "HUP"), (SIGINT, "INT"), (SIGTERM, "TERM")] {
        let dir = tempfile::tempdir().unwrap();
        let sent = within(&dir, "sent");
        let script = format!(
            "trap '' {name}; exec setsid backoff -b 1ms -n 2 \
             -- sh -c 'echo $$; until test -e {sent}; do sleep 0.01; done; exit 3'"
        );
        let mut live = shell(&script).live();
        let command = live.number();
        live.signal(signal);
        send(command, signal);
        std::fs::write(&sent, "").unwrap();
        // Both ignore the signal, so the attempt fails by itself and is retried.
        live.code(3)
            .stdout("...\n")
            .says("attempt 1 of 2 failed: exit 3");
    }
}

fn a_signal_that_the_caller_blocks_is_heard() {
    let script = "perl -e 'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(15)); exec @ARGV' \
                  setsid backoff -qq -b 60s -m 60s -- sh -c 'echo ready; exit 1'";
    let mut live = shell(script).live();
    live.expect_line("ready");
    wait_until_waiting(&live);
    live.signal(SIGTERM);
    live.killed_by(SIGTERM);
}

fn a_killed_backoff_leaves_no_command_behind_not_even_a_stopped_one() {
    if !IS_LINUX {
        // Other kernels do not kill the command.
        return;
    }
    for words in [
        "-- sh -c 'exec sleep 60'",
        "--on-give-up 'exec sleep 60' -n 1 -- false",
    ] {
        for is_stopped in [false, true] {
            let live = backoff(format!("-qq {words}")).live();
            let pid = sleeping_child(live.pid());
            if is_stopped {
                send(pid, SIGSTOP);
                eventually("it stops", || state(pid) == Some('T'));
            }
            live.signal(SIGKILL);
            eventually("it ends", || !is_alive(pid));
        }
    }
}

fn at_any_instant_a_signal_is_heard_and_nothing_runs_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let read = || std::fs::read_to_string(&log).unwrap_or_default();
    for round in 0..60 {
        let script = format!("echo $$ >>{log}; exit 1");
        let mut live = backoff("-qq -n unlimited -b 0 -m 0 -- sh -c")
            .arg(script)
            .live();
        std::thread::sleep(Duration::from_micros(300 * round));
        live.signal(SIGTERM);
        assert!(!live.status().success());
        let (pid, after) = (live.pid(), read());
        // The output ends when the last process that holds it exits.
        live.output();
        assert_eq!(read(), after, "an attempt ran after {pid} had gone");
    }
}

fn a_full_standard_error_does_not_hold_up_a_run_that_a_signal_has_ended() {
    for options in [
        "-b 1ms -- false",
        "-v -b 1m -m 1m -- false",
        "--log-format json -b 1m -m 1m -- false",
        "--log-format json -- sleep 60",
        "-v --report /dev/stderr -- sleep 60",
        "-qq --report /dev/stderr -- sleep 60",
        "-qq --report /nonexistent/report -- sleep 60",
    ] {
        // The pipe remains full, as sleep holds its reading end and does not read.
        let fill = "exec 3> >(exec sleep 60); echo $!; head -c 65536 /dev/zero >&3";
        let mut live = shell(&format!("{fill}; exec setsid backoff {options} 2>&3")).live();
        let holder = live.number();
        eventually("backoff is up", || is_asleep(&live));
        // The signal may come at any time. After this pause, backoff is waiting for its reader or the command.
        std::thread::sleep(Duration::from_millis(200));
        live.signal(SIGTERM);
        let status = live.status();
        send(holder, SIGKILL);
        assert!(!status.success(), "{options}: {status:?}");
    }
}

/// CI sends SIGINT, then SIGTERM, then SIGKILL, only to backoff. Asserts that SIGTERM ends the run.
fn the_ci_way_of_cancelling_ends_everything() {
    let script = "trap 'echo got INT' INT; echo ready; while :; do sleep 0.01; done 2>&-";
    let mut live = ready("-qq", script);
    live.signal(SIGINT);
    live.expect_line("got INT");
    live.signal(SIGTERM);
    live.killed_by(SIGTERM);
}

fn a_command_is_signalled_once_in_its_group_and_out_of_it() {
    let script = "$| = 1; $SIG{$_} = sub { $got++ } for qw(TERM INT HUP QUIT USR1); \
                  $SIG{HIGHEST} = sub { select undef, undef, undef, 0.05 until $got; print \"$got\\n\"; exit 5 }; eval shift; print \"ready\\n\"; sleep 1 while 1";
    let script = script.replace("HIGHEST", &HIGHEST.as_str()["SIG".len()..]);
    for leaves in ["", "setpgrp(0, getppid())"] {
        for signal in ENDING.into_iter().chain([SIGUSR1]) {
            let mut live = backoff("-n 1 -qq -- perl -e")
                .args([script.as_str(), leaves])
                .live();
            live.expect_line("ready");
            live.signal(signal);
            // backoff forwards signals in order, but perl may handle the last one first.
            live.signal(HIGHEST);
            live.code(5).stdout("1\n");
        }
    }
}
