//! Storms: many real runs at once against a service that is down, under one budget. What the service sees
//! obeys the rule to the call, and what is counted is what it saw.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[cfg(feature = "redis")]
use crate::common::redis::Server;
use crate::common::storm::{DOWN, Service, Storm};
use crate::common::tools::Test;
use crate::common::{Ends, backoff, eventually, ledger};

pub const TESTS: &[Test] = &[
    (
        "two_hundred_runs_and_a_directory",
        &[],
        two_hundred_runs_and_a_directory,
    ),
    #[cfg(feature = "redis")]
    (
        "two_hundred_runs_and_a_server",
        &["redis-server"],
        two_hundred_runs_and_a_server,
    ),
    (
        "a_storm_as_it_comes_and_a_directory",
        &[],
        a_storm_as_it_comes_and_a_directory,
    ),
    #[cfg(feature = "redis")]
    (
        "a_storm_as_it_comes_and_a_server",
        &["redis-server"],
        a_storm_as_it_comes_and_a_server,
    ),
    #[cfg(feature = "redis")]
    (
        "a_storm_as_it_comes_over_tls",
        &["redis-server", "openssl"],
        a_storm_as_it_comes_over_tls,
    ),
    #[cfg(feature = "redis")]
    ("a_storm_that_is_denied", &["redis-server"], a_storm_that_is_denied),
    #[cfg(feature = "redis")]
    (
        "a_storm_and_a_server_in_trouble",
        &["redis-server"],
        a_storm_and_a_server_in_trouble,
    ),
    ("runs_that_are_killed", &[], runs_that_are_killed),
];

/// The message of runs whose answer came too late, and which have continued without the budget.
const TOO_LATE: &str = "gives no answer within 250ms";

/// A storm of runs that retry until the budget says no; the calls that the service saw. None if the machine was too slow
/// for a directory.
fn storm(store: &str, runs: usize, least: u64) -> Option<u64> {
    let service = Service::start();
    let budget = format!("--budget storm --budget-min {least} --exhausted-exit 75");
    let options = format!("-q -n unlimited -b 5ms -m 20ms {budget} --store {store}");
    let (ends, said) = Storm::start(runs, &service, &options).finish();
    if said.contains(TOO_LATE) {
        return None;
    }
    assert_eq!(said, "");
    assert!(ends.iter().all(|end| end.code() == Some(75)), "{ends:?}");
    Some(service.calls())
}

/// The calls of so many runs under a budget of 10%, each of which goes on until it is refused.
///
/// The last question of all is refused, so that `least` calls were made and retries >= 10% of the calls.
/// The last one that was granted saw one call less and one retry less: there were fewer calls than `least`,
/// or retries < 10% of the calls. Which leaves one number.
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

/// Attempts and retries in a directory's file, which nobody is to be writing.
fn counts_in(store: &Path) -> (u64, u64) {
    counts_in_file(&store.join("storm.budget"))
}

fn counts_in_file(file: &Path) -> (u64, u64) {
    ledger::counted(&ledger::ledger(file))
}

fn names_in(store: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(store).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn with_a_directory(runs: usize, least: u64) {
    let (store, calls) = in_time(|store| storm(store, runs, least));
    assert_eq!(calls, calls_of(runs as u64, least));
    assert_eq!(counts_in(store.path()), (calls, calls - runs as u64));
    assert_eq!(names_in(store.path()), ["storm.budget"]);
}

/// The first result on a directory that was in time for all runs.
fn in_time<T>(test: impl Fn(&str) -> Option<T>) -> (TempDir, T) {
    let mut stores = (0..5).map(|_| tempfile::tempdir().unwrap());
    stores
        .find_map(|store| test(store.path().to_str().unwrap()).map(|result| (store, result)))
        .expect("a machine that takes less than 250 ms for a step")
}

#[cfg(feature = "redis")]
fn with_a_server(runs: usize, least: u64) {
    let server = Server::start("--tcp-backlog 1024");
    let calls = storm(&format!("{}?timeout=2m", server.url()), runs, least).unwrap();
    assert_eq!(calls, calls_of(runs as u64, least));
    assert_eq!(server.counts("storm"), (calls, calls - runs as u64));
}

fn two_hundred_runs_and_a_directory() {
    with_a_directory(200, 10);
}

#[cfg(feature = "redis")]
fn two_hundred_runs_and_a_server() {
    with_a_server(200, 10);
}

/// A thousand runs with the settings that everybody has, but for the store.
fn as_it_comes(store: &str, service: &Service) -> Storm {
    let options = format!("-q --budget storm --budget-min 100 --store {store}");
    Storm::start(1000, service, &options)
}

/// Returns the retries that one budget allows for a number of attempts.
fn bound(attempts: u64) -> u64 {
    (attempts / 10 + 1).max(100)
}

/// Retries are within what the store allows and what this machine does in place of it; nobody was told more than that
/// the store gave no answer, and nobody was held up.
fn expect_within_bounds(mut storm: Storm, service: &Service, shares: u64) {
    let began = Instant::now();
    let (ends, said) = storm.finish();
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(ends.iter().all(|end| end.code() == Some(DOWN.into())), "{ends:?}");
    let local = storm.local_budget("storm");
    let (attempts, local) = match local.exists() {
        true => counts_in_file(&local),
        false => (0, 0),
    };
    assert!(local <= bound(attempts), "{local} retries of {attempts}");
    let retries = service.calls() - 1000;
    assert!(
        retries > 0 && retries <= shares + local + 4 * 50,
        "{retries} retries, {local} of them local"
    );
    // On a machine that is on its knees even its own directory may take too long, for a few.
    let is_replaced = |line: &&str| line.ends_with("; going on with this machine's own budget \"storm\"");
    let without = said.lines().filter(|line| !is_replaced(line)).count();
    assert!(without <= 50, "{without} of {} lines: {said}", said.lines().count());
}

fn a_storm_as_it_comes_and_a_directory() {
    let store = tempfile::tempdir().unwrap();
    let service = Service::start();
    let storm = as_it_comes(store.path().to_str().unwrap(), &service);
    expect_within_bounds(storm, &service, bound(1112));
}

#[cfg(feature = "redis")]
fn a_storm_as_it_comes_and_a_server() {
    let server = Server::start("");
    let service = Service::start();
    let storm = as_it_comes(&server.url(), &service);
    expect_within_bounds(storm, &service, bound(1112));
}

#[cfg(feature = "redis")]
fn a_storm_as_it_comes_over_tls() {
    let server = crate::redis::tls_server("IP:127.0.0.1");
    let service = Service::start();
    let ca = crate::common::within(&server.dir, "ca.pem");
    let storm = as_it_comes(&format!("rediss://127.0.0.1:{}?ca={ca}", server.port), &service);
    expect_within_bounds(storm, &service, bound(1112));
}

/// A server that is away allows nothing, and this machine's own budget takes no part.
#[cfg(feature = "redis")]
fn a_storm_that_is_denied() {
    let mut server = Server::start("");
    server.kill();
    let service = Service::start();
    let options = format!("-q --budget storm --store-down deny --store {}", server.url());
    let mut storm = Storm::start(1000, &service, &options);
    let (ends, said) = storm.finish();
    assert!(ends.iter().all(|end| end.code() == Some(DOWN.into())), "{ends:?}");
    assert_eq!(service.calls(), 1000);
    assert!(said.lines().all(|line| line.ends_with("(--store-down deny)")), "{said}");
    assert!(!storm.local_budget("storm").exists());
}

/// Stopped for five seconds, killed, and started again with nothing in it.
#[cfg(feature = "redis")]
fn a_storm_and_a_server_in_trouble() {
    let mut server = Server::start("");
    let service = Service::start();
    server.pause();
    let storm = as_it_comes(&server.url(), &service);
    std::thread::sleep(Duration::from_secs(5));
    server.resume();
    server.kill();
    server.start_again("");
    // Before it was killed, and after.
    expect_within_bounds(storm, &service, 2 * bound(1112));
}

fn runs_that_are_killed() {
    in_time(runs_that_are_killed_on);
}

fn runs_that_are_killed_on(store: &str) -> Option<()> {
    const RUNS: usize = 90;
    const ATTEMPTS: u64 = 20;
    let service = Service::start();
    // A budget that all may use.
    let budget = format!("--budget storm --budget-min 1000000 --store {store}");
    let options = format!("-q -n {ATTEMPTS} -b 1ms -m 5ms {budget}");
    let mut storm = Storm::start(RUNS, &service, &options);
    // One after the other, wherever it may be just then.
    let mut killed = 0;
    for i in (0..RUNS).step_by(3) {
        let reached = 100 + 10 * killed;
        eventually("calls", || service.calls() >= reached);
        storm.runs[i].kill().unwrap();
        killed += 1;
    }
    let (ends, said) = storm.finish();
    if said.contains(TOO_LATE) {
        return None;
    }
    assert_eq!(said, "");
    let died = ends.iter().filter(|end| end.signal() == Some(9)).count() as u64;
    let gave_up = ends.iter().filter(|end| end.code() == Some(DOWN.into())).count();
    // Some may have been through before it was their turn; most were not.
    assert_eq!(died as usize + gave_up, RUNS, "{ends:?}");
    assert!(died > killed / 2, "{died} of {killed} died");

    // A first attempt is counted while it runs, and all others before they are made: who is killed in between leaves one
    // that was not counted, or not made.
    let store = Path::new(store);
    let (attempts, _) = counts_in(store);
    let calls = service.calls();
    assert!(calls >= gave_up as u64 * ATTEMPTS, "{calls} calls");
    assert!(attempts.abs_diff(calls) <= died, "{attempts} attempts, {calls} calls");
    assert_eq!(names_in(store), ["storm.budget"]);
    backoff(format!("{budget} -- true")).code(0);
    assert_eq!(counts_in(store).0, attempts + 1);
    Some(())
}
