//! What backoff prints instead of running anything: the plan, lists, the man page, completions.

use std::time::Duration;

use crate::config::{Config, Source};
use crate::observe::json::Object;
use crate::observe::words::decimal;
use crate::observe::words::harmless;
use crate::plan::{Document, Plan};
use crate::policy::forecast;
use crate::presets;
use crate::settings::{Entry, shown};

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

/// `--list-presets`: names, what they are for, and the programs that `auto` picks them for.
pub fn presets() -> impl Iterator<Item = String> {
    presets::all().map(|preset| {
        let programs: Vec<&str> = preset
            .programs
            .iter()
            .copied()
            .filter(|program| *program != preset.name)
            .collect();
        let also = if programs.is_empty() {
            String::new()
        } else {
            format!(" (also for {})", programs.join(", "))
        };
        format!("{:<18} {}{also}\n", preset.name, preset.about)
    })
}

/// `--list-policies`: a line with the name and where it comes from, and an indented one for each thing it sets.
pub fn policies(config: &Config) -> impl Iterator<Item = String> {
    config.policies.iter().map(|policy| {
        let from = match &policy.source {
            Source::BuiltIn(source) => format!("built in ({source})"),
            Source::File {
                place,
                in_place_of_built_in,
            } => {
                let note = if *in_place_of_built_in {
                    " (in place of the built-in one)"
                } else {
                    ""
                };
                format!("{}:{}{note}", place.file, place.line)
            }
        };
        let mut text = format!("{:<18} {from}\n", policy.name);
        for entry in &policy.sets.entries {
            text.push_str(&format!("  {}\n", setting(entry)));
        }
        for (rule, number) in policy.rules.iter().zip(1..) {
            let says: Vec<String> = rule.entries.iter().map(setting).collect();
            text.push_str(&format!("  rule {number}: {}\n", says.join(", ")));
        }
        text
    })
}

fn setting(entry: &Entry) -> String {
    format!("{} = {}", entry.key, harmless(&shown(entry.key, &entry.text)))
}

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
