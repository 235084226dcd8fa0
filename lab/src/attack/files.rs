//! The files that a run of backoff leaves.

use std::fs;

use serde_json::Value;

use super::round::Round;
use super::run::Ended;
use crate::Result;

/// Fails unless report and log, if any, are whole.
pub fn expect_whole_files(round: &Round) -> Result<()> {
    report(round)?;
    expect_whole_log(round)
}

/// Fails unless report and log, if any, are whole, and the report has the status of the run.
pub fn expect_files_of(ended: &Ended, round: &Round) -> Result<()> {
    if let Some(report) = report(round)? {
        let said = &report["exit_status"];
        ensure!(
            *said == Value::from(ended.status_in_shell()),
            "the report says {said}\n{ended}"
        );
    }
    expect_whole_log(round)
}

fn report(round: &Round) -> Result<Option<Value>> {
    let Ok(text) = fs::read_to_string(round.dir().join("report")) else {
        return Ok(None);
    };
    match serde_json::from_str(&text) {
        Ok(report) => Ok(Some(report)),
        Err(_) => Err(format!("half a report: {text:?}").into()),
    }
}

fn expect_whole_log(round: &Round) -> Result<()> {
    let log = log(round);
    ensure!(
        log.is_empty() || log.ends_with('\n'),
        "half a line of the log: {log:?}"
    );
    for line in log.lines() {
        let is_json = serde_json::from_str::<Value>(line).is_ok();
        ensure!(is_json, "a line of the log that is no JSON: {line:?}");
    }
    Ok(())
}

/// Returns the text of the log; none if there is no log.
pub fn log(round: &Round) -> String {
    fs::read_to_string(round.dir().join("log")).unwrap_or_default()
}
