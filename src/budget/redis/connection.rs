//! A connection to a server that nobody need trust: it is over when the time for the step is, and no more is read than
//! an answer can be long.

use std::io::{self, BufRead, BufReader, Read, Take, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redis::ConnectionAddr;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// All that a server may answer in a step: a few lines.
const LONGEST_ANSWER: u64 = 4096;
/// All bytes that may come for it, those of TLS included.
const MOST_BYTES: usize = 256 << 10;
/// The most numbers that an answer may have.
const MOST_NUMBERS: usize = 16;

/// When a step is to be over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time {
    limit: Duration,
    /// None is never.
    until: Option<Instant>,
    now: fn() -> Instant,
}

impl Time {
    pub(super) fn begin(limit: Duration, now: fn() -> Instant) -> Time {
        Time {
            limit,
            until: now().checked_add(limit),
            now,
        }
    }

    /// What is left; an error if that is nothing.
    fn left(&self) -> io::Result<Option<Duration>> {
        let Some(until) = self.until else { return Ok(None) };
        match until.saturating_duration_since((self.now)()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }

    /// Calls until it is not interrupted: only a stop of the process (Ctrl-Z) does that, and the time in which backoff
    /// was stopped is not the server's.
    fn uninterrupted<T>(&mut self, mut call: impl FnMut(Option<Duration>) -> io::Result<T>) -> io::Result<T> {
        loop {
            match call(self.left()?) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => *self = Time::begin(self.limit, self.now),
                done => return done,
            }
        }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    Io(io::Error),
    /// The server's own word for it, and what it says of it.
    Refused(String, String),
    /// This is no Redis.
    NoProtocol,
    /// Of the protocol, and not what was asked for.
    SomethingElse,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

pub(super) struct Connection(BufReader<Take<Box<dyn Stream>>>);

pub(super) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

impl Connection {
    pub(super) fn open(address: &ConnectionAddr, mut time: Time) -> Result<Connection, Failure> {
        let stream: Box<dyn Stream> = match address {
            ConnectionAddr::Tcp(host, port) => Box::new(Bounded::new(tcp(host, *port, &mut time)?, time)),
            ConnectionAddr::TcpTls { host, port, .. } => {
                let tls = tls(host)?;
                let socket = Bounded::new(tcp(host, *port, &mut time)?, time);
                Box::new(StreamOwned::new(tls, socket))
            }
            ConnectionAddr::Unix(path) => {
                let socket = time.uninterrupted(|_| UnixStream::connect(path))?;
                Box::new(Bounded::new(socket, time))
            }
            _ => return Err(io::Error::from(io::ErrorKind::Unsupported).into()),
        };
        Ok(Connection::to(stream))
    }

    pub(super) fn to(stream: Box<dyn Stream>) -> Connection {
        Connection(BufReader::with_capacity(512, stream.take(LONGEST_ANSWER)))
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let stream = self.0.get_mut().get_mut();
        stream.write_all(bytes)?;
        Ok(stream.flush()?)
    }

    /// Reads that a command was done.
    pub(super) fn done(&mut self) -> Result<(), Failure> {
        match self.line()? {
            (b'+', _) => Ok(()),
            other => Err(unexpected(other.0)),
        }
    }

    /// Reads a list of whole numbers.
    pub(super) fn numbers(&mut self) -> Result<Vec<i64>, Failure> {
        let count = match self.line()? {
            (b'*', count) => count.parse().map_err(|_| Failure::NoProtocol)?,
            other => return Err(unexpected(other.0)),
        };
        if !(0..=MOST_NUMBERS as i64).contains(&count) {
            return Err(Failure::SomethingElse);
        }
        (0..count)
            .map(|_| match self.line()? {
                (b':', number) => number.parse().map_err(|_| Failure::NoProtocol),
                other => Err(unexpected(other.0)),
            })
            .collect()
    }

    /// The kind of the next reply, and the rest of its line.
    fn line(&mut self) -> Result<(u8, String), Failure> {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line)?;
        let Some(line) = line.strip_suffix(b"\r\n") else {
            let is_whole = line.ends_with(b"\n") || self.0.get_ref().limit() == 0;
            return Err(if is_whole {
                Failure::NoProtocol
            } else {
                io::Error::from(io::ErrorKind::UnexpectedEof).into()
            });
        };
        let Some((kind, text)) = line.split_first() else {
            return Err(Failure::NoProtocol);
        };
        let text = String::from_utf8_lossy(text).into_owned();
        match kind {
            b'-' => {
                let (code, detail) = text.split_once(' ').unwrap_or((&text, ""));
                Err(Failure::Refused(code.to_owned(), detail.to_owned()))
            }
            kind => Ok((*kind, text)),
        }
    }
}

/// A reply of a kind that was not asked for; the kinds are those of RESP2 and RESP3.
fn unexpected(kind: u8) -> Failure {
    if b"+:$*_#,(!=%~>|".contains(&kind) {
        Failure::SomethingElse
    } else {
        Failure::NoProtocol
    }
}

/// Each address of the host gets its share of the time.
fn tcp(host: &str, port: u16, time: &mut Time) -> io::Result<TcpStream> {
    let addresses: Vec<_> = (host, port).to_socket_addrs()?.collect();
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (i, address) in addresses.iter().enumerate() {
        let rest = u32::try_from(addresses.len() - i).unwrap_or(u32::MAX);
        let connected = time.uninterrupted(|left| match left {
            Some(left) => TcpStream::connect_timeout(address, (left / rest).max(Duration::from_nanos(1))),
            None => TcpStream::connect(address),
        });
        match connected {
            Ok(socket) => {
                // A step is two small writes (TLS: four), which must not wait for each other's acknowledgement.
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Certificates are checked against the roots that the system trusts.
fn tls(host: &str) -> io::Result<ClientConnection> {
    let mut roots = RootCertStore::empty();
    let mut found = rustls_native_certs::load_native_certs();
    if let Some(error) = found.errors.pop() {
        return Err(io::Error::other(error));
    }
    for root in found.certs {
        roots.add(root).map_err(io::Error::other)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)
}

/// What can be read and written with a limit of time for each call.
trait Socket: Read + Write {
    fn limit_read(&self, limit: Option<Duration>) -> io::Result<()>;
    fn limit_write(&self, limit: Option<Duration>) -> io::Result<()>;
    fn close(&self);
}

macro_rules! socket {
    ($($kind:ty),*) => {$(
        impl Socket for $kind {
            fn limit_read(&self, limit: Option<Duration>) -> io::Result<()> {
                self.set_read_timeout(limit)
            }

            fn limit_write(&self, limit: Option<Duration>) -> io::Result<()> {
                self.set_write_timeout(limit)
            }

            fn close(&self) {
                // At the latest the last descriptor closes it, and a child may have a copy until exec.
                let _ = self.shutdown(Shutdown::Both);
            }
        }
    )*};
}

socket!(TcpStream, UnixStream);

/// A socket until the time is up, and for so many bytes.
struct Bounded<S: Socket> {
    socket: S,
    time: Time,
    rest: usize,
}

impl<S: Socket> Bounded<S> {
    fn new(socket: S, time: Time) -> Bounded<S> {
        Bounded {
            socket,
            time,
            rest: MOST_BYTES,
        }
    }
}

impl<S: Socket> Read for Bounded<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.rest);
        let socket = &mut self.socket;
        let count = self.time.uninterrupted(|left| {
            socket.limit_read(left)?;
            socket.read(&mut buffer[..most])
        })?;
        self.rest -= count;
        Ok(count)
    }
}

impl<S: Socket> Write for Bounded<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let socket = &mut self.socket;
        self.time.uninterrupted(|left| {
            socket.limit_write(left)?;
            socket.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

impl<S: Socket> Drop for Bounded<S> {
    fn drop(&mut self) {
        self.socket.close();
    }
}
