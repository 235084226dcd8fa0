//! The runs that are counted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::committed::Row;
use super::taken::{Place, counts};
use crate::{Result, child};

/// The words after `backoff`. `apt` is a stand-in that succeeds, KILOBYTE a file of as many bytes.
const RUNS: [&str; 7] = [
    "-- true",
    "-r x -- true",
    "-i 5s -- true",
    "--for curl -- true",
    "--for auto -- apt",
    "--stdout success -- true",
    "--for apt -- cat KILOBYTE",
];

/// One more attempt, by the difference of a run with so many retries and of one without.
const RETRY: &str = "one more attempt of -b 0 -- false";
const RETRIES: u64 = 50;

pub fn count(backoff: &str) -> Result<Vec<Row>> {
    let dir = tempfile::tempdir()?;
    prepare(dir.path())?;
    let place = Place {
        backoff,
        dir: dir.path(),
    };
    let mut rows = Vec::new();
    for run in RUNS {
        let words: Vec<&str> = run.split(' ').collect();
        rows.push(Row {
            situation: run.to_owned(),
            counts: counts(&place, &words)?,
        });
    }
    let with = |retries: u64| {
        let attempts = (1 + retries).to_string();
        counts(&place, &["-q", "-b", "0", "-n", &attempts, "--", "false"])
    };
    let (once, often) = (with(0)?, with(RETRIES)?);
    let each = |i: usize| (often[i].saturating_sub(once[i]) + RETRIES / 2) / RETRIES;
    rows.push(Row {
        situation: RETRY.to_owned(),
        counts: std::array::from_fn(each),
    });
    Ok(rows)
}

fn prepare(dir: &Path) -> Result<()> {
    symlink("/bin/true", dir.join("apt"))?;
    Ok(fs::write(dir.join("KILOBYTE"), child::kilobyte())?)
}
