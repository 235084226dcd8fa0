//! A budget whose record is damaged, or whole, and several runs that use it at once.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use rand::{Rng, RngExt};

use super::budget_file::{self, Counts};
use super::numbered::{Numbered, starts};
use super::outcome::{Outcome, ensure};
use super::round::{Round, Started};

/// What is in the file.
enum Written {
    Nothing,
    /// Whole: what is counted on from.
    Whole(Counts),
    /// Of the form, with any numbers.
    Absurd,
    Damaged(Vec<u8>),
}

pub fn play(round: &mut Round) -> Outcome {
    let store = round.dir().join("store");
    let file = store.join("b.budget");
    fs::create_dir(&store)?;
    fs::set_permissions(&store, fs::Permissions::from_mode(0o700))?;
    let written = plant(round)?;
    let command = Numbered {
        good: round.pick(&[1, 2, 3, 9]),
        ..Numbered::default()
    };
    let options = "-n 3 -b 1ms -m 3ms --max-retry-after 5ms --budget b --cool-off --budget-min 1000000 --store DIR/store \
                   --store-timeout 15s";
    let mut words = round.options(options);
    words.extend(command.words(round));
    let together = round.rng.random_range(1..=4);
    let mut runs = Vec::new();
    for _ in 0..together {
        let mut line = round.backoff(&words);
        runs.push(round.start(&mut line, None)?);
    }
    let code = if command.good <= 3 { 0 } else { command.code };
    for run in runs {
        expect_own(round, run, &command, code)?;
    }
    let attempts = starts(round).len() as u64;
    ensure!(
        attempts == together * command.good.min(3) || matches!(written, Written::Absurd),
        "{attempts} attempts of {together} runs"
    );
    let counts = budget_file::counts(&file)?;
    let new = |before: &Counts| Counts {
        attempts: before.attempts + attempts,
        retries: before.retries + attempts - together,
    };
    let aside = fs::read(store.join("b.budget.bad-1")).ok();
    match written {
        Written::Nothing => ensure!(counts == new(&Counts::default()), "{counts:?} are counted"),
        Written::Whole(before) => ensure!(
            counts == new(&before) && aside.is_none(),
            "of {before:?} and {attempts} attempts of {together} runs came {counts:?}"
        ),
        Written::Absurd => {}
        Written::Damaged(bytes) => {
            ensure!(
                aside.is_none_or(|aside| aside == bytes),
                "what was set aside is not what was found"
            );
            ensure!(counts == new(&Counts::default()), "after damage {counts:?} are counted");
        }
    }
    Ok(())
}

/// As without a budget, and soon.
fn expect_own(round: &Round, run: Started, command: &Numbered, code: i32) -> Outcome {
    let shown = run.end(round)?;
    let own = [Some(code), Some(command.code)].contains(&shown.code());
    ensure!(own, "a status that is not the command's\n{shown}");
    ensure!(shown.took < Duration::from_secs(10), "it took long\n{shown}");
    Ok(())
}

fn plant(round: &mut Round) -> Outcome<Written> {
    let path = round.dir().join("store/b.budget");
    if round.is(0.1) {
        return Ok(Written::Nothing);
    }
    // What a run has left.
    let mut words = round.options("-q -n 3 -b 1ms --budget b --store DIR/store --store-timeout 15s");
    words.extend(["--".to_owned(), "false".into()]);
    let mut line = round.backoff(&words);
    let shown = round.run(&mut line, None)?;
    let mut bytes = fs::read(&path)?;
    let counts = budget_file::counts(&path)?;
    let expected = Counts {
        attempts: 3,
        retries: 2,
    };
    ensure!(counts == expected, "3 attempts are counted as {counts:?}\n{shown}");
    let at = round.rng.random_range(0..bytes.len());
    let way = round.rng.random_range(0..8);
    match way {
        0 => return Ok(Written::Whole(counts)),
        1 => bytes[at] ^= 1 << round.rng.random_range(0..8),
        2 => bytes.truncate(at.max(1)),
        3 => bytes.resize(bytes.len() + at + 1, 7),
        4 => round.rng.fill_bytes(&mut bytes),
        5 => bytes = b"not a budget\n".repeat(at.max(1)),
        6 => bytes[at..].fill(0xff),
        _ => {
            let most = round.pick(&[3, 9, 60, 300, 1000]);
            let mut record: Vec<u64> = (0..most)
                .map(|_| round.rng.random::<u64>() >> round.rng.random_range(0..64))
                .collect();
            let few = round.rng.random_range(3..=60).min(record.len());
            record.truncate(few);
            round.story.push(format!("a record of {record:?}"));
            fs::write(&path, budget_file::file(&record))?;
            return Ok(Written::Absurd);
        }
    }
    round.story.push(format!("the file is damaged in way {way} at {at}"));
    let is_whole = budget_file::read(&bytes).is_some() && way == 1;
    fs::write(&path, &bytes)?;
    ensure!(!is_whole, "a damaged record passes for a whole one");
    Ok(Written::Damaged(bytes))
}
