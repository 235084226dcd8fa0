//! What `--plan` prints.

use std::time::Duration;

use super::json::Object;
use super::words::decimal;
use crate::policy::forecast;
use crate::run::plan::Plan;

/// Nobody reads more.
const MOST_ROWS: u64 = 10_000;

/// `--plan`: a table of all waits, in seconds, line by line.
pub(crate) fn waits(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let line = |cells: [String; 5]| {
        let [retry, rest @ ..] = cells;
        let rest: String = rest.iter().map(|cell| format!("  {cell:>13}")).collect();
        format!("{retry:>5}{rest}\n")
    };
    let heading = ["retry", "least", "mean", "most", "total"].map(str::to_owned);
    let rows = forecast::rows(&plan.delays, &plan.limits, plan.initial_delay);
    let lines = rows.map_while(move |row| {
        let [least, mean, most, total] = [row.least, row.mean, row.most, row.total].map(seconds);
        match row.retry {
            ..=MOST_ROWS => Some(line([row.retry.to_string(), least, mean, most, total])),
            retry if retry == MOST_ROWS + 1 => Some(format!("and {} more\n", more(plan))),
            _ => None,
        }
    });
    std::iter::once(line(heading)).chain(lines)
}

/// `--plan --log-format json`: the same as one object.
pub(crate) fn waits_as_json(plan: &Plan) -> String {
    let rows = forecast::rows(&plan.delays, &plan.limits, plan.initial_delay);
    let mut rows = rows.peekable();
    let shown: Vec<String> = rows
        .by_ref()
        .take(MOST_ROWS as usize)
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
    let object = Object::new().raw("retries", format_args!("[{}]", shown.join(",")));
    let object = match rows.peek() {
        Some(_) => object.raw("more", more(plan)),
        None => object,
    };
    object.end() + "\n"
}

/// How many retries are not shown, if nothing but the attempts ends the run.
fn more(plan: &Plan) -> u64 {
    plan.limits.attempts.unwrap_or_default().saturating_sub(1 + MOST_ROWS)
}

/// `1.5s`: decimal seconds, exact to the nanosecond, without idle zeros.
fn seconds(duration: Duration) -> String {
    decimal(duration) + "s"
}
