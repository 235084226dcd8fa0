//! TLS to a server. Its certificate is checked against the system's authorities, or only against those of a given file.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::budget::StoreError;
use crate::text::describe_error;

#[derive(Debug, Default)]
pub(super) struct Tls {
    /// The files that an address names: `ca`, `cert` and `key`.
    pub(super) files: BTreeMap<String, PathBuf>,
    /// Cached, as building it takes longer than connecting.
    config: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    /// Creates the TLS session for `HOST:PORT`.
    pub(super) fn session(&self, server: &str) -> io::Result<ClientConnection> {
        let host = server
            .rsplit_once(':')
            .map_or(server, |(host, _)| host)
            .to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        ClientConnection::new(self.config().map_err(io::Error::other)?, name)
            .map_err(io::Error::other)
    }

    /// Returns the configuration, which the first call makes from the files. An error about a file names the file.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, StoreError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(match self.files.get("ca") {
            Some(file) => read(file)?,
            None => rustls_native_certs::load_native_certs().certs,
        });
        let builder = ClientConfig::builder().with_root_certificates(roots);
        let config =
            match (self.files.get("cert"), self.files.get("key")) {
                (None, None) => builder.with_no_client_auth(),
                (Some(cert), Some(key)) => {
                    let config = builder.with_client_auth_cert(
                        read(cert)?,
                        read::<PrivateKeyDer<'_>>(key)?.swap_remove(0),
                    );
                    config.map_err(|error| {
                        format!("names a certificate and a key that do not fit: {error}")
                    })?
                }
                _ => return Err(
                    "names a certificate or a key without the other; tip: try ?cert=FILE&key=FILE"
                        .into(),
                ),
            };
        Ok(Arc::clone(self.config.get_or_init(|| Arc::new(config))))
    }
}

/// Returns the certificates or the keys in a file, at least one.
fn read<T: PemObject>(file: &Path) -> Result<Vec<T>, StoreError> {
    let why = match T::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<T>, _>>) {
        Ok(found) if !found.is_empty() => return Ok(found),
        Err(PemError::Io(error)) => format!("cannot be read: {}", describe_error(&error)),
        _ => "holds no certificate or no key".to_owned(),
    };
    Err(format!("names {}, which {why}", file.display()).into())
}
