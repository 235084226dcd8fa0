//! TLS to a server. Its certificate is checked against the system's authorities, or only against those of a given file.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use serde::{Deserialize, Serialize};

use crate::text::describe_error;

/// Problem of the files that an address names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsError {
    Unreadable {
        file: PathBuf,
        why: String,
    },
    /// The file does not hold what it was named for, a certificate or a key, or holds it damaged.
    Empty {
        file: PathBuf,
    },
    DoNotFit(String),
    OneWithoutTheOther,
}

/// Formats as the rest of a sentence that begins with the text of `--store`, its secrets masked, which names the files.
impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Unreadable { file, why } => {
                write!(f, "names {}, which cannot be read: {why}", file.display())
            }
            TlsError::Empty { file } => write!(
                f,
                "names {}, which holds no certificate or no key",
                file.display()
            ),
            TlsError::DoNotFit(why) => {
                write!(f, "names a certificate and a key that do not fit: {why}")
            }
            TlsError::OneWithoutTheOther => f.write_str(
                "names a certificate or a key without the other; tip: try ?cert=FILE&key=FILE",
            ),
        }
    }
}

impl std::error::Error for TlsError {}

/// The certificates of an address with TLS, and what was made of them.
#[derive(Debug, Default)]
pub(super) struct Tls {
    /// The files that an address names: `ca`, `cert` and `key`.
    pub(super) files: BTreeMap<String, PathBuf>,
    /// Cached, as building it takes longer than connecting.
    config: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    /// Creates the TLS session for `HOST:PORT`, to whose host the server's certificate must be issued. An IPv6 host
    /// stands without brackets, as the crate `redis` formats it. Sends nothing yet: the handshake comes with the first
    /// bytes.
    pub(super) fn session(&self, server: &str) -> io::Result<ClientConnection> {
        let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let config = self.config().map_err(io::Error::other)?;
        ClientConnection::new(config, name).map_err(io::Error::other)
    }

    /// Returns the configuration, which the first call makes from the files. An error is not remembered: a later call
    /// reads the files again.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let config = self.build()?;
        Ok(Arc::clone(self.config.get_or_init(|| Arc::new(config))))
    }

    /// Returns an error if the address names a certificate without its key, or a key alone. Reads no file.
    pub(super) fn check_names(&self) -> Result<(), TlsError> {
        if self.files.contains_key("cert") == self.files.contains_key("key") {
            Ok(())
        } else {
            Err(TlsError::OneWithoutTheOther)
        }
    }

    /// Makes the configuration from the authorities in the file `ca`, or else those of the system, and from `cert` and
    /// `key`, by which the server knows this client. Authorities that cannot be parsed are left out; of several keys
    /// the first counts. `cert` without `key`, or the reverse, is an error.
    fn build(&self) -> Result<ClientConfig, TlsError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(match self.files.get("ca") {
            Some(file) => read(file)?,
            None => rustls_native_certs::load_native_certs().certs,
        });
        let builder = ClientConfig::builder().with_root_certificates(roots);
        match (self.files.get("cert"), self.files.get("key")) {
            (None, None) => Ok(builder.with_no_client_auth()),
            (Some(cert), Some(key)) => {
                let certificates = read(cert)?;
                let mut keys: Vec<PrivateKeyDer<'_>> = read(key)?;
                builder
                    .with_client_auth_cert(certificates, keys.swap_remove(0))
                    .map_err(|error| TlsError::DoNotFit(error.to_string()))
            }
            _ => Err(TlsError::OneWithoutTheOther),
        }
    }
}

/// Returns the certificates or the keys (`T`) in a file of PEM, at least one; other parts of the file are passed over.
/// An error names the file; a file that is no PEM counts as empty.
fn read<T: PemObject>(file: &Path) -> Result<Vec<T>, TlsError> {
    let found: Result<Vec<T>, PemError> = T::pem_file_iter(file).and_then(Iterator::collect);
    let file = file.to_owned();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Err(PemError::Io(error)) => Err(TlsError::Unreadable {
            file,
            why: describe_error(&error),
        }),
        _ => Err(TlsError::Empty { file }),
    }
}
