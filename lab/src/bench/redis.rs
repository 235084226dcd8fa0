//! A Redis server, gone when this is dropped.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{Result, child};

const PATIENCE: Duration = Duration::from_secs(30);

pub struct Server {
    child: Child,
    dir: TempDir,
    port: u16,
}

impl Server {
    /// On a port of the loopback and on a socket; none where there is no redis-server.
    pub fn start() -> Result<Option<Server>> {
        let dir = tempfile::tempdir()?;
        let place = dir.path().to_str().ok_or("a temporary directory that is not UTF-8")?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let child = child::command("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir", place])
            .args(["--unixsocket", &format!("{place}/socket"), "--tcp-backlog", "1024"])
            .args(["--save", "", "--appendonly", "no"])
            .spawn();
        let child = match child {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            child => child?,
        };
        let mut server = Server { child, dir, port };
        server.wait_for_an_answer()?;
        Ok(Some(server))
    }

    pub fn tcp(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn socket(&self) -> String {
        format!("redis+unix://{}/socket", self.dir.path().display())
    }

    fn wait_for_an_answer(&mut self) -> Result<()> {
        let socket = self.dir.path().join("socket");
        let began = Instant::now();
        while began.elapsed() < PATIENCE && self.child.try_wait()?.is_none() {
            if let Ok(mut stream) = UnixStream::connect(&socket)
                && stream.write_all(b"PING\r\n").is_ok()
                && stream.read(&mut [0; 8]).is_ok_and(|length| length > 0)
            {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(2));
        }
        Err("redis-server does not answer".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
