//! `--plan`: the waits as a table or as JSON.

use std::time::Duration;

use super::words::length;
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
        let [least, mean, most] = [row.least, row.mean, row.most].map(length);
        let [total, total_most] = [row.total, row.total_most].map(length);
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

/// Returns the output of `--plan --log-format json`: one object, in seconds, exact to the nanosecond.
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
    // A float cannot represent every duration.
    let field = |(name, wait): (_, Duration)| {
        let exact = format!("{}.{:09}", wait.as_secs(), wait.subsec_nanos());
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

/// Returns a line with the reason for the end of the table, or nothing if all attempts are shown.
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

/// Returns a range of waits: `0.5s to 1.5s`.
pub(super) fn range(least: Duration, most: Duration) -> String {
    match [least, most].map(length) {
        [least, most] if least == most => most,
        [least, most] => format!("{least} to {most}"),
    }
}
