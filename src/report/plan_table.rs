//! What `--plan` prints.

use std::time::Duration;

use serde::Serialize;

use super::json;
use super::words::span;
use crate::policy::forecast::{End, Part, Row, forecast};
use crate::policy::outcome::exact;
use crate::policy::session::GiveUp;
use crate::run::plan::Plan;

/// `--plan`: a table of all waits, line by line.
pub(crate) fn waits(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let heading = cells(["retry", "least", "mean", "most", "mean total", "90% of totals"]);
    let rows = parts(plan).flat_map(move |part| match part {
        Part::Row(row) => {
            let heading = (row.retry == 1).then(|| heading.clone());
            heading.into_iter().chain(Some(line(&row)))
        }
        Part::End(end) => None.into_iter().chain(why_it_ends(plan, end)),
    });
    before_the_first(plan).into_iter().chain(rows)
}

/// What is waited before the first attempt, if anything is.
pub(super) fn before_the_first(plan: &Plan) -> Option<String> {
    let most = plan.initial_delay.saturating_add(plan.splay);
    let counts = match time_limit(plan) {
        Some((name, _)) => format!(", which is part of {name}"),
        None => String::new(),
    };
    let wait = range(plan.initial_delay, most);
    (!most.is_zero()).then(|| format!("before the first attempt: {wait}{counts}\n"))
}

/// The waits as `--plan --log-format json` prints them.
#[derive(Serialize)]
struct Waits {
    retries: Vec<Retry>,
    /// Retries that are left out at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
}

#[derive(Serialize)]
struct Retry {
    retry: u64,
    min_s: f64,
    mean_s: f64,
    max_s: f64,
    total_s: f64,
    total_p5_s: f64,
    total_p95_s: f64,
}

/// `--plan --log-format json`: the table as one object, in seconds.
pub(crate) fn waits_as_json(plan: &Plan) -> String {
    let (mut retries, mut more) = (Vec::new(), None);
    for part in parts(plan) {
        match part {
            Part::Row(row) => retries.push(Retry {
                retry: row.retry,
                min_s: row.least.as_secs_f64(),
                mean_s: row.mean.as_secs_f64(),
                max_s: row.most.as_secs_f64(),
                total_s: row.total.as_secs_f64(),
                total_p5_s: row.totals[0].as_secs_f64(),
                total_p95_s: row.totals[1].as_secs_f64(),
            }),
            Part::End(End::More(left_out)) => more = Some(left_out),
            Part::End(_) => {}
        }
    }
    json::line(&Waits { retries, more })
}

pub(super) fn parts(plan: &Plan) -> impl Iterator<Item = Part> + '_ {
    // What the splay comes to in the mean.
    let before = plan.initial_delay.saturating_add(plan.splay / 2);
    forecast(&plan.delays, &plan.limits, before)
}

fn line(row: &Row) -> String {
    let [least, mean, most, total] = [row.least, row.mean, row.most, row.total].map(rounded);
    let [p5, p95] = row.totals;
    cells([&row.retry.to_string(), &least, &mean, &most, &total, &range(p5, p95)])
}

fn cells([retry, least, mean, most, total, totals]: [&str; 6]) -> String {
    format!("{retry:>5}{least:>9}{mean:>9}{most:>9}{total:>13}{totals:>20}\n")
}

/// Why there are no further retries, unless all attempts have been shown.
pub(super) fn why_it_ends(plan: &Plan, end: End) -> Option<String> {
    let limits = &plan.limits;
    let line = match end {
        End::Attempts if limits.attempts == Some(1) => "1 attempt: there is no retry to wait for".to_owned(),
        End::Attempts => return None,
        End::Unlimited => "and so on: attempts are unlimited".to_owned(),
        End::More(retries) => format!("and {retries} more"),
        End::Delay => "--stop-at-delay ends the run here".to_owned(),
        End::Deadline([fewest, most]) => {
            let (name, limit) = time_limit(plan).unwrap_or_default();
            let retries = match (fewest, most) {
                (0, 0) => "leaves no time for a retry".to_owned(),
                (1, 1) => "ends the run after 1 retry".to_owned(),
                _ if fewest == most => format!("ends the run after {most} retries"),
                _ => format!("ends 90% of runs after {fewest} to {most} retries"),
            };
            format!("{name} {} {retries}", exact(limit))
        }
    };
    Some(line + "\n")
}

/// Returns the option that ends the waits, and its value.
fn time_limit(plan: &Plan) -> Option<(&'static str, Duration)> {
    let (limit, why) = plan.limits.latest_begin()?;
    let name = match why {
        GiveUp::StopAfter => "--stop-after",
        _ => "--deadline",
    };
    Some((name, limit))
}

/// `0.5s to 1.5s`
pub(super) fn range(least: Duration, most: Duration) -> String {
    let [least, most] = [least, most].map(rounded);
    if least == most {
        most
    } else {
        format!("{least} to {most}")
    }
}

/// Three digits, as a person reads them: `51.2us`, `500ms`, `1.75s`, `30s`, `2m05s`.
pub(super) fn rounded(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    let (value, unit) = match length {
        Duration::ZERO => (0.0, "s"),
        _ if seconds < 999.5e-9 => (seconds * 1e9, "ns"),
        _ if seconds < 999.5e-6 => (seconds * 1e6, "us"),
        _ if seconds < 999.5e-3 => (seconds * 1e3, "ms"),
        _ if seconds < 59.95 => (seconds, "s"),
        _ => return span(length),
    };
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    let digits = format!("{value:.decimals$}");
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => &digits,
    };
    format!("{digits}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        for (nanos, shown) in [
            (0, "0s"),
            (7, "7ns"),
            (51_200, "51.2us"),
            (999_900, "1ms"),
            (500_000_000, "500ms"),
            (1_000_000_000, "1s"),
            (4_554_328_639, "4.55s"),
            (10_179_328_639, "10.2s"),
            (20_000_000_000, "20s"),
            (59_960_000_000, "1m00s"),
            (125_000_000_000, "2m05s"),
        ] {
            assert_eq!(rounded(Duration::from_nanos(nanos)), shown);
        }
    }
}
