//! The orders that `docs/storm.md` states of an overload after an outage.

use std::time::Duration;

use super::seeded;
use crate::storm::figures::ways;
use crate::storm::sim::recovery::{Course, Scene};

fn courses(load: f64) -> Vec<(&'static str, Course)> {
    let scene = Scene {
        load,
        outage: Duration::from_secs(60),
        after: Duration::from_secs(120),
        base: Duration::from_millis(500),
        cap: Duration::from_secs(30),
    };
    ways()
        .into_iter()
        .map(|(name, sharing)| (name, scene.run(sharing, &mut seeded(1))))
        .collect()
}

#[test]
fn a_budget_ends_an_overload_and_a_growing_share_shortens_it_for_a_price_at_most() {
    let [nothing, budget, cool_off, rest @ ..] = &courses(0.8)[..] else {
        panic!("there are fewer ways");
    };
    assert!(nothing.1.overload > Duration::from_secs(100), "{nothing:?}");
    assert!(budget.1.overload < Duration::from_secs(2), "{budget:?}");
    // What it has collected comes back together.
    assert!(cool_off.1.overload > budget.1.overload, "{cool_off:?}");
    assert!(cool_off.1.gave_up < nothing.1.gave_up, "{cool_off:?}");
    // Not by more than a tenth, but for a price.
    for share in rest {
        let is_paid_for = share.1.took.mean() > 2 * cool_off.1.took.mean();
        assert!(
            share.1.overload * 10 >= cool_off.1.overload * 9 || is_paid_for,
            "{share:?}"
        );
    }
}

#[test]
fn every_run_ends_in_one_way() {
    for (name, course) in courses(0.5) {
        // Those that began in the outage and after it, at 25 a second.
        let ended = course.succeeded + course.gave_up;
        assert!((4_200..4_800).contains(&ended), "{name}: {course:?}");
    }
}
