//! The place where runs share their budgets (`--store`): how it is parsed, shown and asked.
#![cfg_attr(not(feature = "redis"), allow(unused_variables))]

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::directory;
#[cfg(feature = "redis")]
use super::redis::Address;
use crate::policy::budget::Question;
use crate::run::host::BudgetAnswer;
use crate::run::plan::SharedBudget;

const NO_DIRECTORY: &str =
    "no directory for the budget (no --store, no XDG_STATE_HOME, and HOME is not a directory)";

/// A directory on this machine, or a server that other machines also reach.
#[derive(Debug, Clone)]
pub(crate) enum Store {
    /// None if there is no `--store` and the user has no state directory. Asking it is an error.
    Directory(Option<PathBuf>),
    #[cfg(feature = "redis")]
    Redis(Box<Address>),
}

impl Store {
    /// Parses `--store`: an address, or the path of a directory. An error completes a sentence that begins with the
    /// text. Does not yet contact the server, create anything or read a file.
    pub(crate) fn parse(text: &str) -> Result<Store, String> {
        let problem = if text.is_empty() {
            "is empty; tip: try a directory, or redis://HOST:6379"
        } else if let Some((scheme, _)) = text.split_once("://") {
            if ["redis", "rediss", "redis+unix"].contains(&scheme) {
                return Store::of_address(text);
            }
            "is not a store; tip: try a directory, redis://HOST:6379, rediss:// or redis+unix://"
        } else if is_like_address(text) {
            "looks like an address without redis://; tip: try redis://HOST:6379, or ./ in front of a directory"
        } else {
            // `components` drops a trailing slash, which would follow a symbolic link.
            return Ok(Store::Directory(Some(
                Path::new(text).components().collect(),
            )));
        };
        Err(problem.to_owned())
    }

    #[cfg(feature = "redis")]
    fn of_address(text: &str) -> Result<Store, String> {
        Ok(Store::Redis(Box::new(Address::parse(text)?)))
    }

    #[cfg(not(feature = "redis"))]
    fn of_address(text: &str) -> Result<Store, String> {
        let problem = "needs Redis, which this build lacks; tip: try a directory";
        Err(problem.to_owned())
    }

    /// Returns the place without user and password, by which nested runs compare their stores. Symbolic links are not
    /// resolved, so two paths of one directory count as two stores.
    pub(crate) fn location(&self) -> String {
        match self {
            Store::Directory(path) => {
                let path = path.clone().unwrap_or_default();
                let absolute = std::path::absolute(&path).unwrap_or(path);
                absolute.display().to_string()
            }
            #[cfg(feature = "redis")]
            Store::Redis(address) => address.location(),
        }
    }

    /// Reads the files that an address names, so that a faulty one is an error at the start instead of a store that
    /// seems to be down. An error completes a sentence that begins with the text of `--store`.
    pub(crate) fn read_files(&mut self) -> Result<(), String> {
        match self {
            Store::Directory(_) => Ok(()),
            #[cfg(feature = "redis")]
            Store::Redis(address) => address.read_files(),
        }
    }

    /// Returns true for a directory, which answers at once unless its file system hangs or the machine is busy.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Store::Directory(_))
    }

    /// Returns true if both are the same directory, or both are unknown directories.
    pub(crate) fn is_same_directory(&self, other: &Store) -> bool {
        self.is_local() && other.is_local() && self.location() == other.location()
    }

    /// Asks a question about a budget. The answer is never None here. Blocks as long as a file system, the locks of
    /// other runs or a name lookup do, so the caller asks in a thread that it can abandon. Each call to a server takes
    /// at most `limit`. `since_epoch` is the clock for a directory, because a server has its own. An error names the
    /// store.
    pub(crate) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        limit: Duration,
        since_epoch: fn() -> Duration,
    ) -> Result<BudgetAnswer, String> {
        match self {
            Store::Directory(None) => Err(NO_DIRECTORY.to_owned()),
            Store::Directory(Some(path)) => directory::update(path, &budget.name, |counts| {
                // Reads the time under the lock, because it must not precede the last change.
                counts.answer(&budget.limits, question, since_epoch())
            }),
            #[cfg(feature = "redis")]
            Store::Redis(address) => Ok(BudgetAnswer {
                answer: Some(address.ask(budget, question, limit)?),
                warning: None,
            }),
        }
    }
}

/// Formats for messages, without user and password. An unknown directory is `the budget`.
impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Store::Directory(Some(path)) => path.display().fmt(f),
            Store::Directory(None) => f.write_str("the budget"),
            #[cfg(feature = "redis")]
            Store::Redis(address) => f.write_str(&address.name()),
        }
    }
}

/// Returns the text of `--store` without secrets, for messages. Only the scheme remains of an address that has a user
/// or password or does not parse, because a typo may have put a password anywhere.
pub(crate) fn redacted(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return if is_like_address(text) { "***" } else { text }.to_owned();
    };
    if !scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'+')
    {
        return "***".to_owned();
    }
    // The settings of a socket may contain a user and a password.
    let may_have_password = rest.contains('@') || scheme == "redis+unix" && rest.contains('?');
    if may_have_password || Store::parse(text).is_err() {
        format!("{scheme}://***")
    } else {
        text.to_owned()
    }
}

/// Returns true if a path is probably a mistyped address: `u:PW@h`, `h:6379`, `redis:/h`, `//h:6379`. After `/`, `./`
/// or `../`, a directory name may contain `:` or `@`.
fn is_like_address(path: &str) -> bool {
    let is_path = path.starts_with("./") || path.starts_with("../");
    let is_absolute = path.starts_with('/') && !path.starts_with("//");
    !is_path && !is_absolute && path.contains([':', '@'])
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
            ("localhost:6379", "***"),
            ("http://host", "http://***"),
        ] {
            assert_eq!(redacted(store), shown);
        }
        #[cfg(feature = "redis")]
        for (store, shown) in [
            ("redis://h:6379/0", "redis://h:6379/0"),
            ("redis://u:p@h:6379/0", "redis://***"),
            (
                "rediss://[::1]:7000/3?ca=/etc/ca.pem",
                "rediss://[::1]:7000/3?ca=/etc/ca.pem",
            ),
            (
                "redis+unix:///run/redis.sock?user=u&pass=p",
                "redis+unix://***",
            ),
        ] {
            assert_eq!(redacted(store), shown);
        }
    }

    proptest! {
        #[test]
        fn no_password_is_shown(
            scheme in "redis://|rediss://|x://|redis:/|redis:",
            before in "|u:|:|u|h/0\\?pass=|h\\?ca=f&password=|h\\?|h#|h/|h:1:|,|h:",
            secret in "S[^@]{0,9}S",
            after in "|@h|@h:6379/0|@"
        ) {
            let store = format!("{scheme}{before}{secret}{after}");
            // Without a sign of a secret, the text is the name of a host or file.
            prop_assume!(!before.is_empty() && before != "," && before != "u" || !after.is_empty());
            let shown = redacted(&store);
            prop_assert!(!shown.contains(&secret), "{} becomes {}", store, shown);
        }
    }
}
