//! TLS to a server. Its certificate is checked against the system's authorities, or only against those of a given file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{fs, io};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, ClientConnection, Error, RootCertStore};

use crate::run::text::describe_error;

/// The files that an address names.
#[derive(Debug, Default)]
pub(super) struct Tls {
    pub(super) ca: Option<PathBuf>,
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    /// Cached, as building it takes longer than connecting.
    config: OnceLock<Arc<ClientConfig>>,
}

impl Tls {
    /// Reads the files, if any. An error message names the faulty file.
    pub(super) fn read_files(&self) -> Result<(), String> {
        match self {
            Tls {
                ca: None,
                cert: None,
                key: None,
                ..
            } => Ok(()),
            _ => self.config().map(drop),
        }
    }

    /// Creates the TLS session for `HOST:PORT`.
    pub(super) fn connect_to(&self, server: &str) -> io::Result<ClientConnection> {
        let host = server.rsplit_once(':').map_or(server, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let config = self.config().map_err(io::Error::other)?;
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        ClientConnection::new(config, name).map_err(io::Error::other)
    }

    fn config(&self) -> Result<Arc<ClientConfig>, String> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(match &self.ca {
            Some(file) => read(file, certificates)?,
            None => rustls_native_certs::load_native_certs().certs,
        });
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots);
        let config = match (&self.cert, &self.key) {
            (None, None) => builder.with_no_client_auth(),
            (Some(cert), Some(key)) => {
                let key = read(key, |pem| PrivateKeyDer::from_pem_slice(pem).ok())?;
                let config = builder.with_client_auth_cert(read(cert, certificates)?, key);
                config.map_err(|error| format!("names a certificate and a key that do not fit: {error}"))?
            }
            _ => return Err("names a certificate or a key without the other; try ?cert=FILE&key=FILE".into()),
        };
        Ok(Arc::clone(self.config.get_or_init(|| Arc::new(config))))
    }
}

/// Reads and parses a file.
fn read<T>(file: &Path, parse: impl FnOnce(&[u8]) -> Option<T>) -> Result<T, String> {
    let names = |why: &str| format!("names {}, which {why}", file.display());
    let pem = fs::read(file).map_err(|error| names(&format!("cannot be read: {}", describe_error(&error))))?;
    parse(&pem).ok_or_else(|| names("holds no certificate or no key"))
}

fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    certificates.ok().filter(|certificates| !certificates.is_empty())
}

/// Returns the message for an error: the problem and a remedy.
pub(super) fn problem(error: &io::Error) -> Option<&'static str> {
    Some(match error.get_ref()?.downcast_ref()? {
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "has a certificate of an unknown authority; ?ca=FILE names another one"
        }
        Error::AlertReceived(AlertDescription::CertificateRequired | AlertDescription::HandshakeFailure) => {
            "wants a certificate; ?cert=FILE&key=FILE gives one"
        }
        Error::AlertReceived(_) => "refuses the certificate of ?cert=FILE",
        _ => return None,
    })
}
