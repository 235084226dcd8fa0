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

use std::time::{Duration, Instant};

use common::backoff;
use common::redis::Server;
use common::storm::{Service, Storm};

const RUNS: usize = 200;
const STORMS: usize = 5;
const ROUNDS: usize = 300;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let mut stores = vec![("directory", dir.path().to_str().unwrap().to_owned())];
    let _server = common::tools::is_there("redis-server").then(|| {
        let server = Server::start(&["--tcp-backlog", "1024"]);
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
    let calls = median(calls.into_iter());
    println!(
        "  {shown:16} {calls:7} {:8} {:7.2} s",
        calls - RUNS as f64,
        median(times.into_iter())
    );
}

fn costs(stores: &[(&str, String)]) {
    let mut commands = vec![("no budget", vec!["--", "true"])];
    for (shown, store) in stores {
        let options = ["--store", store, "--budget", "cost", "--store-timeout", "1m"];
        commands.push((shown, [&options[..], &["--", "true"]].concat()));
    }
    let mut times = vec![Vec::new(); commands.len()];
    for round in 0..ROUNDS + 20 {
        for (i, (_, words)) in commands.iter().enumerate() {
            let took = time(words);
            // The first ones fill caches.
            if round >= 20 {
                times[i].push(took);
            }
        }
    }
    println!("a run that succeeds, {ROUNDS} interleaved runs, medians: the budget is asked before and after it");
    for ((shown, _), own) in commands.iter().zip(&times) {
        let ratio = median(
            own.iter()
                .zip(&times[0])
                .map(|(own, without)| own.as_secs_f64() / without.as_secs_f64()),
        );
        let own = median(own.iter().map(|time| time.as_secs_f64() * 1e6));
        println!("  {shown:16} {own:8.1} us {ratio:6.2} x");
    }
}

fn time(words: &[&str]) -> Duration {
    let began = Instant::now();
    let status = backoff(words).status().unwrap();
    let took = began.elapsed();
    assert!(status.success(), "{words:?}");
    took
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
