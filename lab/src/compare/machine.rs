//! What was measured, where and when.

use std::process::Command;

use super::Bench;
use super::table::Table;

pub fn table(bench: &Bench, missing: &[&str]) -> Table {
    let mut tools = Vec::new();
    for tool in &bench.tools {
        tools.push(format!("{} {}", tool.title, tool.version()).trim().to_owned());
    }
    let missing = match missing {
        [] => String::new(),
        missing => format!(" Not found, and left out: {}.", missing.join(", ")),
    };
    let quick = if bench.options.quick {
        ", too few rounds to be true"
    } else {
        ""
    };
    let title = format!("What was measured on {}{quick}.{missing}", said_by("date", "+%F"));
    let mut table = Table::new("machine", &title, &["what", "which"]);
    table.words = 2;
    table.row(["system".into(), said_by("uname", "-srm")]);
    table.row(["processors".into(), processors()]);
    table.row(["other work".into(), other_work(bench)]);
    table.row(["tools".into(), tools.join("; ")]);
    table
}

/// Whether the machine had something else to do.
fn other_work(bench: &Bench) -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let first = if bench.options.first {
        "; kept out by `--first`"
    } else {
        ""
    };
    format!("a load of {load} before{first}")
}

fn processors() -> String {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|line| line.starts_with("model name"));
    match model.and_then(|line| line.split_once(": ")) {
        Some((_, model)) => format!("{count}, {model}"),
        None => count.to_string(),
    }
}

fn said_by(program: &str, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}
