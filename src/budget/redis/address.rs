//! The address of a Redis service, and the credentials.

use std::fmt;
use std::net::Ipv6Addr;
use std::time::Duration;

use super::tls::Tls;

const NO_ADDRESS: &str = "is not a Redis address; try redis://USER:PASSWORD@HOST:6379/0";
const NO_DATABASE: &str = "has a database that is not a number; try redis://HOST:6379/0";
const NO_SETTING: &str = "has a setting that is unknown here; try ?timeout=250ms, or ?ca=FILE with rediss://";

/// Parses a DURATION.
pub(crate) type ReadDuration = fn(&str) -> Result<Duration, String>;

/// A service of one or more servers; the first that answers counts. Displayed without user and password.
#[derive(Debug, Default)]
pub struct Address {
    scheme: String,
    /// `HOST:PORT`, or the path of a socket.
    pub(super) servers: Vec<String>,
    /// Empty for the default user.
    pub(super) user: String,
    pub(super) password: String,
    pub(crate) database: u32,
    pub(super) tls: Option<Tls>,
    pub(crate) timeout: Option<Duration>,
}

impl Address {
    /// Parses the text after `redis://`, `rediss://` (TLS) or `redis+unix://`. An error quotes none of it.
    pub(crate) fn parse(scheme: &str, rest: &str, duration: ReadDuration) -> Result<Address, String> {
        if rest.contains('#') {
            return Err("has a # in it; certificates are always checked, and in a password it is %23".into());
        }
        let mut address = Address {
            scheme: scheme.to_owned(),
            tls: (scheme == "rediss").then(Tls::default),
            ..Address::default()
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        if scheme == "redis+unix" {
            let path = decoded(place).filter(|path| path.starts_with('/'));
            address.servers = vec![path.ok_or(NO_ADDRESS)?];
        } else {
            let (authority, database) = place.split_once('/').unwrap_or((place, ""));
            let (who, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
            let (user, password) = who.split_once(':').unwrap_or((who, ""));
            let servers = hosts.split(',').map(|host| server(host, None));
            address.servers = servers.collect::<Option<_>>().ok_or(NO_ADDRESS)?;
            for (key, value) in [("user", user), ("pass", password), ("db", database)] {
                address.set(key, value, duration)?;
            }
        }
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            let (key, value) = setting.split_once('=').ok_or(NO_SETTING)?;
            address.set(key, value, duration)?;
        }
        Ok(address)
    }

    fn set(&mut self, key: &str, value: &str, duration: ReadDuration) -> Result<(), String> {
        let value = decoded(value).ok_or(NO_ADDRESS)?;
        match (key, &mut self.tls) {
            ("user", _) => self.user = value,
            ("pass", _) => self.password = value,
            ("db", _) if value.is_empty() => {}
            ("db", _) => self.database = value.parse().map_err(|_| NO_DATABASE)?,
            ("timeout", _) => {
                let timeout = duration(&value).map_err(|why| format!("has a timeout that {why}"))?;
                self.timeout = Some(timeout);
            }
            ("ca", Some(tls)) => tls.ca = Some(value.into()),
            ("cert", Some(tls)) => tls.cert = Some(value.into()),
            ("key", Some(tls)) => tls.key = Some(value.into()),
            _ => return Err(NO_SETTING.into()),
        }
        Ok(())
    }

    /// Reads the files that the address names.
    pub(crate) fn read_files(&self) -> Result<(), String> {
        self.tls.as_ref().map_or(Ok(()), Tls::read_files)
    }

    /// Returns the address of one server without user and password.
    pub(super) fn shown(&self, server: &str) -> String {
        format!("{}://{server}", self.scheme)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(&self.servers.join(",")))
    }
}

/// Parses `HOST:PORT` or `HOST`. An empty host, or `?`, means the host of the redirecting server.
pub(super) fn server(text: &str, from: Option<&str>) -> Option<String> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse::<u16>().ok()?),
        _ => (text, 6379),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = || host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    match (host, from) {
        ("" | "?", from) => Some(format!("{}:{port}", from?.rsplit_once(':')?.0)),
        (host, _) if host.parse::<Ipv6Addr>().is_ok() => Some(format!("[{host}]:{port}")),
        (host, _) => is_name().then(|| format!("{host}:{port}")),
    }
}

/// Returns the percent-decoded text, or None if that is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(b'%'));
        bytes.extend(&part.as_bytes()[if byte.is_some() { 2 } else { 0 }..]);
    }
    String::from_utf8(bytes).ok()
}
