//! Sends KILL at a random moment to runs that write files and keep output and input.

use std::fs;

use nix::sys::signal::Signal;

use super::numbered::{Numbered, expect_input};
use super::round::Round;
use super::signals::expect_whole_files;
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
    let command = Numbered {
        // The largest output exceeds the memory limit.
        lines: round.pick(&[0, 3, 1500]),
        padding: 1000,
        reads: options.contains("--stdin"),
        good: round.pick(&[2, 9]),
        ..Numbered::default()
    };
    let input = command
        .reads
        .then(|| vec![b'i'; round.pick(&[10, 5_000, 2_000_000])]);
    if round.is(0.5) {
        fs::write(round.dir().join("report"), r#"{"exit_status": "old"}"#)?;
    }
    let options = format!("-n 3 -b 1ms -m 3ms {FILES} {STORE} {options}");
    let run = round.start("", &options, command.words(round), input.clone())?;
    round.pause(40_000);
    run.signal(Signal::SIGKILL, false);
    let shown = run.end(round)?;
    if [Some(0), Some(command.code)].contains(&shown.code()) {
        if options.contains("final") {
            command.expect_final(&shown.stdout, true)?;
        } else {
            command.expect_stream(round, &shown.stdout)?;
        }
        expect_whole_files(round, Some(&shown))?;
        input.map_or(Ok(()), |input| expect_input(round, &input))?;
    } else {
        ensure!(
            shown.signal() == Some(Signal::SIGKILL as i32),
            "an unexplained status\n{shown}"
        );
        command.lines_of_attempts(&shown.stdout)?;
        expect_whole_files(round, None)?;
    }
    for entry in fs::read_dir(round.dir())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_known = KNOWN.contains(&&*name) || name.starts_with(".backoff-report-");
        ensure!(is_known, "{name} is left");
    }
    // The lock is free, and the record is whole.
    let next = round
        .start("", STORE, ["--", "true"].map(str::to_owned).into(), None)?
        .end(round)?;
    ensure!(
        next.code() == Some(0) && next.stderr.is_empty(),
        "the next run\n{next}"
    );
    Ok(())
}
