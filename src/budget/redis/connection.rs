//! A connection to an untrusted server: ends when the step's time is over, and reads a limited number of bytes,
//! whatever the server does. That of the crate `redis` has neither limit over all its reads and writes. A step is one
//! question about the budget, with all that it takes to ask it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use redis::{Cmd, ConnectionAddr, FromRedisValue, Parser, RedisResult, from_redis_value};
use rustls::StreamOwned;

use super::tls::Tls;

/// Limit on the bytes received over a connection, including those of TLS.
const MOST_BYTES: usize = 64 << 10;

/// The time for a step.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    pub(crate) began: Instant,
    pub(crate) limit: Duration,
}

impl Time {
    /// Returns a time of the same length that begins now, whatever is left of this one. `Instant::now()` is reserved for
    /// `process`, so now is computed as the begin plus what has passed since.
    pub(super) fn restarted(self) -> Time {
        Time {
            began: self.began + self.began.elapsed(),
            limit: self.limit,
        }
    }

    /// Returns the time left, which is never zero, as a socket would take zero for no limit; a timeout error if none is
    /// left.
    fn left(&self) -> io::Result<Duration> {
        let left = self.limit.saturating_sub(self.began.elapsed());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(left)
    }
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// A connection, with TLS or without it.
pub(super) struct Connection(Box<dyn ReadWrite>);

impl Connection {
    /// Connects to a server, with TLS if `tls` is given. Fails once `time` is over, as does any later call; only the
    /// lookup of a name, and connecting to a UNIX socket, have no limit. The handshake of TLS is left to the first
    /// query.
    pub(super) fn open(
        server: &ConnectionAddr,
        tls: Option<&Tls>,
        time: Time,
    ) -> RedisResult<Connection> {
        let name = server.to_string();
        let socket = match server {
            // A TcpStream can hold a UNIX socket, as both kinds take the same calls.
            ConnectionAddr::Unix(path) => OwnedFd::from(UnixStream::connect(path)?).into(),
            _ => connect(&name, time)?,
        };
        let socket = Socket {
            socket,
            time,
            bytes_left: MOST_BYTES,
        };
        Ok(Connection(match tls {
            Some(tls) => Box::new(StreamOwned::new(tls.session(&name)?, socket)),
            None => Box::new(socket),
        }))
    }

    /// Sends a command, waits for the reply, and returns it. An error reply is an error, as is a reply of another type
    /// than `T`, and the end of the time or of the bytes.
    pub(super) fn query<T: FromRedisValue>(&mut self, command: &Cmd) -> RedisResult<T> {
        self.0.write_all(&command.get_packed_command())?;
        self.0.flush()?;
        let reply = Parser::new().parse_value(&mut self.0)?;
        Ok(from_redis_value(reply.extract_error()?)?)
    }
}

/// Connects to the first reachable address of `HOST:PORT`; each address has an equal share of the time left, as a host
/// may have an address that drops all packets. The lookup of the name has no limit of its own: the child process in
/// which the step is made is given up instead. Returns a timeout error once `time` is over, or else the last error if
/// none can be reached.
fn connect(server: &str, time: Time) -> io::Result<TcpStream> {
    let mut addresses = server.to_socket_addrs()?;
    let mut problem = ErrorKind::AddrNotAvailable.into();
    while let Some(address) = addresses.next() {
        // `addresses` has only those after this one.
        let share = time.left()? / (addresses.len() as u32 + 1);
        match TcpStream::connect_timeout(&address, share) {
            Ok(socket) => {
                // A step is two small writes (TLS: four), which must not wait for each other's acknowledgement.
                socket.set_nodelay(true)?;
                return Ok(socket);
            }
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

/// A socket of any kind, with a limit on time, past which calls fail, and on the bytes read, past which it is at its
/// end.
struct Socket {
    socket: TcpStream,
    time: Time,
    bytes_left: usize,
}

impl Socket {
    /// Makes a call of the socket, which may take the time left, and returns its result; a timeout error if none is
    /// left. The child process that asks the store has all signals blocked, so only a stop (SIGSTOP) can interrupt it:
    /// then repeats the call, and the full time begins again, as the server was not late.
    fn in_time(
        &mut self,
        mut call: impl FnMut(&TcpStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            let left = Some(self.time.left()?);
            self.socket.set_read_timeout(left)?;
            self.socket.set_write_timeout(left)?;
            match call(&self.socket) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    self.time = self.time.restarted();
                }
                done => return done,
            }
        }
    }
}

impl Read for Socket {
    /// Reads at most as many bytes as are left. Returns 0, which is the end, once none is left.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.bytes_left);
        let count = self.in_time(|mut socket| socket.read(&mut buffer[..most]))?;
        self.bytes_left -= count;
        Ok(count)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.in_time(|mut socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
