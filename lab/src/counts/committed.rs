//! The counts that are committed, and what differs from them.

use super::{Counts, KINDS};
use crate::Result;

/// The counts of one situation.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub situation: String,
    pub counts: Counts,
}

/// The bare start-up, and the instructions and page faults that no change may bring it to.
const BARE: &str = "-- true";
const LIMITS: [u64; 2] = [150_000, 50];

/// What is to be said of counts that differ by more than a tenth.
#[derive(Default)]
pub struct Verdict {
    /// Also what only one side has.
    pub grown: Vec<String>,
    pub shrunk: Vec<String>,
}

pub fn compare(committed: &[Row], taken: &[Row]) -> Verdict {
    let mut verdict = Verdict::default();
    for row in taken {
        let Some(old) = committed.iter().find(|old| old.situation == row.situation) else {
            verdict.grown.push(format!("{}: not committed", row.situation));
            continue;
        };
        for ((kind, old), new) in KINDS.iter().zip(old.counts).zip(row.counts) {
            let line = |what| format!("{}: {what} {kind} than committed: {old}, now {new}", row.situation);
            if 10 * new > 11 * old {
                verdict.grown.push(line("more"));
            } else if 10 * new < 9 * old {
                verdict.shrunk.push(line("fewer") + "; lab counts --bless");
            }
        }
    }
    for old in committed {
        if taken.iter().all(|row| row.situation != old.situation) {
            verdict
                .grown
                .push(format!("{}: committed, and not counted", old.situation));
        }
    }
    verdict
}

pub fn within_limits(rows: &[Row]) -> Result<()> {
    let bare = rows.iter().find(|row| row.situation == BARE);
    let bare = bare.ok_or_else(|| format!("no counts of {BARE}"))?;
    for ((kind, count), limit) in KINDS.iter().zip(bare.counts).zip(LIMITS) {
        if count > limit {
            return Err(format!("{BARE}: {count} {kind}, and at most {limit} are wanted").into());
        }
    }
    Ok(())
}

pub fn csv(rows: &[Row]) -> String {
    let mut text = header();
    for row in rows {
        let counts = row.counts.map(|count| count.to_string());
        text.push_str(&format!("\n{},{}", row.situation, counts.join(",")));
    }
    text.push('\n');
    text
}

fn header() -> String {
    format!("run,{}", KINDS.join(","))
}

pub fn parse(text: &str) -> Result<Vec<Row>> {
    let mut lines = text.lines();
    if lines.next() != Some(&header()) {
        return Err(format!("lab/counts.csv does not begin with {:?}", header()).into());
    }
    lines.map(row).collect()
}

fn row(line: &str) -> Result<Row> {
    let mut cells = line.split(',');
    let situation = cells.next().unwrap_or_default().to_owned();
    let counts = cells.map(str::parse).collect::<std::result::Result<Vec<u64>, _>>()?;
    match counts.try_into() {
        Ok(counts) => Ok(Row { situation, counts }),
        Err(_) => Err(format!("lab/counts.csv: {line:?}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(counts: Counts) -> Vec<Row> {
        let situation = BARE.to_owned();
        vec![Row { situation, counts }]
    }

    #[test]
    fn more_than_a_tenth_more_is_named_with_both_numbers() {
        let verdict = compare(&rows([100_000, 50, 40]), &rows([110_001, 55, 44]));
        assert_eq!(
            verdict.grown,
            ["-- true: more instructions than committed: 100000, now 110001"]
        );
        assert!(verdict.shrunk.is_empty());
    }

    #[test]
    fn a_tenth_less_is_no_failure() {
        let verdict = compare(&rows([100_000, 50, 40]), &rows([90_000, 44, 40]));
        assert!(verdict.grown.is_empty());
        assert_eq!(
            verdict.shrunk,
            ["-- true: fewer page faults than committed: 50, now 44; lab counts --bless"]
        );
    }

    #[test]
    fn what_only_one_side_has_is_named() {
        assert_eq!(compare(&[], &rows([1, 1, 1])).grown, ["-- true: not committed"]);
        assert_eq!(
            compare(&rows([1, 1, 1]), &[]).grown,
            ["-- true: committed, and not counted"]
        );
    }

    #[test]
    fn the_bare_start_up_has_limits() {
        assert!(within_limits(&rows([150_000, 50, 40])).is_ok());
        assert!(within_limits(&rows([150_001, 50, 40])).is_err());
        assert!(within_limits(&rows([150_000, 51, 40])).is_err());
        assert!(within_limits(&[]).is_err());
    }

    #[test]
    fn what_is_written_is_read() {
        let rows = rows([1, 2, 3]);
        assert_eq!(parse(&csv(&rows)).unwrap(), rows);
        assert!(parse("").is_err());
        assert!(parse("run,instructions,page faults,system calls\n-- true,1,2\n").is_err());
    }
}
