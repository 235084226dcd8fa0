//! `--plan`: the waits of a run in which every attempt fails at once, as a table or as JSON. Nothing is run.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::json::{self, Object};
use super::words::typed_limit;
use crate::policy::delay::generator_of_seed;
use crate::policy::forecast::{Forecast, RowsEnd, Spread, WaitRow, forecast, forecast_of_one_run};
use crate::run::plan::Plan;
use crate::text::length;

/// A column of the table.
struct Column {
    heading: &'static str,
    least_width: usize,
}

/// Returns a column with this heading. `least_width` includes the blanks that keep it apart from the column before it,
/// so that tables of different plans look alike.
const fn column(heading: &'static str, least_width: usize) -> Column {
    Column {
        heading,
        least_width,
    }
}

/// Columns if waits are random.
const RANDOM: [Column; 7] = [
    column("retry", 5),
    column("least", 9),
    column("mean", 9),
    column("most", 9),
    column("mean total", 13),
    column("90% of totals", 20),
    column("most total", 13),
];

/// Columns if no wait is random.
const EXACT: [Column; 3] = [column("retry", 5), column("wait", 9), column("total", 13)];

/// Returns the table that `--plan` prints, between a line about the wait before the first attempt and one about what
/// ends the table, if there are such lines.
pub(crate) fn table(plan: &Plan) -> String {
    let Waits {
        line_on_start,
        rows,
        end,
    } = waits(plan);
    line_on_start + &columns(&rows) + &reason_for_end(plan, end)
}

/// Returns the rows as columns that are as wide as their longest cell; nothing if there is no row. If no wait is
/// random, least, mean and most are equal, so that one column stands for them.
fn columns(rows: &[WaitRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let is_exact = rows.iter().all(|row| row.least == row.most);
    if is_exact {
        aligned(&EXACT, rows.iter().map(exact_cells).collect())
    } else {
        aligned(&RANDOM, rows.iter().map(random_cells).collect())
    }
}

/// Returns the headings of the columns and a line for each row of cells, aligned to the right. Each row must have a
/// cell for each column, of ASCII, whose bytes count as its width.
fn aligned(columns: &[Column], rows: Vec<Vec<String>>) -> String {
    let headings = columns
        .iter()
        .map(|column| column.heading.to_owned())
        .collect();
    let lines = [vec![headings], rows].concat();
    let mut widths = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let longest = lines.iter().map(|line| line[index].len()).max();
        // Two blanks before each column except the first.
        let blanks = if index == 0 { 0 } else { 2 };
        widths.push(column.least_width.max(longest.unwrap_or(0) + blanks));
    }
    let mut text = String::new();
    for line in &lines {
        for (cell, width) in line.iter().zip(&widths) {
            text += &format!("{cell:>width$}");
        }
        text.push('\n');
    }
    text
}

/// Returns the cells of a row, one for each of [`EXACT`].
fn exact_cells(row: &WaitRow) -> Vec<String> {
    vec![row.retry.to_string(), length(row.mean), length(row.total)]
}

/// Returns the cells of a row, one for each of [`RANDOM`].
fn random_cells(row: &WaitRow) -> Vec<String> {
    vec![
        row.retry.to_string(),
        length(row.least),
        length(row.mean),
        length(row.most),
        length(row.total),
        range(row.totals.low, row.totals.high),
        length(row.total_most),
    ]
}

/// The output of `--plan --log-format json`.
#[derive(Serialize)]
struct Retries {
    retries: Vec<Object>,
    /// Number of retries without a row, if there are too many for all to have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
}

/// Returns the waits as one object, in seconds, for `--plan --log-format json`. The wait before the first attempt is
/// left out, and of the reason for the end all but the number of further retries.
pub(crate) fn as_json(plan: &Plan) -> String {
    let Waits { rows, end, .. } = waits(plan);
    let more = match end {
        RowsEnd::More(retries) => Some(retries),
        _ => None,
    };
    let retries = rows.iter().map(row_as_json).collect();
    json::line(&Retries { retries, more })
}

/// Returns a row as an object. The names are part of the interface. `total_s` is the mean; the totals are sums of the
/// waits before retries, without the wait before the first attempt and the time of the attempts.
fn row_as_json(row: &WaitRow) -> Object {
    Object(vec![
        ("retry", row.retry.into()),
        ("min_s", in_seconds(row.least)),
        ("mean_s", in_seconds(row.mean)),
        ("max_s", in_seconds(row.most)),
        ("total_s", in_seconds(row.total)),
        ("total_max_s", in_seconds(row.total_most)),
        ("total_p5_s", in_seconds(row.totals.low)),
        ("total_p95_s", in_seconds(row.totals.high)),
    ])
}

/// Returns a wait in seconds: as an integer if it has no fraction, as JSON would otherwise have `1.0`.
fn in_seconds(wait: Duration) -> Value {
    if wait.subsec_nanos() == 0 {
        wait.as_secs().into()
    } else {
        wait.as_secs_f64().into()
    }
}

/// The waits of a plan, with the lines of text around them.
pub(super) struct Waits {
    /// A line about the wait before the first attempt; empty if there is none.
    pub(super) line_on_start: String,
    /// The wait before each retry, in order.
    pub(super) rows: Vec<WaitRow>,
    /// Why no further row follows.
    pub(super) end: RowsEnd,
}

/// Returns the waits of the plan: those of one run if `--seed` is given, or else their distributions. A limit on time
/// includes the wait before the first attempt, which so shortens the table, without a seed by its mean. With a seed,
/// that wait is drawn before the others, as the run does, so that all are those of the run.
pub(super) fn waits(plan: &Plan) -> Waits {
    let Some(seed) = plan.seed else {
        let least = plan.initial_delay;
        let mean = plan.initial_delay.saturating_add(plan.splay / 2);
        let most = plan.initial_delay.saturating_add(plan.splay);
        let Forecast { rows, end } = forecast(&plan.delays, &plan.limits, mean);
        return Waits {
            line_on_start: line_on_start(plan, least, most),
            rows,
            end,
        };
    };
    let mut rng = generator_of_seed(seed);
    let initial = plan.initial_wait(&mut rng);
    let Forecast { rows, end } = forecast_of_one_run(&plan.delays, &plan.limits, initial, &mut rng);
    Waits {
        line_on_start: line_on_start(plan, initial, initial),
        rows,
        end,
    }
}

/// Returns a line about the wait before the first attempt (`--initial-delay` and `--splay`), from `least` to `most`, or
/// nothing if there is none. Names the limit on the run's time, if there is one, as the wait uses up a part of it.
fn line_on_start(plan: &Plan, least: Duration, most: Duration) -> String {
    if most.is_zero() {
        return String::new();
    }
    let wait = range(least, most);
    match time_limit(plan) {
        Some(limit) => {
            format!("before the first attempt: {wait}, which is part of {limit}\n")
        }
        None => format!("before the first attempt: {wait}\n"),
    }
}

/// Returns a line with the reason for the end of the table, or nothing if it shows the waits of all attempts. A single
/// attempt has no wait, and a line that says so in place of the table.
pub(super) fn reason_for_end(plan: &Plan, end: RowsEnd) -> String {
    let line = match end {
        RowsEnd::Attempts if plan.limits.attempts == Some(1) => {
            "1 attempt: there is no retry to wait for".to_owned()
        }
        RowsEnd::Attempts => return String::new(),
        RowsEnd::Unlimited => "and so on: attempts are unlimited".to_owned(),
        RowsEnd::More(retries) => format!("and {retries} more"),
        RowsEnd::Delay => "--stop-at-delay ends the run here".to_owned(),
        RowsEnd::Deadline(retries) => {
            // Never empty: only a limit on time ends the rows so.
            let limit = time_limit(plan).unwrap_or_default();
            format!("{limit} {}", retries_in_time(retries))
        }
    };
    line + "\n"
}

/// Returns the second half of a sentence that begins with a limit on time: after how many retries it ends a run, from
/// the 5th to the 95th percentile of runs, so in 90% of them; or after a single number if both are the same.
fn retries_in_time(Spread { low, high }: Spread<u64>) -> String {
    if low < high {
        return format!("ends 90% of runs after {low} to {high} retries");
    }
    match high {
        0 => "leaves no time for a retry".to_owned(),
        1 => "ends the run after 1 retry".to_owned(),
        retries => format!("ends the run after {retries} retries"),
    }
}

/// Returns the option that first limits the time of the run, `--deadline 5m` or `--stop-after 5m`; None without one.
fn time_limit(plan: &Plan) -> Option<String> {
    let latest = plan.limits.latest_begin()?;
    Some(typed_limit(&plan.limits, latest.why))
}

/// Returns a range of waits, `500ms to 1.5s`; a single one if both look the same when rounded.
pub(super) fn range(least: Duration, most: Duration) -> String {
    let least = length(least);
    let most = length(most);
    if least == most {
        most
    } else {
        format!("{least} to {most}")
    }
}
