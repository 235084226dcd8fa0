//! Many clients update one row. What do waiting and not waiting cost?
//!
//! Repeats the experiment of M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015, with the waits
//! of `backoff`. `cargo run --release --example contention` prints the table in `docs/internals/storm.md`, which
//! explains it. The seeds are fixed.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use backoff_cli::policy::delay::{Delays, Growth, Jitter, generator_of_seed};
use rand::{Rng, RngExt};

/// As in the published experiment. Run k has the seed k.
const RUNS: u32 = 100;
const CLIENTS: [usize; 4] = [10, 50, 100, 200];

fn main() {
    let columns = CLIENTS.map(|clients| clients.to_string()).join(" | ");
    println!("| strategy | calls: N = {columns} | seconds: N = {columns} |");
    println!("|---|{}", "---:|".repeat(2 * CLIENTS.len()));
    for (name, delays) in strategies() {
        let means = CLIENTS.map(|clients| mean_cost(clients, &delays));
        let calls = means.map(|(calls, _)| grouped(calls)).join(" | ");
        let seconds = means.map(|(_, time)| format!("{time:.2}")).join(" | ");
        println!("| {name} | {calls} | {seconds} |");
    }
}

/// Returns the article's strategies with its numbers. In the article, the first exponential wait is twice the base.
fn strategies() -> [(&'static str, Delays); 5] {
    let exponential = |jitter| Delays {
        base: Duration::from_millis(5),
        cap: Duration::from_secs(2),
        growth: Growth::Exponential { factor: 2.0 },
        jitter,
    };
    let no_backoff = Delays {
        base: Duration::ZERO,
        ..exponential(Jitter::None)
    };
    [
        ("no backoff", no_backoff),
        ("exponential, no jitter", exponential(Jitter::None)),
        ("equal jitter", exponential(Jitter::Equal)),
        ("full jitter", exponential(Jitter::Full)),
        (
            "decorrelated jitter",
            exponential(Jitter::Decorrelated { factor: 3.0 }),
        ),
    ]
}

/// Returns the mean number of calls, and the mean time in seconds.
fn mean_cost(clients: usize, delays: &Delays) -> (f64, f64) {
    let (mut calls, mut time) = (0, Duration::ZERO);
    for seed in 1..=RUNS {
        let mut run = Run::new(clients, delays);
        run.play(&mut generator_of_seed(u64::from(seed)));
        calls += run.calls;
        time += run.time;
    }
    (
        f64::from(calls) / f64::from(RUNS),
        (time / RUNS).as_secs_f64(),
    )
}

/// A request that reaches the row.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Request {
    Read,
    /// Succeeds if the row still has this version.
    Write(u64),
}

#[derive(Clone, Default)]
struct Client {
    retries: u64,
    previous_wait: Option<Duration>,
}

struct Run<'a> {
    delays: &'a Delays,
    clients: Vec<Client>,
    /// Requests on their way to the row, with their client, earliest first.
    requests: BinaryHeap<Reverse<(Duration, usize, Request)>>,
    /// The version of the row.
    version: u64,
    /// Writes that have reached the row, which is what the published program counts.
    calls: u32,
    /// When the last client learned of its success.
    time: Duration,
}

impl Run<'_> {
    fn new(clients: usize, delays: &Delays) -> Run<'_> {
        Run {
            delays,
            clients: vec![Client::default(); clients],
            requests: BinaryHeap::new(),
            version: 0,
            calls: 0,
            time: Duration::ZERO,
        }
    }

    fn play(&mut self, rng: &mut dyn Rng) {
        for client in 0..self.clients.len() {
            self.requests
                .push(Reverse((message(rng), client, Request::Read)));
        }
        while let Some(Reverse((now, client, request))) = self.requests.pop() {
            match request {
                Request::Read => self.read(now, client, rng),
                Request::Write(seen) => self.write(now, client, seen, rng),
            }
        }
    }

    /// Sends the version back to the client, which writes at once.
    fn read(&mut self, now: Duration, client: usize, rng: &mut dyn Rng) {
        let arrives = now + message(rng) + message(rng);
        let write = Request::Write(self.version);
        self.requests.push(Reverse((arrives, client, write)));
    }

    /// Writes if the row still has the version that the client has seen. Otherwise the client waits and reads again.
    fn write(&mut self, now: Duration, number: usize, seen: u64, rng: &mut dyn Rng) {
        self.calls += 1;
        let learned = now + message(rng);
        if seen == self.version {
            self.version += 1;
            self.time = self.time.max(learned);
            return;
        }
        let client = &mut self.clients[number];
        let wait = self.delays.draw(client.retries, client.previous_wait, rng);
        client.retries += 1;
        client.previous_wait = Some(wait);
        let arrives = learned + wait + message(rng);
        self.requests
            .push(Reverse((arrives, number, Request::Read)));
    }
}

/// Draws the time that a message takes: |normal(10 ms, 2 ms)| (Box and Muller, 1958).
fn message(rng: &mut dyn Rng) -> Duration {
    // 1 - u is above 0, so the logarithm is finite.
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    let seconds = (0.010 + 0.002 * normal).abs();
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// Formats a number below a million, rounded, with a comma after the thousands.
fn grouped(number: f64) -> String {
    let whole = number.round() as u32;
    if whole < 1_000 {
        whole.to_string()
    } else {
        format!("{},{:03}", whole / 1_000, whole % 1_000)
    }
}
