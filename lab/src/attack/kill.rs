//! Sends KILL at a random moment to runs that write files and keep output and input.

use std::fs;

use nix::sys::signal::Signal;

use super::files::{expect_files_of, expect_whole_files};
use super::numbered::{Numbered, expect_input};
use super::round::{Invocation, Round};
use super::run::{Ended, Target};
use crate::Result;

const STORE: &str = "--budget b --budget-min 1000 --store DIR/store";
const FILES: &str = "--report DIR/report --log-file DIR/log --log-format json -v";

const SCENES: &[&str] = &[
    "",
    "--stdout final --stderr failure",
    "--fail-match nothing",
    "--stdin replay --stdout final",
    "--fail-match nothing --stdin auto",
    "--pty --fail-match nothing",
    "--on-retry true",
];

/// The files that may exist afterwards.
const KNOWN: &[&str] = &[
    "report", "log", "store", "written", "errors", "in.1", "in.2", "in.3",
];

pub fn play(round: &mut Round) -> Result<()> {
    let options = round.pick(SCENES);
    let command = random_command(round, options);
    let input = random_input(round, &command);
    if round.chance(0.5) {
        write_old_report(round)?;
    }
    let run = round.start(Invocation {
        options: &format!("-n 3 -b 1ms -m 3ms {FILES} {STORE} {options}"),
        command: command.words(round),
        input: input.clone(),
        ..Invocation::default()
    })?;
    round.pause(40_000);
    run.signal(Signal::SIGKILL, Target::Backoff);
    let ended = run.end(round)?;

    let was_faster_than_kill = [Some(0), Some(command.code)].contains(&ended.code());
    if was_faster_than_kill {
        if options.contains("final") {
            command.expect_whole_attempt(&ended.stdout)?;
        } else {
            command.expect_stream(round, &ended.stdout)?;
        }
        expect_files_of(&ended, round)?;
        if let Some(input) = input {
            expect_input(round, &input)?;
        }
    } else {
        expect_killed(&ended)?;
        command.lines_of_attempts(&ended.stdout)?;
        expect_whole_files(round)?;
    }
    expect_only_known_files(round)?;
    expect_usable_budget(round)
}

fn random_command(round: &mut Round, options: &str) -> Numbered {
    Numbered {
        // The largest output exceeds the memory limit.
        lines: round.pick(&[0, 3, 1500]),
        padding: 1000,
        reads_input: options.contains("--stdin"),
        first_success: round.pick(&[2, 9]),
        ..Numbered::default()
    }
}

fn random_input(round: &mut Round, command: &Numbered) -> Option<Vec<u8>> {
    if command.reads_input {
        Some(vec![b'i'; round.pick(&[10, 5_000, 2_000_000])])
    } else {
        None
    }
}

/// Writes the report of an earlier run, which has to be there until the new one is whole.
fn write_old_report(round: &Round) -> Result<()> {
    let path = round.dir().join("report");
    Ok(fs::write(path, r#"{"exit_status": "old"}"#)?)
}

fn expect_killed(ended: &Ended) -> Result<()> {
    ensure!(
        ended.signal() == Some(Signal::SIGKILL as i32),
        "an unexplained status\n{ended}"
    );
    Ok(())
}

fn expect_only_known_files(round: &Round) -> Result<()> {
    for entry in fs::read_dir(round.dir())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_known = KNOWN.contains(&&*name) || name.starts_with(".backoff-report-");
        ensure!(is_known, "{name} is left");
    }
    Ok(())
}

/// Fails unless a second run can use the budget: the lock is free, and the record is whole.
fn expect_usable_budget(round: &mut Round) -> Result<()> {
    let run = round.start(Invocation {
        options: STORE,
        command: vec!["--".to_owned(), "true".to_owned()],
        ..Invocation::default()
    })?;
    let ended = run.end(round)?;
    ensure!(
        ended.code() == Some(0) && ended.stderr.is_empty(),
        "the next run\n{ended}"
    );
    Ok(())
}
