//! `--plot`: the waits of `--plan` as bars.

use std::time::Duration;

use super::plan_table::{first_wait, range, reason_for_end, waits};
use super::words::length;
use crate::policy::forecast::Row;
use crate::run::plan::Plan;

/// Width of the retry's number and two spaces.
const NUMBER: usize = 7;
/// Width of the narrowest bar with a label.
const NARROWEST: usize = 10;

/// Characters for the least wait, the random part, and the mean.
type Ink = [char; 3];

/// Returns a bar for each wait; the longest fills `columns`.
pub(crate) fn bars(plan: &Plan, columns: Option<u16>, is_utf8: bool) -> String {
    // Some terminals begin a new line after the last column.
    let room = columns.map_or(80, usize::from).saturating_sub(1);
    let ink = if is_utf8 {
        ['█', '░', '┃']
    } else {
        ['#', '.', '|']
    };
    let (rows, end) = waits(plan);
    let mut text = first_wait(plan);
    if let Some(longest) = rows.iter().map(|row| row.most).max() {
        text += &heading(ink, room);
        let (labels, width) = labels(&rows, room);
        for (row, label) in rows.iter().zip(labels) {
            text += &format!("{:>5}  {}{label}\n", row.retry, bar(ink, row, longest, width));
        }
    }
    text + &reason_for_end(plan, end)
}

fn heading([least, chance, mean]: Ink, room: usize) -> String {
    let long = format!("retry  wait: {least} at least, {chance} by chance, {mean} mean\n");
    let short = format!("retry  {least} least {chance} chance {mean} mean\n");
    let mut headings = [long, short].into_iter();
    let heading = headings.find(|line| line.chars().count() <= room + 1);
    heading.unwrap_or_else(|| "retry\n".to_owned())
}

/// Returns the label beside each bar and the width of the longest bar. Labels are shortened or omitted if bars would
/// get too narrow.
fn labels(rows: &[Row], room: usize) -> (Vec<String>, usize) {
    let full = |row: &Row| format!(" {}", range(row.least, row.most));
    let short = |row: &Row| format!(" {}", length(row.most));
    for labels in [
        rows.iter().map(full).collect(),
        rows.iter().map(short).collect::<Vec<_>>(),
    ] {
        let longest = labels.iter().map(String::len).max().unwrap_or(0);
        let width = room.saturating_sub(NUMBER + longest);
        if width >= NARROWEST {
            return (labels, width);
        }
    }
    (vec![String::new(); rows.len()], room.saturating_sub(NUMBER).max(1))
}

fn bar([sure, chance, middle]: Ink, row: &Row, longest: Duration, width: usize) -> String {
    let column = |wait: Duration| match longest.is_zero() {
        true => 0,
        false => (wait.as_secs_f64() / longest.as_secs_f64() * width as f64).round() as usize,
    };
    let [least, mean, most] = [row.least, row.mean, row.most].map(column);
    let drawn = |column| match column {
        _ if column < least => sure,
        _ if column == mean.min(most - 1) => middle,
        _ => chance,
    };
    (0..most).map(drawn).collect()
}
