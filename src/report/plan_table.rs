//! `--plan`: the waits as a table or as JSON.

use std::time::Duration;

use serde::Serialize;

use super::json::{self, Object};
use super::words::typed_limit;
use crate::policy::delay::generator_of_seed;
use crate::policy::forecast::{End, Row, drawn, forecast};
use crate::run::plan::Plan;
use crate::text::length;

/// A column: its heading and its least width.
type Column = (&'static str, usize);

const RANDOM: [Column; 7] = [
    ("retry", 5),
    ("least", 9),
    ("mean", 9),
    ("most", 9),
    ("mean total", 13),
    ("90% of totals", 20),
    ("most total", 13),
];

/// Columns if no wait is random.
const EXACT: [Column; 3] = [("retry", 5), ("wait", 9), ("total", 13)];

/// Returns the table that `--plan` prints.
pub(crate) fn table(plan: &Plan) -> String {
    let Waits { first, rows, end } = waits(plan);
    first + &columns(&rows) + &reason_for_end(plan, end)
}

/// Returns the rows as columns that are as wide as their longest cell.
fn columns(rows: &[Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let is_exact = rows.iter().all(|row| row.least == row.most);
    let columns: &[Column] = if is_exact { &EXACT } else { &RANDOM };
    let cells = rows.iter().map(|row| {
        let waits = match is_exact {
            true => vec![length(row.mean), length(row.total)],
            false => random_cells(row),
        };
        [vec![row.retry.to_string()], waits].concat()
    });
    let heading = columns.iter().map(|(heading, _)| (*heading).to_owned());
    let lines: Vec<Vec<String>> = [heading.collect()].into_iter().chain(cells).collect();
    let width = |column: usize| {
        let longest = lines.iter().map(|line| line[column].len()).max();
        // Two blanks before each column except the first.
        let blanks = if column == 0 { 0 } else { 2 };
        columns[column].1.max(longest.unwrap_or(0) + blanks)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let aligned = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths);
        cells
            .map(|(cell, width)| format!("{cell:>width$}"))
            .collect::<String>()
            + "\n"
    });
    aligned.collect()
}

fn random_cells(row: &Row) -> Vec<String> {
    vec![
        length(row.least),
        length(row.mean),
        length(row.most),
        length(row.total),
        range(row.totals[0], row.totals[1]),
        length(row.total_most),
    ]
}

/// The output of `--plan --log-format json`.
#[derive(Serialize)]
struct Retries {
    retries: Vec<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
}

/// Returns the waits as one object, in seconds.
pub(crate) fn as_json(plan: &Plan) -> String {
    let Waits { rows, end, .. } = waits(plan);
    let more = match end {
        End::More(retries) => Some(retries),
        _ => None,
    };
    let retries = rows.iter().map(row_as_json).collect();
    json::line(&Retries { retries, more })
}

fn row_as_json(row: &Row) -> Object {
    let seconds = |wait: Duration| match wait.subsec_nanos() {
        0 => wait.as_secs().into(),
        _ => wait.as_secs_f64().into(),
    };
    Object(vec![
        ("retry", row.retry.into()),
        ("min_s", seconds(row.least)),
        ("mean_s", seconds(row.mean)),
        ("max_s", seconds(row.most)),
        ("total_s", seconds(row.total)),
        ("total_max_s", seconds(row.total_most)),
        ("total_p5_s", seconds(row.totals[0])),
        ("total_p95_s", seconds(row.totals[1])),
    ])
}

/// The waits of a plan.
pub(super) struct Waits {
    /// A line about the wait before the first attempt; empty if there is none.
    pub(super) first: String,
    pub(super) rows: Vec<Row>,
    pub(super) end: End,
}

/// Returns the waits of the plan: those of one run if `--seed` is given, or else their distributions.
pub(super) fn waits(plan: &Plan) -> Waits {
    let longest = plan.initial_delay.saturating_add(plan.splay);
    let Some(seed) = plan.seed else {
        let mean = plan.initial_delay.saturating_add(plan.splay / 2);
        let (rows, end) = forecast(&plan.delays, &plan.limits, mean);
        let first = first_wait(plan, plan.initial_delay, longest);
        return Waits { first, rows, end };
    };
    let mut rng = generator_of_seed(seed);
    let initial = plan.initial_wait(&mut rng);
    let (rows, end) = drawn(&plan.delays, &plan.limits, initial, &mut rng);
    let first = first_wait(plan, initial, initial);
    Waits { first, rows, end }
}

/// Returns a line about the wait before the first attempt, or nothing if there is none.
fn first_wait(plan: &Plan, least: Duration, most: Duration) -> String {
    if most.is_zero() {
        return String::new();
    }
    let wait = range(least, most);
    let part = time_limit(plan).map(|limit| format!(", which is part of {limit}"));
    format!(
        "before the first attempt: {wait}{}\n",
        part.unwrap_or_default()
    )
}

/// Returns a line with the reason for the end of the table, or nothing if all attempts are shown.
pub(super) fn reason_for_end(plan: &Plan, end: End) -> String {
    let line = match end {
        End::Attempts if plan.limits.attempts == Some(1) => {
            "1 attempt: there is no retry to wait for".to_owned()
        }
        End::Attempts => return String::new(),
        End::Unlimited => "and so on: attempts are unlimited".to_owned(),
        End::More(retries) => format!("and {retries} more"),
        End::Delay => "--stop-at-delay ends the run here".to_owned(),
        End::Deadline([fewest, most]) => {
            let retries = match (fewest, most) {
                (0, 0) => "leaves no time for a retry".to_owned(),
                (1, 1) => "ends the run after 1 retry".to_owned(),
                _ if fewest == most => format!("ends the run after {most} retries"),
                _ => format!("ends 90% of runs after {fewest} to {most} retries"),
            };
            format!("{} {retries}", time_limit(plan).unwrap_or_default())
        }
    };
    line + "\n"
}

/// Returns the option that limits the time of the run: `--deadline 5m`.
fn time_limit(plan: &Plan) -> Option<String> {
    let (_, why) = plan.limits.latest_begin()?;
    Some(typed_limit(&plan.limits, why))
}

/// Returns a range of waits: `0.5s to 1.5s`.
pub(super) fn range(least: Duration, most: Duration) -> String {
    match [least, most].map(length) {
        [least, most] if least == most => most,
        [least, most] => format!("{least} to {most}"),
    }
}
