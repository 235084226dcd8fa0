//! `--plan`: the waits as a table or as JSON.

use std::time::Duration;

use super::words::span;
use crate::policy::forecast::{End, Row, forecast};
use crate::policy::outcome::exact;
use crate::policy::session::GiveUp;
use crate::run::plan::Plan;

/// Returns the table that `--plan` prints.
pub(crate) fn table(plan: &Plan) -> String {
    let (rows, end) = waits(plan);
    let mut text = first_wait(plan);
    if !rows.is_empty() {
        text += &line([
            "retry",
            "least",
            "mean",
            "most",
            "mean total",
            "90% of totals",
            "most total",
        ]);
    }
    text.extend(rows.iter().map(|row| {
        let [least, mean, most] = [row.least, row.mean, row.most].map(rounded);
        let [total, total_most] = [row.total, row.total_most].map(rounded);
        let [p5, p95] = row.totals;
        line([
            &row.retry.to_string(),
            &least,
            &mean,
            &most,
            &total,
            &range(p5, p95),
            &total_most,
        ])
    }));
    text + &reason_for_end(plan, end)
}

fn line([retry, least, mean, most, total, totals, total_most]: [&str; 7]) -> String {
    format!("{retry:>5}{least:>9}{mean:>9}{most:>9}{total:>13}{totals:>20}{total_most:>13}\n")
}

/// Returns what `--plan --log-format json` prints: one object, in seconds, exact to the nanosecond.
pub(crate) fn as_json(plan: &Plan) -> String {
    let (rows, end) = waits(plan);
    let rows: Vec<String> = rows.iter().map(row_as_json).collect();
    let more = match end {
        End::More(retries) => format!(r#","more":{retries}"#),
        _ => String::new(),
    };
    format!("{{\"retries\":[{}]{more}}}\n", rows.join(","))
}

fn row_as_json(row: &Row) -> String {
    let fields = [
        ("min_s", row.least),
        ("mean_s", row.mean),
        ("max_s", row.most),
        ("total_s", row.total),
        ("total_max_s", row.total_most),
        ("total_p5_s", row.totals[0]),
        ("total_p95_s", row.totals[1]),
    ];
    // No float holds every duration.
    let field = |(name, length): (_, Duration)| {
        let exact = format!("{}.{:09}", length.as_secs(), length.subsec_nanos());
        let number = exact.trim_end_matches('0').trim_end_matches('.');
        format!(r#","{name}":{number}"#)
    };
    format!(r#"{{"retry":{}{}}}"#, row.retry, fields.map(field).concat())
}

/// Returns the rows of the plan and the reason for their end.
pub(super) fn waits(plan: &Plan) -> (Vec<Row>, End) {
    let mean_before = plan.initial_delay.saturating_add(plan.splay / 2);
    forecast(&plan.delays, &plan.limits, mean_before)
}

/// Returns a line about the wait before the first attempt, or nothing if there is none.
pub(super) fn first_wait(plan: &Plan) -> String {
    let most = plan.initial_delay.saturating_add(plan.splay);
    if most.is_zero() {
        return String::new();
    }
    let wait = range(plan.initial_delay, most);
    match time_limit(plan) {
        Some((name, _)) => format!("before the first attempt: {wait}, which is part of {name}\n"),
        None => format!("before the first attempt: {wait}\n"),
    }
}

/// Returns a line that says why there are no further retries, or nothing if all attempts are shown.
pub(super) fn reason_for_end(plan: &Plan, end: End) -> String {
    let line = match end {
        End::Attempts if plan.limits.attempts == Some(1) => "1 attempt: there is no retry to wait for".to_owned(),
        End::Attempts => return String::new(),
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
    line + "\n"
}

/// Returns the option that limits the time of the run, and its value.
fn time_limit(plan: &Plan) -> Option<(&'static str, Duration)> {
    let (limit, why) = plan.limits.latest_begin()?;
    let is_stop_after = why == GiveUp::StopAfter;
    Some((if is_stop_after { "--stop-after" } else { "--deadline" }, limit))
}

/// `0.5s to 1.5s`
pub(super) fn range(least: Duration, most: Duration) -> String {
    match [least, most].map(rounded) {
        [least, most] if least == most => most,
        [least, most] => format!("{least} to {most}"),
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
