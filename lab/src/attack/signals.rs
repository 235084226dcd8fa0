//! Signals in any order at any moment, without a terminal. TERM and CONT come last.

use std::collections::BTreeSet;
use std::fs;

use nix::libc;
use rand::RngExt;
use serde_json::Value;

use super::numbered::{Numbered, TRAPPED, expect_input};
use super::outcome::{Loss, Outcome, ensure};
use super::round::{Round, Shown};

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
    "--budget b --store DIR/store --store-timeout 20s --budget-min 1000",
    "--report DIR/report --log-file DIR/log --log-format json -v",
];

const SIGNALS: &[i32] = &[
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGCONT,
    libc::SIGCONT,
    libc::SIGUSR1,
    libc::SIGWINCH,
    libc::SIGCHLD,
    35,
    64,
];

/// What a run may end as.
struct Allowed {
    signals: BTreeSet<i32>,
    codes: Vec<i32>,
}

pub fn play(round: &mut Round) -> Outcome {
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
    let input = command.reads.then(|| vec![b'i'; round.pick(&[10, 5_000, 200_000])]);
    let attempts = round.pick(&["3", "unlimited"]);
    let mut words = round.options(&format!("-n {attempts} -b 1ms -m 3ms {options}"));
    words.extend(command.words(round));
    let mut line = round.backoff(&words);
    let run = round.start(&mut line, input.clone())?;
    round.pause(8_000);

    let mut allowed = Allowed {
        signals: BTreeSet::from([libc::SIGTERM]),
        codes: vec![command.code, 0],
    };
    // A command that is asked to end in an orderly way; a bound; KILL after the bound, or after what was passed on.
    allowed.codes.extend((!command.trap.is_empty()).then_some(TRAPPED));
    if options.contains("-k") {
        allowed.codes.push(124);
        allowed.signals.insert(libc::SIGKILL);
    }
    for _ in 0..round.rng.random_range(0..12) {
        let (signal, group) = (round.pick(SIGNALS), round.is(0.3));
        if run.signal(signal, group) {
            round
                .story
                .push(format!("signal {signal}{}", if group { " to its group" } else { "" }));
            allowed.signals.insert(signal);
        }
        round.pause(4_000);
    }
    round.pause(15_000);
    round.story.push("TERM, CONT".into());
    run.signal(libc::SIGTERM, false);
    run.signal(libc::SIGCONT, false);
    let shown = run.end(round)?;
    judge(&allowed, &shown)?;
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

fn judge(allowed: &Allowed, shown: &Shown) -> Outcome {
    let is_allowed = match (shown.code(), shown.signal()) {
        (Some(code), _) => allowed.codes.contains(&code),
        (None, Some(signal)) => allowed.signals.contains(&signal),
        _ => false,
    };
    ensure!(is_allowed, "a status that nothing explains\n{shown}");
    Ok(())
}

/// A report and a log, if there are any; with the status, if the run was not killed.
pub fn expect_whole_files(round: &Round, shown: Option<&Shown>) -> Outcome {
    if let Ok(text) = fs::read_to_string(round.dir().join("report")) {
        let report: Value = serde_json::from_str(&text).map_err(|_| Loss(format!("half a report: {text:?}")))?;
        if let Some(shown) = shown {
            let status = shown.code().or(shown.signal().map(|signal| 128 + signal));
            let said = &report["exit_status"];
            ensure!(*said == Value::from(status), "the report says {said}\n{shown}");
        }
    }
    let log = fs::read_to_string(round.dir().join("log")).unwrap_or_default();
    ensure!(log.is_empty() || log.ends_with('\n'), "half a line of the log: {log:?}");
    for line in log.lines() {
        let is_json = serde_json::from_str::<Value>(line).is_ok();
        ensure!(is_json, "a line of the log that is no JSON: {line:?}");
    }
    Ok(())
}
