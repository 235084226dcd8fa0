//! `--plan`: the waits as a table or as JSON.

use std::time::Duration;

use serde::Serialize;

use super::json::{self, Object};
use super::words::{length, typed_limit};
use crate::policy::forecast::{End, Row, forecast};
use crate::run::plan::Plan;

const HEADING: &str =
    "retry    least     mean     most   mean total       90% of totals   most total\n";

/// Returns the table that `--plan` prints.
pub(crate) fn table(plan: &Plan) -> String {
    let (rows, end) = waits(plan);
    let mut text = first_wait(plan);
    if !rows.is_empty() {
        text += HEADING;
    }
    text.extend(rows.iter().map(line));
    text + &reason_for_end(plan, end)
}

fn line(row: &Row) -> String {
    let [least, mean, most] = [row.least, row.mean, row.most].map(length);
    let [total, total_most] = [row.total, row.total_most].map(length);
    let (retry, totals) = (row.retry, range(row.totals[0], row.totals[1]));
    format!("{retry:>5}{least:>9}{mean:>9}{most:>9}{total:>13}{totals:>20}{total_most:>13}\n")
}

/// The output of `--plan --log-format json`.
#[derive(Serialize)]
struct Retries {
    retries: Vec<Object>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
}

/// Returns the waits as one object, in seconds.
pub(crate) fn as_json(plan: &Plan) -> String {
    let (rows, end) = waits(plan);
    let more = match end {
        End::More(retries) => Some(retries),
        _ => None,
    };
    let retries = rows.iter().map(row_as_json).collect();
    json::line(&Retries { retries, more })
}

fn row_as_json(row: &Row) -> Object {
    let seconds = |wait: Duration| match wait.subsec_nanos() {
        0 => wait.as_secs().into(),
        _ => wait.as_secs_f64().into(),
    };
    Object(vec![
        ("retry", row.retry.into()),
        ("min_s", seconds(row.least)),
        ("mean_s", seconds(row.mean)),
        ("max_s", seconds(row.most)),
        ("total_s", seconds(row.total)),
        ("total_max_s", seconds(row.total_most)),
        ("total_p5_s", seconds(row.totals[0])),
        ("total_p95_s", seconds(row.totals[1])),
    ])
}

/// Returns the rows of the plan and the reason for their end.
pub(super) fn waits(plan: &Plan) -> (Vec<Row>, End) {
    let mean_first_wait = plan.initial_delay.saturating_add(plan.splay / 2);
    forecast(&plan.delays, &plan.limits, mean_first_wait)
}

/// Returns a line about the wait before the first attempt, or nothing if there is none.
pub(super) fn first_wait(plan: &Plan) -> String {
    let most = plan.initial_delay.saturating_add(plan.splay);
    if most.is_zero() {
        return String::new();
    }
    let wait = range(plan.initial_delay, most);
    let part = time_limit(plan).map(|limit| format!(", which is part of {limit}"));
    format!(
        "before the first attempt: {wait}{}\n",
        part.unwrap_or_default()
    )
}

/// Returns a line with the reason for the end of the table, or nothing if all attempts are shown.
pub(super) fn reason_for_end(plan: &Plan, end: End) -> String {
    let line = match end {
        End::Attempts if plan.limits.attempts == Some(1) => {
            "1 attempt: there is no retry to wait for".to_owned()
        }
        End::Attempts => return String::new(),
        End::Unlimited => "and so on: attempts are unlimited".to_owned(),
        End::More(retries) => format!("and {retries} more"),
        End::Delay => "--stop-at-delay ends the run here".to_owned(),
        End::Deadline([fewest, most]) => {
            let retries = match (fewest, most) {
                (0, 0) => "leaves no time for a retry".to_owned(),
                (1, 1) => "ends the run after 1 retry".to_owned(),
                _ if fewest == most => format!("ends the run after {most} retries"),
                _ => format!("ends 90% of runs after {fewest} to {most} retries"),
            };
            format!("{} {retries}", time_limit(plan).unwrap_or_default())
        }
    };
    line + "\n"
}

/// Returns the option that limits the time of the run: `--deadline 5m`.
fn time_limit(plan: &Plan) -> Option<String> {
    let (_, why) = plan.limits.latest_begin()?;
    Some(typed_limit(&plan.limits, why))
}

/// Returns a range of waits: `0.5s to 1.5s`.
pub(super) fn range(least: Duration, most: Duration) -> String {
    match [least, most].map(length) {
        [least, most] if least == most => most,
        [least, most] => format!("{least} to {most}"),
    }
}
