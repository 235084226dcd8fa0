//! Storms: many parallel real runs under one budget, against a service that is down. The service gets exactly the calls
//! that the rule allows, and the budget counts these calls.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::ledger::{counted, ledger};
use crate::common::storm::{DOWN, Service, Storm};
use crate::common::{Ends, backoff, eventually};

tests! {
    two_hundred_runs_and_a_directory []
    a_storm_as_it_comes_and_a_directory []
    runs_that_are_killed []
}

/// The message of runs that got an answer too late, and continued without the budget.
const TOO_LATE: &str = "gives no answer within 250ms";

/// Returns the calls of runs that retry until the budget refuses. None if the machine was too slow for a directory.
fn storm(store: &str, runs: usize, least: u64) -> Option<u64> {
    let service = Service::start();
    let budget = format!("--budget storm --budget-min {least} --exhausted-exit 75");
    let options = format!("-qq -n unlimited -b 5ms -m 20ms {budget} --store {store}");
    let (ends, said) = Storm::start(runs, &service, &options).finish();
    if said.contains(TOO_LATE) {
        return None;
    }
    assert_eq!(said, "");
    assert!(ends.iter().all(|end| end.code() == Some(75)), "{ends:?}");
    Some(service.calls())
}

/// Returns the number of calls of `runs` runs under a budget of 10%, each of which continues until the budget refuses a
/// retry.
///
/// The last question was refused: `least` calls were made, and retries >= 10% of the calls. The last granted question
/// saw one call and one retry less: there were fewer calls than `least`, or retries < 10% of the calls. Only one number
/// satisfies both.
fn calls_of(runs: u64, least: u64) -> u64 {
    let fits = |retries: &u64| {
        let calls = runs + retries;
        let refused = calls >= least && 10 * retries >= calls;
        let granted = *retries == 0 || calls - 1 < least || 10 * (retries - 1) < calls - 1;
        refused && granted
    };
    let retries: Vec<u64> = (0..10 * runs).filter(fits).collect();
    assert_eq!(retries.len(), 1, "{retries:?}");
    runs + retries[0]
}

/// Returns the attempts and retries in a file that no process is writing.
fn counts_in(file: &Path) -> (u64, u64) {
    counted(&ledger(file))
}

/// Returns the file of a directory that holds nothing else.
fn only_file(store: &Path) -> PathBuf {
    assert_eq!(std::fs::read_dir(store).unwrap().count(), 1);
    store.join("storm.budget")
}

/// Returns the first result on a directory that answered all runs in time.
fn in_time<T>(test: impl Fn(&str) -> Option<T>) -> (TempDir, T) {
    let on = |store: TempDir| test(store.path().to_str().unwrap()).map(|result| (store, result));
    let found = (0..5).find_map(|_| on(tempfile::tempdir().unwrap()));
    found.expect("a machine that takes less than 250 ms for a step")
}

fn two_hundred_runs_and_a_directory() {
    let (store, calls) = in_time(|store| storm(store, 200, 10));
    assert_eq!(calls, calls_of(200, 10));
    assert_eq!(counts_in(&only_file(store.path())), (calls, calls - 200));
}

/// Starts a thousand runs with default settings, except for the budget.
fn as_it_comes(store: &str, shares: u64, meanwhile: impl FnOnce()) {
    let service = Service::start();
    let options = format!("-qq --budget storm --budget-min 100 --store '{store}'");
    let storm = Storm::start(1000, &service, &options);
    meanwhile();
    expect_within_bounds(storm, &service, shares);
}

/// Returns the retries that one budget allows for a number of attempts.
fn bound(attempts: u64) -> u64 {
    (attempts / 10 + 1).max(100)
}

/// Asserts that retries are within the limits of the store and of this machine's own budget, that at most 50 messages
/// report anything but a switch to this budget, and that the runs end within a minute.
fn expect_within_bounds(mut storm: Storm, service: &Service, shares: u64) {
    let began = Instant::now();
    let (ends, said) = storm.finish();
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
    assert!(
        ends.iter().all(|end| end.code() == Some(DOWN.into())),
        "{ends:?}"
    );
    let local = storm.local_budget("storm");
    let (attempts, local) = if local.exists() {
        counts_in(&local)
    } else {
        (0, 0)
    };
    assert!(local <= bound(attempts), "{local} retries of {attempts}");
    let retries = service.calls() - 1000;
    let allowed = 1..=shares + local + 4 * 50;
    assert!(
        allowed.contains(&retries),
        "{retries} retries, {local} of them local"
    );
    // On an overloaded machine, even this machine's own directory may be too slow for a few runs.
    let is_replaced =
        |line: &&str| line.ends_with("; going on with this machine's own budget \"storm\"");
    let without = said.lines().filter(|line| !is_replaced(line)).count();
    assert!(
        without <= 50,
        "{without} of {} lines: {said}",
        said.lines().count()
    );
}

fn a_storm_as_it_comes_and_a_directory() {
    let store = tempfile::tempdir().unwrap();
    as_it_comes(store.path().to_str().unwrap(), bound(1112), || ());
}

#[cfg(feature = "redis")]
pub mod servers {
    use super::*;
    use crate::common::redis::Server;

    tests! {
        two_hundred_runs_and_a_server ["redis-server"]
        a_storm_as_it_comes_and_a_server ["redis-server"]
        a_storm_as_it_comes_over_tls ["redis-server", "openssl"]
        a_storm_that_is_denied ["redis-server"]
        a_storm_and_a_server_in_trouble ["redis-server"]
    }

    fn two_hundred_runs_and_a_server() {
        let server = Server::start("--tcp-backlog 1024");
        let calls = storm(&format!("{}?timeout=2m", server.url()), 200, 10).unwrap();
        assert_eq!(calls, calls_of(200, 10));
        assert_eq!(server.counts("storm"), (calls, calls - 200));
    }

    fn a_storm_as_it_comes_and_a_server() {
        let server = Server::start("");
        as_it_comes(&server.url(), bound(1112), || ());
    }

    fn a_storm_as_it_comes_over_tls() {
        let server = crate::redis::tls_server("IP:127.0.0.1");
        let ca = crate::common::within(&server.dir, "ca.pem");
        let store = format!("rediss://127.0.0.1:{}?ca={ca}", server.port);
        as_it_comes(&store, bound(1112), || ());
    }

    /// Asserts that a missing server allows no retry, and that no local budget takes its place.
    fn a_storm_that_is_denied() {
        let mut server = Server::start("");
        server.kill();
        let service = Service::start();
        let options = format!(
            "-qq --budget storm --store-down deny --store {}",
            server.url()
        );
        let mut storm = Storm::start(1000, &service, &options);
        let (ends, said) = storm.finish();
        assert!(
            ends.iter().all(|end| end.code() == Some(DOWN.into())),
            "{ends:?}"
        );
        assert_eq!(service.calls(), 1000);
        assert!(
            said.lines()
                .all(|line| line.ends_with("(--store-down deny)")),
            "{said}"
        );
        assert!(!storm.local_budget("storm").exists());
    }

    /// The server is stopped for five seconds, killed, and started again without its data.
    fn a_storm_and_a_server_in_trouble() {
        let mut server = Server::start("");
        server.pause();
        as_it_comes(&server.url(), 2 * bound(1112), || {
            std::thread::sleep(Duration::from_secs(5));
            server.resume();
            server.kill();
            server.start_again("");
        });
    }
}

fn runs_that_are_killed() {
    in_time(runs_that_are_killed_on);
}

fn runs_that_are_killed_on(store: &str) -> Option<()> {
    const RUNS: usize = 90;
    const ATTEMPTS: u64 = 20;
    let service = Service::start();
    // The budget allows all retries.
    let budget = format!("--budget storm --budget-min 1000000 --store {store}");
    let options = format!("-qq -n {ATTEMPTS} -b 1ms -m 5ms {budget}");
    let mut storm = Storm::start(RUNS, &service, &options);
    // Kills one run after the other, at any moment.
    let killed = RUNS as u64 / 3;
    for i in 0..killed {
        eventually("calls", || service.calls() >= 100 + 10 * i);
        storm.runs[3 * i as usize].kill().unwrap();
    }
    let (ends, said) = storm.finish();
    if said.contains(TOO_LATE) {
        return None;
    }
    assert_eq!(said, "");
    let died = ends.iter().filter(|end| end.signal() == Some(9)).count() as u64;
    let gave_up = ends
        .iter()
        .filter(|end| end.code() == Some(DOWN.into()))
        .count() as u64;
    // Some runs may have ended before their turn, but most have not.
    assert_eq!(died + gave_up, RUNS as u64, "{ends:?}");
    assert!(died > killed / 2, "{died} of {killed} died");

    // The store counts a first attempt while it runs, and a retry before it starts. A run that is killed in between
    // leaves an attempt that was not counted, or not made.
    let file = only_file(Path::new(store));
    let ((attempts, _), calls) = (counts_in(&file), service.calls());
    assert!(calls >= gave_up * ATTEMPTS, "{calls} calls");
    assert!(
        attempts.abs_diff(calls) <= died,
        "{attempts} attempts, {calls} calls"
    );
    backoff(format!("{budget} -- true")).code(0);
    assert_eq!(counts_in(&file).0, attempts + 1);
    Some(())
}
