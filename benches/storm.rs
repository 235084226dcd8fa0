//! A storm of real runs against a service that is down: the calls that it sees and the time that it takes,
//! without a budget and with one; and what a budget costs a run that succeeds:
//! `cargo bench --bench storm`. Without redis-server there are no figures for Redis.
//!
//! Runs that are compared alternate; figures are medians, and ratios are medians of the ratios of neighbours.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

#[path = "../tests/common/mod.rs"]
mod common;
mod measure;

use std::time::Instant;

use common::backoff;
use common::redis::Server;
use common::storm::{Service, Storm};
use measure::{in_turns, median, ratio};

const RUNS: usize = 200;
const STORMS: usize = 5;
const ROUNDS: usize = 300;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let mut stores = vec![("directory", dir.path().to_str().unwrap().to_owned())];
    let _server = common::tools::is_there("redis-server").then(|| {
        let server = Server::start("--tcp-backlog 1024");
        stores.push(("Redis, TCP", server.url()));
        stores.push(("Redis, socket", format!("redis+unix://{}", server.socket())));
        server
    });
    storms(&stores);
    costs(&stores);
}

fn storms(stores: &[(&str, String)]) {
    println!("{RUNS} runs at once, 5 attempts each, service down; medians of {STORMS} storms");
    println!("  {:16} {:>7} {:>8} {:>9}", "", "calls", "retries", "time");
    let waits = ["-q", "-b", "20ms", "-m", "100ms"];
    storm("no budget", || waits.map(str::to_owned).to_vec());
    let mut name = 0;
    for (shown, store) in stores {
        storm(shown, || {
            name += 1;
            let mut options = waits.map(str::to_owned).to_vec();
            let name = format!("storm-{name}");
            options.extend(["--store-timeout", "1m", "--store", store, "--budget", &name].map(str::to_owned));
            options
        });
    }
}

fn storm(shown: &str, mut options: impl FnMut() -> Vec<String>) {
    let (mut calls, mut times) = (Vec::new(), Vec::new());
    for _ in 0..STORMS {
        let service = Service::start();
        let options = options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let began = Instant::now();
        let (_, said) = Storm::start(RUNS, &service, &options).finish();
        times.push(began.elapsed().as_secs_f64());
        assert_eq!(said, "");
        calls.push(service.calls() as f64);
    }
    let calls = median(calls);
    println!(
        "  {shown:16} {calls:7} {:8} {:7.2} s",
        calls - RUNS as f64,
        median(times)
    );
}

fn costs(stores: &[(&str, String)]) {
    let mut commands = vec![("no budget", vec!["--", "true"])];
    for (shown, store) in stores {
        let options = ["--store", store, "--budget", "cost", "--store-timeout", "1m"];
        commands.push((shown, [&options[..], &["--", "true"]].concat()));
    }
    let times = in_turns(&commands, 20, ROUNDS, |(_, words)| time(words));
    println!("a run that succeeds, {ROUNDS} interleaved runs, medians: the budget is asked before and after it");
    for ((shown, _), own) in commands.iter().zip(&times) {
        let ratio = ratio(own, &times[0]);
        let own = median(own.iter().map(|time| time * 1e6));
        println!("  {shown:16} {own:8.1} us {ratio:6.2} x");
    }
}

fn time(words: &[&str]) -> f64 {
    let mut command = backoff(words);
    let began = Instant::now();
    let status = command.status().unwrap();
    let took = began.elapsed();
    assert!(status.success(), "{words:?}");
    took.as_secs_f64()
}
