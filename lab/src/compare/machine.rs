//! What was measured, where and when.

use std::process::Command;

use super::Bench;
use crate::Result;
use crate::table::Table;

pub fn table(bench: &Bench, missing: &[&str]) -> Result<Table> {
    let mut tools = Vec::new();
    for tool in &bench.tools {
        tools.push(format!("{} {}", tool.title, tool.version()).trim().to_owned());
    }
    let missing = match missing {
        [] => "nothing".to_owned(),
        missing => missing.join("; "),
    };
    let quick = if bench.options.quick {
        ", in too few rounds to be true"
    } else {
        ""
    };
    let title = format!("Measured on {}{quick}.", said_by("date", "+%F"));
    let mut table = Table::new("machine", &title, &["what", "which"]);
    table.words = 2;
    table.row(["system".into(), said_by("uname", "-srm")]);
    table.row(["processors".into(), processors()]);
    table.row(["load before".into(), load()]);
    table.row(["tools".into(), tools.join("; ")]);
    table.row(["not found, and left out".into(), missing]);
    if let Some(tool) = bench.tools.iter().find(|tool| tool.is_static()) {
        let megabytes = std::fs::metadata(tool.program())?.len() as f64 / 1e6;
        table.row([
            "size of the static program".into(),
            format!("{megabytes:.1} MB, of 5 at most"),
        ]);
    }
    Ok(table)
}

/// Whether the machine had something else to do.
fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
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
