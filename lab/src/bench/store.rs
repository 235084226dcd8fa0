//! A storm of real runs against a service that is down: the calls that it sees and the time that it takes, without a
//! budget and with one; and what a budget costs a run that succeeds. Without redis-server there are no figures for Redis.
//!
//! Runs that are compared alternate; figures are medians, and ratios are medians of the ratios of neighbours.

use std::time::Instant;

use clap::Args;

use super::Pace;
use super::redis::Server;
use super::service::{Service, Storm};
use crate::measure::{Spread, in_turns, median};
use crate::{Result, builds, child};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pace: Pace,
}

/// What is shown, and what `--store` gets.
type Store = (&'static str, String);

pub fn run(options: &Options) -> Result<()> {
    let backoff = builds::plain()?;
    let probe = builds::probe()?;
    let dir = tempfile::tempdir()?;
    let path = dir.path().to_str().ok_or("a temporary directory that is not UTF-8")?;
    let mut stores = vec![("directory", path.to_owned())];
    let server = Server::start()?;
    if let Some(server) = &server {
        stores.push(("Redis, TCP", server.tcp()));
        stores.push(("Redis, socket", server.socket()));
    }
    storms(&backoff, &probe, &stores, &options.pace)?;
    costs(&backoff, &stores, options.pace.full_or(300, 3))
}

fn storms(backoff: &str, probe: &str, stores: &[Store], pace: &Pace) -> Result<()> {
    let (runs, storms) = (pace.full_or(200, 20), pace.full_or(5, 1));
    println!("{runs} runs at once, 5 attempts each, service down; medians of {storms} storms");
    println!("  {:16} {:>7} {:>8} {:>9}", "", "calls", "retries", "time");
    let waits = ["-q", "-b", "20ms", "-m", "100ms"];
    let none = ("no budget", String::new());
    for (number, (shown, store)) in [&none].into_iter().chain(stores).enumerate() {
        let (mut calls, mut times) = (Vec::new(), Vec::new());
        for storm in 0..storms {
            // One that nobody has used yet.
            let name = format!("storm-{number}-{storm}");
            let budget = ["--store-timeout", "1m", "--store", store, "--budget", &name];
            let budget = if number == 0 { &[] } else { &budget[..] };
            let service = Service::start()?;
            let command = [&[backoff], &waits[..], budget, &["--", probe, "call", &service.address]].concat();
            let began = Instant::now();
            Storm::start(runs, &command)?.finish()?;
            times.push(began.elapsed().as_secs_f64());
            calls.push(service.calls() as f64);
        }
        let calls = median(calls);
        println!(
            "  {shown:16} {calls:7} {:8} {:7.2} s",
            calls - runs as f64,
            median(times)
        );
    }
    Ok(())
}

fn costs(backoff: &str, stores: &[Store], rounds: usize) -> Result<()> {
    let mut commands = vec![("no budget", vec!["--", "true"])];
    for (shown, store) in stores {
        let options = ["--store", store, "--budget", "cost", "--store-timeout", "1m"];
        commands.push((shown, [&options[..], &["--", "true"]].concat()));
    }
    let times = in_turns(&commands, rounds / 15, rounds, |(_, words)| {
        child::time_of_success(child::command(backoff).args(words))
    })?;
    println!("a run that succeeds, {rounds} interleaved runs, medians: the budget is asked before and after it");
    for ((shown, _), own) in commands.iter().zip(&times) {
        let ratio = Spread::of_ratio(own, &times[0]).median;
        let own = median(own.iter().map(|time| time * 1e6));
        println!("  {shown:16} {own:8.1} us {ratio:6.2} x");
    }
    Ok(())
}
