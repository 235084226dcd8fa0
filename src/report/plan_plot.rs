//! `--plot`: the waits of `--plan`, drawn.

use std::fmt::Write as _;
use std::time::Duration;

use super::plan_table::{parts, range, why_it_ends};
use crate::policy::forecast::{Part, Row};
use crate::run::plan::Plan;

/// What stands beside a bar: the number of the retry, and the wait in words.
const LABELS: usize = 7 + 22;
const NARROWEST: usize = 10;

/// A bar for each wait, the longest as wide as the terminal of so many `columns` leaves room for.
pub(crate) fn bars(plan: &Plan, columns: Option<u16>) -> String {
    let columns = columns.map_or(80, usize::from);
    let (mut rows, mut end) = (Vec::new(), None);
    for part in parts(plan) {
        match part {
            Part::Row(row) => rows.push(row),
            Part::End(why) => end = why_it_ends(plan, why),
        }
    }
    let longest = rows.iter().map(|row| row.most).max();
    let mut text = String::new();
    if let Some(longest) = longest {
        text.push_str("retry  wait: █ at least, ░ by chance, ┃ mean\n");
        let width = columns.saturating_sub(1 + LABELS).max(NARROWEST);
        for row in &rows {
            let bar = bar(row, longest, width);
            let _ = writeln!(text, "{:>5}  {bar} {}", row.retry, range(row.least, row.most));
        }
    }
    text + &end.unwrap_or_default()
}

fn bar(row: &Row, longest: Duration, width: usize) -> String {
    let place = |wait: Duration| match longest.is_zero() {
        true => 0,
        false => (wait.as_secs_f64() / longest.as_secs_f64() * width as f64).round() as usize,
    };
    let [least, mean, most] = [row.least, row.mean, row.most].map(place);
    let drawn = |column| match column {
        _ if column < least => '█',
        _ if column == mean.min(most - 1) => '┃',
        _ => '░',
    };
    (0..most).map(drawn).collect()
}
