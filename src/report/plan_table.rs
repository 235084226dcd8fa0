//! `--plan`: the waits of a run in which every attempt fails at once, as a table or as JSON. Nothing is run.

use std::time::Duration;

use serde::Serialize;

use super::endings::limit;
use super::json;
use crate::policy::forecast::{Forecast, RowsEnd, Spread, WaitRow, forecast};
use crate::run::plan::Plan;
use crate::text::length;

/// Terminal columns that a line with a bar takes.
const LINE: usize = 79;
/// Minimum width of the longest bar.
const NARROWEST: usize = 10;

/// Returns the output of `--plan`: the table, after a line about the wait before the first attempt and before a line
/// about its end, if there are any.
pub(crate) fn table(plan: &Plan) -> String {
    let Forecast { rows, end } = waits(plan);
    line_on_start(plan) + &columns(&rows) + &reason_for_end(plan, end)
}

/// Returns the rows as columns, each with a bar, or nothing without rows. If no wait is random, one column stands for
/// least, mean and most. Headings of a bar's parts begin with its mark.
fn columns(rows: &[WaitRow]) -> String {
    let Some(longest) = rows.iter().map(|row| row.most).max() else {
        return String::new();
    };
    let is_exact = rows.iter().all(|row| row.least == row.most);
    let headings = if is_exact {
        "retry wait total"
    } else {
        "retry #least |mean .most total 90%_of_totals most_total"
    };
    let headings = headings.split(' ').map(|heading| heading.replace('_', " "));
    let mut table = vec![headings.collect()];
    table.extend(rows.iter().map(|row| cells(row, is_exact)));
    let mut lines = aligned(&table);
    let width = LINE.saturating_sub(lines[0].len() + 2).max(NARROWEST);
    for (line, row) in lines.iter_mut().skip(1).zip(rows) {
        *line += format!("  {}", bar(row, longest, width)).trim_end();
    }
    lines.join("\n") + "\n"
}

fn cells(row: &WaitRow, is_exact: bool) -> Vec<String> {
    let mut cells = vec![row.retry.to_string()];
    if is_exact {
        cells.extend([row.mean, row.total].map(length));
    } else {
        cells.extend([row.least, row.mean, row.most, row.total].map(length));
        cells.push(range(row.total_low, row.total_high));
        cells.push(length(row.total_most));
    }
    cells
}

/// Returns a line for each row of cells, in right-aligned columns as wide as their longest cell. All rows must have the
/// same number of cells. The cells must be ASCII, because their bytes count as their width.
fn aligned(table: &[Vec<String>]) -> Vec<String> {
    let mut lines = vec![String::new(); table.len()];
    for column in 0..table[0].len() {
        let widths = table.iter().map(|cells| cells[column].len());
        let width = widths.max().unwrap_or(0);
        let blanks = if column == 0 { "" } else { "  " };
        for (line, cells) in lines.iter_mut().zip(table) {
            *line += &format!("{blanks}{:>width$}", cells[column]);
        }
    }
    lines
}

/// Returns the bar of a wait: `#` for what is always waited, `.` for what is waited by chance, `|` at the mean. The bar
/// of `longest` has `width` characters.
fn bar(row: &WaitRow, longest: Duration, width: usize) -> String {
    // If all waits are zero, 0 / 0 becomes 0.
    let end_of = |wait: Duration| (wait.div_duration_f64(longest) * width as f64).round() as usize;
    let end = end_of(row.most);
    // A mean near the most rounds to the end of the bar, past its last character.
    let mean = end_of(row.mean).min(end.saturating_sub(1));
    let character = |index| {
        if index < end_of(row.least) {
            '#'
        } else if index == mean {
            '|'
        } else {
            '.'
        }
    };
    (0..end).map(character).collect()
}

/// The output of `--plan --log-format json`.
#[derive(Serialize)]
struct Retries {
    retries: Vec<WaitRow>,
    /// Number of retries without a row, if there are too many for all to have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
}

/// Returns the waits as one object, in seconds, for `--plan --log-format json`. Leaves out the wait before the first
/// attempt and the reason for the end, except the number of further retries.
pub(crate) fn as_json(plan: &Plan) -> String {
    let Forecast { rows, end } = waits(plan);
    let more = match end {
        RowsEnd::More(retries) => Some(retries),
        _ => None,
    };
    json::line(&Retries {
        retries: rows,
        more,
    })
}

/// Returns the waits of the plan. A time limit includes the mean wait before the first attempt, which shortens the
/// table.
fn waits(plan: &Plan) -> Forecast {
    let before = plan.initial_delay.saturating_add(plan.splay / 2);
    forecast(&plan.delays, &plan.limits, before)
}

/// Returns a line about the wait before the first attempt (`--initial-delay` and `--splay`), or nothing if there is
/// none. Names the limit on the run's time, if any, because the wait uses up a part of it.
fn line_on_start(plan: &Plan) -> String {
    let most = plan.initial_delay.saturating_add(plan.splay);
    if most.is_zero() {
        return String::new();
    }
    let wait = range(plan.initial_delay, most);
    match time_limit(plan) {
        Some(limit) => {
            format!("before the first attempt: {wait}, which is part of {limit}\n")
        }
        None => format!("before the first attempt: {wait}\n"),
    }
}

/// Returns a line about why the table ends, or nothing if it shows the waits of all attempts. A single attempt has no
/// wait, so a line that says so replaces the table.
fn reason_for_end(plan: &Plan, end: RowsEnd) -> String {
    let line = match end {
        RowsEnd::Attempts if plan.limits.attempts == Some(1) => {
            "1 attempt: there is no retry to wait for".to_owned()
        }
        RowsEnd::Attempts => return String::new(),
        RowsEnd::Unlimited => "and so on: attempts are unlimited".to_owned(),
        RowsEnd::More(retries) => format!("and {retries} more"),
        RowsEnd::Delay => "--stop-at-delay ends the run here".to_owned(),
        RowsEnd::Deadline(retries) => {
            // Never empty, because only a time limit ends the rows this way.
            let limit = time_limit(plan).unwrap_or_default();
            format!("{limit} {}", retries_in_time(retries))
        }
    };
    line + "\n"
}

/// Returns the second half of a sentence that begins with a time limit: after how many retries it ends 90% of runs (5th
/// to 95th percentile), or after a single number if both are the same.
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

/// Returns the option that first limits the time of the run, `--deadline 5m` or `--stop-after 5m`. None without one.
fn time_limit(plan: &Plan) -> Option<String> {
    let (_, why) = plan.limits.latest_begin()?;
    Some(limit(&plan.limits, why).option_with_time())
}

/// Returns a range of waits, `500ms to 1.5s`, or a single one if both look the same when rounded.
fn range(least: Duration, most: Duration) -> String {
    let least = length(least);
    let most = length(most);
    if least == most {
        most
    } else {
        format!("{least} to {most}")
    }
}
