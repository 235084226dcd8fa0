//! A retry storm in virtual time. What do jitter and a budget do for a service that comes back after an outage?
//!
//! `cargo run --release --example storm` prints the table in `docs/internals/storm.md`, which explains the model. The
//! waits and the budget are those of `backoff` itself, and the seed is fixed.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use backoff_cli::policy::budget::{BudgetLimits, Counts, Question};
use backoff_cli::policy::delay::{Delays, Growth, Jitter, generator_of_seed};
use rand::{Rng, RngExt};

const SEED: u64 = 1;
const CLIENTS: u32 = 1_000_000;
/// All first calls are made within this time.
const FIRST_CALLS: Duration = Duration::from_millis(100);
const OUTAGE: Duration = Duration::from_secs(5);
/// How long a call keeps the service busy after the outage. All clients together take 5 s.
const TIME_OF_A_CALL: Duration = Duration::from_nanos(5_000_000_000 / CLIENTS as u64);
/// The interval in which calls are counted for a peak. Also the longest queue of the service.
const SLOT: Duration = Duration::from_millis(10);
/// Peaks count from here on. Earlier waits are hardly longer than the time in which the clients came, so no jitter can
/// spread them.
const AFTER_THE_FIRST_WAVE: Duration = Duration::from_secs(1);
/// The waits between five attempts, which is the default.
const WAITS_SUMMED: u64 = 4;

const BUDGET: BudgetLimits = BudgetLimits {
    ratio: 0.1,
    min: 10,
    window: Duration::from_secs(60),
};

/// A row of the table.
struct Row {
    name: &'static str,
    delays: Delays,
    /// The limit of `--attempts`, if any.
    attempts: Option<u64>,
    budget: Option<BudgetLimits>,
}

fn main() {
    println!(
        "| jitter | peak | against none | four waits vary by | calls per client | gave up | all served after |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut peak_without_jitter = None;
    for row in rows() {
        let course = Storm::new(&row).run();
        let peak = course.peak();
        let highest = *peak_without_jitter.get_or_insert(peak);
        let against_none = match peak {
            0 => "-".to_owned(),
            _ => format!("1/{:.1}", f64::from(highest) / f64::from(peak)),
        };
        println!(
            "| {} | {} | {against_none} | {:.0}% | {:.1} | {:.0}% | {} |",
            row.name,
            grouped(peak),
            100.0 * variation(&course.sums_of_waits),
            course.calls as f64 / f64::from(CLIENTS),
            100.0 * f64::from(course.gave_up) / f64::from(CLIENTS),
            match course.last_success {
                Some(time) => format!("{:.0} s", (time - OUTAGE).as_secs_f64()),
                None => "never".to_owned(),
            },
        );
    }
}

fn rows() -> Vec<Row> {
    let row = |name, jitter| Row {
        name,
        delays: Delays {
            base: Duration::from_millis(100),
            cap: Duration::from_secs(30),
            growth: Growth::Exponential { factor: 2.0 },
            jitter,
        },
        attempts: None,
        budget: None,
    };
    let additive = Jitter::Additive {
        spread: Duration::from_secs(1),
    };
    let decorrelated = Jitter::Decorrelated { factor: 3.0 };
    let mut defaults = row("the default settings", decorrelated);
    defaults.delays.base = Duration::from_millis(500);
    defaults.attempts = Some(5);
    let mut with_budget = row("decorrelated, budget of 10%", decorrelated);
    with_budget.budget = Some(BUDGET);
    vec![
        row("none", Jitter::None),
        row("proportional (25%)", Jitter::Proportional { spread: 0.25 }),
        row("equal", Jitter::Equal),
        row("decorrelated", decorrelated),
        row("additive (1 s)", additive),
        row("full", Jitter::Full),
        row("slotted (ceiling 10)", Jitter::Slotted { ceiling: 10 }),
        defaults,
        with_budget,
    ]
}

/// The result of a storm.
#[derive(Default)]
struct Course {
    /// Calls in each slot.
    load: Vec<u32>,
    calls: u64,
    gave_up: u32,
    last_success: Option<Duration>,
    /// The sum of each client's first [`WAITS_SUMMED`] waits in seconds.
    sums_of_waits: Vec<f64>,
}

impl Course {
    /// Returns the most calls in a slot, after the first wave and before the end of the outage.
    fn peak(&self) -> u32 {
        let until_back = self.load.iter().take(slot(OUTAGE));
        let counted = until_back.skip(slot(AFTER_THE_FIRST_WAVE));
        counted.copied().max().unwrap_or(0)
    }
}

#[derive(Default)]
struct Client {
    first_call: Duration,
    calls: u64,
    previous_wait: Option<Duration>,
}

struct Storm<'a> {
    row: &'a Row,
    clients: Vec<Client>,
    /// The next call of each client, earliest first.
    next_calls: BinaryHeap<Reverse<(Duration, usize)>>,
    /// When the service will have handled all accepted calls.
    busy_until: Duration,
    counts: Counts,
    course: Course,
}

impl Storm<'_> {
    fn new(row: &Row) -> Storm<'_> {
        Storm {
            row,
            clients: Vec::new(),
            next_calls: BinaryHeap::new(),
            busy_until: OUTAGE,
            counts: Counts::default(),
            course: Course::default(),
        }
    }

    fn run(mut self) -> Course {
        let mut rng = generator_of_seed(SEED);
        let first_calls = FIRST_CALLS.as_nanos() as u64;
        for client in 0..CLIENTS as usize {
            let first_call = Duration::from_nanos(rng.random_range(0..first_calls));
            self.clients.push(Client {
                first_call,
                ..Client::default()
            });
            self.next_calls.push(Reverse((first_call, client)));
        }
        while let Some(Reverse((now, client))) = self.next_calls.pop() {
            self.count_call(now, client);
            if self.accepts(now) {
                self.course.last_success = Some(now);
            } else if let Some(wait) = self.wait_after_failure(now, client, &mut rng) {
                self.next_calls.push(Reverse((now + wait, client)));
            } else {
                self.course.gave_up += 1;
            }
        }
        self.course
    }

    fn count_call(&mut self, now: Duration, client: usize) {
        let client = &mut self.clients[client];
        client.calls += 1;
        if client.calls == 1 {
            self.counts.answer(&BUDGET, Question::Attempt, now);
        }
        if client.calls == WAITS_SUMMED + 1 {
            let waited = now - client.first_call;
            self.course.sums_of_waits.push(waited.as_secs_f64());
        }
        let load = &mut self.course.load;
        load.resize(load.len().max(slot(now) + 1), 0);
        load[slot(now)] += 1;
        self.course.calls += 1;
    }

    /// Returns true if the service answers a call that arrives now. It refuses all calls during the outage, and later
    /// those that would have to queue for longer than a slot.
    fn accepts(&mut self, now: Duration) -> bool {
        let done = self.busy_until.max(now) + TIME_OF_A_CALL;
        let accepts = now >= OUTAGE && done - now <= SLOT;
        if accepts {
            self.busy_until = done;
        }
        accepts
    }

    /// Returns the wait before the client's next call, or None if it gives up.
    fn wait_after_failure(
        &mut self,
        now: Duration,
        client: usize,
        rng: &mut dyn Rng,
    ) -> Option<Duration> {
        let client = &mut self.clients[client];
        if Some(client.calls) == self.row.attempts {
            return None;
        }
        let retry = client.calls - 1;
        let wait = self.row.delays.draw(retry, client.previous_wait, rng);
        client.previous_wait = Some(wait);
        let is_allowed = self.row.budget.is_none_or(|limits| {
            let answer = self.counts.answer(&limits, Question::Retry, now);
            answer.allowed
        });
        is_allowed.then_some(wait)
    }
}

/// Returns the number of the slot that contains a time.
fn slot(time: Duration) -> usize {
    (time.as_nanos() / SLOT.as_nanos()) as usize
}

/// Returns the standard deviation divided by the mean, or 0 without numbers.
fn variation(numbers: &[f64]) -> f64 {
    let count = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    if mean > 0.0 {
        (squares / count).sqrt() / mean
    } else {
        0.0
    }
}

/// Formats a number below a million with a comma after the thousands.
fn grouped(number: u32) -> String {
    if number < 1_000 {
        number.to_string()
    } else {
        format!("{},{:03}", number / 1_000, number % 1_000)
    }
}
