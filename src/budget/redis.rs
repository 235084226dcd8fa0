//! A Redis server, or one that speaks its protocol (Redis 6 or later, Valkey): one script for each step,
//! on a connection of its own, so that nothing is held while a run waits.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use redis::{
    Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, IntoConnectionInfo, RedisConnectionInfo, RedisError,
    ServerErrorKind,
};

use crate::run::text::describe_error;

/// How often a cluster may send us to another of its servers.
const MOST_REDIRECTIONS: u32 = 3;

/// Where a server is, and who we are to it. Never shows a password.
#[derive(Clone)]
pub struct Address {
    info: ConnectionInfo,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.shown())
    }
}

impl Address {
    /// Reads `redis://`, `rediss://` (TLS) or `redis+unix://`.
    pub fn parse(url: &str) -> Result<Address, String> {
        let insecure = url.split_once('#').is_some_and(|(_, fragment)| fragment == "insecure");
        if insecure {
            return Err("asks for TLS without a check of the certificate, which protects nothing".into());
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
        Ok(Address { info })
    }

    /// The address without user and password.
    pub fn shown(&self) -> String {
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

    /// The same user on another server of the cluster: `HOST:PORT`, or `:PORT` of the host we know.
    fn moved_to(&self, node: &str) -> Option<Address> {
        let (name, port) = node.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let named = |known: &str| match name {
            "" | "?" => known.to_owned(),
            name => name.to_owned(),
        };
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
        })
    }
}

/// Runs a script that touches one key and answers with whole numbers. An error is what a person should
/// read; it holds nothing that the server said, since servers quote what they were sent.
pub fn evaluate(
    address: &Address,
    script: &str,
    key: &str,
    arguments: &[String],
    timeout: Duration,
) -> Result<Vec<i64>, String> {
    if matches!(address.info.addr(), ConnectionAddr::TcpTls { .. }) {
        // An error says that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    let eval = redis::cmd("EVAL").arg(script).arg(1).arg(key).arg(arguments).clone();
    let (mut server, mut asking) = (address.clone(), false);
    for _ in 0..=MOST_REDIRECTIONS {
        let error = loop {
            match evaluate_on(&server, asking, &eval, timeout) {
                Ok(numbers) => return Ok(numbers),
                // A stop (Ctrl-Z) has ended the wait for the answer, and the library lets nobody wait on for it.
                Err(error) if io_error(&error).is_some_and(|error| error.kind() == io::ErrorKind::Interrupted) => {}
                Err(error) => break error,
            }
        };
        match error.redirect_node().and_then(|(node, _)| server.moved_to(node)) {
            Some(other) => server = other,
            None => return Err(problem(&error, timeout)),
        }
        asking = error.kind() == ErrorKind::Server(ServerErrorKind::Ask);
    }
    Err("sends us from server to server (MOVED)".into())
}

/// Everything is sent at once, for one journey there and back. The library's own handshake is left out: it
/// makes more of them, and tells less of what went wrong.
fn evaluate_on(server: &Address, asking: bool, eval: &Cmd, timeout: Duration) -> Result<Vec<i64>, RedisError> {
    let who = server.info.redis_settings();
    let silent = RedisConnectionInfo::default().set_skip_set_lib_name();
    let client = redis::Client::open(server.info.clone().set_redis_settings(silent))?;
    let mut connection = client.get_connection_with_timeout(timeout)?;
    connection.set_read_timeout(Some(timeout))?;
    connection.set_write_timeout(Some(timeout))?;

    let auth = who
        .password()
        .map(|password| redis::cmd("AUTH").arg(who.username()).arg(password).clone());
    let select = (who.db() != 0).then(|| redis::cmd("SELECT").arg(who.db()).clone());
    let asking = asking.then(|| redis::cmd("ASKING"));
    let before: Vec<&Cmd> = [&auth, &select, &asking].into_iter().flatten().collect();
    let mut all = Vec::new();
    for command in before.iter().copied().chain([eval]) {
        all.extend(command.get_packed_command());
    }
    connection.send_packed_command(&all)?;
    for _ in before {
        connection.recv_response()?.extract_error()?;
    }
    Ok(redis::from_redis_value(connection.recv_response()?.extract_error()?)?)
}

fn problem(error: &RedisError, timeout: Duration) -> String {
    const NOT_ALLOWED: &str = "lets this user not do it (NOPERM); see the manual for what it takes";
    if error.is_timeout() {
        return format!("gives no answer within {} ms", timeout.as_millis());
    }
    let says = |text| error.detail().is_some_and(|detail| detail.starts_with(text));
    match (error.code(), error.kind()) {
        (Some("NOAUTH"), _) => "wants a password (NOAUTH)".into(),
        (Some("WRONGPASS"), _) => "refuses the user or the password".into(),
        (Some("ERR"), _) if says("AUTH ") => "wants no password, or a user's name too".into(),
        (Some("ERR"), _) if says("DB index ") || says("SELECT ") => "has no database of this number".into(),
        (Some("ERR"), _) if says("The user executing the script ") => NOT_ALLOWED.into(),
        (Some("NOPERM"), _) => NOT_ALLOWED.into(),
        (Some("OOM"), _) => "is out of memory (OOM)".into(),
        (Some("READONLY"), _) => "is a read-only replica (READONLY)".into(),
        (Some("LOADING"), _) => "is still loading its data (LOADING)".into(),
        (Some("WRONGTYPE" | "FOREIGN"), _) => "holds something else than backoff's under this name".into(),
        (Some(code), _) => format!("refuses ({})", plain(code)),
        (None, ErrorKind::Parse | ErrorKind::UnexpectedReturnType) => "does not speak the protocol of Redis".into(),
        (None, ErrorKind::Io) => match io_error(error) {
            Some(error) => describe_io(error),
            None => describe_io(&io::Error::other(error.to_string())),
        },
        (None, _) => "fails in a way of its own".into(),
    }
}

/// What the system said; the library keeps it in an `Arc`.
fn io_error(error: &RedisError) -> Option<&io::Error> {
    let kept: &Arc<dyn Error + Send + Sync> = error.source()?.downcast_ref()?;
    kept.downcast_ref()
}

fn describe_io(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "closes the connection".into(),
        _ => format!("cannot be reached: {}", describe_error(error)),
    }
}

/// Letters only: a server's word goes to a terminal.
fn plain(code: &str) -> String {
    code.chars().filter(char::is_ascii_alphanumeric).take(20).collect()
}
