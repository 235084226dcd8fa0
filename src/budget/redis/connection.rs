//! A connection to an untrusted server: ends when the step's time is over, and reads no more than the longest answer.

use std::io::{self, BufRead, BufReader, Read, Take, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustls::StreamOwned;

use super::tls::Tls;

/// The longest answers to all commands of a step.
const LONGEST_ANSWER: u64 = 4096;
/// Limit on the bytes received for a step, including those of TLS.
const MOST_BYTES: usize = 256 << 10;
/// A longer timeout means none.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// The time for a step.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) limit: Duration,
    until: Instant,
    now: fn() -> Instant,
}

impl Time {
    pub(super) fn begin(limit: Duration, now: fn() -> Instant) -> Time {
        let until = now() + limit.min(LONGEST);
        Time { limit, until, now }
    }

    /// Makes a call with the time left. After an interruption by a stop of backoff (Ctrl-Z), repeats the call with the
    /// full time, as the server was not late.
    fn uninterrupted<T>(&mut self, mut call: impl FnMut(Duration) -> io::Result<T>) -> io::Result<T> {
        loop {
            let left = self.until.saturating_duration_since((self.now)());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match call(left) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => *self = Time::begin(self.limit, self.now),
                done => return done,
            }
        }
    }
}

/// The reason for a missing answer.
#[derive(Debug)]
pub(super) enum Failure {
    Io(io::Error),
    /// An error reply, in the server's words.
    Refused(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

pub(super) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

pub(super) struct Connection(BufReader<Take<Box<dyn Stream>>>);

impl Connection {
    pub(super) fn open(server: &str, tls: Option<&Tls>, mut time: Time) -> Result<Connection, Failure> {
        let socket = match server.starts_with('/') {
            true => OwnedFd::from(time.uninterrupted(|_| UnixStream::connect(server))?).into(),
            false => connect(server, &mut time)?,
        };
        let rest = MOST_BYTES;
        let socket = Socket { socket, time, rest };
        Ok(Connection::to(match tls {
            Some(tls) => Box::new(StreamOwned::new(tls.connect_to(server)?, socket)),
            None => Box::new(socket),
        }))
    }

    pub(super) fn to(stream: Box<dyn Stream>) -> Connection {
        Connection(BufReader::with_capacity(512, stream.take(LONGEST_ANSWER)))
    }

    pub(super) fn send(&mut self, words: &[&str]) -> Result<(), Failure> {
        let mut bytes = format!("*{}\r\n", words.len());
        for word in words {
            bytes += &format!("${}\r\n{word}\r\n", word.len());
        }
        let stream = self.0.get_mut().get_mut();
        stream.write_all(bytes.as_bytes())?;
        Ok(stream.flush()?)
    }

    pub(super) fn run(&mut self, words: &[&str]) -> Result<(), Failure> {
        self.send(words)?;
        self.done()
    }

    /// Reads the confirmation of a command.
    pub(super) fn done(&mut self) -> Result<(), Failure> {
        self.reply(b'+').map(drop)
    }

    /// Reads a list of whole numbers.
    pub(super) fn numbers(&mut self) -> Result<Vec<u64>, Failure> {
        let number = |text: String| text.parse::<u64>().map_err(|_| no_protocol());
        let count = number(self.reply(b'*')?)?;
        (0..count).map(|_| number(self.reply(b':')?)).collect()
    }

    /// Reads a line of this kind, without the kind.
    fn reply(&mut self, wanted: u8) -> Result<String, Failure> {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") && self.0.get_ref().limit() > 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let text = line.strip_suffix(b"\r\n").and_then(|line| line.split_first());
        match text.map(|(kind, text)| (kind, String::from_utf8_lossy(text).into_owned())) {
            Some((kind, text)) if *kind == wanted => Ok(text),
            Some((b'-', text)) => Err(Failure::Refused(text)),
            _ => Err(no_protocol()),
        }
    }
}

pub(super) fn no_protocol() -> Failure {
    Failure::Io(io::ErrorKind::InvalidData.into())
}

/// Connects to the first reachable address of the host; each address has an equal share of the time.
fn connect(server: &str, time: &mut Time) -> io::Result<TcpStream> {
    let addresses: Vec<_> = server.to_socket_addrs()?.collect();
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (i, address) in addresses.iter().enumerate() {
        let shares = (addresses.len() - i) as u32;
        match time
            .uninterrupted(|left| TcpStream::connect_timeout(address, (left / shares).max(Duration::from_micros(1))))
        {
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

/// A socket of any kind, with a limit on time and bytes.
struct Socket {
    socket: TcpStream,
    time: Time,
    rest: usize,
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Socket { socket, time, rest } = self;
        let most = buffer.len().min(*rest);
        let count = time.uninterrupted(|left| {
            socket.set_read_timeout(Some(left))?;
            socket.read(&mut buffer[..most])
        })?;
        *rest -= count;
        Ok(count)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Socket { socket, time, .. } = self;
        time.uninterrupted(|left| {
            socket.set_write_timeout(Some(left))?;
            socket.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
