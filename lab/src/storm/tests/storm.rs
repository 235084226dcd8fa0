//! Compares the jitters in storms, and checks the course of a storm.

use std::time::Duration;

use super::{expect_near, ms, named, seeded};
use crate::storm::sim::course::Course;
use crate::storm::sim::storm::{self, Storm};

fn run(storm: &Storm, jitter: &str, seed: u64) -> Course {
    storm.run(&named(storm::jitters(), jitter), &mut seeded(seed))
}

/// Returns the mean of a figure over storms of the same kind.
fn mean(storm: &Storm, jitter: &str, runs: u64, figure: impl Fn(&Course) -> f64) -> f64 {
    let sum: f64 = (0..runs)
        .map(|seed| figure(&run(storm, jitter, seed)))
        .sum();
    sum / runs as f64
}

/// Returns a storm whose outage lasts until the horizon.
fn outage(clients: u32) -> Storm {
    Storm {
        outage: ms(5_000),
        horizon: ms(5_000),
        ..Storm::of(clients)
    }
}

/// Returns the number of calls from one millisecond until another.
fn calls(course: &Course, from: u64, until: u64) -> u32 {
    course.slots(ms(from), ms(until)).iter().sum()
}

#[test]
fn without_jitter_a_hundred_clients_come_in_waves_of_a_hundred() {
    let course = run(&outage(100), "none", 1);
    // 100 ms of calls after 100, 200, 400, ... ms of silence.
    let mut begins = 0;
    for wait in [100, 200, 400, 800, 1600] {
        assert_eq!(calls(&course, begins, begins + 100), 100);
        assert_eq!(calls(&course, begins + 100, begins + wait), 0);
        begins += wait;
    }
}

/// Counts from 1 s on: earlier waits are too short to spread clients that came within 100 ms.
fn mean_peak(clients: u32, jitter: &str) -> f64 {
    mean(&outage(clients), jitter, 40, |course| {
        f64::from(course.peak(ms(1_000), ms(5_000)))
    })
}

#[test]
fn the_order_of_the_peaks() {
    for (clients, much) in [(100, 2.0), (1_000, 3.0)] {
        let none = mean_peak(clients, "none");
        let equal = mean_peak(clients, "equal");
        let full = mean_peak(clients, "full");
        let decorrelated = mean_peak(clients, "decorrelated");
        assert!(none > much * equal, "{clients}: {none} {equal}");
        assert!(
            equal > full && equal > decorrelated,
            "{clients}: {equal} {full} {decorrelated}"
        );
    }
}

/// Returns the coefficient of variation of the sum of a client's first four waits.
fn variation(jitter: &str) -> f64 {
    mean(&Storm::of(1_000), jitter, 5, |course| {
        assert_eq!(course.waits.count(), 1_000);
        course.waits.deviation().as_secs_f64() / course.waits.mean().as_secs_f64()
    })
}

#[test]
fn the_order_of_the_variations() {
    let equal = variation("equal");
    let full = variation("full");
    assert!(variation("none") < 1e-9);
    // Independent uniform waits: sqrt(sum of widths^2 / 12) / sum of means.
    let widths = f64::from(1 + 4 + 16 + 64).sqrt() / 12_f64.sqrt();
    expect_near("equal", equal, widths / 2.0 / (0.75 * 15.0), 0.05);
    expect_near("full", full, widths / (0.5 * 15.0), 0.05);
    assert!(variation("decorrelated") > full);
}

#[test]
fn a_storm_drains_at_the_pace_of_the_service_at_best() {
    for jitter in storm::jitters().map(|jitter| jitter.name) {
        let storm = Storm::of(500);
        let course = run(&storm, jitter, 3);
        assert_eq!(
            (course.served.count(), course.denied, course.left),
            (500, 0, 0),
            "{jitter}"
        );
        // 100 calls a second: 500 take 5 s, minus one call that is accepted at once.
        let drained = course.drained.unwrap();
        assert!(drained >= ms(4_990), "{jitter}: {drained:?}");
        // In waves of 100 ms, 30 s apart, each wave has at most 11 successes.
        let is_slow = drained > Duration::from_secs(30 * 40);
        assert_eq!(is_slow, jitter == "none", "{jitter}: {drained:?}");
    }
}

#[test]
fn a_service_that_stays_down_serves_nobody() {
    let course = run(&outage(50), "full", 1);
    assert_eq!(
        (course.drained, course.served.count(), course.left),
        (None, 0, 50)
    );
    let never = Storm {
        capacity: 0,
        horizon: ms(20_000),
        ..Storm::of(50)
    };
    assert_eq!(run(&never, "full", 1).left, 50);
}

#[test]
fn a_budget_ends_the_storm_and_serves_nobody() {
    for jitter in storm::jitters().map(|jitter| jitter.name) {
        let storm = Storm {
            budget: Some(storm::TERMS),
            ..Storm::of(1_000)
        };
        let course = run(&storm, jitter, 1);
        assert_eq!((course.denied, course.left), (1_000, 0), "{jitter}");
        // 1,000 first calls allow 111 retries; in addition, each of the first ten attempts may be a retry.
        let retries = course.calls() - 1_000;
        assert!((100..=122).contains(&retries), "{jitter}: {retries}");
        // If all answers of a store come too late, the budget has no effect.
        let step = ms(3_600_000);
        let late = run(&Storm { step, ..storm }, jitter, 1);
        assert_eq!(
            (late.denied, late.unanswered),
            (0, late.calls() - 1_000),
            "{jitter}"
        );
    }
}
