//! The place in which runs share their budget, a limit on their retries (`--store`): how its text is read and shown,
//! and how the place is asked. [`policy::budget`](crate::policy::budget) decides which retries are allowed; a store
//! only makes each step atomic.
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

/// A directory of this machine, or a service that other machines reach, too.
#[derive(Debug, Clone)]
pub enum Store {
    /// None if no `--store` is given and the user has no state directory; asking it is an error.
    Directory(Option<PathBuf>),
    #[cfg(feature = "redis")]
    Redis(Arc<Address>),
}

impl Store {
    /// Parses the text of `--store`: an address, or the path of a directory. An error completes a sentence that begins
    /// with the text. Rejects a path that looks like an address without its beginning, which is probably a typo.
    /// Asks and makes nothing yet.
    pub fn parse(text: &str) -> Result<Store, StoreError> {
        if let Some((scheme, after_scheme)) = text.split_once("://") {
            return Store::of_address(scheme, after_scheme);
        }
        if text.is_empty() {
            return Err(StoreError::NoText);
        }
        if is_like_address(text) {
            return Err(StoreError::LacksBeginning);
        }
        // `components` drops a slash at the end, which would follow a symbolic link.
        let path = Path::new(text).components().collect();
        Ok(Store::Directory(Some(path)))
    }

    /// Parses an address, split at its `://`. Built without Redis, knows the schemes only to say so.
    fn of_address(scheme: &str, after_scheme: &str) -> Result<Store, StoreError> {
        if !["redis", "rediss", "redis+unix"].contains(&scheme) {
            return Err(StoreError::NotAStore);
        }
        #[cfg(not(feature = "redis"))]
        return Err(StoreError::NeedsRedis);
        #[cfg(feature = "redis")]
        match Address::parse(scheme, after_scheme) {
            Ok(address) => Ok(Store::Redis(Arc::new(address))),
            Err(problem) => Err(StoreError::Address(problem)),
        }
    }

    /// Returns the place without user and password, by which nested runs compare their stores, or an error if an
    /// address names a certificate or a key without the other. Links in a path are not resolved: two paths of one
    /// directory count as two stores. Opens nothing: the store may be that of a policy that is not in use.
    pub(crate) fn location(&self) -> Result<String, StoreError> {
        match self {
            Store::Directory(path) => {
                // Without a path the location is empty, and `ask` reports an error.
                let path = path.clone().unwrap_or_default();
                let absolute = std::path::absolute(&path).unwrap_or(path);
                Ok(absolute.display().to_string())
            }
            #[cfg(feature = "redis")]
            Store::Redis(address) => {
                address.check_names().map_err(StoreError::Tls)?;
                Ok(address.location())
            }
        }
    }

    /// Reads the files that an address names, so that a faulty one is an error at the start, which names the file, and
    /// not a store that seems to be down at the first retry. A directory is not looked at yet.
    pub(crate) fn read_files(&self) -> Result<(), StoreError> {
        match self {
            Store::Directory(_) => Ok(()),
            #[cfg(feature = "redis")]
            Store::Redis(address) => address.read_files().map_err(StoreError::Tls),
        }
    }

    /// Returns true if the store is the directory at `path`; true, too, if both have no path. False for a server.
    pub(crate) fn is_at(&self, path: &Option<PathBuf>) -> bool {
        matches!(self, Store::Directory(own) if own == path)
    }

    /// Reads the certificates that every query needs, and keeps them: queries run in child processes, which would each
    /// read them again. `ask` reports what is wrong with them. A directory needs none.
    pub(crate) fn load_certificates(&self) {
        #[cfg(feature = "redis")]
        if let Store::Redis(address) = self {
            address.load_certificates();
        }
    }

    /// Asks the store a question about a budget, by which the store also changes: it counts an attempt.
    /// A directory blocks as long as the file system or another run's lock does, a server for `limit`, and
    /// longer if the lookup of its name hangs; so the caller asks in a child process that it can leave. `limit` counts
    /// from now, which is computed from `began`, any earlier moment. The answer is never None here. Errors name the
    /// store. `since_epoch` reads the clock, for a directory; a server has its own.
    pub(crate) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        began: Instant,
        limit: Duration,
        since_epoch: fn() -> Duration,
    ) -> Result<BudgetAnswer, StoreError> {
        match self {
            Store::Directory(None) => Err(StoreError::NoHome),
            Store::Directory(Some(path)) => {
                let update = directory::update(path, &budget.name, |ledger| {
                    // Reads the time once the lock is held, as it must not precede the last update.
                    ledger.answer(&budget.limits, question, since_epoch())
                })
                .map_err(StoreError::Directory)?;
                Ok(BudgetAnswer {
                    answer: Some(update.answer),
                    warning: update.warning,
                })
            }
            #[cfg(feature = "redis")]
            Store::Redis(address) => {
                let answer = address
                    .ask(budget, question, Time { began, limit })
                    .map_err(StoreError::Server)?;
                Ok(BudgetAnswer {
                    answer: Some(answer),
                    warning: None,
                })
            }
        }
    }
}

/// Formats for messages, without user and password. A directory that is not known is `the budget`.
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

/// Returns a `--store` text without secrets, to show what the user has typed: a directory unchanged, an address with
/// `***` in place of user and password. For an address with a password among its settings, returns only the scheme, and
/// of one that does not parse at most that, as a typo may have put a password anywhere.
pub(crate) fn redacted(text: &str) -> String {
    let Some((scheme, after_scheme)) = text.split_once("://") else {
        let hides_all = is_like_address(text);
        return if hides_all { "***" } else { text }.to_owned();
    };
    // `redis+unix` has the password in `pass=`.
    if Store::parse(text).is_ok() && !after_scheme.contains("pass=") {
        return match after_scheme.rsplit_once('@') {
            Some((_, place)) => format!("{scheme}://***@{place}"),
            None => text.to_owned(),
        };
    }
    if scheme.bytes().all(is_of_scheme) {
        format!("{scheme}://***")
    } else {
        "***".to_owned()
    }
}

/// Returns true for a byte that the name of a scheme may have (RFC 3986, section 3.1).
fn is_of_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)
}

/// Returns true if a path is probably a mistyped address, which is refused, and is not shown, as it may hold a
/// password: `redis//h`, `u:PW@h`, `h:6379`, `//h:6379`. False for any other path with `/`, `./` or `../` in front, so
/// that even a directory with `:` or `@` in its name can be given.
fn is_like_address(path: &str) -> bool {
    let (first, after_slash) = path.split_once('/').unwrap_or((path, ""));
    if first.is_empty() {
        // Two slashes, as in `//h:6379`.
        return after_slash.starts_with('/') && path.contains([':', '@']);
    }
    if first == "." || first == ".." {
        return false;
    }
    if first.contains(':') || path.contains('@') {
        return true;
    }
    let scheme = first.to_ascii_lowercase();
    after_slash.starts_with('/') && (scheme.starts_with("redis") || scheme.starts_with("valkey"))
}

#[cfg(test)]
mod tests;
