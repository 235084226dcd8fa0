//! Many real runs against a real service that is down.

use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{BIN, clean, probe, words};

/// The service's answer, and the exit code of `probe call`.
pub const DOWN: u8 = 7;

/// A service that fails each call, and counts the calls.
pub struct Service {
    pub address: SocketAddr,
    calls: Arc<AtomicU64>,
}

impl Service {
    pub fn start() -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let calls = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&calls);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(&[DOWN]);
            }
        });
        Service { address, calls }
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Runs that were started at the same time.
pub struct Storm {
    pub runs: Vec<Child>,
    log: tempfile::NamedTempFile,
    /// Directory of the machine's local budgets.
    state: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// Serializes storms, as parallel storms would measure each other's load.
static STORM: Mutex<()> = Mutex::new(());

impl Storm {
    /// Starts `count` runs with these options. Each run calls the service.
    pub fn start(count: usize, service: &Service, options: &str) -> Storm {
        let alone = STORM.lock().unwrap_or_else(PoisonError::into_inner);
        let log = tempfile::NamedTempFile::new().unwrap();
        let state = tempfile::tempdir().unwrap();
        let probe = probe();
        let options = words(options);
        let one_run = || {
            let mut run = one_run(&probe, service, &options, log.as_file());
            run.env("XDG_STATE_HOME", state.path()).spawn().unwrap()
        };
        let runs = (0..count).map(|_| one_run()).collect();
        Storm {
            runs,
            log,
            state,
            _alone: alone,
        }
    }

    /// Returns the file of the local budget with this name.
    pub fn local_budget(&self, name: &str) -> PathBuf {
        self.state
            .path()
            .join("backoff")
            .join(format!("{name}.budget"))
    }

    /// Waits for all runs, and returns their exit statuses and messages.
    pub fn finish(&mut self) -> (Vec<ExitStatus>, String) {
        let began = Instant::now();
        let mut ends = Vec::new();
        for run in &mut self.runs {
            ends.push(loop {
                if let Some(end) = run.try_wait().unwrap() {
                    break end;
                }
                assert!(
                    began.elapsed() < Duration::from_secs(180),
                    "the storm does not end"
                );
                std::thread::sleep(Duration::from_millis(2));
            });
        }
        (ends, std::fs::read_to_string(self.log.path()).unwrap())
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

fn one_run(probe: &str, service: &Service, options: &[String], log: &File) -> Command {
    let mut command = clean(*BIN);
    command.args(options).args(["--", probe, "call"]);
    // The runs share one file description, so that no run overwrites another's log.
    command
        .arg(service.address.to_string())
        .stderr(Stdio::from(log.try_clone().unwrap()));
    command
}
