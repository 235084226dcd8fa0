//! Many runs that start at the same moment.

use std::io::PipeWriter;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{BIN, clean, within};

/// Limit on a storm, so that no test hangs.
const MOST_TIME: Duration = Duration::from_secs(180);

pub struct Storm {
    runs: Vec<Child>,
    /// Contains the messages, the calls, and this machine's budgets.
    dir: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

/// Serializes storms, as parallel storms would measure each other's load.
static STORM: Mutex<()> = Mutex::new(());

impl Storm {
    /// Starts `count` runs with these options at the same moment. Each runs the script for its number, which records a
    /// call with `printf x >>$CALLS`.
    pub fn start(count: usize, options: &str, script: impl Fn(usize) -> String) -> Storm {
        let alone = STORM.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().unwrap();
        // All wait until this pipe closes.
        let (barrier, start) = std::io::pipe().unwrap();
        let log = std::fs::File::create(within(&dir, "log")).unwrap();
        let one_run = |number| {
            let mut command = clean("sh");
            command
                .arg("-c")
                .arg(format!(
                    "read -r _; exec {} {options} -- sh -c \"$0\"",
                    *BIN
                ))
                .arg(script(number))
                .env("CALLS", within(&dir, "calls"))
                .env("XDG_STATE_HOME", dir.path())
                .stdin(Stdio::from(OwnedFd::from(barrier.try_clone().unwrap())))
                // One shared file offset, so that no run overwrites another's messages.
                .stderr(Stdio::from(log.try_clone().unwrap()));
            command.spawn().unwrap()
        };
        let runs = (0..count).map(one_run).collect();
        drop::<PipeWriter>(start);
        Storm {
            runs,
            dir,
            _alone: alone,
        }
    }

    /// Returns the file of this machine's budget with this name.
    pub fn local_budget(&self, name: &str) -> PathBuf {
        self.dir.path().join(format!("backoff/{name}.budget"))
    }

    pub fn calls(&self) -> u64 {
        std::fs::metadata(within(&self.dir, "calls")).unwrap().len()
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
                assert!(began.elapsed() < MOST_TIME, "the storm does not end");
                std::thread::sleep(Duration::from_millis(2));
            });
        }
        let said = std::fs::read_to_string(within(&self.dir, "log")).unwrap();
        (ends, said)
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
