//! A service that is down, and many real runs that call it at once.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::{Result, child};

/// What the service answers: `probe call` exits with it.
const DOWN: u8 = 7;

/// Fails each call, and counts them.
pub struct Service {
    pub address: String,
    calls: Arc<AtomicU64>,
}

impl Service {
    pub fn start() -> Result<Service> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let calls = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&calls);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(&[DOWN]);
            }
        });
        Ok(Service { address, calls })
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Runs that were started at once. Those that are left when this is dropped are killed.
pub struct Storm {
    runs: Vec<Child>,
    said: tempfile::NamedTempFile,
}

impl Storm {
    /// The same words so many times.
    pub fn start(count: usize, words: &[&str]) -> Result<Storm> {
        let (program, arguments) = words.split_first().ok_or("no command")?;
        let mut storm = Storm {
            runs: Vec::with_capacity(count),
            said: tempfile::NamedTempFile::new()?,
        };
        for _ in 0..count {
            // Of one file description, so that nobody writes over the others.
            let stderr = Stdio::from(storm.said.as_file().try_clone()?);
            let run = child::command(program).args(arguments).stderr(stderr).spawn()?;
            storm.runs.push(run);
        }
        Ok(storm)
    }

    /// Waits for all, which have nothing to say.
    pub fn finish(mut self) -> Result<()> {
        for run in &mut self.runs {
            run.wait()?;
        }
        let said = fs::read_to_string(self.said.path())?;
        if said.is_empty() { Ok(()) } else { Err(said.into()) }
    }
}

impl Drop for Storm {
    fn drop(&mut self) {
        for run in &mut self.runs {
            let _ = run.kill();
            let _ = run.wait();
        }
    }
}
