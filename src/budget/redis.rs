//! Budgets on a server that speaks the Redis protocol (Redis 6 or later, Valkey). Each question runs one script over
//! its own connection, so that a waiting run holds none.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use memchr::memmem;
use redis::cluster::{ClusterClient, ClusterConnection};
use redis::{
    Client, ClientTlsConfig, Cmd, Connection, ConnectionAddr, ConnectionInfo, ErrorKind,
    IntoConnectionInfo, RedisError, RedisResult, TlsCertificates, cmd,
};
use url::{Url, form_urlencoded};

use crate::policy::budget::{Answer, Question};
use crate::run::plan::SharedBudget;
use crate::text::{describe_error, length};

/// `Counts::answer` as a Lua script, which the server runs atomically.
const SCRIPT: &str = include_str!("budget.lua");

/// Where systems keep their CA certificates in one file.
const BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

const NOT_AN_ADDRESS: &str = "is not a Redis address; tip: try redis://USER:PASSWORD@HOST:6379/0, with %2F %3F %23 for / ? # in the password";

const UNKNOWN_SETTING: &str =
    "has an unknown setting; tip: try ?ca=FILE with rediss://, and in a password %3F for ?";

const ONE_WITHOUT_THE_OTHER: &str =
    "names a certificate or a key without the other; tip: try ?cert=FILE&key=FILE";

/// A server and its credentials: `rediss://USER:PASSWORD@HOST:PORT/DATABASE?ca=FILE&cert=FILE&key=FILE`.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    server: ConnectionInfo,
    /// Files that the address names: `ca`, `cert` and `key`.
    files: BTreeMap<String, PathBuf>,
    /// Their contents.
    certificates: TlsCertificates,
}

impl Address {
    /// Parses an address. Looks up no host and reads no file yet. An error quotes no part of it.
    pub(super) fn parse(text: &str) -> Result<Address, String> {
        let not_an_address = || NOT_AN_ADDRESS.to_owned();
        let mut url = Url::parse(text).map_err(|_| not_an_address())?;
        let mut files = BTreeMap::new();
        let mut kept = form_urlencoded::Serializer::new(String::new());
        // A form would decode `+` as a space.
        let query = url.query().unwrap_or_default().replace('+', "%2B");
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, url.scheme()) {
                ("ca" | "cert" | "key", "rediss") => {
                    files.insert(name.into_owned(), PathBuf::from(&*value));
                }
                ("user" | "pass" | "db", "redis+unix") => {
                    kept.append_pair(&name, &value);
                }
                _ => return Err(UNKNOWN_SETTING.to_owned()),
            }
        }
        if files.contains_key("cert") != files.contains_key("key") {
            return Err(ONE_WITHOUT_THE_OTHER.to_owned());
        }
        url.set_query(Some(&kept.finish()));
        // The crate takes `#insecure` to mean that certificates are not checked. An encoded part of a host may be a
        // password.
        let is_odd = url.host_str().is_some_and(|host| host.contains([',', '%']));
        if url.fragment().is_some() || is_odd {
            return Err(not_an_address());
        }
        let server = url.into_connection_info().map_err(|_| not_an_address())?;
        // Otherwise the crate sends its own name to the server, for which a user needs permission.
        let mut login = server.redis_settings().clone().set_skip_set_lib_name();
        // Otherwise the crate logs in as the default user.
        if login.username().is_some() && login.password().is_none() {
            login = login.set_password("");
        }
        Ok(Address {
            server: server.set_redis_settings(login),
            files,
            certificates: TlsCertificates {
                client_tls: None,
                root_cert: None,
            },
        })
    }

    /// Returns the server and its database, without user and password.
    pub(super) fn location(&self) -> String {
        let database = self.server.redis_settings().db();
        format!("{}/{database}", self.name())
    }

    /// Returns the address for messages, without user and password: `redis://host:6379`.
    pub(super) fn name(&self) -> String {
        match self.server.addr() {
            ConnectionAddr::Unix(path) => format!("redis+unix://{}", path.display()),
            ConnectionAddr::TcpTls { .. } => format!("rediss://{}", self.server.addr()),
            _ => format!("redis://{}", self.server.addr()),
        }
    }

    /// Reads the files that the address names. An error completes a sentence that begins with the address.
    pub(super) fn read_files(&mut self) -> Result<(), String> {
        self.certificates.root_cert = self.read("ca", "CERTIFICATE")?;
        let cert = self.read("cert", "CERTIFICATE")?;
        let key = self.read("key", "PRIVATE KEY")?;
        if let (Some(client_cert), Some(client_key)) = (cert, key) {
            self.certificates.client_tls = Some(ClientTlsConfig {
                client_cert,
                client_key,
            });
        }
        if !self.files.is_empty() {
            Client::build_with_tls(self.server.clone(), self.certificates.clone())
                .map_err(|error| format!("names files that cannot be used: {error}"))?;
        }
        Ok(())
    }

    /// Reads the file of a setting, if the address has it. It must contain a part of this kind (PEM, RFC 7468).
    fn read(&self, setting: &str, kind: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(file) = self.files.get(setting) else {
            return Ok(None);
        };
        let shown = file.display();
        let bytes = fs::read(file).map_err(|error| {
            let why = describe_error(&error);
            format!("names {shown}, which cannot be read: {why}")
        })?;
        if memmem::find(&bytes, format!("{kind}-----").as_bytes()).is_none() {
            let what = kind.to_lowercase();
            return Err(format!("names {shown}, which contains no {what}"));
        }
        Ok(Some(bytes))
    }

    /// Asks the server. Each step takes at most `limit`, but the lookup of its name has no limit. If the server is a
    /// cluster node that does not hold the budget, asks the cluster. The script may have run even if its reply was
    /// late.
    pub(super) fn ask(
        &self,
        budget: &SharedBudget,
        question: Question,
        limit: Duration,
    ) -> Result<Answer, String> {
        let call = call(budget, question);
        let mut asked: RedisResult<(bool, u32)> = self
            .connect(limit)
            .and_then(|mut connection| call.query(&mut connection));
        let is_redirected = matches!(&asked, Err(error) if error.redirect_node().is_some());
        if is_redirected {
            asked = self
                .connect_to_cluster(limit)
                .and_then(|mut connection| call.query(&mut connection));
        }
        match asked {
            Ok((allowed, retries_per_mille)) => Ok(Answer {
                allowed,
                retries_per_mille,
            }),
            Err(error) => {
                let problem = if is_redirected && error.is_io_error() {
                    // The crate's error quotes what the nodes said.
                    "its cluster cannot be reached".to_owned()
                } else {
                    problem(&error, limit)
                };
                Err(format!("{}: {problem}", self.name()))
            }
        }
    }

    fn connect(&self, limit: Duration) -> RedisResult<Connection> {
        let server = self.server.clone();
        let client = if is_tls(&server) {
            Client::build_with_tls(server, self.certificates())?
        } else {
            Client::open(server)?
        };
        let connection = client.get_connection_with_timeout(limit)?;
        connection.set_read_timeout(Some(limit))?;
        connection.set_write_timeout(Some(limit))?;
        Ok(connection)
    }

    fn connect_to_cluster(&self, limit: Duration) -> RedisResult<ClusterConnection> {
        let mut builder = ClusterClient::builder([self.server.clone()])
            .retries(2)
            .connection_timeout(limit)
            .response_timeout(limit);
        if is_tls(&self.server) {
            builder = builder.certs(self.certificates());
        }
        builder.build()?.get_connection()
    }

    /// Returns the certificates of the files and, without `ca`, the CAs that this machine trusts. If it has none, like
    /// a small container image, Mozilla's apply, which the `redis` crate includes.
    fn certificates(&self) -> TlsCertificates {
        let mut certificates = self.certificates.clone();
        if certificates.root_cert.is_none() {
            certificates.root_cert = authorities();
        }
        certificates
    }
}

fn is_tls(server: &ConnectionInfo) -> bool {
    matches!(server.addr(), ConnectionAddr::TcpTls { .. })
}

#[allow(
    clippy::disallowed_methods,
    reason = "the variable is OpenSSL's, and only read with TLS"
)]
fn authorities() -> Option<Vec<u8>> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let bundles = BUNDLES.map(PathBuf::from);
    named
        .into_iter()
        .chain(bundles)
        .find_map(|file| fs::read(file).ok())
}

/// Returns the script call for a budget. All state is in a single key, so a cluster keeps it on one node.
fn call(budget: &SharedBudget, question: Question) -> Cmd {
    let word = match question {
        Question::Attempt => "attempt",
        Question::Retry => "retry",
    };
    let limits = &budget.limits;
    let mut call = cmd("EVAL");
    // The number of keys, the key, and ARGV of `budget.lua`.
    call.arg(SCRIPT)
        .arg(1)
        .arg(format!("backoff:budget:{}", budget.name))
        .arg(limits.window.as_millis().to_string())
        .arg(limits.min)
        .arg(limits.ratio)
        .arg(word);
    call
}

/// Returns the message for an error, without the server's name. Contains only the code of an error reply, because
/// servers quote in its text what they were sent.
fn problem(error: &RedisError, limit: Duration) -> String {
    if error.is_timeout() {
        return format!("no answer within {}", length(limit));
    }
    match (error.kind(), error.code()) {
        (ErrorKind::Io, _) => format!("cannot be reached: {}", describe_error(error)),
        (ErrorKind::AuthenticationFailed, _) => "rejected the user or password".to_owned(),
        // About the certificates.
        (ErrorKind::InvalidClientConfig, _) => format!("cannot be used: {error}"),
        (_, Some(code)) => {
            // This text from the server reaches a terminal.
            let code = code.replace(|c: char| !c.is_ascii_alphanumeric(), "");
            format!("refuses ({code:.20})")
        }
        (_, None) => "does not speak the protocol of Redis".to_owned(),
    }
}
