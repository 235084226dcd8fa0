//! How late the next attempt comes after a wait, beyond what a retry costs without one.

use std::time::Duration;

use crate::Result;
use crate::compare::columns::{Column, FLOOR};
use crate::compare::stamps::{Runner, gaps};
use crate::compare::tools::Tool;
use crate::compare::{Bench, Figures};
use crate::measure::{Spread, in_turns, median};

/// Milliseconds, and how many waits in a round. Without a wait there is still the time that a retry takes.
const WAITS: [(u64, usize); 3] = [(0, 50), (10, 20), (100, 6)];

pub fn measure(bench: &Bench) -> Result<Figures> {
    let mut columns = [
        Column::new("us later than the machine, after 10 ms", "30"),
        Column::new("us later than the machine, after 100 ms", "60"),
    ];
    let (machine, tools) = late(bench)?;
    for (i, column) in columns.iter_mut().enumerate() {
        column.set(FLOOR, format!("{:.0} late", median(machine[i].clone())));
        for (tool, late) in &tools {
            let over = Spread::of(late[i].iter().zip(&machine[i]).map(|(own, machine)| own - machine));
            column.set(
                tool.title,
                format!("{:.0} ({:.0} to {:.0})", over.median, over.low, over.high),
            );
        }
    }
    let scale = "How much later an attempt comes after a wait is what a tool is late by, less what the machine itself is \
                 late by in the same round.";
    Ok(Figures {
        columns: columns.into(),
        scales: vec![scale.to_owned()],
        tables: Vec::new(),
    })
}

/// Microseconds by round, after 10 and after 100 ms.
type Late = [Vec<f64>; 2];

/// By how much the machine itself is late, and each tool.
fn late(bench: &Bench) -> Result<(Late, Vec<(Tool, Late)>)> {
    let rounds = bench.rounds(30, 1);
    let short = Duration::from_millis(1);
    let tools = bench.tools.iter().filter(|tool| tool.wrap(2, short, &[]).is_some());
    let runners: Vec<Runner> = [Runner::Floor]
        .into_iter()
        .chain(tools.cloned().map(Runner::Tool))
        .collect();
    let mut cells = Vec::new();
    for runner in &runners {
        cells.extend(WAITS.map(|(length, count)| (runner, Duration::from_millis(length), count)));
    }
    let taken = in_turns(&cells, 0, rounds, |(runner, wait, count)| {
        let count = if bench.options.quick { count.div_ceil(5) } else { *count };
        Ok(median(gaps(bench, runner, count, *wait)?))
    })?;
    let (mut machine, mut of_tools) = (Late::default(), Vec::new());
    for (runner, own) in runners.into_iter().zip(taken.chunks(WAITS.len())) {
        let late = [1, 2].map(|i| {
            let wait = Duration::from_millis(WAITS[i].0).as_secs_f64();
            let rounds = own[i].iter().zip(&own[0]);
            rounds.map(|(gap, usual)| 1e6 * (gap - usual - wait)).collect()
        });
        match runner {
            Runner::Floor => machine = late,
            Runner::Tool(tool) => of_tools.push((tool, late)),
        }
    }
    Ok((machine, of_tools))
}
