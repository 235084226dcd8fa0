//! The budget's store and its client. [`policy::budget`](crate::policy::budget) decides which retries are allowed.
#![cfg_attr(not(feature = "redis"), allow(unused_variables))]

use std::fmt;
use std::path::{Path, PathBuf};
#[cfg(feature = "redis")]
use std::sync::Arc;
use std::time::{Duration, Instant};

#[cfg(feature = "redis")]
use super::redis::{address::Address, connection::Time};
use super::{StoreError, directory};
use crate::policy::budget::Question;
use crate::run::host::BudgetAnswer;
use crate::run::plan::SharedBudget;

/// The default timeout of an answer.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_millis(250);
const NO_HOME: &str = "no directory for the budget (--store is not given, and neither XDG_STATE_HOME nor HOME is an absolute path)";

#[derive(Debug, Clone)]
pub enum Store {
    /// None if the user has no state directory.
    Directory(Option<PathBuf>),
    #[cfg(feature = "redis")]
    Redis(Arc<Address>),
}

impl Store {
    /// Parses an address, or the path of a directory. An error completes a sentence that begins with the text.
    /// `duration` parses a DURATION.
    pub fn parse(
        text: &str,
        duration: fn(&str) -> Result<Duration, StoreError>,
    ) -> Result<Store, StoreError> {
        let why = match text.split_once("://") {
            #[cfg(feature = "redis")]
            Some((scheme @ ("redis" | "rediss" | "redis+unix"), rest)) => {
                return Address::parse(scheme, rest, duration)
                    .map(|address| Store::Redis(Arc::new(address)));
            }
            #[cfg(not(feature = "redis"))]
            Some(("redis" | "rediss" | "redis+unix", _)) => {
                "needs Redis, which this backoff was built without; tip: try a directory"
            }
            Some(_) => {
                "is not a store; tip: try a directory, redis://HOST:6379, rediss:// or redis+unix://"
            }
            None if text.is_empty() => "is empty; tip: try a directory, or redis://HOST:6379",
            None if is_like_address(text) => {
                "is an address that lacks its beginning; tip: try redis://HOST:6379, or ./ in front of a directory"
            }
            // Without a slash at the end, which would follow a symbolic link.
            None => {
                return Ok(Store::Directory(Some(
                    Path::new(text).components().collect(),
                )));
            }
        };
        Err(why.into())
    }

    /// Returns the store's location, by which nested runs compare their stores, without user and password, and the
    /// store's timeout. Reads the files that an address names; an error message names the faulty file.
    pub(crate) fn prepare(&self) -> Result<(String, Duration), StoreError> {
        match self {
            Store::Directory(path) => {
                // Without a path, `ask` reports an error.
                let path = path.clone().unwrap_or_default();
                let absolute = std::path::absolute(&path).unwrap_or(path);
                Ok((absolute.display().to_string(), DEFAULT_TIMEOUT))
            }
            #[cfg(feature = "redis")]
            Store::Redis(address) => Ok((
                address.prepare()?,
                address.timeout.unwrap_or(DEFAULT_TIMEOUT),
            )),
        }
    }

    /// Returns true for the directory of `path`, or if neither has a path.
    pub(crate) fn is_at(&self, path: &Option<PathBuf>) -> bool {
        matches!(self, Store::Directory(own) if own == path)
    }

    /// Asks the store. A directory blocks as long as the file system does, a server until `limit` after `began`. Errors
    /// name the store.
    pub(crate) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        began: Instant,
        limit: Duration,
        since_epoch: fn() -> Duration,
    ) -> Result<BudgetAnswer, StoreError> {
        let (answer, warning) = match self {
            Store::Directory(path) => {
                directory::update(path.as_deref().ok_or(NO_HOME)?, &budget.name, |ledger| {
                    // Reads the time under the lock, as it must not precede the last update.
                    ledger.answer(&budget.limits, question, since_epoch())
                })?
            }
            #[cfg(feature = "redis")]
            Store::Redis(address) => (address.ask(budget, question, Time { began, limit })?, None),
        };
        let answer = Some(answer);
        Ok(BudgetAnswer { answer, warning })
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Store::Directory(path) => path
                .as_deref()
                .unwrap_or("the budget".as_ref())
                .display()
                .fmt(f),
            #[cfg(feature = "redis")]
            Store::Redis(address) => f.write_str(&address.name()),
        }
    }
}

/// Returns a `--store` text without secrets: a directory unchanged, an address without user and password. Of any other
/// text returns at most the scheme, as a typo may have put a password anywhere.
pub(crate) fn redacted(text: &str) -> String {
    let is_plain = |scheme: &str| {
        scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    };
    // The timeout does not matter here.
    match (
        text.split_once("://"),
        Store::parse(text, |_| Ok(DEFAULT_TIMEOUT)),
    ) {
        (None, _) if !is_like_address(text) => text.to_owned(),
        // `redis+unix` has the password in `pass=`.
        (Some((scheme, rest)), Ok(_)) if !rest.contains("pass=") => match rest.rsplit_once('@') {
            Some((_, place)) => format!("{scheme}://***@{place}"),
            None => text.to_owned(),
        },
        (Some((scheme, _)), _) if is_plain(scheme) => format!("{scheme}://***"),
        _ => "***".to_owned(),
    }
}

/// Returns true if a path is probably a mistyped address, which may hold a password: `redis//u:PW@h`, `u:PW@h`,
/// `//h:6379`. Any other path that begins with `/`, `./` or `../` is a directory.
fn is_like_address(path: &str) -> bool {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let scheme = first.to_ascii_lowercase();
    match first {
        "" => rest.starts_with('/') && path.contains([':', '@']),
        "." | ".." => false,
        _ if first.contains(':') || path.contains('@') => true,
        _ => rest.starts_with('/') && (scheme.starts_with("redis") || scheme.starts_with("valkey")),
    }
}

#[cfg(test)]
mod tests;
