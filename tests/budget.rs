//! Retry budgets in a directory: counts, locks, threads. Other tests are in `tests/cases/budgets.md`.

use std::fs;
use std::process::Command;

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::util::counts::{counted as counted_in, numbers};
use crate::util::process::{children_of, descriptors, threads_of};
use crate::util::{Ends, backoff, eventually, shell, within};

tests! {
    a_clock_that_was_set_back_does_not_spend_a_budget_for_ever
    a_lock_that_is_released_in_time_is_waited_for
    a_closed_standard_error_is_not_the_server
    a_waiting_run_holds_nothing_of_the_store
    runs_at_once_are_counted_exactly
    killed_runs_leave_a_whole_file_and_no_lock
}

fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns a run with the budget "api" in this directory.
fn sharing(dir: &TempDir, args: &str) -> Command {
    backoff(format!(
        "--store {} --budget api {args}",
        within(dir, "store")
    ))
}

fn file(dir: &TempDir) -> String {
    within(dir, "store/api.budget")
}

fn counted(dir: &TempDir) -> (u64, u64) {
    counted_in(file(dir))
}

fn a_clock_that_was_set_back_does_not_spend_a_budget_for_ever() {
    let dir = dir();
    sharing(&dir, "-b 1ms -m 1ms -n 50 -- false")
        .code(1)
        .says("gave up after 10");
    // Moves these attempts a year into the future.
    let [at, attempts, retries] = numbers(file(&dir));
    let ahead = at + 365.0 * 24.0 * 3600.0 * 1000.0;
    fs::write(file(&dir), format!("{ahead} {attempts} {retries}\n")).unwrap();
    // backoff treats them as current attempts.
    sharing(&dir, "-- false").code(1).says("exhausted: 8");
    let [now, attempts, _] = numbers(file(&dir));
    assert!(now < at + 120_000.0 && attempts > 10.9, "{now} {attempts}");
}

/// Returns true if the command has exited and backoff is waiting for its store.
fn only_asks(pid: i32) -> bool {
    children_of(pid).is_empty() && threads_of(pid) == 2
}

/// Asserts that backoff waits for a lock, and that a signal during this wait ends the run.
fn a_lock_that_is_released_in_time_is_waited_for() {
    let dir = dir();
    sharing(&dir, "-- true").code(0);
    let locked = Flock::lock(fs::File::open(file(&dir)).unwrap(), FlockArg::LockExclusive).unwrap();
    let mut command = sharing(&dir, "-qq -n 2 -b 1ms -- sh -c 'echo ready; exit 1'");
    let mut waiting = command.live();
    waiting.expect_line("ready");
    eventually("it waits for the lock", || only_asks(waiting.pid()));
    waiting.signal(Signal::SIGTERM);
    waiting.killed_by(Signal::SIGTERM);

    let waiting = command.live();
    eventually("it waits for the lock", || only_asks(waiting.pid()));
    drop(locked);
    waiting.code(1).stdout("ready\nready\n");
    assert_eq!(counted(&dir), (3, 1));
}

/// The store's connection gets the lowest free descriptor. Asserts that no message is written to it.
#[cfg(feature = "redis")]
fn a_closed_standard_error_is_not_the_server() {
    use std::io::Read as _;
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", server.local_addr().unwrap());
    // The server never answers, so backoff prints a warning.
    let script = format!(
        "exec backoff --budget api --store {url} -n 2 -b 300ms -j none -- sh -c 'exit 7' <&- >&- 2>&-"
    );
    let waiting = shell(&script).live();
    server.set_nonblocking(true).unwrap();
    let mut asked = None;
    eventually("a connection", || {
        asked = server.accept().ok();
        asked.is_some()
    });
    waiting.code(7);
    // backoff has exited, so its side of the connection is closed.
    let (mut asked, mut heard) = (asked.unwrap().0, Vec::new());
    asked.set_nonblocking(false).unwrap();
    asked
        .set_read_timeout(Some(crate::util::PATIENCE))
        .unwrap();
    asked.read_to_end(&mut heard).unwrap();
    let heard = String::from_utf8_lossy(&heard);
    assert!(
        heard.contains("EVAL") && !heard.contains("backoff: "),
        "{heard}"
    );
}

fn a_waiting_run_holds_nothing_of_the_store() {
    let dir = dir();
    let mut waiting = sharing(&dir, "-j none -b 1h -m 1h -- false").live();
    let said = waiting.line_of_stderr();
    assert!(said.contains("retrying in "), "{said}");
    let pid = waiting.pid();
    assert_eq!(threads_of(pid), 1);
    assert_eq!(counted(&dir), (2, 1));
    let place = dir.path().to_str().unwrap();
    let open = descriptors(pid);
    assert!(!open.iter().any(|file| file.contains(place)), "{open:?}");
}

fn runs_at_once_are_counted_exactly() {
    let dir = dir();
    // Every call appends one byte to the log.
    let script = "for i in $(seq 30); do backoff --store \"$STORE\" --budget api --budget-min 40 \
                  -n 9 -qq -b 1ms -m 5ms -- sh -c 'printf x >>\"$LOG\"; exit 1' & done; wait";
    let log = within(&dir, "log");
    let mut command = shell(script);
    command.env("STORE", within(&dir, "store")).env("LOG", &log);
    command.code(0);
    let calls = fs::metadata(&log).unwrap().len();
    assert_eq!(counted(&dir), (calls, calls - 30));
    // Every retry is allowed until there are 40 attempts. At least 10 of these are retries, which is too many for up to
    // 100 attempts, so at most 29 first attempts follow.
    assert!((40..70).contains(&calls), "{calls}");
}

fn killed_runs_leave_a_whole_file_and_no_lock() {
    let dir = dir();
    let script =
        "run() { exec backoff --store \"$STORE\" --budget api -n unlimited --budget-ratio 100% -qq -b 10us -m 10us $*; }
                  for i in $(seq 60); do run true & run false & p=$!; sleep 0.0$((RANDOM % 9)); kill -9 $p; done; wait";
    drop(
        shell(script)
            .env("STORE", within(&dir, "store"))
            .code(0)
            .texts(),
    );
    sharing(&dir, "-- true").code(0);
    let left: Vec<_> = fs::read_dir(within(&dir, "store")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(counted(&dir).0 > 60);
}
