//! Many clients update one row: the cost of waiting, and of not waiting.
//!
//! The experiment of M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. Each client reads the
//! version of a row and then writes the row; the write succeeds only if the version has not changed since (optimistic
//! concurrency control). Otherwise the client waits and begins again with the read. All clients begin at once and are
//! done after one success each. Every message, there and back, takes |normal(10 ms, 2 ms)|.
//!
//! Two facts of the published program (aws-samples/aws-arch-backoff-simulator) that the article omits: it counts writes
//! as calls; and its first exponential wait is base * 2, while backoff's is base. To reproduce its figures, double the
//! base of the exponential strategies (the test does).

use std::time::Duration;

use backoff_cli::policy::delay::{Delays, Growth, Jitter};
use backoff_cli::policy::session::{Decision, Limits, Session};
use rand::{Rng, RngExt, SeedableRng};

use super::answer::Answer;
use super::events::Queue;
use super::spread::seconds;

/// Draws the time of one message: |normal(10 ms, 2 ms)| (Box and Muller, 1958).
fn message(rng: &mut impl Rng) -> Duration {
    // 1 - u is in (0, 1], so that the logarithm is finite.
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    seconds((0.010 + 0.002 * normal).abs())
}

/// The experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contention {
    /// The number of clients that update the row.
    pub clients: u32,
}

/// The cost of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Writes that reached the row, successful or not.
    pub calls: u64,
    /// The time at which the last client learned of its success.
    pub time: Duration,
}

/// The mean over several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanCost {
    /// Writes that reached the row.
    pub calls: f64,
    /// The time until the last client was done.
    pub time: Duration,
}

/// Requests that reach the row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Request {
    Read,
    /// A write that succeeds if the row still has this version.
    Write(u64),
}

impl Contention {
    /// Runs the experiment once.
    pub fn run(&self, delays: &Delays, rng: &mut impl Rng) -> Cost {
        let (yes, not_now) = (Answer::yes(), Answer::not_now());
        let mut clients: Vec<_> = (0..self.clients)
            .map(|_| Session::new(&Limits::UNLIMITED, delays))
            .collect();
        let mut queue = Queue::new(Duration::from_millis(10));
        for client in 0..clients.len() {
            queue.add(message(rng), (client, Request::Read));
        }
        let mut version = 0;
        let mut cost = Cost::default();
        while let Some((now, (client, request))) = queue.take() {
            let Request::Write(seen) = request else {
                // The version goes back to the client, which writes at once.
                let there = now + message(rng) + message(rng);
                queue.add(there, (client, Request::Write(version)));
                continue;
            };
            cost.calls += 1;
            let answer = if seen == version { &yes } else { &not_now };
            version += u64::from(seen == version);
            let learned = now + message(rng);
            clients[client].begin();
            match clients[client].next(&answer.outcome, &answer.verdict, learned, rng) {
                Decision::Stop(_) => cost.time = cost.time.max(learned),
                Decision::Retry(wait) | Decision::Confirm(wait) => {
                    let again = learned + message(rng);
                    queue.add(again.saturating_add(wait), (client, Request::Read));
                }
            }
        }
        cost
    }

    /// Runs the experiment `runs` times, at least once. The first run's generator has `seed`, the next one's `seed + 1`
    /// and so on.
    pub fn mean<R: Rng + SeedableRng>(&self, delays: &Delays, runs: u32, seed: u64) -> MeanCost {
        let runs = runs.max(1);
        let (mut calls, mut time) = (0, Duration::ZERO);
        for run in 0..u64::from(runs) {
            let cost = self.run(delays, &mut R::seed_from_u64(seed.wrapping_add(run)));
            calls += cost.calls;
            time += cost.time;
        }
        MeanCost {
            calls: calls as f64 / f64::from(runs),
            time: time / runs,
        }
    }
}

/// Returns the article's strategies with its numbers, base 5 ms and cap 2000 ms, under backoff's names.
pub fn strategies() -> [(&'static str, Delays); 5] {
    let exponential = |jitter| Delays {
        base: Duration::from_millis(5),
        cap: Duration::from_secs(2),
        growth: Growth::Exponential { factor: 2.0 },
        jitter,
    };
    let at_once = Delays {
        base: Duration::ZERO,
        growth: Growth::Constant,
        ..exponential(Jitter::None)
    };
    [
        ("no backoff", at_once),
        ("exponential, no jitter", exponential(Jitter::None)),
        ("equal jitter", exponential(Jitter::Equal)),
        ("full jitter", exponential(Jitter::Full)),
        (
            "decorrelated jitter",
            exponential(Jitter::Decorrelated { factor: 3.0 }),
        ),
    ]
}
