//! Whole runs in virtual time, from the command line to the exit status.

use std::ffi::OsString;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::cli::parse::{Task, parse};
use crate::config::merge;
use crate::policy::exit::Exit;
use crate::policy::outcome::{End, TimeLimit};
use crate::policy::test_samples::{expect_near, mean, ms, quietly, s, seeded};
use crate::report::reporter::Reporter;
use crate::run::engine;
use crate::run::event::{Event, Moment};
use crate::run::host::RunError;
use crate::run::plan::Identity;
use crate::run::test_host::Script;

/// Result of a whole run.
#[derive(Debug)]
struct Played {
    exit: Result<Exit, RunError>,
    /// The waits between attempts.
    waits: Vec<Duration>,
    /// The wait before the first attempt.
    first: Duration,
    said: String,
    /// Attempts made.
    calls: usize,
}

impl Played {
    #[track_caller]
    fn expect(&self, code: u8, calls: usize, said_last: &str) {
        assert_eq!(self.exit, Ok(Exit::Code(code)), "{self:#?}");
        assert_eq!(self.calls, calls, "{self:#?}");
        let last = self.said.lines().last().unwrap_or_default();
        assert!(last.contains(said_last), "no {said_last:?} in {self:#?}");
    }
}

/// No variables and no files.
struct Nothing;

impl Surroundings for Nothing {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn text_file(&self, _: &str) -> Option<String> {
        None
    }
}

fn plan(words: &[&str], variables: &[(&str, &str)]) -> Plan {
    let words = words.iter().chain(&["--", "cmd"]);
    let words: Vec<OsString> = words.map(OsString::from).collect();
    let variables = variables.iter().chain(&[("BACKOFF_CONFIG", "none")]);
    let variables: Vec<_> = variables
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect();
    let Ok(Task::Run(mut line)) = parse(&words) else {
        panic!("{words:?}")
    };
    let command = std::mem::take(&mut line.command);
    let merged = merge(*line, &variables).unwrap();
    let (plan, _) = super::plan(&merged, command, &variables, &Nothing).unwrap();
    plan
}

fn play_plan(plan: &Plan, attempts: &[(End, Duration)], seed: u64) -> Played {
    let mut calls = 0;
    let mut host = Script::new(attempts.iter().cloned().inspect(|_| calls += 1));
    let identity = Identity {
        run_id: "a run".into(),
        root_id: "a run".into(),
    };
    let mut reporter = Reporter::new(plan, &identity, false);
    let mut lines = |moment: &Moment, event: &Event<'_>| reporter.lines(moment, event);
    let exit = engine::run(plan, &identity, &mut host, &mut seeded(seed), &mut lines);
    let mut waits = std::mem::take(&mut host.waits);
    let said = std::mem::take(&mut host.said);
    drop(host);
    let first = waits.remove(0);
    Played {
        exit,
        waits,
        first,
        said,
        calls,
    }
}

fn play(words: &[&str], attempts: &[(End, Duration)]) -> Played {
    play_plan(&plan(words, &[]), attempts, 12)
}

fn exits(codes: &[u8]) -> Vec<(End, Duration)> {
    codes
        .iter()
        .map(|code| (End::Exited(*code), Duration::ZERO))
        .collect()
}

#[test]
fn a_wait_past_the_deadline_is_given_up_at_once() {
    let tries = vec![(End::Exited(1), s(1)); 20];
    let played = play(&["-j", "none", "-b", "1s", "-n", "20", "-d", "10s"], &tries);
    // The third attempt ends at 6 s. After a wait of 4 s, the fourth attempt would begin at the deadline.
    played.expect(
        1,
        3,
        "gave up after 3 attempts in 6s: exit 1 (the next attempt would begin after --deadline 10s); raise --deadline to allow more",
    );
    assert_eq!(played.waits, [s(1), s(2)]);
    let late = [
        (End::TimedOut(TimeLimit::Deadline), s(10)),
        (End::Exited(0), s(1)),
    ];
    play(&["-d", "10s"], &late).expect(
        124,
        1,
        "gave up after 1 attempt in 10s: ended by the deadline (--deadline 10s)",
    );
    let timed_out = [
        (End::TimedOut(TimeLimit::Timeout), s(3)),
        (End::Exited(0), s(1)),
    ];
    play(&["-t", "3s", "-j", "none"], &timed_out).expect(
        0,
        2,
        "succeeded on attempt 2 of 5 after 4.5s",
    );
}

#[test]
fn a_deadline_alone_leaves_attempts_unlimited() {
    let script = exits(&[1; 40]);
    for words in [
        &["--every", "10s", "-d", "2m"][..],
        &["-j", "none", "-b", "10s", "-g", "constant", "-d", "2m"],
        &["-p", "wait", "--every", "10s", "-d", "2m"],
    ] {
        let played = play(words, &script);
        let limit =
            "(the next attempt would begin after --deadline 2m); raise --deadline to allow more";
        played.expect(1, 12, limit);
        assert_eq!(played.waits, [s(10); 11]);
    }
    let typed = &["-n", "3", "-d", "2m", "--every", "1s"];
    play(typed, &script).expect(1, 3, "(attempt limit reached)");
    // A deadline of 0 means no limit.
    play(&["-d", "0"], &script).expect(1, 5, "(attempt limit reached)");
    let variable = plan(&["--every", "1s"], &[("BACKOFF_DEADLINE", "10s")]);
    assert_eq!(play_plan(&variable, &script, 15).calls, 10);
}

#[test]
fn a_service_is_restarted_for_ever() {
    let mut script = vec![(End::Exited(1), s(3600)); 1000];
    script.push((End::Exited(0), s(1)));
    let played = play(&["-n", "2", "--reset-after", "10m", "-j", "none"], &script);
    assert_eq!(played.exit, Ok(Exit::Code(0)));
    assert_eq!(played.waits, [ms(500); 1000]);
    // Without the option, the second failure is the last.
    play(&["-n", "2", "-j", "none"], &script).expect(1, 2, "gave up after 2 attempts");
}

#[test]
fn confirmations_are_a_base_apart() {
    let played = play(
        &["--consecutive", "3", "-b", "2s", "-n", "9", "-j", "none"],
        &exits(&[0, 0, 1, 0, 0, 0, 1]),
    );
    played.expect(0, 6, "succeeded on attempt 6 of 9 after 10s");
    assert_eq!(played.waits, [s(2); 5]);
}

proptest! {
    #![proptest_config(quietly(100))]

    #[test]
    fn the_wait_before_the_first_is_the_initial_delay_and_a_splay(
        initial in 0..5000_u64, splay in 0..5000_u64, seed in any::<u64>(),
    ) {
        let (initial_text, splay_text) = (format!("{initial}ms"), format!("{splay}ms"));
        let plan = plan(&["--initial-delay", &initial_text, "--splay", &splay_text], &[]);
        let first = play_plan(&plan, &exits(&[0]), seed).first;
        prop_assert!(ms(initial) <= first && first <= ms(initial + splay), "{:?}", first);
    }

    #[test]
    fn a_run_keeps_its_limits(
        attempts in 1..8_u64, deadline in 1..60_u64, jitter in prop::sample::select(vec!["none", "full", "equal", "decorrelated"]),
        script in prop::collection::vec((prop::sample::select(vec![0_u8, 1, 1, 1, 1, 2]), 0..8000_u64), 8..12),
        seed in any::<u64>(),
    ) {
        let script: Vec<_> = script.into_iter().map(|(code, ran)| (End::Exited(code), ms(ran))).collect();
        let (n, d) = (attempts.to_string(), format!("{deadline}s"));
        let plan = plan(&["-n", &n, "-d", &d, "-j", jitter, "--stop-exit", "2"], &[]);
        let played = play_plan(&plan, &script, seed);
        prop_assert!(played.calls as u64 <= attempts);
        prop_assert_eq!(played.waits.len(), played.calls - 1);
        let mut elapsed = Duration::ZERO;
        for ((end, ran), wait) in script.iter().zip(&played.waits) {
            prop_assert_eq!(end, &End::Exited(1));
            elapsed += *ran + *wait;
            prop_assert!(elapsed < s(deadline));
            prop_assert!(*wait <= s(30));
        }
        let (last, _) = &script[played.calls - 1];
        prop_assert_eq!(played.exit, Ok(Exit::Code(last.shell_status())));
    }
}

#[test]
fn a_splay_uses_all_of_its_width() {
    let plan = plan(&["--splay", "10s"], &[]);
    let firsts: Vec<Duration> = (0..2000)
        .map(|seed| play_plan(&plan, &exits(&[0]), seed).first)
        .collect();
    expect_near(mean(firsts.iter().copied()), 5.0, 0.05);
    assert!(*firsts.iter().min().unwrap() < ms(100) && *firsts.iter().max().unwrap() > ms(9900));
}
