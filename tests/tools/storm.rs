//! Storms: many parallel real runs under one budget, against a service that is down. The service gets exactly the calls
//! that the rule allows, and the budget counts these calls.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

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

/// Returns true if no step was late: then the counts are exact. `.ci/release` requires it, on a machine that does
/// nothing else; other runs of these tests hold at any speed.
fn is_exact(said: &str) -> bool {
    let is_late = said.contains(TOO_LATE);
    let required = std::env::var_os("BACKOFF_TEST_EXACT").is_some();
    assert!(!(is_late && required), "{said}");
    !is_late
}

/// Returns the calls of runs that retry until the budget refuses, and true if they are exact.
fn storm(store: &str, runs: usize, least: u64) -> (u64, bool) {
    let service = Service::start();
    let budget = format!("--budget storm --budget-min {least} --exhausted-exit 75");
    let options = format!("-qq -n unlimited -b 5ms -m 20ms {budget} --store {store}");
    let (ends, said) = Storm::start(runs, &service, &options).finish();
    let is_exact = is_exact(&said);
    if is_exact {
        assert_eq!(said, "");
    }
    assert!(ends.iter().all(|end| end.code() == Some(75)), "{ends:?}");
    (service.calls(), is_exact)
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

fn two_hundred_runs_and_a_directory() {
    let store = tempfile::tempdir().unwrap();
    let (calls, is_exact) = storm(store.path().to_str().unwrap(), 200, 10);
    let (attempts, retries) = counts_in(&only_file(store.path()));
    if is_exact {
        assert_eq!(calls, calls_of(200, 10));
        assert_eq!((attempts, retries), (calls, calls - 200));
    }
    // Whatever was late is missing in the counts, which keep the rule.
    assert!(attempts <= calls && attempts - retries <= 200);
    assert!(
        retries <= (attempts / 10 + 1).max(10),
        "{retries} of {attempts}"
    );
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

/// Asserts that retries are within the limits of the store and of this machine's own budget. Runs that this budget
/// answers too late go on without; a quiet machine has at most 50.
fn expect_within_bounds(mut storm: Storm, service: &Service, shares: u64) {
    let (ends, said) = storm.finish();
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
    let is_replaced =
        |line: &&str| line.ends_with("; going on with this machine's own budget \"storm\"");
    let without = said.lines().filter(|line| !is_replaced(line)).count() as u64;
    if std::env::var_os("BACKOFF_TEST_EXACT").is_some() {
        assert!(without <= 50, "{without} runs without a budget: {said}");
    }
    // A run prints its first warning only: one that has switched may be without a budget later.
    let uncounted = if without == 0 {
        50
    } else {
        said.lines().count() as u64
    };
    let allowed = 1..=shares + local + 4 * uncounted;
    assert!(
        allowed.contains(&retries),
        "{retries} retries, {local} of them local"
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
        let (calls, is_exact) = storm(&server.url(), 200, 10);
        let (attempts, retries) = server.counts("storm");
        if is_exact {
            assert_eq!(calls, calls_of(200, 10));
            assert_eq!((attempts, retries), (calls, calls - 200));
        }
        // What was late may have been counted even so.
        assert!(
            retries <= (attempts / 10 + 1).max(10),
            "{retries} of {attempts}"
        );
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
            std::thread::sleep(std::time::Duration::from_secs(5));
            server.resume();
            server.kill();
            server.start_again("");
        });
    }
}

fn runs_that_are_killed() {
    const RUNS: usize = 90;
    const ATTEMPTS: u64 = 20;
    let store = tempfile::tempdir().unwrap();
    let store = store.path().to_str().unwrap();
    let service = Service::start();
    // The budget allows all retries.
    let budget = format!("--budget storm --budget-min 1000000 --store {store}");
    // Waits long enough for two cores: a busier machine answers some steps too late.
    let options = format!("-qq -n {ATTEMPTS} -b 200ms -m 200ms {budget}");
    let mut storm = Storm::start(RUNS, &service, &options);
    // Kills one run after the other, at any moment.
    let killed = RUNS as u64 / 3;
    for i in 0..killed {
        eventually("calls", || service.calls() >= 100 + 10 * i);
        storm.runs[3 * i as usize].kill().unwrap();
    }
    let (ends, said) = storm.finish();
    let is_exact = is_exact(&said);
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
    let is_as_counted = attempts.abs_diff(calls) <= died;
    // Whatever was late may be missing in the counts.
    assert!(
        is_as_counted || !is_exact && attempts <= calls + died,
        "{attempts} attempts, {calls} calls"
    );
    let said = backoff(format!("{budget} -- true")).code(0).err();
    if self::is_exact(&said) {
        assert!(counts_in(&file).0 > attempts);
    }
}
