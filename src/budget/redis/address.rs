//! The address of a Redis service, and the credentials: `redis://USER:PASSWORD@HOST1,HOST2/DATABASE?timeout=1s`. The
//! crate `redis` parses most of it; what it does not know, such as several hosts, a timeout and files for TLS, is taken
//! out before.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisError};
use serde::{Deserialize, Serialize};

use super::tls::{Tls, TlsError};

/// Parses a DURATION. An error completes a sentence that begins with the text.
pub(crate) type ReadDuration = fn(&str) -> Result<Duration, String>;

/// The problem of an address. It quotes none of the address, which may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressError {
    Fragment,
    NotAnAddress,
    DatabaseIsNoNumber,
    UnknownSetting,
    /// With the problem of the duration.
    Timeout(String),
    UserAfterFirstHost,
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
                "has a setting that is unknown here; tip: try ?timeout=250ms, or ?ca=FILE with rediss://, and in a password %3F for ?"
            }
            AddressError::Timeout(why) => return write!(f, "has a timeout that {why}"),
            AddressError::UserAfterFirstHost => {
                "names a user after the first host; tip: try redis://USER:PASSWORD@HOST1,HOST2, with %2C for a comma in the password"
            }
        })
    }
}

impl std::error::Error for AddressError {}

/// A service of one or more servers; the first that answers counts.
#[derive(Debug)]
pub struct Address {
    scheme: String,
    pub(super) servers: Vec<ConnectionInfo>,
    pub(super) tls: Option<Tls>,
    pub(crate) timeout: Option<Duration>,
}

/// The settings after `?`.
struct AddressSettings {
    tls: Option<Tls>,
    timeout: Option<Duration>,
    /// User, password and database of `redis+unix`, as settings that the crate reads.
    credentials: String,
}

impl AddressSettings {
    /// Parses the text after `?`: settings, separated by `&`. Only `rediss`, the scheme of TLS, has files. `read`
    /// parses the timeout.
    fn parse(
        scheme: &str,
        text: &str,
        read: ReadDuration,
    ) -> Result<AddressSettings, AddressError> {
        let mut settings = AddressSettings {
            tls: (scheme == "rediss").then(Tls::default),
            timeout: None,
            credentials: String::new(),
        };
        // The crate would read `+` as a space.
        for setting in text.replace('+', "%2B").split('&') {
            if !setting.is_empty() {
                settings.add(scheme, setting, read)?;
            }
        }
        Ok(settings)
    }

    /// Reads one setting, `timeout=250ms`, and notes its value; of two with the same key the last counts. Only `rediss`
    /// has `ca`, `cert` and `key`, and only `redis+unix` has `user`, `pass` and `db`. Any other key is an error, as a
    /// typo would otherwise have no effect.
    fn add(&mut self, scheme: &str, setting: &str, read: ReadDuration) -> Result<(), AddressError> {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(AddressError::UnknownSetting);
        };
        let Ok(value) = percent_decode_str(value).decode_utf8() else {
            return Err(AddressError::NotAnAddress);
        };
        match (key, &mut self.tls) {
            ("timeout", _) => {
                let timeout = read(&value).map_err(AddressError::Timeout)?;
                self.timeout = Some(timeout);
            }
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

/// The parts of an address between `://` and `?`.
struct AddressParts<'a> {
    /// User and password, with `@`.
    user: &'a str,
    /// Hosts with ports, separated by commas. Empty with `redis+unix`.
    hosts: &'a str,
    /// The database with its slash (`/0`), or the socket with `redis+unix`; may be empty.
    path: &'a str,
}

impl AddressParts<'_> {
    /// Splits the text between `://` and `?`. One user holds for all hosts, so it must stand before the first; an error
    /// says so if what stands before the last `@` looks like another host.
    fn parse<'a>(scheme: &str, text: &'a str) -> Result<AddressParts<'a>, AddressError> {
        // The user ends at the last `@`. `redis+unix` has none here, and `@` may be part of its socket's path.
        let end_of_user = match text.rfind('@') {
            Some(last_at) if scheme != "redis+unix" => last_at + 1,
            _ => 0,
        };
        let (user, after_user) = text.split_at(end_of_user);
        let end_of_hosts = after_user.find('/').unwrap_or(after_user.len());
        let (hosts, path) = after_user.split_at(end_of_hosts);
        let before_password = user.rsplit_once(':').map_or(user, |(name, _)| name);
        // `h1,u:p@h2` or `u:p@h1,u:p@h2`.
        if before_password.contains(',') {
            return Err(AddressError::UserAfterFirstHost);
        }
        Ok(AddressParts { user, hosts, path })
    }

    /// Returns the servers, one for each host; at least one, as `redis+unix` has one empty host before its path. The
    /// crate parses a single host, and the scheme of TLS only with its own TLS, so each host gets an address of its own
    /// without TLS. `credentials` are the settings that the crate is to read.
    fn servers(
        &self,
        scheme: &str,
        credentials: &str,
    ) -> Result<Vec<ConnectionInfo>, AddressError> {
        let AddressParts { user, hosts, path } = self;
        let scheme_without_tls = scheme.replace("rediss", "redis");
        let mut servers = Vec::new();
        for host in hosts.split(',') {
            let url = format!("{scheme_without_tls}://{user}{host}{path}?{credentials}");
            servers.push(
                url.into_connection_info()
                    .map_err(|error| without_address(&error))?,
            );
        }
        Ok(servers)
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
    /// Parses the text after `redis://`, `rediss://` (TLS) or `redis+unix://`. `read` parses the timeout. Looks up no
    /// host, and reads no file yet.
    pub(crate) fn parse(
        scheme: &str,
        after_scheme: &str,
        read: ReadDuration,
    ) -> Result<Address, AddressError> {
        // To the crate, `#insecure` means that certificates are not checked, which is refused rather than ignored.
        if after_scheme.contains('#') {
            return Err(AddressError::Fragment);
        }
        let (parts, settings) = after_scheme.split_once('?').unwrap_or((after_scheme, ""));
        let settings = AddressSettings::parse(scheme, settings, read)?;
        let parts = AddressParts::parse(scheme, parts)?;
        Ok(Address {
            scheme: scheme.to_owned(),
            servers: parts.servers(scheme, &settings.credentials)?,
            tls: settings.tls,
            timeout: settings.timeout,
        })
    }

    /// Returns the service and its database without user and password, by which nested runs compare their stores.
    pub(crate) fn location(&self) -> String {
        // The same for all servers.
        let database = self.servers[0].redis_settings().db();
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

    /// Returns the service as messages show it, without user and password: `redis://h1:6379,h2:6379`.
    pub(crate) fn name(&self) -> String {
        let servers: Vec<String> = self
            .servers
            .iter()
            .map(|server| shown(server.addr()))
            .collect();
        format!("{}://{}", self.scheme, servers.join(","))
    }

    /// Returns the address of one server as messages show it, without user and password.
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
