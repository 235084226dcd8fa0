//! Options on budgets, which runs share.

use std::time::Duration;

use super::opt::{Completion, Heading, Kind, Opt, Reader, Spec};
use super::problem::{Parsed, Problem};
use super::values;
use crate::budget::store::{Store, redacted};

/// The behavior of a run whose store does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreDown {
    /// Uses a budget of this machine.
    Local,
    /// Makes a transient failure final.
    Deny,
}

/// Parses a directory or an address (`--store`).
fn store(text: &str) -> Parsed<Store> {
    Store::parse(text).map_err(|error| Problem::new(error.to_string()))
}

/// `--budget`
pub(crate) static BUDGET: Opt<String> = Opt {
    reader: Reader::Text(values::budget_name),
    spec: Spec {
        kind: Kind::One("NAME"),
        about: "Limit the share of retries of all runs with this NAME",
        more: "A retry is allowed while there are fewer than --budget-min recent attempts, or \
            retries / attempts is below --budget-ratio; else the failure is final. Take the name \
            of the service that is called.",
        example: "api",
        ..Spec::named(Heading::Budgets, "budget")
    },
};

/// `--budget-ratio`
pub(crate) static BUDGET_RATIO: Opt<f64> = Opt {
    reader: Reader::Text(values::percent),
    spec: Spec {
        kind: Kind::One("PERCENT"),
        about: "Maximum share of retries among attempts",
        default: "10%",
        ..Spec::named(Heading::Budgets, "budget-ratio")
    },
};

/// `--budget-min`
pub(crate) static BUDGET_MIN: Opt<u64> = Opt {
    reader: Reader::Text(|text| values::whole(text, 0, u64::MAX)),
    spec: Spec {
        kind: Kind::One("N"),
        about: "Attempts below which every retry is allowed",
        default: "10",
        ..Spec::named(Heading::Budgets, "budget-min")
    },
};

/// `--budget-window`
pub(crate) static BUDGET_WINDOW: Opt<Duration> = Opt {
    reader: Reader::Text(values::period),
    spec: Spec {
        kind: Kind::One("DURATION"),
        about: "Mean time that an attempt counts",
        default: "10m",
        more: "What was counted fades: after this time 37% of it are left, after three times 5%. Runs of one budget \
            should have the same.",
        ..Spec::named(Heading::Budgets, "budget-window")
    },
};

/// `--store`
pub(crate) static STORE: Opt<Store> = Opt {
    reader: Reader::Text(store),
    spec: Spec {
        kind: Kind::One("URL"),
        about: "Directory or Redis address that keeps budgets",
        more: "By default $XDG_STATE_HOME/backoff, else ~/.local/state/backoff, if absolute; for a \
            fleet redis://, rediss:// or redis+unix://. An answer may take 250ms; during a wait, up \
            to 5s. Set an address with a password by BACKOFF_STORE, as all users can read a command \
            line.",
        example: "/var/lib/budgets",
        completion: Completion::Files,
        redact: Some(redacted),
        ..Spec::named(Heading::Budgets, "store")
    },
};

static STORE_DOWN_WORDS: [(&str, StoreDown); 2] =
    [("local", StoreDown::Local), ("deny", StoreDown::Deny)];

/// `--store-down`
pub(crate) static STORE_DOWN: Opt<StoreDown> = Opt {
    reader: Reader::Text(|text| values::word(&STORE_DOWN_WORDS, text)),
    spec: Spec {
        kind: Kind::Word(&values::names(&STORE_DOWN_WORDS)),
        about: "Fallback if the store does not answer",
        default: "local",
        more: "Both print a warning. local: use a budget of the same name in ~/.local/state/backoff \
            or, if that is not available either, none; deny: make a transient failure final, for \
            containers with a directory each.",
        ..Spec::named(Heading::Budgets, "store-down")
    },
};
