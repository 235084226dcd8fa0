//! How late the next attempt comes after a wait, beyond what a retry costs without one.

use std::time::Duration;

use crate::Result;
use crate::compare::columns::{Column, FLOOR};
use crate::compare::stamps::{Runner, gaps};
use crate::compare::tools::Tool;
use crate::compare::{Bench, Figures};
use crate::measure::{in_turns, median, quantile, sorted};
use crate::table::digits;

/// Milliseconds, and how many waits in a round. Without a wait there is still the time that a retry takes.
const WAITS: [(u64, usize); 3] = [(0, 50), (10, 20), (100, 5)];

pub fn measure(bench: &Bench) -> Result<Figures> {
    let mut columns = [
        Column::new("us late after 10 ms", "60 over the machine"),
        Column::new("us late after 100 ms", "-"),
    ];
    for (runner, late) in late(bench)? {
        let line = match runner {
            Runner::Floor => FLOOR,
            Runner::Tool(tool) => tool.title,
        };
        for (column, by) in columns.iter_mut().zip(late) {
            let (median, slowest) = (quantile(&by, 0.5), quantile(&by, 0.99));
            column.set(line, format!("{} ({})", digits(median), digits(slowest)));
        }
    }
    let scale = "How late an attempt comes after a wait is the median (p99).";
    Ok(Figures {
        columns: columns.into(),
        scales: vec![scale.to_owned()],
        tables: Vec::new(),
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
