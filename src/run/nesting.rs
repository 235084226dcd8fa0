//! Runs within runs: where this one stands, and what it tells those within it.

use std::fmt;

/// Of a run that is not outermost, for those within: the attempts of all runs around it.
pub(crate) const AROUND: &str = "BACKOFF_AROUND";
/// The attempt that a budget has counted, and which budget.
pub(crate) const COUNTED: &str = "BACKOFF_COUNTED";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Nesting {
    /// 1 for an outermost run.
    pub(crate) depth: u64,
    /// `--nested warn`, and nobody has said it yet.
    pub(crate) warn: bool,
    /// The runs around this one, the outermost first. Empty as well where that is not known.
    pub(crate) around: Vec<Turn>,
    /// What of the run around this one was counted.
    pub(crate) counted: Option<Counted>,
}

/// Where an outer run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) attempt: u64,
    /// None if unlimited.
    pub(crate) limit: Option<u64>,
}

impl Turn {
    /// None of what no run has set. A limit that is empty is none.
    pub(crate) fn parse(attempt: &str, limit: &str) -> Option<Turn> {
        let limit = match limit {
            "" => None,
            limit => Some(limit.parse().ok().filter(|limit| *limit > 0)?),
        };
        Some(Turn {
            attempt: attempt.parse().ok().filter(|attempt| *attempt > 0)?,
            limit,
        })
    }

    /// `1/3 2/5`
    pub(crate) fn parse_all(text: &str) -> Option<Vec<Turn>> {
        let turns = text.split(' ').map(|turn| {
            let (attempt, limit) = turn.split_once('/')?;
            Turn::parse(attempt, limit)
        });
        turns.collect()
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.attempt)?;
        self.limit.map_or(Ok(()), |limit| write!(f, "{limit}"))
    }
}

/// An attempt that a shared budget has counted. A run within it is the same call, and is not counted once more; what
/// another budget has counted is none of its business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Of the attempt, among all attempts of all runs.
    pub(crate) number: u64,
    /// The budget's name, and where it is kept.
    pub(crate) by: String,
}

impl Counted {
    /// Redis counts in floats, which are exact below this.
    const NUMBERS: u64 = 1 << 53;

    /// Attempt `total` of this run, whose id begins with random digits.
    pub(super) fn attempt(run_id: &str, total: u64, by: &str) -> Counted {
        let random = run_id.split('-').next();
        let random = random.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        Counted {
            number: (random.unwrap_or(0) << 20).wrapping_add(total) % Counted::NUMBERS,
            by: by.to_owned(),
        }
    }

    /// None of what no run has set.
    pub(crate) fn parse(text: &str) -> Option<Counted> {
        let (number, by) = text.split_once(' ')?;
        let number = number.parse().ok().filter(|number| *number < Counted::NUMBERS)?;
        Some(Counted {
            number,
            by: by.to_owned(),
        })
    }
}

/// `3435974836 "api" in redis://host:6379/0`
impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.number, self.by)
    }
}
