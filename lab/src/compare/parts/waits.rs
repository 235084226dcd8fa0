//! How late the next attempt comes after a wait, beyond what a retry costs without one.

use std::time::Duration;

use crate::Result;
use crate::compare::goals::Goal;
use crate::compare::stamps::{Runner, gaps};
use crate::compare::tools::Tool;
use crate::compare::{Bench, Figures};
use crate::measure::{in_turns, median, quantile, sorted};
use crate::table::{Table, digits};

/// Milliseconds, and how many waits in a round. Without a wait there is still the time that a retry takes.
const WAITS: [(u64, usize); 3] = [(0, 50), (10, 20), (100, 5)];

pub fn measure(bench: &Bench) -> Result<Figures> {
    let title = "How late an attempt starts after a wait, in us: median, and 99 of 100 are no later";
    let mut table = Table::new("waits", title, &["tool", "after 10 ms", "p99", "after 100 ms", "p99"]);
    let (mut floor, mut of_static) = (None, None);
    for (runner, [short, long]) in late(bench)? {
        let at = |by: &[f64], share| digits(quantile(by, share));
        let cells = [at(&short, 0.5), at(&short, 0.99), at(&long, 0.5), at(&long, 0.99)];
        table.row([runner.title().to_owned()].into_iter().chain(cells));
        let late = quantile(&short, 0.5);
        match runner {
            Runner::Floor => floor = Some(late),
            Runner::Tool(tool) if tool.is_static() => of_static = Some(late),
            Runner::Tool(_) => {}
        }
    }
    let more = of_static
        .zip(floor)
        .map(|(own, floor)| format!("{:.0} us", own - floor));
    let what = "a wait of 10 ms, later than the machine itself by (median)";
    Ok(Figures {
        tables: vec![table],
        goals: vec![Goal::new(what, "60 us", more)],
    })
}

/// By how many microseconds after 10 and after 100 ms, sorted.
fn late(bench: &Bench) -> Result<Vec<(Runner, [Vec<f64>; 2])>> {
    let rounds = bench.rounds(20, 1);
    let mut runners = vec![Runner::Floor];
    let short = Duration::from_millis(1);
    let waits = |tool: &&Tool| tool.wrap(2, short, &[]).is_some();
    runners.extend(bench.tools.iter().filter(waits).cloned().map(Runner::Tool));
    let mut cells = Vec::new();
    for runner in &runners {
        cells.extend(WAITS.map(|(length, count)| (runner, Duration::from_millis(length), count)));
    }
    let taken = in_turns(&cells, 0, rounds, |(runner, wait, count)| {
        let count = if bench.options.quick { count.div_ceil(5) } else { *count };
        gaps(bench, runner, count, *wait)
    })?;
    let of_runner = taken.chunks(WAITS.len()).map(|own| {
        let usual = median(own[0].concat());
        let late = |i: usize| {
            let wait = Duration::from_millis(WAITS[i].0).as_secs_f64();
            sorted(own[i].concat().into_iter().map(|gap| 1e6 * (gap - usual - wait)))
        };
        [late(1), late(2)]
    });
    let late = of_runner.collect::<Vec<_>>();
    Ok(runners.into_iter().zip(late).collect())
}
