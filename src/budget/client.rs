//! The budget that a run shares with others: where it is kept, and how it is asked.
//!
//! What is decided is in [`policy::budget`](crate::policy::budget), how it is kept in [`store`](crate::budget);
//! this joins the two.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::directory;
#[cfg(feature = "redis")]
use super::redis;
use crate::policy::budget::{Answer, CoolOff, Counts, Ledger, MOST_SLOTS, Question, Slot};
use crate::run::host::BudgetAnswer;
use crate::run::plan::SharedBudget;

/// Where budgets are kept.
#[derive(Debug, Clone)]
pub enum Store {
    /// `backoff` in the user's directory for state, if there is such a place.
    Home(Option<PathBuf>),
    /// A directory.
    Directory(PathBuf),
    /// A Redis server.
    #[cfg(feature = "redis")]
    Redis(Box<redis::Address>),
}

impl Store {
    /// Reads an address, or the path of a directory.
    pub fn parse(text: &str) -> Result<Store, String> {
        let Some((scheme, _)) = text.split_once("://") else {
            return match text {
                "" => Err("is empty; try a directory, or redis://HOST:6379".into()),
                // A directory of this name is less likely than a slip, and the name may hold a password.
                path if path.split('/').next().is_some_and(|first| first.contains(':')) => Err(
                    "is an address that lacks its beginning; try redis://HOST:6379, or ./ in front of a directory"
                        .into(),
                ),
                path => Ok(Store::Directory(path.into())),
            };
        };
        match scheme.to_ascii_lowercase().as_str() {
            #[cfg(feature = "redis")]
            "redis" | "rediss" | "redis+unix" => Ok(Store::Redis(Box::new(redis::Address::parse(text)?))),
            #[cfg(not(feature = "redis"))]
            "redis" | "rediss" | "redis+unix" => {
                Err("needs Redis, which this backoff was built without; try a directory".into())
            }
            _ => Err("is no store; try a directory, redis://HOST:6379, rediss:// or redis+unix://".into()),
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
    /// Asks. Blocks for as long as the file system or the network does. `now` tells the time since the UNIX epoch. An
    /// error is what a person should read.
    pub fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        now: fn() -> Duration,
    ) -> Result<BudgetAnswer, String> {
        match self {
            Store::Home(None) => Err(
                "there is no place for the budget: neither XDG_STATE_HOME nor HOME is set; try --store DIRECTORY"
                    .into(),
            ),
            Store::Home(Some(path)) | Store::Directory(path) => ask_directory(path, budget, question, now),
            #[cfg(feature = "redis")]
            Store::Redis(address) => ask_redis(address, budget, question)
                .map(|answer| BudgetAnswer { answer, warning: None })
                .map_err(|why| format!("{}: {why}", address.shown())),
        }
    }
}

fn ask_directory(
    path: &Path,
    budget: &SharedBudget,
    question: Question,
    now: fn() -> Duration,
) -> Result<BudgetAnswer, String> {
    let done = directory::update(path, &budget.name, |record| {
        let mut ledger = decode(record)?;
        // The time is read under the lock: it must not be older than what the last one wrote.
        let answer = ledger.answer(&budget.terms, question, now());
        Some((encode(&ledger), answer))
    })?;
    Ok(BudgetAnswer {
        answer: done.answer,
        warning: done.warning,
    })
}

/// The same as `Ledger::answer`, for a server that runs it.
#[cfg(feature = "redis")]
pub const SCRIPT: &str = include_str!("budget.lua");
/// Redis counts in floats, which are exact up to here; in milliseconds, 285,000 years.
#[cfg(feature = "redis")]
const LONGEST: u64 = 1 << 53;

#[cfg(feature = "redis")]
fn ask_redis(address: &redis::Address, budget: &SharedBudget, question: Question) -> Result<Answer, String> {
    let millis = |duration: Duration| (duration.as_millis().min(u128::from(LONGEST)) as u64).to_string();
    let (word, length) = match question {
        Question::Attempt => ("attempt", Duration::ZERO),
        Question::Retry => ("retry", Duration::ZERO),
        Question::CoolOff => ("cool-off", Duration::ZERO),
        Question::GaveUp(length) => ("gave-up", length),
        Question::Recovered => ("recovered", Duration::ZERO),
    };
    let arguments = [
        millis(budget.terms.window),
        budget.terms.min.to_string(),
        budget.terms.ratio.to_string(),
        word.to_owned(),
        millis(length),
    ];
    // The only key, so that it lies on one server of a cluster.
    let key = format!("backoff:budget:{}", budget.name);
    let numbers = redis::evaluate(address, SCRIPT, &key, &arguments, budget.timeout)?;
    let numbers: Result<Vec<u64>, _> = numbers.iter().map(|n| u64::try_from(*n)).collect();
    match numbers.as_deref() {
        Ok(&[allowed, attempts, retries, left]) => Ok(Answer {
            allowed: allowed == 1,
            counts: Counts { attempts, retries },
            cool_off: Duration::from_millis(left),
        }),
        _ => Err("answers with something else than was asked for".into()),
    }
}

/// The record of a file: numbers of eight bytes, little-endian. The longest window, the end and the length of
/// the cool-off (both 0 if there is none), then three for each slot.
pub fn encode(ledger: &Ledger) -> Vec<u8> {
    let (until, length) = ledger
        .cool_off
        .map_or((0, 0), |cool_off| (cool_off.until, cool_off.length));
    let slots = ledger
        .slots
        .iter()
        .flat_map(|slot| [slot.until, slot.counts.attempts, slot.counts.retries]);
    [ledger.span, until, length]
        .into_iter()
        .chain(slots)
        .flat_map(u64::to_le_bytes)
        .collect()
}

/// Reads a record; an empty one is of a budget that nobody has used yet. None if it is not one.
pub fn decode(record: &[u8]) -> Option<Ledger> {
    if record.is_empty() {
        return Some(Ledger::default());
    }
    let (numbers, rest) = record.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let (span, until, length) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let numbers: Vec<u64> = numbers.collect();
    let (triples, odd) = numbers.as_chunks::<3>();
    let slots: Vec<Slot> = triples
        .iter()
        .map(|&[until, attempts, retries]| Slot {
            until,
            counts: Counts { attempts, retries },
        })
        .collect();
    let in_order = slots.is_sorted_by(|a, b| a.until < b.until);
    (rest.is_empty() && odd.is_empty() && slots.len() <= MOST_SLOTS && in_order).then_some(Ledger {
        span,
        slots,
        cool_off: (length > 0).then_some(CoolOff { until, length }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::record as page;
    use crate::policy::budget::Terms;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_is_read_as_it_was_written(
            span: u64,
            untils in prop::collection::btree_set(any::<u64>(), 0..=MOST_SLOTS),
            counts: (u64, u64),
            cool_off in prop::option::of((any::<u64>(), 1..u64::MAX)),
        ) {
            let (attempts, retries) = counts;
            let ledger = Ledger {
                span,
                slots: untils.into_iter().map(|until| Slot { until, counts: Counts { attempts, retries } }).collect(),
                cool_off: cool_off.map(|(until, length)| CoolOff { until, length }),
            };
            let record = encode(&ledger);
            prop_assert!(record.len() <= page::MOST);
            prop_assert_eq!(decode(&record), Some(ledger));
        }

        /// A file as anybody may have written it: what is taken for a record is answered from, and what is written
        /// then is what is read next.
        #[test]
        fn an_update_of_any_file_is_read_back(
            numbers in prop::collection::vec(prop_oneof![0..2000_u64, any::<u64>()], 0..30),
            sequence in prop_oneof![0..3_u64, Just(u64::MAX), any::<u64>()],
            place in 0..2_usize,
            now: u64,
            asks in 0..5_u8,
        ) {
            let record: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
            let before = page::Content::Record(&[], sequence, 1 - place);
            let mut file = vec![0; page::FILE];
            let (copy, at) = page::next(&before, &record);
            file[at as usize..at as usize + page::COPY].copy_from_slice(&copy);
            let content = page::read(&file);
            prop_assert_eq!(&content, &page::Content::Record(&record, sequence.wrapping_add(1), place));
            if let Some(mut ledger) = decode(&record) {
                let question = match asks {
                    0 => Question::Attempt,
                    1 => Question::Retry,
                    2 => Question::CoolOff,
                    3 => Question::GaveUp(Duration::from_millis(now)),
                    _ => Question::Recovered,
                };
                let terms = Terms { ratio: 100_000, min: 10, window: Duration::from_secs(600) };
                ledger.answer(&terms, question, Duration::from_millis(now));
                let new = encode(&ledger);
                prop_assert!(new.len() <= page::MOST);
                let (copy, at) = page::next(&content, &new);
                let mut written = file.clone();
                written[at as usize..at as usize + page::COPY].copy_from_slice(&copy);
                prop_assert_eq!(page::read(&written), page::Content::Record(&new, sequence.wrapping_add(2), 1 - place));
                prop_assert!(decode(&new).is_some());
            }
        }

        #[test]
        fn any_bytes_are_a_record_or_none(record in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(ledger) = decode(&record) && !record.is_empty() {
                let again = encode(&ledger);
                prop_assert_eq!(again.len(), record.len());
            }
        }
    }

    #[test]
    fn what_is_out_of_order_is_no_record() {
        let numbers = |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        assert!(decode(&numbers(&[1, 0, 0])).is_some());
        assert!(decode(&numbers(&[1, 0, 0, 5, 1, 0, 6, 1, 0])).is_some());
        assert!(decode(&numbers(&[1, 0, 0, 6, 1, 0, 5, 1, 0])).is_none());
        assert!(decode(&numbers(&[1, 0])).is_none());
        assert!(decode(&numbers(&[1, 0, 0, 5])).is_none());
        assert!(decode(&numbers(&[7; 3 + 3 * (MOST_SLOTS + 1)])).is_none());
        assert!(decode(b"odd").is_none());
    }
}
