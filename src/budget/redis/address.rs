//! The address of a Redis server, and the credentials: `rediss://USER:PASSWORD@HOST:PORT/DATABASE?ca=FILE`. The crate
//! `redis` parses most of it; what it does not know, files for TLS, is taken out before.

use std::fmt;

use percent_encoding::percent_decode_str;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisError};
use serde::{Deserialize, Serialize};

use super::tls::{Tls, TlsError};

/// The problem of an address. It quotes none of the address, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressError {
    Fragment,
    NotAnAddress,
    DatabaseIsNoNumber,
    UnknownSetting,
}

/// Formats as the rest of a sentence that begins with the text of `--store`, its secrets masked: `"redis://***" has a #
/// in it`.
impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AddressError::Fragment => {
                "has a # in it; certificates are always checked, and in a password it is %23"
            }
            AddressError::NotAnAddress => {
                "is not a Redis address; tip: try redis://USER:PASSWORD@HOST:6379/0, with %2F for a / in the password"
            }
            AddressError::DatabaseIsNoNumber => {
                "has a database that is not a number; tip: try redis://HOST:6379/0"
            }
            AddressError::UnknownSetting => {
                "has a setting that is unknown here; tip: try ?ca=FILE with rediss://, and in a password %3F for ?"
            }
        })
    }
}

impl std::error::Error for AddressError {}

/// A server, or a node of a cluster.
#[derive(Debug)]
pub struct Address {
    scheme: String,
    pub(super) server: ConnectionInfo,
    pub(super) tls: Option<Tls>,
}

/// The settings after `?`.
struct AddressSettings {
    tls: Option<Tls>,
    /// User, password and database of `redis+unix`, as settings that the crate reads.
    credentials: String,
}

impl AddressSettings {
    /// Parses the text after `?`: settings, separated by `&`. Only `rediss`, the scheme of TLS, has files.
    fn parse(scheme: &str, text: &str) -> Result<AddressSettings, AddressError> {
        let mut settings = AddressSettings {
            tls: (scheme == "rediss").then(Tls::default),
            credentials: String::new(),
        };
        // The crate would read `+` as a space.
        for setting in text.replace('+', "%2B").split('&') {
            if !setting.is_empty() {
                settings.add(scheme, setting)?;
            }
        }
        Ok(settings)
    }

    /// Reads one setting, `ca=FILE`, and notes its value; of two with the same key the last counts. Only `rediss`
    /// has `ca`, `cert` and `key`, and only `redis+unix` has `user`, `pass` and `db`. Any other key is an error, as a
    /// typo would otherwise have no effect.
    fn add(&mut self, scheme: &str, setting: &str) -> Result<(), AddressError> {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(AddressError::UnknownSetting);
        };
        let Ok(value) = percent_decode_str(value).decode_utf8() else {
            return Err(AddressError::NotAnAddress);
        };
        match (key, &mut self.tls) {
            ("ca" | "cert" | "key", Some(tls)) => {
                tls.files.insert(key.to_owned(), value.as_ref().into());
            }
            // As they are, as the crate reads and decodes the settings of `redis+unix` itself.
            ("user" | "pass" | "db", _) if scheme == "redis+unix" => {
                self.credentials += &format!("{setting}&");
            }
            _ => return Err(AddressError::UnknownSetting),
        }
        Ok(())
    }
}

/// Returns our error for one of the crate, whose text may quote the address, and so a password. A database that is no
/// number has a message of its own; the crate tells it only by its text.
fn without_address(error: &RedisError) -> AddressError {
    if error.to_string().contains("database") {
        AddressError::DatabaseIsNoNumber
    } else {
        AddressError::NotAnAddress
    }
}

impl Address {
    /// Parses the text after `redis://`, `rediss://` (TLS) or `redis+unix://`. Looks up no host, and reads no file yet.
    pub(crate) fn parse(scheme: &str, after_scheme: &str) -> Result<Address, AddressError> {
        // To the crate, `#insecure` means that certificates are not checked, which is refused rather than ignored.
        if after_scheme.contains('#') {
            return Err(AddressError::Fragment);
        }
        let (place, settings) = after_scheme.split_once('?').unwrap_or((after_scheme, ""));
        let AddressSettings { tls, credentials } = AddressSettings::parse(scheme, settings)?;
        // The crate knows the scheme of TLS only with its own TLS.
        let scheme_without_tls = scheme.replace("rediss", "redis");
        let url = format!("{scheme_without_tls}://{place}?{credentials}");
        let server = url
            .into_connection_info()
            .map_err(|error| without_address(&error))?;
        if let ConnectionAddr::Tcp(host, _) = server.addr()
            && host.contains(',')
        {
            return Err(AddressError::NotAnAddress);
        }
        Ok(Address {
            scheme: scheme.to_owned(),
            server,
            tls,
        })
    }

    /// Returns the server and its database without user and password, by which nested runs compare their stores.
    pub(crate) fn location(&self) -> String {
        let database = self.server.redis_settings().db();
        format!("{}/{database}", self.name())
    }

    /// Returns an error if the address names a certificate without its key, or a key alone. Reads no file.
    pub(crate) fn check_names(&self) -> Result<(), TlsError> {
        match &self.tls {
            Some(tls) => tls.check_names(),
            None => Ok(()),
        }
    }

    /// Reads the files that the address names, to find faulty ones at the start. If it names none, the machine's
    /// authorities are not read yet: this takes a while, and can wait for the first query.
    pub(crate) fn read_files(&self) -> Result<(), TlsError> {
        if let Some(tls) = &self.tls
            && !tls.files.is_empty()
        {
            tls.config()?;
        }
        Ok(())
    }

    /// Reads the certificates for TLS, unless [`read_files`](Address::read_files) has done so, and keeps them for all
    /// queries: these run in child processes, which would each read them again. Does nothing without TLS.
    pub(crate) fn load_certificates(&self) {
        if let Some(tls) = &self.tls {
            // A query returns the error.
            let _ = tls.config();
        }
    }

    /// Returns the address as messages show it, without user and password: `redis://host:6379`.
    pub(crate) fn name(&self) -> String {
        self.name_of(self.server.addr())
    }

    /// Returns the address of a node of the cluster as messages show it.
    pub(super) fn name_of(&self, server: &ConnectionAddr) -> String {
        format!("{}://{}", self.scheme, shown(server))
    }
}

/// Returns a server as `HOST:PORT`, with an IPv6 address in brackets, or the path of a socket.
fn shown(server: &ConnectionAddr) -> String {
    match server {
        ConnectionAddr::Tcp(host, port) if host.contains(':') => format!("[{host}]:{port}"),
        _ => server.to_string(),
    }
}
