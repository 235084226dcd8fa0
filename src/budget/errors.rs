//! Problems of stores, as text for messages. They hold no secret.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::directory::DirectoryError;
#[cfg(feature = "redis")]
use super::redis::ServerError;
#[cfg(feature = "redis")]
use super::redis::address::AddressError;
#[cfg(feature = "redis")]
use super::redis::tls::TlsError;

/// Problem of a store, of its address, or of a file that the address names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StoreError {
    /// The text of `--store` is empty.
    NoText,
    /// The scheme before `://` is none of a store.
    NotAStore,
    /// The text looks like an address without its `redis://`.
    LacksBeginning,
    #[cfg(not(feature = "redis"))]
    NeedsRedis,
    #[cfg(feature = "redis")]
    Address(AddressError),
    #[cfg(feature = "redis")]
    Tls(TlsError),
    /// The server gave no answer.
    #[cfg(feature = "redis")]
    Server(ServerError),
    /// The user has no state directory.
    NoHome,
    /// The home directory, in which the state directory would be, does not exist.
    MissingHome(PathBuf),
    /// Problem of the directory or of a file in it.
    Directory(DirectoryError),
    /// The process that asked this store died.
    NoAnswer { store: String },
}

/// Formats a problem of the text of `--store`, or of a file that it names, as the rest of a sentence that begins with
/// the text, any other as a sentence that names the store itself.
impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StoreError::NoText => "is empty; tip: try a directory, or redis://HOST:6379",
            StoreError::NotAStore => {
                "is not a store; tip: try a directory, redis://HOST:6379, rediss:// or redis+unix://"
            }
            StoreError::LacksBeginning => {
                "is an address that lacks its beginning; tip: try redis://HOST:6379, or ./ in front of a directory"
            }
            #[cfg(not(feature = "redis"))]
            StoreError::NeedsRedis => {
                "needs Redis, which this backoff was built without; tip: try a directory"
            }
            #[cfg(feature = "redis")]
            StoreError::Address(problem) => return problem.fmt(f),
            #[cfg(feature = "redis")]
            StoreError::Tls(problem) => return problem.fmt(f),
            #[cfg(feature = "redis")]
            StoreError::Server(problem) => return problem.fmt(f),
            StoreError::NoHome => {
                "no directory for the budget (no --store, and neither XDG_STATE_HOME nor HOME is an absolute path)"
            }
            StoreError::MissingHome(home) => {
                let home = home.display();
                return write!(f, "no directory for the budget (HOME is {home}, which does not exist)");
            }
            StoreError::Directory(problem) => return problem.fmt(f),
            StoreError::NoAnswer { store } => return write!(f, "{store}: gives no answer"),
        })
    }
}

impl std::error::Error for StoreError {}
