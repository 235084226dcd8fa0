//! A Redis server, or one that speaks its protocol (Redis 6 or later, Valkey): one script for each step,
//! on a connection of its own, so that nothing is held while a run waits.

mod connection;

use std::io;
use std::time::{Duration, Instant};

use redis::{Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo};

use super::redacted::{ReadDuration, TIMEOUT, is_host};
use crate::run::text::describe_error;
use connection::{Connection, Failure, Time};

pub(crate) const NOT_WHAT_WAS_ASKED_FOR: &str = "answers with something else than was asked for";

/// How often a cluster may send us to another of its servers.
const MOST_REDIRECTIONS: u32 = 3;

/// Where a server is, and who we are to it. Never shows a password.
#[derive(Clone)]
pub struct Address {
    info: ConnectionInfo,
    pub(crate) timeout: Duration,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

impl Address {
    /// Reads `redis://`, `rediss://` (TLS) or `redis+unix://`.
    pub(crate) fn parse(url: &str, duration: ReadDuration) -> Result<Address, String> {
        let insecure = url.split_once('#').is_some_and(|(_, fragment)| fragment == "insecure");
        if insecure {
            return Err(
                "asks for TLS without a check of the certificate, which protects nothing; try it without #insecure"
                    .into(),
            );
        }
        let info = url.into_connection_info().map_err(|error| {
            // The library's text may quote the address.
            match error.kind() {
                ErrorKind::InvalidClientConfig if error.to_string().contains("database") => {
                    "has a database that is not a number; try redis://HOST:6379/0".to_owned()
                }
                _ => "is not a Redis address; try redis://USER:PASSWORD@HOST:6379".to_owned(),
            }
        })?;
        let timeout = redis::parse_redis_url(url).and_then(|url| {
            let timeouts = url.query_pairs().filter(|(key, _)| key == "timeout");
            timeouts.map(|(_, value)| duration(&value)).last()
        });
        let timeout = timeout.transpose().map_err(|why| format!("has a timeout that {why}"))?;
        if timeout.is_some_and(|timeout| timeout < Duration::from_millis(1)) {
            return Err("has a timeout that is out of range; it must be at least 1ms; try ?timeout=250ms".into());
        }
        Ok(Address {
            info,
            timeout: timeout.unwrap_or(TIMEOUT),
        })
    }

    /// The address without user and password.
    pub(crate) fn shown(&self) -> String {
        let host = |host: &str| {
            if host.contains(':') {
                format!("[{host}]")
            } else {
                host.to_owned()
            }
        };
        match self.info.addr() {
            ConnectionAddr::Tcp(name, port) => format!("redis://{}:{port}", host(name)),
            ConnectionAddr::TcpTls { host: name, port, .. } => format!("rediss://{}:{port}", host(name)),
            ConnectionAddr::Unix(path) => format!("redis+unix://{}", path.display()),
            _ => "redis".into(),
        }
    }

    /// The same, with the database.
    pub(crate) fn place(&self) -> String {
        format!("{}/{}", self.shown(), self.info.redis_settings().db())
    }

    /// Returns the same user on another server of the cluster: `HOST:PORT`, or `:PORT` of the same host. None if it is
    /// neither, as a message may name it.
    fn moved_to(&self, node: &str) -> Option<Address> {
        let (name, port) = node.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let is_known = matches!(name, "" | "?");
        if !is_known && !is_host(name) && !is_host(&format!("[{name}]")) {
            return None;
        }
        let named = |known: &str| if is_known { known } else { name }.to_owned();
        let addr = match self.info.addr() {
            ConnectionAddr::Tcp(known, _) => ConnectionAddr::Tcp(named(known), port),
            ConnectionAddr::TcpTls { host: known, .. } => ConnectionAddr::TcpTls {
                host: named(known),
                port,
                insecure: false,
                tls_params: None,
            },
            _ => return None,
        };
        Some(Address {
            info: self.info.clone().set_addr(addr),
            timeout: self.timeout,
        })
    }
}

/// Runs a script that touches one key and answers with whole numbers. An error names the server that failed and holds
/// nothing that it said, since servers quote what they were sent.
pub(crate) fn evaluate(
    address: &Address,
    script: &str,
    key: &str,
    arguments: &[String],
    timeout: Duration,
    now: fn() -> Instant,
) -> Result<Vec<i64>, String> {
    let eval = redis::cmd("EVAL").arg(script).arg(1).arg(key).arg(arguments).clone();
    // For all servers together.
    let time = Time::begin(timeout, now);
    let (mut server, mut asking) = (address.clone(), false);
    for _ in 0..=MOST_REDIRECTIONS {
        let failure = match evaluate_on(&server, asking, &eval, time) {
            Ok(numbers) => return Ok(numbers),
            Err(failure) => failure,
        };
        match redirection(&failure).and_then(|node| server.moved_to(node)) {
            Some(other) => server = other,
            None => return Err(format!("{}: {}", server.shown(), problem(&failure, timeout))),
        }
        asking = matches!(failure, Failure::Refused(code, _) if code == "ASK");
    }
    Err(format!("{}: points from server to server (MOVED)", address.shown()))
}

/// The script is sent once the server has taken user and database: else it would run as the default user, or in another
/// database.
fn evaluate_on(server: &Address, asking: bool, eval: &Cmd, time: Time) -> Result<Vec<i64>, Failure> {
    let who = server.info.redis_settings();
    // A user without a password is one as well.
    let is_user = who.username().is_some() || who.password().is_some();
    let password = who.password().unwrap_or_default();
    let auth = is_user.then(|| redis::cmd("AUTH").arg(who.username()).arg(password).clone());
    let select = (who.db() != 0).then(|| redis::cmd("SELECT").arg(who.db()).clone());
    let asking = asking.then(|| redis::cmd("ASKING"));
    let mut connection = Connection::open(server.info.addr(), time)?;
    for command in [auth, select, asking].iter().flatten() {
        connection.send(&command.get_packed_command())?;
        connection.done()?;
    }
    connection.send(&eval.get_packed_command())?;
    connection.numbers()
}

/// Where a server of a cluster sends us: `MOVED SLOT HOST:PORT`, or `ASK` for this once.
fn redirection(failure: &Failure) -> Option<&str> {
    match failure {
        Failure::Refused(code, detail) if code == "MOVED" || code == "ASK" => {
            let (slot, node) = detail.split_once(' ')?;
            slot.parse::<u16>().ok().map(|_| node)
        }
        _ => None,
    }
}

fn problem(failure: &Failure, timeout: Duration) -> String {
    const NOT_ALLOWED: &str = "does not let this user do it (NOPERM); see the manual for what it takes";
    let (code, detail) = match failure {
        Failure::Refused(code, detail) => (&**code, detail),
        Failure::NoProtocol => return "does not speak the protocol of Redis".into(),
        Failure::SomethingElse => return NOT_WHAT_WAS_ASKED_FOR.into(),
        Failure::Io(error) => {
            return match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    format!("gives no answer within {}ms", timeout.as_millis())
                }
                io::ErrorKind::UnexpectedEof => "closes the connection".into(),
                _ => format!("cannot be reached: {}", describe_error(error)),
            };
        }
    };
    let says = |text| detail.starts_with(text);
    match code {
        "NOAUTH" => "wants a password (NOAUTH)".into(),
        "WRONGPASS" => "refuses the user or the password (WRONGPASS)".into(),
        "ERR" if says("AUTH ") => "wants no password, or a user's name too".into(),
        "ERR" if says("DB index ") || says("SELECT ") => "has no database of this number".into(),
        "ERR" if says("The user executing the script ") => NOT_ALLOWED.into(),
        "ERR" if says("max number of clients") => "has reached its limit of clients (maxclients)".into(),
        "ERR" if says("unknown command") => "does not run scripts: EVAL is disabled or renamed".into(),
        "NOPERM" => NOT_ALLOWED.into(),
        "OOM" => "is out of memory (OOM)".into(),
        "READONLY" => "is a read-only replica (READONLY)".into(),
        "MISCONF" => "takes no writes until it can save its data again (MISCONF)".into(),
        "BUSY" => "is busy with another script (BUSY)".into(),
        "CLUSTERDOWN" => "is part of a cluster that is down or incomplete (CLUSTERDOWN)".into(),
        "MASTERDOWN" => "is a replica without its master (MASTERDOWN)".into(),
        "DENIED" => "takes clients of its own machine alone until it has a password (DENIED)".into(),
        "LOADING" => "is still loading its data (LOADING)".into(),
        "WRONGTYPE" | "FOREIGN" => "holds something else than backoff's under this name".into(),
        code => format!("refuses ({})", plain(code)),
    }
}

/// Letters only: a server's word goes to a terminal.
fn plain(code: &str) -> String {
    code.chars().filter(char::is_ascii_alphanumeric).take(20).collect()
}

/// What a server's bytes are taken for, as the answer to so many commands and one script; or what a person reads.
#[cfg(feature = "fuzzing")]
pub fn answer(server: impl io::Read + io::Write + 'static, commands: usize) -> Result<Vec<i64>, String> {
    let mut connection = Connection::to(Box::new(server));
    let done = (0..commands).try_for_each(|_| connection.done());
    let numbers = done.and_then(|()| connection.numbers());
    numbers.map_err(|failure| {
        let _ = redirection(&failure);
        problem(&failure, Duration::ZERO)
    })
}
