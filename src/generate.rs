//! What backoff prints instead of running anything: the plan, the man page, completions.

use std::fmt::Write as _;
use std::time::Duration;

use crate::plan::Document;
use crate::policy::delay::Delays;
use crate::policy::forecast;
use crate::policy::session::Limits;

mod completions;
mod man;

/// A generated document.
pub fn document(document: Document) -> String {
    match document {
        Document::Man => man::page(),
        Document::CompleteBash => completions::bash(),
        Document::CompleteZsh => completions::zsh(),
        Document::CompleteFish => completions::fish(),
    }
}

/// `--plan`: a table of all waits, in seconds.
pub fn waits(delays: &Delays, limits: &Limits) -> String {
    let mut rows = vec![["retry", "least", "mean", "most", "total"].map(str::to_owned)];
    for row in forecast::rows(delays, limits) {
        let [least, mean, most, total] = [row.least, row.mean, row.most, row.total].map(seconds);
        rows.push([row.retry.to_string(), least, mean, most, total]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let mut table = String::new();
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:>width$}"))
            .collect();
        let _ = writeln!(table, "{}", cells.join("  "));
    }
    table
}

/// `1.5s`: decimal seconds, exact to the nanosecond, without idle zeros.
fn seconds(duration: Duration) -> String {
    let exact = format!("{}.{:09}", duration.as_secs(), duration.subsec_nanos());
    format!("{}s", exact.trim_end_matches('0').trim_end_matches('.'))
}
