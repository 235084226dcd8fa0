//! Sends signals in any order at any moment, without a terminal. TERM and CONT come last.

use std::collections::BTreeSet;
use std::fs;

use nix::sys::signal::Signal::{
    self, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGUSR1,
    SIGWINCH,
};
use rand::RngExt;
use serde_json::Value;

use super::numbered::{Numbered, TRAPPED, expect_input};
use super::round::{Round, Shown};
use crate::Result;

const SCENES: &[&str] = &[
    "",
    "--fail-match nothing",
    "--stdout final",
    "-t 40ms -k 20ms",
    "-i 40ms -k 20ms",
    "--pty",
    "--pty --fail-match nothing",
    "--on-retry true",
    "--before-retry true --hook-output",
    "--stdin replay",
    "--fail-match nothing --stdin auto",
    "--budget b --store DIR/store --budget-min 1000",
    "--report DIR/report --log-file DIR/log --log-format json -v",
];

const SIGNALS: &[Signal] = &[
    SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTSTP, SIGTTIN, SIGCONT, SIGCONT, SIGUSR1,
    SIGWINCH, SIGCHLD,
];

pub fn play(round: &mut Round) -> Result<()> {
    let options = round.pick(SCENES);
    let command = Numbered {
        lines: round.pick(&[0, 3, 40]),
        nap: round.pick(&["0", "0.003", "0.02", "1"]),
        code: round.pick(&[1, 75]),
        good: round.pick(&[2, 1_000_000]),
        reads: options.contains("--stdin"),
        trap: round.pick(&["", "", "TERM INT", "TERM HUP QUIT INT USR1"]),
        padding: round.pick(&[1, 100]),
    };
    let input = command
        .reads
        .then(|| vec![b'i'; round.pick(&[10, 5_000, 200_000])]);
    let attempts = round.pick(&["3", "unlimited"]);
    let line = format!("-n {attempts} -b 1ms -m 3ms {options}");
    let run = round.start("", &line, command.words(round), input.clone())?;
    round.pause(8_000);

    // The permitted statuses of the run. KILL comes after the limit, or after a forwarded signal.
    let mut signals = BTreeSet::from([SIGTERM]);
    let mut codes = vec![command.code, 0];
    codes.extend((!command.trap.is_empty()).then_some(TRAPPED));
    if options.contains("-k") {
        codes.push(124);
        signals.insert(SIGKILL);
    }
    for _ in 0..round.rng.random_range(0..12) {
        let (signal, group) = (round.pick(SIGNALS), round.is(0.3));
        if run.signal(signal, group) {
            round
                .story
                .push(format!("signal {signal}, to the group: {group}"));
            signals.insert(signal);
        }
        round.pause(4_000);
    }
    round.pause(15_000);
    run.signal(SIGTERM, false);
    run.signal(SIGCONT, false);
    let shown = run.end(round)?;
    let is_allowed = match (shown.code(), shown.signal()) {
        (Some(code), _) => codes.contains(&code),
        (None, signal) => signals
            .iter()
            .any(|allowed| signal == Some(*allowed as i32)),
    };
    ensure!(is_allowed, "an unexplained status\n{shown}");
    if options.contains("final") {
        command.expect_final(&shown.stdout, false)?;
    } else {
        command.expect_stream(round, &shown.stdout)?;
    }
    if let Some(input) = input {
        expect_input(round, &input)?;
    }
    expect_whole_files(round, Some(&shown))
}

/// Fails unless report and log, if any, are whole, and the report has the status of a run that was not killed.
pub fn expect_whole_files(round: &Round, shown: Option<&Shown>) -> Result<()> {
    if let Ok(text) = fs::read_to_string(round.dir().join("report")) {
        let report: Value =
            serde_json::from_str(&text).map_err(|_| format!("half a report: {text:?}"))?;
        if let Some(shown) = shown {
            let status = shown.code().or(shown.signal().map(|signal| 128 + signal));
            let said = &report["exit_status"];
            ensure!(
                *said == Value::from(status),
                "the report says {said}\n{shown}"
            );
        }
    }
    let log = fs::read_to_string(round.dir().join("log")).unwrap_or_default();
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
