//! The budget's store and its client. [`policy::budget`](crate::policy::budget) decides which retries are allowed.

use std::fmt;
use std::path::PathBuf;
#[cfg(feature = "redis")]
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::directory;
#[cfg(feature = "redis")]
use super::redis::{self, address::Address};
use crate::policy::budget::Question;
use crate::run::host::BudgetAnswer;
use crate::run::plan::SharedBudget;

/// The default timeout of an answer.
const TIMEOUT: Duration = Duration::from_millis(250);

#[derive(Debug, Clone)]
pub enum Store {
    /// `backoff` in the user's state directory, if there is one.
    Home(Option<PathBuf>),
    Directory(PathBuf),
    #[cfg(feature = "redis")]
    Redis(Arc<Address>),
}

impl Store {
    /// Parses an address, or the path of a directory. `duration` parses a DURATION.
    #[cfg_attr(
        not(feature = "redis"),
        allow(unused_variables, reason = "a directory has no time-out")
    )]
    pub fn parse(text: &str, duration: fn(&str) -> Result<Duration, String>) -> Result<Store, String> {
        let why = match text.split_once("://") {
            #[cfg(feature = "redis")]
            Some((scheme @ ("redis" | "rediss" | "redis+unix"), rest)) => {
                return Address::parse(scheme, rest, duration).map(|address| Store::Redis(Arc::new(address)));
            }
            #[cfg(not(feature = "redis"))]
            Some(("redis" | "rediss" | "redis+unix", _)) => {
                "needs Redis, which this backoff was built without; try a directory"
            }
            Some(_) => "is not a store; try a directory, redis://HOST:6379, rediss:// or redis+unix://",
            None if text.is_empty() => "is empty; try a directory, or redis://HOST:6379",
            None if is_a_slip(text) => {
                "is an address that lacks its beginning; try redis://HOST:6379, or ./ in front of a directory"
            }
            None => return Ok(Store::Directory(text.into())),
        };
        Err(why.to_owned())
    }

    /// Returns the store's location without user and password, so that nested runs can compare their stores.
    pub(crate) fn place(&self) -> String {
        match self {
            Store::Home(None) => String::new(),
            Store::Home(Some(path)) | Store::Directory(path) => {
                let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                whole.display().to_string()
            }
            #[cfg(feature = "redis")]
            Store::Redis(address) => format!("{address}/{}", address.database),
        }
    }

    /// Returns the store's timeout.
    pub(crate) fn timeout(&self) -> Duration {
        match self {
            #[cfg(feature = "redis")]
            Store::Redis(address) => address.timeout.unwrap_or(TIMEOUT),
            _ => TIMEOUT,
        }
    }

    /// Reads the files that an address names. An error message names the faulty file.
    pub(crate) fn read_files(&self) -> Result<(), String> {
        match self {
            #[cfg(feature = "redis")]
            Store::Redis(address) => address.read_files(),
            _ => Ok(()),
        }
    }

    /// Returns true if a local directory can replace the store.
    pub(crate) fn is_remote(&self) -> bool {
        !matches!(self, Store::Home(_) | Store::Directory(_))
    }

    /// Asks the store; blocks as long as the file system does, or until a server times out. An error names the store.
    #[cfg_attr(
        not(feature = "redis"),
        allow(unused_variables, reason = "a file system cannot be hurried")
    )]
    pub(crate) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
        since_epoch: fn() -> Duration,
        now: fn() -> Instant,
    ) -> Result<BudgetAnswer, String> {
        match self {
            Store::Home(None) => Err(
                "there is no place for the budget: neither XDG_STATE_HOME nor HOME is set; try --store DIRECTORY"
                    .into(),
            ),
            Store::Home(Some(path)) | Store::Directory(path) => directory::update(path, &budget.name, |ledger| {
                // Reads the time under the lock, as it must not precede the last update.
                ledger.answer(&budget.terms, question, since_epoch())
            }),
            #[cfg(feature = "redis")]
            Store::Redis(address) => Ok(BudgetAnswer {
                answer: Some(redis::ask(address, budget, question, patience, now)?),
                warning: None,
            }),
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Store::Home(_) => f.write_str("the directory for state"),
            Store::Directory(path) => write!(f, "{}", path.display()),
            #[cfg(feature = "redis")]
            Store::Redis(address) => write!(f, "{address}"),
        }
    }
}

/// Returns a `--store` text without secrets: a directory unchanged, an address without user and password. Of any other
/// text returns at most the scheme, as a typo may have put a password anywhere.
pub(crate) fn redacted(text: &str) -> String {
    let is_plain = |scheme: &str| scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    match (text.split_once("://"), Store::parse(text, |_| Ok(TIMEOUT))) {
        (None, _) if !is_a_slip(text) => text.to_owned(),
        (Some((scheme, rest)), Ok(_)) if !rest.contains("pass=") => match rest.rsplit_once('@') {
            Some((_, place)) => format!("{scheme}://***@{place}"),
            None => text.to_owned(),
        },
        (Some((scheme, _)), _) if is_plain(scheme) => format!("{scheme}://***"),
        _ => "***".to_owned(),
    }
}

/// Returns true if a path is probably a mistyped address, which may hold a password: `redis//u:PW@h`, `u:PW@h`,
/// `//h:6379`. A path that begins with `/`, `./` or `../` is a directory.
fn is_a_slip(path: &str) -> bool {
    let begins_like_one = || {
        ["redis", "valkey"]
            .iter()
            .any(|name| path.to_ascii_lowercase().starts_with(name))
    };
    match path.split_once('/').unwrap_or((path, "")) {
        ("", rest) => rest.starts_with('/') && path.contains([':', '@']),
        ("." | "..", _) => false,
        (first, rest) => first.contains(':') || path.contains('@') || rest.starts_with('/') && begins_like_one(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_password_is_shown() {
        for (store, shown) in [
            ("/var/lib/backoff", "/var/lib/backoff"),
            ("./a:b@c", "./a:b@c"),
            ("budgets/of:jane", "budgets/of:jane"),
            ("localhost:6379", "***"),
            ("http://host", "http://***"),
        ] {
            assert_eq!(redacted(store), shown);
        }
        #[cfg(feature = "redis")]
        for (store, shown) in [
            ("redis://h:6379/0", "redis://h:6379/0"),
            ("redis://u:p@h:6379/0", "redis://***@h:6379/0"),
            (
                "rediss://10.0.0.1,[::1]:7000,h_2/3?timeout=1s&ca=/etc/ca.pem",
                "rediss://10.0.0.1,[::1]:7000,h_2/3?timeout=1s&ca=/etc/ca.pem",
            ),
            ("redis+unix:///run/redis.sock?db=1", "redis+unix:///run/redis.sock?db=1"),
            ("redis+unix:///run/redis.sock?user=u&pass=p", "redis+unix://***"),
        ] {
            assert_eq!(redacted(store), shown);
        }
    }

    proptest! {
        #[test]
        fn no_password_is_shown(
            scheme in "redis://|rediss://|x://|redis:/|redis:|redis//",
            before in "|u:|:|u|h/0\\?pass=|h\\?timeout=1s&password=|h\\?|h#|h/|h:1:|,|h:",
            secret in "S[^@]{0,9}S",
            after in "|@h|@h:6379/0|@"
        ) {
            let store = format!("{scheme}{before}{secret}{after}");
            // Without a sign of a secret, the text is the name of a host or a file.
            prop_assume!(!before.is_empty() && before != "," && before != "u" || !after.is_empty());
            let shown = redacted(&store);
            prop_assert!(!shown.contains(&secret), "{} becomes {}", store, shown);
        }
    }
}
