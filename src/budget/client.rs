//! Where a budget is kept, and how it is asked. What is allowed is decided in [`policy::budget`](crate::policy::budget).

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::directory;
use super::redacted::{ReadDuration, TIMEOUT, is_a_slip};
#[cfg(feature = "redis")]
use super::redis;
use crate::policy::budget::Question;
#[cfg(feature = "redis")]
use crate::policy::budget::{Answer, Counts, LONGEST_COOL_OFF};
use crate::run::host::BudgetAnswer;
use crate::run::plan::SharedBudget;

/// What tells the time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    /// The time of day, since the UNIX epoch.
    pub(crate) since_epoch: fn() -> Duration,
    /// What is never set.
    #[cfg_attr(not(feature = "redis"), allow(dead_code, reason = "a file system cannot be hurried"))]
    pub(crate) now: fn() -> Instant,
}

#[derive(Debug, Clone)]
pub enum Store {
    /// `backoff` in the user's directory for state, if there is such a place.
    Home(Option<PathBuf>),
    Directory(PathBuf),
    #[cfg(feature = "redis")]
    Redis(Box<redis::Address>),
}

impl Store {
    /// Reads an address, or the path of a directory.
    /// `duration` reads one.
    pub fn parse(text: &str, duration: ReadDuration) -> Result<Store, String> {
        let Some((scheme, _)) = text.split_once("://") else {
            return match text {
                "" => Err("is empty; try a directory, or redis://HOST:6379".into()),
                path if is_a_slip(path) => Err(
                    "is an address that lacks its beginning; try redis://HOST:6379, or ./ in front of a directory"
                        .into(),
                ),
                path => Ok(Store::Directory(path.into())),
            };
        };
        match scheme.to_ascii_lowercase().as_str() {
            #[cfg(feature = "redis")]
            "redis" | "rediss" | "redis+unix" => Ok(Store::Redis(Box::new(redis::Address::parse(text, duration)?))),
            #[cfg(not(feature = "redis"))]
            "redis" | "rediss" | "redis+unix" => {
                Err("needs Redis, which this backoff was built without; try a directory".into())
            }
            _ => Err("is not a store; try a directory, redis://HOST:6379, rediss:// or redis+unix://".into()),
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Store::Home(_) => f.write_str("the directory for state"),
            Store::Directory(path) => write!(f, "{}", path.display()),
            #[cfg(feature = "redis")]
            Store::Redis(address) => f.write_str(&address.shown()),
        }
    }
}

impl Store {
    /// By which runs know whether theirs is the same. Without user and password.
    pub(crate) fn place(&self) -> String {
        match self {
            Store::Home(None) => String::new(),
            Store::Home(Some(path)) | Store::Directory(path) => {
                let whole = std::path::absolute(path);
                whole.as_ref().unwrap_or(path).display().to_string()
            }
            #[cfg(feature = "redis")]
            Store::Redis(address) => address.place(),
        }
    }

    /// Returns how long an answer may hold up the run.
    pub(crate) fn timeout(&self) -> Duration {
        match self {
            Store::Home(_) | Store::Directory(_) => TIMEOUT,
            #[cfg(feature = "redis")]
            Store::Redis(address) => address.timeout,
        }
    }

    /// Returns true if a directory of this machine can take its place.
    pub(crate) fn is_remote(&self) -> bool {
        !matches!(self, Store::Home(_) | Store::Directory(_))
    }

    /// Asks, and blocks for as long as the file system does, or a server may. An error names the store.
    #[cfg_attr(
        not(feature = "redis"),
        allow(unused_variables, reason = "a file system cannot be hurried")
    )]
    pub(crate) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
        clocks: Clocks,
    ) -> Result<BudgetAnswer, String> {
        match self {
            Store::Home(None) => Err(
                "there is no place for the budget: neither XDG_STATE_HOME nor HOME is set; try --store DIRECTORY"
                    .into(),
            ),
            Store::Home(Some(path)) | Store::Directory(path) => directory::update(path, &budget.name, |ledger| {
                // The time is read under the lock: it must not be older than what the last one wrote.
                ledger.answer(&budget.terms, question, (clocks.since_epoch)())
            }),
            #[cfg(feature = "redis")]
            Store::Redis(address) => {
                ask_redis(address, budget, question, patience, clocks.now).map(|answer| BudgetAnswer {
                    answer: Some(answer),
                    warning: None,
                })
            }
        }
    }
}

/// The same as `Ledger::answer`, for a server that runs it.
#[cfg(feature = "redis")]
pub(crate) const SCRIPT: &str = include_str!("budget.lua");
/// Redis counts in floats, which are exact up to here; in milliseconds, 285,000 years.
#[cfg(feature = "redis")]
const LONGEST: u64 = 1 << 53;

#[cfg(feature = "redis")]
fn ask_redis(
    address: &redis::Address,
    budget: &SharedBudget,
    question: Question,
    patience: Duration,
    now: fn() -> Instant,
) -> Result<Answer, String> {
    let millis = |duration: Duration| (duration.as_millis().min(u128::from(LONGEST)) as u64).to_string();
    let (word, length, earlier) = match question {
        Question::Attempt => ("attempt", Duration::ZERO, None),
        Question::Retry => ("retry", Duration::ZERO, None),
        Question::CoolOff => ("cool-off", Duration::ZERO, None),
        Question::GaveUp { cool_off, earlier } => ("gave-up", cool_off.min(LONGEST_COOL_OFF), earlier),
        Question::Succeeded => ("succeeded", Duration::ZERO, None),
    };
    let arguments = [
        millis(budget.terms.window),
        budget.terms.min.to_string(),
        budget.terms.ratio.to_string(),
        word.to_owned(),
        millis(length),
        earlier.map_or("-1".to_owned(), |earlier| earlier.min(LONGEST).to_string()),
    ];
    // The only key, so that it lies on one server of a cluster.
    let key = format!("backoff:budget:{}", budget.name);
    let numbers = redis::evaluate(address, SCRIPT, &key, &arguments, patience, now)?;
    let numbers: Result<Vec<u64>, _> = numbers.iter().map(|n| u64::try_from(*n)).collect();
    match numbers.as_deref() {
        Ok(&[_, _, _, left, ..]) if u128::from(left) > LONGEST_COOL_OFF.as_millis() => {
            Err(format!("{}: tells of a cool-off that no run has left", address.shown()))
        }
        Ok(&[allowed, attempts, retries, left, ref failed_runs @ ..]) if failed_runs.len() < 2 => Ok(Answer {
            allowed: allowed == 1,
            counts: Counts { attempts, retries },
            cool_off: Duration::from_millis(left),
            failed_runs: failed_runs.first().copied().unwrap_or(0),
        }),
        _ => Err(format!("{}: {}", address.shown(), redis::NOT_WHAT_WAS_ASKED_FOR)),
    }
}
