//! Real Redis servers, which are killed at the end of the test, even after a panic.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use ::redis::{Commands, Connection, FromRedisValue};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::process::state;
use super::{PATIENCE, clean, eventually, within, words};

/// A server on a loopback port, and on a socket for the test's own queries.
pub struct Server {
    child: Child,
    options: Vec<String>,
    pub dir: TempDir,
    pub port: u16,
}

impl Server {
    /// Starts a server with additional options, in which `{dir}` and `{port}` stand for its directory and port.
    pub fn start(options: &str) -> Server {
        Server::start_in(tempfile::tempdir().unwrap(), options)
    }

    pub fn start_in(dir: TempDir, options: &str) -> Server {
        let options = words(options);
        // Another process may take the port first, so retry with another port.
        for _ in 0..10 {
            let port = free_port();
            if let Some(child) = launch(&dir, port, &options) {
                return Server {
                    child,
                    options,
                    dir,
                    port,
                };
            }
        }
        panic!("redis-server does not start with {options:?}");
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn socket(&self) -> String {
        within(&self.dir, "socket")
    }

    /// Opens a connection for the test.
    pub fn admin(&self) -> Connection {
        self.admin_as("")
    }

    /// Like [`Server::admin`], with a query such as `?pass=...`.
    pub fn admin_as(&self, query: &str) -> Connection {
        let client =
            ::redis::Client::open(format!("redis+unix://{}{query}", self.socket())).unwrap();
        // With a timeout, each child that exits would interrupt a call (EINTR).
        client.get_connection().unwrap()
    }

    /// Runs a command, given as a line of words.
    #[track_caller]
    pub fn run<T: FromRedisValue>(&self, command: &str) -> T {
        let words = words(command);
        ::redis::cmd(&words[0])
            .arg(&words[1..])
            .query(&mut self.admin())
            .unwrap()
    }

    /// Returns the attempts and retries counted for a name.
    pub fn counts(&self, name: &str) -> (u64, u64) {
        counts(&mut self.admin(), name)
    }

    /// Like [`Server::counts`], or None if this node of a cluster does not have the key.
    pub fn counts_here(&self, name: &str) -> Option<(u64, u64)> {
        let keys: Vec<String> = self.run("KEYS *");
        keys.contains(&format!("backoff:budget:{name}"))
            .then(|| self.counts(name))
    }

    /// Returns the number of keys.
    pub fn keys(&self) -> usize {
        self.run("DBSIZE")
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Stops the server, which then listens but does not reply.
    pub fn pause(&self) {
        self.signal(Signal::SIGSTOP);
        eventually("it stops", || state(self.child.id() as i32) == Some('T'));
    }

    pub fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Restarts the server on the same port after a kill.
    pub fn start_again(&mut self, more: &str) {
        let options = [self.options.clone(), words(more)].concat();
        self.child = launch(&self.dir, self.port, &options).expect("the port is still free");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the attempts and retries counted for a name, rounded to hide what fades during a test.
pub fn counts(connection: &mut Connection, name: &str) -> (u64, u64) {
    let [_, attempts, retries] = numbers(connection, name).unwrap_or_default();
    (attempts.round() as u64, retries.round() as u64)
}

/// Returns the time of the last change (milliseconds), the attempts and the retries kept for a name.
pub fn numbers(connection: &mut Connection, name: &str) -> Option<[f64; 3]> {
    let kept: Option<String> = connection.get(format!("backoff:budget:{name}")).unwrap();
    kept.map(|kept| {
        let numbers: Vec<f64> = kept
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        numbers.try_into().unwrap()
    })
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

/// Starts a server. Returns None if it exits at once.
fn launch(dir: &TempDir, port: u16, options: &[String]) -> Option<Child> {
    let socket = within(dir, "socket");
    let place = dir.path().to_str().unwrap();
    let port = port.to_string();
    let mut child = clean("redis-server")
        .args(["--port", &port, "--bind", "127.0.0.1", "--dir", place])
        .args(["--unixsocket", &socket, "--save", "", "--appendonly", "no"])
        .args(
            options
                .iter()
                .map(|option| option.replace("{dir}", place).replace("{port}", &port)),
        )
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    loop {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        // Any reply shows that the server is ready, even a demand for a password.
        if let Ok(mut stream) = UnixStream::connect(&socket)
            && stream.write_all(b"PING\r\n").is_ok()
            && stream.read(&mut [0; 8]).is_ok_and(|length| length > 0)
        {
            return Some(child);
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("redis-server does not answer");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
