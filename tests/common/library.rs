//! All that the tests of the program take from the library, in one place: the table of options, what a plan is, and
//! how a budget is kept.
#![allow(unused_imports, reason = "each test binary uses a part of it")]

use std::ffi::OsString;
use std::path::Path;

#[cfg(feature = "redis")]
pub use backoff_cli::budget::SCRIPT;
pub use backoff_cli::budget::encode;
pub use backoff_cli::cli::{OPTIONS, Opt, Takes};
pub use backoff_cli::policy::budget::{Ledger, MOST_SLOTS, Question, Terms};
pub use backoff_cli::store::page;

use backoff_cli::budget::decode;
use backoff_cli::cli::{self, Parsed};
use backoff_cli::config::Config;
use backoff_cli::plan::Plan;
use backoff_cli::settings::Settings;

use super::words::Words;

/// What is counted in a directory's file, which nobody is to be writing.
#[track_caller]
pub fn ledger(path: impl AsRef<Path>) -> Ledger {
    let bytes = std::fs::read(path).unwrap();
    match page::read(&bytes) {
        page::Content::Record(record, ..) => decode(record).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// All attempts and retries of a ledger.
pub fn counted(ledger: &Ledger) -> (u64, u64) {
    let counts = ledger.slots.iter().map(|slot| slot.counts);
    counts.fold((0, 0), |sum, counts| (sum.0 + counts.attempts, sum.1 + counts.retries))
}

/// What a run with these arguments would do, without an environment, as text that differs where plans do.
#[track_caller]
pub fn plan(args: impl Words) -> String {
    let args: Vec<OsString> = args.words().into_iter().map(OsString::from).collect();
    let Parsed::Run(typed) = cli::parse(&args) else {
        panic!("{args:?}")
    };
    let config = Config::load(&Settings::new(&typed, &[])).unwrap();
    format!("{:?}", Plan::resolve(&typed, &[], &config).unwrap())
}
