//! The waits of real runs, measured between attempts. Plans are in `tests/cases/waits.md`.

use std::time::Duration;

use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};

use crate::util::process::state;
use crate::util::{Ends, backoff, eventually, probe, within};

tests! {
    the_waits_are_kept
    the_schedules_of_the_documents
    a_wait_past_the_deadline_is_not_started
    an_initial_delay_comes_before_the_first_attempt
    a_splay_is_bounded_and_random
    no_attempt_starts_if_the_deadline_passes_during_the_first_wait
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn s(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn now() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    Duration::new(now.tv_sec() as u64, now.tv_nsec() as u32)
}

/// The times of a finished run.
#[derive(Debug)]
struct Stamped {
    stderr: String,
    /// From the start of backoff to the first attempt.
    first: Duration,
    /// From the start of each attempt to the start of the next.
    gaps: Vec<Duration>,
}

/// Runs the probe with these options. Each attempt exits with `code`.
fn stamp(options: &str, code: i32) -> Stamped {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "stamps");
    let mut command = backoff(format!("{options} -- {} stamp {file} {code}", probe()));
    let began = now();
    let stderr = command.code(code).err();
    let stamps: Vec<Duration> = std::fs::read_to_string(&file)
        .unwrap()
        .lines()
        .map(|line| Duration::from_nanos(line.parse().unwrap()))
        .collect();
    let gaps = stamps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Stamped {
        stderr,
        first: stamps[0] - began,
        gaps,
    }
}

/// How late a wait may end on a busy machine.
const LATE: Duration = Duration::from_secs(20);

/// Asserts that each gap is at least its wait and not much longer.
#[track_caller]
fn expect_gaps(options: &str, code: i32, waits: &[u64]) -> Stamped {
    let stamped = stamp(options, code);
    assert_eq!(stamped.gaps.len(), waits.len(), "{stamped:#?}");
    for (gap, wait) in stamped.gaps.iter().zip(waits) {
        let is_kept = *gap >= ms(*wait) && *gap < ms(*wait) + LATE;
        assert!(is_kept, "{stamped:#?}");
    }
    stamped
}

/// Asserts that the first attempt starts after `least`, and not long after `most`. Returns the delay.
#[track_caller]
fn expect_first(options: &str, least: Duration, most: Duration) -> Duration {
    let first = stamp(options, 0).first;
    assert!(first >= least && first < most + LATE, "{options}: {first:?}");
    first
}

fn the_waits_are_kept() {
    for (options, waits) in [
        ("-j none -b 20ms -n 5", &[20, 40, 80, 160][..]),
        ("-j none -b 20ms -m 50ms -n 5", &[20, 40, 50, 50]),
        ("-j none -b 20ms -g fibonacci -n 6", &[20, 20, 40, 60, 100]),
        ("-j none -b 20ms -g linear -n 4", &[20, 40, 60]),
        ("-j none -b 20ms -g constant -n 4", &[20, 20, 20]),
        ("-j none --delays 60ms,10ms -n 4", &[60, 10, 10]),
        ("-j equal -b 40ms -n 4", &[20, 40, 80]),
        ("-j additive:20ms -b 20ms -n 4", &[20, 40, 80]),
        ("-j proportional:50% -b 40ms -n 4", &[20, 40, 80]),
        ("-j decorrelated -b 20ms -m 60ms -n 6", &[20; 5]),
        ("-j full -b 20ms -n 4", &[0; 3]),
        ("-b 51.2us -j slotted:10 -n 16", &[0; 15]),
        (
            "-b 10ms -j none -n 99 --stop-at-delay 100ms",
            &[10, 20, 40, 80],
        ),
    ] {
        expect_gaps(options, 7, waits);
    }
    expect_gaps("--consecutive 4 -b 30ms", 0, &[30, 30, 30]);
}

/// Checks the table of schedules: the shortest and longest first waits in seconds, and the number of planned waits.
fn the_schedules_of_the_documents() {
    let page = include_str!("../docs/schedules.md");
    let unlimited = 20;
    for (schedule, waits, count) in [
        (
            "SIP",
            &[(0.5, 0.5), (1., 1.), (2., 2.), (4., 4.), (4., 4.)][..],
            6,
        ),
        (
            "Google Cloud",
            &[
                (1., 2.),
                (2., 3.),
                (4., 5.),
                (8., 9.),
                (16., 17.),
                (32., 33.),
                (64., 64.),
            ],
            unlimited,
        ),
        (
            "Ethernet",
            &[(0., 0.0000512), (0., 0.0001536), (0., 0.0003584)],
            15,
        ),
        ("Clojure", &[(1., 1.), (2., 2.), (4., 4.), (8., 8.)], 4),
        ("AWS SDKs", &[(0., 0.05), (0., 0.1)], 2),
    ] {
        let begin = format!("| {schedule} | `");
        let row = page.lines().find_map(|line| line.strip_prefix(&begin));
        let (options, _) = row.unwrap().split_once('`').unwrap();
        let mut command = backoff(format!("--plan --log-format json {options}"));
        let plan: serde_json::Value = serde_json::from_str(&command.code(0).out()).unwrap();
        let planned: Vec<_> = plan["retries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|retry| {
                (
                    retry["min_s"].as_f64().unwrap(),
                    retry["max_s"].as_f64().unwrap(),
                )
            })
            .collect();
        assert!(planned.starts_with(waits), "{schedule}: {planned:?}");
        assert_eq!(planned.len(), count, "{schedule}");
    }
}

fn a_wait_past_the_deadline_is_not_started() {
    // Builds the probe first, if necessary.
    probe();
    let began = now();
    let stamped = expect_gaps("-j none --delays 10ms,40s -n 9 -d 30s", 7, &[10]);
    assert!(now() - began < s(30), "{stamped:#?}");
    let why = "the next attempt would begin after --deadline";
    assert!(stamped.stderr.contains(why), "{stamped:#?}");
}

fn an_initial_delay_comes_before_the_first_attempt() {
    expect_first("--initial-delay 150ms", ms(150), ms(150));
    expect_first("-n 1", s(0), s(0));
    let stamped = expect_gaps("--initial-delay 150ms -n 2 -j none -b 1ms", 7, &[1]);
    assert!(stamped.first >= ms(150), "{stamped:#?}");
}

fn a_splay_is_bounded_and_random() {
    let seeds = 1..=6;
    let first = |seed| expect_first(&format!("--splay 300ms --seed {seed}"), s(0), ms(300));
    let firsts: Vec<Duration> = seeds.map(first).collect();
    // All six would be below a sixth of the range once in 46,656 tries, and the seeds are fixed.
    assert!(firsts.iter().any(|first| *first >= ms(50)), "{firsts:?}");
    expect_first("--splay 50ms --initial-delay 100ms", ms(100), ms(150));
}

fn no_attempt_starts_if_the_deadline_passes_during_the_first_wait() {
    let live = backoff("--initial-delay 1s -d 2s -- echo started").live();
    eventually("it waits", || state(live.pid()) == Some('S'));
    live.signal(Signal::SIGSTOP);
    std::thread::sleep(s(2));
    live.signal(Signal::SIGCONT);
    live.code(124)
        .stdout("")
        .says("gave up before the first attempt: --deadline 2s has passed");
}
