//! Many runs that start at the same moment under one budget, against a service that is down.

use std::process::ExitStatus;

use crate::util::counts::counted;
use crate::util::storm::Storm;

tests! {
    two_hundred_runs_and_a_directory []
    fast_failures_beside_slow_successes []
}

/// The exit code of a service that is down.
const DOWN: i32 = 7;

fn down(_: usize) -> String {
    format!("printf x >>$CALLS; exit {DOWN}")
}

/// Returns the number of calls of `runs` runs under a budget of 10%. Each retries until the budget refuses, when about
/// a tenth of the calls are retries. Less than two calls fade during a storm.
fn expected_calls(runs: u64) -> std::ops::RangeInclusive<u64> {
    let calls = runs + runs.div_ceil(9);
    calls - 2..=calls + 2
}

fn two_hundred_runs_and_a_directory() {
    let mut storm = Storm::start(200, "-qq -b 5ms -m 20ms -n 9 --budget storm", down);
    let (ends, said) = storm.finish();
    assert!(ends.iter().all(|end| end.code() == Some(DOWN)), "{ends:?}");
    assert_eq!(said, "");
    let calls = storm.calls();
    assert!(expected_calls(200).contains(&calls), "{calls} calls");
    let (attempts, retries) = counted(storm.local_budget("storm"));
    assert!(attempts.abs_diff(calls) <= 2, "{attempts} of {calls}");
    assert!(retries.abs_diff(calls - 200) <= 2, "{retries} of {calls}");
}

/// Asserts that a budget counts running attempts. One in twenty fails at once, while the others are still running.
fn fast_failures_beside_slow_successes() {
    let script = |number: usize| {
        if number.is_multiple_of(20) {
            "printf x >>$CALLS; test $BACKOFF_ATTEMPT != 1"
        } else {
            "printf x >>$CALLS; until test $(wc -c <$CALLS) -ge 210; do sleep 0.2; done"
        }
        .to_owned()
    };
    let mut storm = Storm::start(200, "-qq -b 200ms -j none --budget storm", script);
    let (ends, said) = storm.finish();
    assert!(ends.iter().all(ExitStatus::success), "{ends:?} {said}");
    assert_eq!(storm.calls(), 210);
}

#[cfg(feature = "redis")]
pub mod servers {
    use super::*;
    use crate::util::redis::Server;

    tests! {
        two_hundred_runs_and_a_server ["redis-server"]
        two_hundred_runs_over_tls ["redis-server", "openssl"]
        a_storm_that_is_denied ["redis-server"]
    }

    /// Asserts that no run continues without an answer from the server or, if that is late, from the local budget.
    fn stays_within_the_budgets(store: &str) {
        let options = format!("-q -m 1s --budget storm --store '{store}'");
        let mut storm = Storm::start(200, &options, down);
        let (ends, said) = storm.finish();
        assert!(ends.iter().all(|end| end.code() == Some(DOWN)), "{ends:?}");
        assert!(!said.contains("continuing without budget"), "{said}");
        let retries = storm.calls() - 200;
        // A late request counts in both budgets, and a run may then ask the budget that others have used up.
        let expected = if said.contains("using this machine") {
            1..=50
        } else {
            21..=25
        };
        assert!(expected.contains(&retries), "{retries} retries, {said}");
    }

    fn two_hundred_runs_and_a_server() {
        let server = Server::start("--tcp-backlog 1024");
        stays_within_the_budgets(&server.url());
        let (attempts, retries) = server.counts("storm");
        assert!(retries <= attempts / 10 + 2, "{retries} of {attempts}");
    }

    fn two_hundred_runs_over_tls() {
        let server = crate::redis::tls_server("IP:127.0.0.1");
        let ca = crate::util::within(&server.dir, "ca.pem");
        stays_within_the_budgets(&format!("rediss://127.0.0.1:{}?ca={ca}", server.port));
    }

    /// Asserts that a missing server allows no retry, and that no local budget takes its place.
    fn a_storm_that_is_denied() {
        let mut server = Server::start("");
        server.kill();
        let store = server.url();
        let options = format!("-qq --budget storm --store-down deny --store {store}");
        let mut storm = Storm::start(200, &options, down);
        let (ends, said) = storm.finish();
        assert!(ends.iter().all(|end| end.code() == Some(DOWN)), "{ends:?}");
        assert_eq!(storm.calls(), 200);
        let is_denied = |line: &str| line.ends_with("(--store-down deny)");
        assert!(said.lines().all(is_denied), "{said}");
        assert!(!storm.local_budget("storm").exists());
    }
}
