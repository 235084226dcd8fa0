//! Code shared by the tests: the binary, the probe, and running commands.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "these are tests"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests look at clocks and environments from outside"
)]

pub mod counts;
pub mod documents;
pub mod ended;
pub mod harness;
pub mod leftovers;
pub mod live;
pub mod options;
pub mod process;
pub mod pty;
#[cfg(feature = "redis")]
pub mod redis;
pub mod server;
pub mod slowfs;
pub mod storm;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Once};

use nix::sys::signal::Signal;

pub use ended::{Ended, Ends};
pub use live::{Live, PATIENCE, eventually, send, sleep_until};

/// The binary under test: Cargo's, or the build that TESTED_BACKOFF names.
pub static BIN: LazyLock<&'static str> = LazyLock::new(|| match std::env::var("TESTED_BACKOFF") {
    Ok(path) => path.leak(),
    Err(_) => env!("CARGO_BIN_EXE_backoff"),
});

/// Other systems lack some calls (see the known limits in docs/DESIGN.md).
pub const IS_LINUX: bool = cfg!(target_os = "linux");

/// The forwarded signal with the highest number.
#[cfg(target_os = "linux")]
pub const HIGHEST: Signal = Signal::SIGIO;
#[cfg(not(target_os = "linux"))]
pub const HIGHEST: Signal = Signal::SIGUSR2;

/// Returns how many seconds a command sleeps unless backoff ends it. Few where the command survives SIGKILL of backoff.
pub fn long_sleep() -> u32 {
    if IS_LINUX { 60 } else { 2 }
}

/// Returns the path of the probe (`probe.rs`), and builds it if necessary.
pub fn probe() -> String {
    let mut path = PathBuf::from(*BIN);
    path.pop();
    path.push("examples/probe");
    let written = |path: &std::path::Path| path.metadata().and_then(|facts| facts.modified()).ok();
    if written(&path)
        < written(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/util/probe.rs").as_ref())
    {
        // A plain `cargo test` builds the probe, but `cargo test --test NAME` does not.
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--example", "probe"])
            // TESTED_BACKOFF may be a release build.
            .args(BIN.ends_with("/release/backoff").then_some("--release"))
            .status();
        assert!(
            built.unwrap().success() && path.exists(),
            "cannot build the example \"probe\""
        );
    }
    path.to_str().unwrap().to_owned()
}

/// Returns a command without the tester's configuration and the variables of an outer run.
pub fn clean(program: &str) -> Command {
    stop_ignoring_signals();
    let mut command = Command::new(program);
    command.env("BACKOFF_CONFIG", "none");
    let (name, value) = leftovers::mark();
    command.env(name, value);
    // A test must not count in a budget of the tester or of another test.
    command.env("XDG_STATE_HOME", "/dev/null");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BACKOFF_") && name != "BACKOFF_CONFIG" {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Restores, for children, the default action of signals that the tests' caller ignores: SIGINT and SIGQUIT in the
/// background of a script, SIGHUP under nohup. A no-op handler replaces SIG_IGN, and exec resets it.
fn stop_ignoring_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let ignored = process::ignored_signals(std::process::id() as i32);
        // std restores SIGPIPE by itself.
        let of_the_caller = Signal::iterator().filter(|signal| *signal != Signal::SIGPIPE);
        for signal in of_the_caller.map(|signal| signal as i32) {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).unwrap();
            }
        }
    });
}

/// Splits a line into words as a shell does, without expansion.
#[track_caller]
pub fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap_or_else(|| panic!("a quote is left open: {line}"))
}

/// Returns `backoff` with these words, in its own session without a controlling terminal, as under cron.
#[track_caller]
pub fn backoff(line: impl AsRef<str>) -> Command {
    let mut command = clean("setsid");
    command.arg(*BIN).args(words(line.as_ref()));
    command
}

/// Returns a shell script with `backoff` on its PATH.
pub fn shell(script: &str) -> Command {
    let mut command = clean("bash");
    command
        .arg("-c")
        .arg(script)
        .env("PATH", path_with_backoff());
    command
}

pub fn path_with_backoff() -> String {
    let dir = Path::new(*BIN).parent().unwrap();
    path_with(dir.to_str().unwrap())
}

/// Returns a PATH that begins with this directory.
pub fn path_with(dir: &str) -> String {
    format!("{dir}:{}", std::env::var("PATH").unwrap())
}

/// Applies a function to all items in parallel, as most calls only wait.
pub fn side_by_side<T: Sync, R: Send>(items: &[T], apply: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let numbers = numbers.take_while(|number| *number < items.len());
        numbers
            .map(|number| (number, apply(&items[number])))
            .collect::<Vec<_>>()
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..6).map(|_| scope.spawn(worker)).collect();
        workers
            .into_iter()
            .flat_map(|worker| {
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Creates an executable file. Another process writes it, as a child that another test starts meanwhile would inherit
/// our descriptor until exec and keep the file busy (ETXTBSY).
#[track_caller]
pub fn executable(path: &str, text: &str) {
    let script = r#"printf %s "$1" >"$0" && chmod 755 "$0""#;
    clean("sh").args(["-c", script, path, text]).code(0);
}

/// Returns the path of a file in a temporary directory.
pub fn within(dir: &tempfile::TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}
