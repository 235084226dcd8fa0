//! `--plan=plot`: the waits of `--plan` as bars.

use std::time::Duration;

use super::plan_table::{Waits, range, reason_for_end, waits};
use crate::policy::forecast::Row;
use crate::run::plan::Plan;
use crate::text::cut;

/// Width of the retry's number and two spaces.
const NUMBER: usize = 7;
/// Least width of the longest bar beside labels.
const NARROWEST: usize = 10;

/// Characters for the part of a bar that is always waited, for the random part, and for the mean.
type Ink = [char; 3];

/// Returns the text of `--plan=plot`, `columns` wide: a bar for each wait, between the lines that `--plan` has, too.
pub(crate) fn bars(plan: &Plan, columns: Option<u16>, is_utf8: bool) -> String {
    // Some terminals begin a new line after the last column.
    let room = columns.map_or(80, usize::from).saturating_sub(1);
    let ink = match is_utf8 {
        true => ['█', '░', '┃'],
        false => ['#', '.', '|'],
    };
    let Waits {
        first: mut text,
        rows,
        end,
    } = waits(plan);
    if let Some(longest) = rows.iter().map(|row| row.most).max() {
        text += &heading(ink, room);
        let (labels, width) = labels(&rows, room);
        for (row, label) in rows.iter().zip(labels) {
            text += &format!(
                "{:>5}  {}{label}\n",
                row.retry,
                bar(ink, row, longest, width)
            );
        }
    }
    text + &reason_for_end(plan, end)
}

fn heading([sure, chance, middle]: Ink, room: usize) -> String {
    let line = format!("retry  wait: {sure} at least, {chance} by chance, {middle} mean");
    cut(&line, room) + "\n"
}

/// Returns the label beside each bar and the width of the longest bar. Labels are omitted if bars would get too narrow.
fn labels(rows: &[Row], room: usize) -> (Vec<String>, usize) {
    let labels: Vec<String> = rows
        .iter()
        .map(|row| format!(" {}", range(row.least, row.most)))
        .collect();
    let longest = labels.iter().map(String::len).max().unwrap_or(0);
    match room.saturating_sub(NUMBER + longest) {
        width @ NARROWEST.. => (labels, width),
        _ => (
            vec![String::new(); rows.len()],
            room.saturating_sub(NUMBER).max(1),
        ),
    }
}

/// Returns the bar of a wait; the longest wait of the plan is `width` columns long.
fn bar([sure, chance, middle]: Ink, row: &Row, longest: Duration, width: usize) -> String {
    let column = |wait: Duration| match longest.is_zero() {
        true => 0,
        false => (wait.as_secs_f64() / longest.as_secs_f64() * width as f64).round() as usize,
    };
    let [least, mean, most] = [row.least, row.mean, row.most].map(column);
    // Rounding could put the mean past the end of the bar.
    let drawn = |column| match column {
        _ if column < least => sure,
        _ if column == mean.min(most - 1) => middle,
        _ => chance,
    };
    (0..most).map(drawn).collect()
}
