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
use super::strategy::Strategy;

/// Draws the time of one message: |normal(10 ms, 2 ms)| (Box and Muller, 1958).
fn message(rng: &mut impl Rng) -> Duration {
    // 1 - u is in (0, 1], so that the logarithm is finite.
    let u: f64 = rng.random();
    let v: f64 = rng.random();
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

/// A request that reaches the row.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    client: usize,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Read,
    /// A write that succeeds if the row still has this version.
    Write(u64),
}

/// The run of an experiment.
struct Run<'p> {
    clients: Vec<Session<'p>>,
    requests: Queue<Request>,
    /// The version of the row.
    version: u64,
    success: Answer,
    failure: Answer,
    cost: Cost,
}

impl<'p> Run<'p> {
    fn new(clients: u32, delays: &'p Delays) -> Run<'p> {
        let clients = (0..clients).map(|_| Session::new(&Limits::UNLIMITED, delays));
        Run {
            clients: clients.collect(),
            requests: Queue::new(Duration::from_millis(10)),
            version: 0,
            success: Answer::success(),
            failure: Answer::transient_failure(),
            cost: Cost::default(),
        }
    }

    fn add(&mut self, time: Duration, client: usize, kind: Kind) {
        self.requests.add(time, Request { client, kind });
    }

    /// Sends the version back to the client, which writes at once.
    fn read(&mut self, now: Duration, client: usize, rng: &mut impl Rng) {
        let write_arrives = now + message(rng) + message(rng);
        self.add(write_arrives, client, Kind::Write(self.version));
    }

    /// Writes if the version is still the one that the client has `seen`. The client waits and reads again otherwise.
    fn write(&mut self, now: Duration, client: usize, seen: u64, rng: &mut impl Rng) {
        self.cost.calls += 1;
        let answer = if seen == self.version {
            self.version += 1;
            &self.success
        } else {
            &self.failure
        };
        let learned = now + message(rng);
        let session = &mut self.clients[client];
        session.begin();
        match session.next(&answer.outcome, &answer.verdict, learned, rng) {
            Decision::Stop(_) => self.cost.time = self.cost.time.max(learned),
            Decision::Retry(wait) | Decision::Confirm(wait) => {
                let read_arrives = (learned + message(rng)).saturating_add(wait);
                self.add(read_arrives, client, Kind::Read);
            }
        }
    }
}

impl Contention {
    /// Runs the experiment once.
    pub fn run(&self, delays: &Delays, rng: &mut impl Rng) -> Cost {
        let mut run = Run::new(self.clients, delays);
        for client in 0..run.clients.len() {
            run.add(message(rng), client, Kind::Read);
        }
        while let Some(event) = run.requests.take() {
            let client = event.subject.client;
            match event.subject.kind {
                Kind::Read => run.read(event.time, client, rng),
                Kind::Write(seen) => run.write(event.time, client, seen, rng),
            }
        }
        run.cost
    }

    /// Runs the experiment `runs` times, at least once. The first run's generator has `seed`, the next one's `seed + 1`
    /// and so on.
    pub fn mean<R: Rng + SeedableRng>(&self, delays: &Delays, runs: u32, seed: u64) -> MeanCost {
        let runs = runs.max(1);
        let mut calls = 0;
        let mut time = Duration::ZERO;
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
pub fn strategies() -> [Strategy; 5] {
    let no_backoff = Delays {
        base: Duration::ZERO,
        growth: Growth::Constant,
        ..exponential(Jitter::None)
    };
    let decorrelated = Jitter::Decorrelated { factor: 3.0 };
    [
        Strategy::new("no backoff", no_backoff),
        Strategy::new("exponential, no jitter", exponential(Jitter::None)),
        Strategy::new("equal jitter", exponential(Jitter::Equal)),
        Strategy::new("full jitter", exponential(Jitter::Full)),
        Strategy::new("decorrelated jitter", exponential(decorrelated)),
    ]
}

fn exponential(jitter: Jitter) -> Delays {
    Delays {
        base: Duration::from_millis(5),
        cap: Duration::from_secs(2),
        growth: Growth::Exponential { factor: 2.0 },
        jitter,
    }
}
