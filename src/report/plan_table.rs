//! What `--plan` prints.

use std::time::Duration;

use super::json::Object;
use super::words::decimal;
use crate::policy::forecast;
use crate::run::plan::Plan;

/// `--plan`: a table of all waits, in seconds, line by line.
pub fn waits(plan: &Plan) -> impl Iterator<Item = String> {
    let line = |cells: [String; 5]| {
        let [retry, rest @ ..] = cells;
        let rest: String = rest.iter().map(|cell| format!("  {cell:>13}")).collect();
        format!("{retry:>5}{rest}\n")
    };
    let heading = ["retry", "least", "mean", "most", "total"].map(str::to_owned);
    let rows = forecast::rows(&plan.delays, &plan.limits, plan.initial_delay);
    let cells = rows.map(|row| {
        let [least, mean, most, total] = [row.least, row.mean, row.most, row.total].map(seconds);
        [row.retry.to_string(), least, mean, most, total]
    });
    std::iter::once(heading).chain(cells).map(line)
}

/// `--plan --log-format json`: the same as one object.
pub fn waits_as_json(plan: &Plan) -> String {
    let rows = forecast::rows(&plan.delays, &plan.limits, plan.initial_delay);
    let rows: Vec<String> = rows
        .map(|row| {
            Object::new()
                .raw("retry", row.retry)
                .raw("min_s", decimal(row.least))
                .raw("mean_s", decimal(row.mean))
                .raw("max_s", decimal(row.most))
                .raw("total_s", decimal(row.total))
                .end()
        })
        .collect();
    Object::new().raw("retries", format_args!("[{}]", rows.join(","))).end() + "\n"
}

/// `1.5s`: decimal seconds, exact to the nanosecond, without idle zeros.
fn seconds(duration: Duration) -> String {
    decimal(duration) + "s"
}
