//! `--plan=plot`: the waits of `--plan` as bars.

use std::time::Duration;

use super::plan_table::{Waits, range, reason_for_end, waits};
use crate::policy::forecast::WaitRow;
use crate::run::plan::Plan;
use crate::text::cut;

/// Width of the retry's number and two spaces.
const NUMBER: usize = 7;
/// Least width of the longest bar beside labels.
const NARROWEST: usize = 10;

/// Characters of a bar.
#[derive(Clone, Copy)]
struct Ink {
    /// For the part that is always waited.
    sure: char,
    /// For the random part.
    chance: char,
    mean: char,
}

const BLOCKS: Ink = Ink {
    sure: '█',
    chance: '░',
    mean: '┃',
};

const ASCII: Ink = Ink {
    sure: '#',
    chance: '.',
    mean: '|',
};

/// Returns the text of `--plan=plot`: a bar for each wait, between the lines that `--plan` has, too. `columns` is the
/// width of the terminal; None, without a terminal, is 80. Bars are of block characters if the locale `is_utf8`, or
/// else of ASCII. Without retries there is no bar.
pub(crate) fn bars(plan: &Plan, columns: Option<u16>, is_utf8: bool) -> String {
    // Some terminals begin a new line after the last column, so that one stays empty.
    let line_width = columns.map_or(80, usize::from).saturating_sub(1);
    let ink = if is_utf8 { BLOCKS } else { ASCII };
    let Waits {
        line_on_start,
        rows,
        end,
    } = waits(plan);
    let mut text = line_on_start;
    if let Some(longest) = rows.iter().map(|row| row.most).max() {
        text += &heading(ink, line_width);
        let labels = labels(&rows, line_width);
        for (row, label) in rows.iter().zip(&labels.texts) {
            let bar = bar(ink, row, longest, labels.width_of_bars);
            text += &format!("{:>5}  {bar}{label}\n", row.retry);
        }
    }
    text + &reason_for_end(plan, end)
}

/// Returns the line above the bars, which explains their characters, cut to the width.
fn heading(ink: Ink, line_width: usize) -> String {
    let Ink { sure, chance, mean } = ink;
    let line = format!("retry  wait: {sure} at least, {chance} by chance, {mean} mean");
    cut(&line, line_width) + "\n"
}

/// Labels beside the bars, and the width that is left for the bars.
struct Labels {
    /// The label beside each bar.
    texts: Vec<String>,
    /// The width of the longest bar.
    width_of_bars: usize,
}

/// Returns the labels of the bars, ` 500ms to 1.5s`, one for each row, and the width that they leave for the longest
/// bar. If that would be too narrow to compare bars, the labels are empty, and bars have all the room.
fn labels(rows: &[WaitRow], line_width: usize) -> Labels {
    let texts: Vec<String> = rows
        .iter()
        .map(|row| format!(" {}", range(row.least, row.most)))
        .collect();
    let longest = texts.iter().map(String::len).max().unwrap_or(0);
    let width_beside_labels = line_width.saturating_sub(NUMBER + longest);
    if width_beside_labels >= NARROWEST {
        return Labels {
            texts,
            width_of_bars: width_beside_labels,
        };
    }
    Labels {
        texts: vec![String::new(); rows.len()],
        width_of_bars: line_width.saturating_sub(NUMBER).max(1),
    }
}

/// Returns the bar of a wait, as long as the most that it may be; that of `longest`, the longest wait of the plan,
/// would be `width` columns long. The part up to the least wait is sure, the rest random with a mark at the mean. A
/// wait without a random part, or with one too short for a column, has no mark.
fn bar(ink: Ink, row: &WaitRow, longest: Duration, width: usize) -> String {
    let end_of_sure = columns_of(row.least, longest, width);
    let end = columns_of(row.most, longest, width);
    // A mean near the most is rounded to the end of the bar, past its last column.
    let mean = columns_of(row.mean, longest, width).min(end.saturating_sub(1));
    let mut bar = String::new();
    for column in 0..end {
        bar.push(if column < end_of_sure {
            ink.sure
        } else if column == mean {
            ink.mean
        } else {
            ink.chance
        });
    }
    bar
}

/// Returns the columns that a wait takes, rounded, if the longest one takes `width`; 0 if all waits are zero.
fn columns_of(wait: Duration, longest: Duration, width: usize) -> usize {
    if longest.is_zero() {
        return 0;
    }
    (wait.as_secs_f64() / longest.as_secs_f64() * width as f64).round() as usize
}
