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

use backoff_cli::policy::budget::{BudgetLimits, Ledger, Question};
use backoff_cli::policy::delay::{Delays, Growth, Jitter};
use backoff_cli::policy::session::{Decision, Limits, Session, Stop};
use rand::{Rng, RngExt};

use super::answer::Answer;
use super::events::{Queue, nanos};
use super::spread::Spread;

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

/// Result of a storm.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Calls per [`SLOT`], the first slot beginning at 0. At most as long as the horizon.
    pub load: Vec<u32>,
    /// The time from the end of the outage to the last success; None if clients were left, or none was served.
    pub drained: Option<Duration>,
    /// The successful clients, and their times after the end of the outage.
    pub served: Spread,
    /// The number of clients that gave up because the budget denied a retry.
    pub denied: u64,
    /// The number of retries made without the budget, as its answer came too late.
    pub unanswered: u64,
    /// The number of clients that gave up after their last attempt.
    pub gave_up: u64,
    /// The number of clients that had neither succeeded nor given up at the horizon.
    pub left: u64,
    /// The sum of a client's first [`WAITS_SUMMED`] waits.
    pub waits: Spread,
}

struct Client<'p> {
    session: Session<'p>,
    began: Duration,
}

struct Service {
    up_from: Duration,
    /// The duration of one call; None if calls are never answered.
    work: Option<Duration>,
    /// The time at which all accepted work is done.
    busy_until: Duration,
}

impl Service {
    fn new(storm: &Storm) -> Service {
        let work = 1_000_000_000_u64.checked_div(storm.capacity);
        Service {
            up_from: storm.outage,
            work: work.map(Duration::from_nanos),
            busy_until: Duration::ZERO,
        }
    }

    fn answers(&mut self, now: Duration) -> bool {
        let Some(work) = self.work.filter(|_| now >= self.up_from) else {
            return false;
        };
        let done = self.busy_until.max(now).saturating_add(work);
        let takes_it = done - now <= work.max(SLOT);
        if takes_it {
            self.busy_until = done;
        }
        takes_it
    }
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
        let (yes, not_now) = (Answer::yes(), Answer::not_now());
        let mut ledger = Ledger::default();
        let mut course = Course {
            left: u64::from(self.clients),
            ..Course::default()
        };
        let mut clients = Vec::with_capacity(self.clients as usize);
        let mut queue = Queue::new(SLOT);
        let within = nanos(self.within).max(1);
        for client in 0..self.clients {
            let began = Duration::from_nanos(rng.random_range(0..within));
            let session = Session::new(&limits, delays);
            clients.push(Client { session, began });
            queue.add(began, client);
        }
        let mut service = Service::new(self);
        let mut last_success = None;
        let mut store_until = Duration::ZERO;
        let mut answered_at = |now: Duration| {
            store_until = store_until.max(now) + self.step;
            store_until
        };
        while let Some((now, number)) = queue.take() {
            if now >= self.horizon {
                break;
            }
            course.count(now);

            let Client { session, began } = &mut clients[number as usize];
            match session.total {
                0 => {
                    if let Some(terms) = &self.budget {
                        ledger.answer(terms, Question::Attempt, now);
                        answered_at(now);
                    }
                }
                WAITS_SUMMED => course.waits.add(now - *began),
                _ => {}
            }
            let answer = if service.answers(now) { &yes } else { &not_now };
            session.begin();
            match session.next(&answer.outcome, &answer.verdict, now - *began, rng) {
                Decision::Stop(Stop::GaveUp(_)) => {
                    course.gave_up += 1;
                    course.left -= 1;
                }
                Decision::Stop(_) => {
                    let after = now - self.outage;
                    course.served.add(after);
                    course.left -= 1;
                    last_success = Some(after);
                }
                Decision::Retry(wait) | Decision::Confirm(wait) => {
                    let is_denied =
                        |terms: &BudgetLimits| !ledger.answer(terms, Question::Retry, now).allowed;
                    // Timeout of the budget's answer. Without one, the machine's own budget allows the first ten
                    // attempts.
                    let patience = wait.clamp(Duration::from_millis(250), Duration::from_secs(5));
                    let is_late = self.budget.is_some() && answered_at(now) > now + patience;
                    course.unanswered += u64::from(is_late);
                    if !is_late && self.budget.as_ref().is_some_and(is_denied) {
                        course.denied += 1;
                        course.left -= 1;
                    } else {
                        queue.add(now.saturating_add(wait), number);
                    }
                }
            }
        }
        course.drained = last_success.filter(|_| course.left == 0);
        course
    }
}

impl Course {
    fn count(&mut self, now: Duration) {
        let slot = slot(now);
        if self.load.len() <= slot {
            self.load.resize(slot + 1, 0);
        }
        self.load[slot] += 1;
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> u64 {
        self.load.iter().copied().map(u64::from).sum()
    }

    /// Returns the most calls in one slot of those that begin in [from, until).
    pub fn peak(&self, from: Duration, until: Duration) -> u32 {
        self.slots(from, until).iter().copied().max().unwrap_or(0)
    }

    /// Returns the calls of the slots that begin in [from, until).
    pub fn slots(&self, from: Duration, until: Duration) -> &[u32] {
        let just_before_next = SLOT - Duration::from_nanos(1);
        let index =
            |time: Duration| slot(time.saturating_add(just_before_next)).min(self.load.len());
        let until = index(until);
        &self.load[index(from).min(until)..until]
    }
}

fn slot(time: Duration) -> usize {
    usize::try_from(nanos(time) / nanos(SLOT)).unwrap_or(usize::MAX)
}

/// Returns the default waits of `backoff`.
pub fn default_waits() -> Delays {
    Delays {
        base: Duration::from_millis(500),
        cap: Duration::from_secs(30),
        growth: Growth::Exponential { factor: 2.0 },
        jitter: Jitter::Decorrelated { factor: 3.0 },
    }
}

/// Returns every jitter with its default parameters, base 100 ms doubling up to 30 s.
pub fn jitters() -> [(&'static str, Delays); 7] {
    let exponential = |jitter| Delays {
        base: Duration::from_millis(100),
        cap: Duration::from_secs(30),
        growth: Growth::Exponential { factor: 2.0 },
        jitter,
    };
    let spread = Duration::from_secs(1);
    [
        ("none", exponential(Jitter::None)),
        (
            "proportional",
            exponential(Jitter::Proportional { spread: 0.25 }),
        ),
        ("equal", exponential(Jitter::Equal)),
        ("additive", exponential(Jitter::Additive { spread })),
        ("full", exponential(Jitter::Full)),
        (
            "decorrelated",
            exponential(Jitter::Decorrelated { factor: 3.0 }),
        ),
        ("slotted", exponential(Jitter::Slotted { ceiling: 10 })),
    ]
}
