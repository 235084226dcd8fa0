//! A retry storm: a service goes down, all of its clients notice within a moment, and each client retries by itself.
//! Measures the load on the service, and the time until all clients are served.
//!
//! The model. Each client makes its first call at a moment drawn uniformly from the first `within` (100 ms). Until the
//! end of the `outage` every call fails. From then on the service has a fixed capacity: a call keeps the service busy
//! for 1 / `capacity` seconds, and fails if more than 10 ms of work (or more than this one call) would be queued. So in
//! a slot of 10 ms the calls above the capacity fail, and unused capacity is lost. A failed call is transient: the
//! client's [`Session`] draws the wait. A client is done with its first success, and gives up only if a budget, which
//! all clients share, denies the retry.
//!
//! Simplifications: the answer comes at once, a rejected call costs the service nothing, no new clients arrive, and
//! clocks do not drift. A real service suffers more from the same peak.

use std::time::Duration;

use backoff_cli::policy::budget::BudgetLimits;
use backoff_cli::policy::delay::{Delays, Growth, Jitter};
use backoff_cli::policy::session::{Decision, Limits, Session, Stop};
use rand::{Rng, RngExt};

use super::answer::Answer;
use super::course::Course;
use super::events::{Event, Queue, nanos};
use super::service::Service;
use super::shared_budget::{Reply, SharedBudget};
use super::strategy::Strategy;

/// The time over which calls are added up for a peak, and the longest queue of the service.
pub const SLOT: Duration = Duration::from_millis(10);

/// The number of waits summed to measure their variation: those between five attempts, the default.
pub const WAITS_SUMMED: u64 = 4;

/// The common advice on budgets: a tenth of the attempts of the last minute, ten of them free.
pub const TERMS: BudgetLimits = BudgetLimits {
    ratio: 100_000,
    min: 10,
    window: Duration::from_secs(60),
};

/// The experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm {
    /// The number of clients.
    pub clients: u32,
    /// The time within which all first calls are made.
    pub within: Duration,
    /// End of the outage; all times count from the beginning.
    pub outage: Duration,
    /// Calls a second that the service answers after the outage.
    pub capacity: u64,
    /// End of the simulation; clients may be left then.
    pub horizon: Duration,
    /// The budget that the clients share, if any.
    pub budget: Option<BudgetLimits>,
    /// The duration of a step of the budget's store; steps are sequential.
    pub step: Duration,
    /// The limit of `--attempts`; None is unlimited, which shows draining.
    pub attempts: Option<u64>,
}

impl Storm {
    /// Returns the storm of the documentation: first calls within 100 ms, 5 s of outage, a service that could serve all
    /// clients in 5 s, and a horizon of four hours.
    pub fn of(clients: u32) -> Storm {
        Storm {
            clients,
            within: Duration::from_millis(100),
            outage: Duration::from_secs(5),
            capacity: u64::from(clients / 5).max(1),
            horizon: Duration::from_secs(4 * 3600),
            budget: None,
            step: Duration::ZERO,
            attempts: None,
        }
    }

    /// Runs the storm. A client takes about 230 bytes of memory, a slot 4.
    pub fn run(&self, delays: &Delays, rng: &mut impl Rng) -> Course {
        let limits = Limits {
            attempts: self.attempts,
            ..Limits::UNLIMITED
        };
        let mut running = Running::new(self, &limits, delays, rng);
        while let Some(call) = running.calls.take() {
            if call.time >= self.horizon {
                break;
            }
            running.make_call(call, rng);
        }
        running.finish()
    }
}

struct Client<'p> {
    session: Session<'p>,
    first_call: Duration,
}

/// A storm that is going on.
struct Running<'p> {
    /// The end of the outage.
    outage: Duration,
    clients: Vec<Client<'p>>,
    /// The next call of each client, by the client's number.
    calls: Queue<u32>,
    service: Service,
    budget: Option<SharedBudget>,
    success: Answer,
    failure: Answer,
    /// Counted from the end of the outage.
    last_success: Option<Duration>,
    course: Course,
}

impl<'p> Running<'p> {
    /// Draws the time of each client's first call.
    fn new(
        storm: &Storm,
        limits: &'p Limits,
        delays: &'p Delays,
        rng: &mut impl Rng,
    ) -> Running<'p> {
        let within = nanos(storm.within).max(1);
        let mut clients = Vec::with_capacity(storm.clients as usize);
        let mut calls = Queue::new(SLOT);
        for number in 0..storm.clients {
            let first_call = Duration::from_nanos(rng.random_range(0..within));
            clients.push(Client {
                session: Session::new(limits, delays),
                first_call,
            });
            calls.add(first_call, number);
        }
        Running {
            outage: storm.outage,
            clients,
            calls,
            service: Service::new(storm),
            budget: SharedBudget::of(storm),
            success: Answer::success(),
            failure: Answer::transient_failure(),
            last_success: None,
            course: Course {
                left: u64::from(storm.clients),
                ..Course::default()
            },
        }
    }

    fn make_call(&mut self, call: Event<u32>, rng: &mut impl Rng) {
        let now = call.time;
        let client = &mut self.clients[call.subject as usize];
        let since_first_call = now - client.first_call;
        self.course.count_call(now);
        match client.session.total {
            0 => {
                if let Some(budget) = &mut self.budget {
                    budget.count_first_attempt(now);
                }
            }
            WAITS_SUMMED => self.course.waits.add(since_first_call),
            _ => {}
        }
        let answer = if self.service.accepts(now) {
            &self.success
        } else {
            &self.failure
        };
        client.session.begin();
        let decision = client
            .session
            .next(&answer.outcome, &answer.verdict, since_first_call, rng);
        match decision {
            Decision::Stop(Stop::GaveUp(_)) => self.give_up(),
            Decision::Stop(_) => self.succeed(now),
            Decision::Retry(wait) | Decision::Confirm(wait) => {
                self.retry(call.subject, now, wait);
            }
        }
    }

    fn give_up(&mut self) {
        self.course.gave_up += 1;
        self.course.left -= 1;
    }

    fn succeed(&mut self, now: Duration) {
        let after_outage = now - self.outage;
        self.course.served.add(after_outage);
        self.course.left -= 1;
        self.last_success = Some(after_outage);
    }

    /// Retries after `wait`, unless the budget denies it.
    fn retry(&mut self, number: u32, now: Duration, wait: Duration) {
        let reply = match &mut self.budget {
            Some(budget) => budget.ask_for_retry(now, wait),
            None => Reply::Allowed,
        };
        match reply {
            Reply::Allowed => {}
            Reply::Late => self.course.unanswered += 1,
            Reply::Denied => {
                self.course.denied += 1;
                self.course.left -= 1;
                return;
            }
        }
        self.calls.add(now.saturating_add(wait), number);
    }

    fn finish(mut self) -> Course {
        if self.course.left == 0 {
            self.course.drained = self.last_success;
        }
        self.course
    }
}

/// Returns the default waits of `backoff`.
pub fn default_waits() -> Delays {
    Delays {
        base: Duration::from_millis(500),
        ..decorrelated()
    }
}

/// Returns every jitter with its default parameters, base 100 ms doubling up to 30 s.
pub fn jitters() -> [Strategy; 7] {
    let proportional = Jitter::Proportional { spread: 0.25 };
    let additive = Jitter::Additive {
        spread: Duration::from_secs(1),
    };
    let slotted = Jitter::Slotted { ceiling: 10 };
    [
        Strategy::new("none", exponential(Jitter::None)),
        Strategy::new("proportional", exponential(proportional)),
        Strategy::new("equal", exponential(Jitter::Equal)),
        Strategy::new("additive", exponential(additive)),
        Strategy::new("full", exponential(Jitter::Full)),
        Strategy::new("decorrelated", decorrelated()),
        Strategy::new("slotted", exponential(slotted)),
    ]
}

/// Returns the delays of [`jitters`] with decorrelated jitter.
pub fn decorrelated() -> Delays {
    exponential(Jitter::Decorrelated { factor: 3.0 })
}

fn exponential(jitter: Jitter) -> Delays {
    Delays {
        base: Duration::from_millis(100),
        cap: Duration::from_secs(30),
        growth: Growth::Exponential { factor: 2.0 },
        jitter,
    }
}
