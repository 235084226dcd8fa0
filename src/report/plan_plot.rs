//! `--plot`: the waits of `--plan`, drawn.

use std::fmt::Write as _;
use std::time::Duration;

use super::plan_table::{before_the_first, parts, range, rounded, why_it_ends};
use crate::policy::forecast::{Part, Row};
use crate::run::plan::Plan;

/// The number of a retry, and two spaces.
const NUMBER: usize = 7;
/// A bar that is worth a label beside it.
const NARROWEST: usize = 10;

/// What a bar is drawn with: what is waited at least, what by chance, and the mean.
#[derive(Clone, Copy)]
struct Ink([char; 3]);

/// A bar for each wait, the longest as wide as the terminal of so many `columns` leaves room for.
pub(crate) fn bars(plan: &Plan, columns: Option<u16>, is_utf8: bool) -> String {
    // In the last column some terminals begin a new line.
    let room = columns.map_or(80, usize::from).saturating_sub(1);
    let ink = Ink(if is_utf8 {
        ['█', '░', '┃']
    } else {
        ['#', '.', '|']
    });
    let (mut rows, mut end) = (Vec::new(), None);
    for part in parts(plan) {
        match part {
            Part::Row(row) => rows.push(row),
            Part::End(why) => end = why_it_ends(plan, why),
        }
    }
    let mut text = before_the_first(plan).unwrap_or_default();
    if let Some(longest) = rows.iter().map(|row| row.most).max() {
        text.push_str(&ink.heading(room));
        let (labels, width) = labels(&rows, room);
        for (row, label) in rows.iter().zip(labels) {
            let bar = ink.bar(row, longest, width);
            let _ = writeln!(text, "{:>5}  {bar}{label}", row.retry);
        }
    }
    text + &end.unwrap_or_default()
}

/// What stands behind each bar, and the room for a bar: the wait in words, the longest it can be, or nothing.
fn labels(rows: &[Row], room: usize) -> (Vec<String>, usize) {
    let forms: [fn(&Row) -> String; 3] = [
        |row| format!(" {}", range(row.least, row.most)),
        |row| format!(" {}", rounded(row.most)),
        |_| String::new(),
    ];
    let form = |form: fn(&Row) -> String| {
        let labels: Vec<String> = rows.iter().map(form).collect();
        let longest = labels.iter().map(String::len).max().unwrap_or(0);
        (labels, room.saturating_sub(NUMBER + longest).max(1))
    };
    let [full, short, none] = forms;
    let fits = [full, short]
        .map(form)
        .into_iter()
        .find(|(_, width)| *width >= NARROWEST);
    fits.unwrap_or_else(|| form(none))
}

impl Ink {
    fn heading(self, room: usize) -> String {
        let Ink([least, chance, mean]) = self;
        let long = format!("retry  wait: {least} at least, {chance} by chance, {mean} mean\n");
        let short = format!("retry  {least} least {chance} chance {mean} mean\n");
        let fits = |line: &String| line.chars().count() <= room + 1;
        [long, short]
            .into_iter()
            .find(fits)
            .unwrap_or_else(|| "retry\n".to_owned())
    }

    fn bar(self, row: &Row, longest: Duration, width: usize) -> String {
        let Ink([sure, chance, middle]) = self;
        let place = |wait: Duration| match longest.is_zero() {
            true => 0,
            false => (wait.as_secs_f64() / longest.as_secs_f64() * width as f64).round() as usize,
        };
        let [least, mean, most] = [row.least, row.mean, row.most].map(place);
        let drawn = |column| match column {
            _ if column < least => sure,
            _ if column == mean.min(most - 1) => middle,
            _ => chance,
        };
        (0..most).map(drawn).collect()
    }
}
