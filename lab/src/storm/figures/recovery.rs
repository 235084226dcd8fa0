//! How long an overload lasts after an outage: with what there is, and with a share of runs that grows.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use backoff_cli::policy::budget::Terms;

use super::{SEED, seeded};
use crate::Result;
use crate::storm::sim::recovery::{Scene, Sharing};

const RUNS: u32 = 5;
const SECOND: Duration = Duration::from_secs(1);

/// The default terms.
const TERMS: Terms = Terms {
    ratio: 100_000,
    min: 10,
    window: Duration::from_secs(600),
};

pub fn ways() -> [(&'static str, Sharing); 6] {
    let sharing = |budget, cool_off, recover: u32| Sharing {
        budget,
        cool_off,
        recover: recover * SECOND,
    };
    [
        ("nothing", sharing(None, false, 0)),
        ("budget", sharing(Some(TERMS), false, 0)),
        ("budget and cool-off", sharing(Some(TERMS), true, 0)),
        ("the same, share grows for 5 s", sharing(Some(TERMS), true, 5)),
        ("the same, share grows for 30 s", sharing(Some(TERMS), true, 30)),
        ("the same, share grows for 300 s", sharing(Some(TERMS), true, 300)),
    ]
}

pub fn recovery(into: &Path) -> Result<()> {
    let mut csv = String::from("base_ms,cap_s,outage_s,load,shared,overload_s,failed,gave_up,succeeded,took_mean_s\n");
    for (base, cap, outage, loads) in [(500, 30, 300, [0.5, 0.8, 0.95]), (20_000, 600, 900, [0.1, 0.2, 0.5])] {
        for load in loads {
            let scene = Scene {
                load,
                outage: outage * SECOND,
                after: 3 * outage * SECOND,
                base: Duration::from_millis(base),
                cap: cap * SECOND,
            };
            println!("\nbase {base} ms, cap {cap} s, outage {outage} s, load {load}, runs: {RUNS}\n");
            println!(
                "| shared | overload in s | calls failed | runs given up | took in s |\n|---|---:|---:|---:|---:|"
            );
            for (name, sharing) in ways() {
                let row = mean(scene, sharing);
                let [overload, failed, gave_up, succeeded, took] = row;
                println!("| {name} | {overload:.1} | {failed:.0} | {gave_up:.0} | {took:.2} |");
                writeln!(
                    csv,
                    "{base},{cap},{outage},{load},{name},{overload:.2},{failed:.1},{gave_up:.1},{succeeded:.1},{took:.3}"
                )?;
            }
        }
    }
    fs::write(into.join("recovery.csv"), csv)?;
    Ok(())
}

/// Overload in seconds, failed calls, runs that gave up and that succeeded, and how long those took.
fn mean(scene: Scene, sharing: Sharing) -> [f64; 5] {
    let mut sum = [0.0; 5];
    for i in 0..RUNS {
        let course = scene.run(sharing, &mut seeded(SEED + u64::from(i)));
        let figures = [
            course.overload.as_secs_f64(),
            course.failed as f64,
            course.gave_up as f64,
            course.succeeded as f64,
            course.took.mean().as_secs_f64(),
        ];
        for (sum, figure) in sum.iter_mut().zip(figures) {
            *sum += figure / f64::from(RUNS);
        }
    }
    sum
}
