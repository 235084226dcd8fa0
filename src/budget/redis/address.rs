//! The address of a Redis service, and the credentials.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisError, RedisResult};

use super::tls::Tls;
use crate::budget::StoreError;

const NO_ADDRESS: &str = "is not a Redis address; tip: try redis://USER:PASSWORD@HOST:6379/0";
const NO_DATABASE: &str = "has a database that is not a number; tip: try redis://HOST:6379/0";
const NO_SETTING: &str =
    "has a setting that is unknown here; tip: try ?timeout=250ms, or ?ca=FILE with rediss://";

/// Parses a DURATION.
pub(crate) type ReadDuration = fn(&str) -> Result<Duration, StoreError>;

/// A service of one or more servers; the first that answers counts.
#[derive(Debug)]
pub struct Address {
    scheme: String,
    pub(super) servers: Vec<ConnectionInfo>,
    pub(super) tls: Option<Tls>,
    pub(crate) timeout: Option<Duration>,
}

impl Address {
    /// Parses the text after `redis://`, `rediss://` (TLS) or `redis+unix://`. An error quotes none of it.
    pub(crate) fn parse(
        scheme: &str,
        rest: &str,
        duration: ReadDuration,
    ) -> Result<Address, StoreError> {
        // In the crate, `#insecure` turns the check of certificates off.
        if rest.contains('#') {
            return Err(
                "has a # in it; certificates are always checked, and in a password it is %23"
                    .into(),
            );
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (mut tls, mut timeout, mut credentials) =
            ((scheme == "rediss").then(Tls::default), None, String::new());
        // The crate would read `+` as a space.
        for setting in query
            .replace('+', "%2B")
            .split('&')
            .filter(|text| !text.is_empty())
        {
            let (key, value) = setting.split_once('=').ok_or(NO_SETTING)?;
            let value = percent_decode_str(value)
                .decode_utf8()
                .map_err(|_| NO_ADDRESS)?;
            match (key, &mut tls) {
                ("timeout", _) => {
                    timeout =
                        Some(duration(&value).map_err(|why| format!("has a timeout that {why}"))?);
                }
                ("ca" | "cert" | "key", Some(tls)) => {
                    drop(tls.files.insert(key.to_owned(), value.as_ref().into()));
                }
                // The crate reads the query of `redis+unix`.
                ("user" | "pass" | "db", _) if scheme == "redis+unix" => {
                    credentials += &format!("{setting}&");
                }
                _ => return Err(NO_SETTING.into()),
            }
        }
        // `@` may be part of a socket's path.
        let at = place.rfind('@').filter(|_| scheme != "redis+unix");
        let (user, place) = place.split_at(at.map_or(0, |at| at + 1));
        // `h1,u:p@h2` or `u:p@h1,u:p@h2`.
        if user
            .rsplit_once(':')
            .map_or(user, |(name, _)| name)
            .contains(',')
        {
            return Err(
                "names a user after the first host; tip: try redis://USER:PASSWORD@HOST1,HOST2"
                    .into(),
            );
        }
        // The path is the database. With `redis+unix` there is no host, and the path is the socket.
        let (hosts, path) = place.split_at(place.find('/').unwrap_or(place.len()));
        // A URL for each server: the crate parses a single host, and the scheme of TLS only with its own TLS.
        let plain = scheme.replace("rediss", "redis");
        let server =
            |host| format!("{plain}://{user}{host}{path}?{credentials}").into_connection_info();
        let servers: RedisResult<_> = hosts.split(',').map(server).collect();
        let is_database = |error: &RedisError| error.to_string().contains("database");
        Ok(Address {
            scheme: scheme.to_owned(),
            servers: servers.map_err(|error| {
                if is_database(&error) {
                    NO_DATABASE
                } else {
                    NO_ADDRESS
                }
            })?,
            tls,
            timeout,
        })
    }

    /// Reads the files that the address names. Returns the service and its database without user and password.
    pub(crate) fn prepare(&self) -> Result<String, StoreError> {
        if let Some(tls) = self.tls.as_ref().filter(|tls| !tls.files.is_empty()) {
            tls.config()?;
        }
        Ok(format!(
            "{}/{}",
            self.name(),
            self.servers[0].redis_settings().db()
        ))
    }

    /// Reads the authorities that the machine trusts, unless the address names its own.
    pub(crate) fn load(&self) {
        if let Some(tls) = &self.tls {
            // A query returns the error.
            let _ = tls.config();
        }
    }

    /// Returns the service without user and password.
    pub(crate) fn name(&self) -> String {
        let servers: Vec<String> = self
            .servers
            .iter()
            .map(|server| shown(server.addr()))
            .collect();
        format!("{}://{}", self.scheme, servers.join(","))
    }

    /// Returns the address of one server without user and password.
    pub(super) fn name_of(&self, server: &ConnectionAddr) -> String {
        format!("{}://{}", self.scheme, shown(server))
    }
}

fn shown(server: &ConnectionAddr) -> String {
    match server {
        ConnectionAddr::Tcp(host, port) if host.contains(':') => format!("[{host}]:{port}"),
        _ => server.to_string(),
    }
}
