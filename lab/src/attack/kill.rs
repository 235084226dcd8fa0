//! KILL at a random moment of runs that write and keep all they can.

use std::fs;

use nix::libc;

use super::budget_file;
use super::numbered::{Numbered, expect_input, starts};
use super::outcome::{Outcome, ensure};
use super::round::Round;
use super::signals::expect_whole_files;

const FILES: &str = "--report DIR/report --log-file DIR/log --log-format json -v --budget b --budget-min 1000 \
                     --store DIR/store --store-timeout 15s";

const SCENES: &[&str] = &[
    "",
    "--stdout final --stderr failure",
    "--fail-match nothing",
    "--stdin replay --stdout final",
    "--fail-match nothing --stdin auto",
    "--pty --fail-match nothing",
    "--on-retry true",
];

/// What may be there afterwards.
const KNOWN: &[&str] = &[
    "report", "log", "store", "starts", "written", "errors", "in.1", "in.2", "in.3",
];
const OLD_REPORT: &str = r#"{"exit_status": "old"}"#;

pub fn play(round: &mut Round) -> Outcome {
    let options = round.pick(SCENES);
    let command = Numbered {
        // Some of it is more than is kept in memory.
        lines: round.pick(&[0, 3, 1500]),
        padding: 1000,
        reads: options.contains("--stdin"),
        good: round.pick(&[2, 9]),
        ..Numbered::default()
    };
    let input = command.reads.then(|| vec![b'i'; round.pick(&[10, 5_000, 2_000_000])]);
    if round.is(0.5) {
        fs::write(round.dir().join("report"), OLD_REPORT)?;
    }
    let mut words = round.options(&format!("-n 3 -b 1ms -m 3ms {FILES} {options}"));
    words.extend(command.words(round));
    let mut line = round.backoff(&words);
    let run = round.start(&mut line, input.clone())?;
    round.pause(40_000);
    round.story.push("KILL".into());
    run.signal(libc::SIGKILL, false);
    let shown = run.end(round)?;
    let own = [Some(0), Some(command.code)].contains(&shown.code());
    ensure!(
        own || shown.signal() == Some(libc::SIGKILL),
        "a status that nothing explains\n{shown}"
    );
    if own {
        let whole = options.contains("final");
        let stream = || command.expect_stream(round, &shown.stdout);
        if whole {
            command.expect_final(&shown.stdout, true)
        } else {
            stream()
        }?;
        expect_whole_files(round, Some(&shown))?;
    } else {
        command.lines_of_attempts(&shown.stdout)?;
        expect_whole_files(round, None)?;
    }
    if let Some(input) = input.filter(|_| own) {
        expect_input(round, &input)?;
    }
    // Each attempt was counted before it was started, and at most one more.
    let counts = budget_file::counts(&round.dir().join("store/b.budget"))?;
    let started = starts(round).len() as u64;
    let is_counted = (started..=started + 1).contains(&counts.attempts);
    ensure!(
        is_counted,
        "{started} attempts were started, and of them came {counts:?}\n{shown}"
    );
    expect_known_files(round)
}

fn expect_known_files(round: &Round) -> Outcome {
    for entry in fs::read_dir(round.dir())? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let is_known = KNOWN.contains(&&*name) || name.starts_with(".backoff-report-");
        ensure!(is_known, "{name} is left");
    }
    Ok(())
}
