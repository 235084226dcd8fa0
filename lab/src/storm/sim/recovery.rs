//! An overload after an outage: does it end sooner if, after a cool-off, only a growing share of the waiting runs goes on?
//!
//! The model. Runs come one by one, at random moments, at a `load` of the service's capacity. Each is a `Session` of five
//! attempts, with decorrelated jitter. The service has one queue: a call is worked
//! on in its turn, for 1 / [`CAPACITY`] seconds, and the client hangs up after [`PATIENCE`]; the service does the work all
//! the same, which is what keeps an overload going. With [`QUEUE`] of work before it, a call is turned away at once.
//! In the `outage` every call is. What the runs share is one ledger, asked as `backoff` asks it.
//!
//! A run may hold back as an option could make it: from the first success after a cool-off on, a first call is let
//! through with a probability that grows from 0 to 1 over [`Sharing::recover`]; else it waits for its share.
//!
//! What is left out: the store answers at once, and never fails.

use std::time::Duration;

use backoff_cli::policy::budget::{Ledger, Question, Terms};
use backoff_cli::policy::delay::{Delays, Growth, Jitter};
use backoff_cli::policy::session::{Decision, Limits, Session};
use rand::{Rng, RngExt};

use super::answer::{Answer, UNLIMITED};
use super::events::Queue;
use super::spread::Spread;

/// Calls a second.
pub const CAPACITY: u64 = 50;
pub const PATIENCE: Duration = Duration::from_secs(1);
pub const QUEUE: Duration = Duration::from_secs(5);
const WORK: Duration = Duration::from_nanos(1_000_000_000 / CAPACITY);
/// `--max-retry-after`: what a cool-off lasts at most, if the cap is no longer.
const LONGEST: Duration = Duration::from_secs(5 * 60);
/// Before and after the outage.
pub const BEFORE: Duration = Duration::from_secs(60);

/// The experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scene {
    /// Of the capacity.
    pub load: f64,
    pub outage: Duration,
    /// How long runs come after it.
    pub after: Duration,
    pub base: Duration,
    pub cap: Duration,
}

/// What the runs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharing {
    pub budget: Option<Terms>,
    pub cool_off: bool,
    /// The time over which the share of those who are let through grows.
    pub recover: Duration,
}

/// What happened from the end of the outage on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Until the last call that was turned away or not answered in time.
    pub overload: Duration,
    /// How many those were.
    pub failed: u64,
    /// Of the runs of the outage and later.
    pub succeeded: u64,
    pub gave_up: u64,
    /// From when a run began to its success.
    pub took: Spread,
}

struct Run<'p> {
    session: Session<'p>,
    began: Duration,
    called: Duration,
    is_held: bool,
    /// How many had given up in a row when this one began.
    earlier: u64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin(u32),
    Call(u32),
    Reply(u32, bool),
}

const LIMITS: Limits = Limits {
    attempts: Some(5),
    ..UNLIMITED
};

struct World<'a, R> {
    scene: Scene,
    sharing: Sharing,
    delays: &'a Delays,
    rng: &'a mut R,
    queue: Queue<Event>,
    ledger: Ledger,
    /// Since when the share grows.
    recovering: Option<Duration>,
    busy_until: Duration,
    course: Course,
}

impl Scene {
    pub fn run(self, sharing: Sharing, rng: &mut impl Rng) -> Course {
        let delays = Delays {
            base: self.base,
            cap: self.cap,
            growth: Growth::Exponential { factor: 2.0 },
            jitter: Jitter::Decorrelated { factor: 3.0 },
        };
        let mut world = World {
            scene: self,
            sharing,
            delays: &delays,
            rng,
            queue: Queue::new(Duration::from_millis(10)),
            ledger: Ledger::default(),
            recovering: None,
            busy_until: Duration::ZERO,
            course: Course::default(),
        };
        let mut runs = Vec::new();
        for began in self.arrivals(world.rng) {
            world.queue.add(began, Event::Begin(runs.len() as u32));
            let session = Session::new(&LIMITS, &delays, &[]);
            runs.push(Run {
                session,
                began,
                called: began,
                is_held: false,
                earlier: 0,
            });
        }
        while let Some((now, event)) = world.queue.take() {
            match event {
                Event::Begin(number) => world.begin(now, number, &mut runs[number as usize]),
                Event::Call(number) => world.call(now, number, &mut runs[number as usize]),
                Event::Reply(number, is_good) => world.reply(now, number, is_good, &mut runs[number as usize]),
            }
        }
        world.course
    }

    fn arrivals(self, rng: &mut impl Rng) -> Vec<Duration> {
        let all = self.back() + self.after;
        let count = (all.as_secs_f64() * CAPACITY as f64 * self.load) as u64;
        (0..count).map(|_| all.mul_f64(rng.random())).collect()
    }

    /// When the service is back.
    fn back(self) -> Duration {
        BEFORE + self.outage
    }
}

impl<R: Rng> World<'_, R> {
    fn ask(&mut self, question: Question, now: Duration) -> (bool, Duration) {
        match &self.sharing.budget {
            Some(terms) => {
                let answer = self.ledger.answer(terms, question, now);
                (answer.allowed, answer.cool_off)
            }
            None => (true, Duration::ZERO),
        }
    }

    fn begin(&mut self, now: Duration, number: u32, run: &mut Run<'_>) {
        run.earlier = self.ledger.failed_runs;
        let mut at = now;
        if self.sharing.cool_off {
            let left = self.ask(Question::CoolOff, now).1.min(LONGEST.max(self.scene.cap));
            if !left.is_zero() {
                at += self.delays.at_least(left, left / 4, self.rng);
            }
        }
        self.queue.add(at, Event::Call(number));
    }

    fn call(&mut self, now: Duration, number: u32, run: &mut Run<'_>) {
        if run.session.total() == 0 {
            if let Some(later) = self.held_until(now).filter(|_| !run.is_held) {
                run.is_held = true;
                self.queue.add(later, Event::Call(number));
                return;
            }
            self.ask(Question::Attempt, now);
        }
        run.called = now;
        let before = self.busy_until.max(now);
        let (is_good, at) = if (BEFORE..self.scene.back()).contains(&now) || before - now > QUEUE {
            (false, now)
        } else {
            self.busy_until = before + WORK;
            let is_good = self.busy_until - now <= PATIENCE;
            (is_good, if is_good { self.busy_until } else { now + PATIENCE })
        };
        self.queue.add(at, Event::Reply(number, is_good));
    }

    /// None of a run that is let through.
    fn held_until(&mut self, now: Duration) -> Option<Duration> {
        let due = self.recovering? + self.sharing.recover.mul_f64(self.rng.random());
        (due > now).then_some(due)
    }

    fn reply(&mut self, now: Duration, number: u32, is_good: bool, run: &mut Run<'_>) {
        let answer = if is_good { Answer::yes() } else { Answer::not_now() };
        let counts = run.began >= BEFORE;
        if !is_good && run.called >= self.scene.back() {
            self.course.failed += 1;
            self.course.overload = now - self.scene.back();
        }
        let decision = session_next(run, &answer, now, self.rng);
        let cool_off = match decision {
            Decision::Stop(_) if is_good => {
                if self.ledger.cool_off.is_some() && !self.sharing.recover.is_zero() {
                    self.recovering = Some(now);
                }
                self.ask(Question::Succeeded, now);
                self.course.succeeded += u64::from(counts);
                if counts {
                    self.course.took.add(now - run.began);
                }
                return;
            }
            Decision::Retry(wait) | Decision::Confirm(wait) => {
                if self.ask(Question::Retry, now).0 {
                    self.queue.add(now + wait, Event::Call(number));
                    return;
                }
                match run.earlier {
                    0 => wait,
                    earlier => run.session.next_wait(&answer.outcome, earlier, self.rng),
                }
            }
            Decision::Stop(_) => run.session.next_wait(&answer.outcome, run.earlier, self.rng),
        };
        let earlier = self.sharing.cool_off.then_some(run.earlier);
        self.ask(Question::GaveUp { cool_off, earlier }, now);
        self.course.gave_up += u64::from(counts);
    }
}

fn session_next(run: &mut Run<'_>, answer: &Answer, now: Duration, rng: &mut impl Rng) -> Decision {
    run.session.next(&answer.outcome, &answer.verdict, now - run.began, rng)
}
