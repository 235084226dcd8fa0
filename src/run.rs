//! The loop, the world it needs and the events it tells.

use std::time::Duration;

use rand::{Rng, RngExt};

use crate::exit::{self, Exit};
use crate::observe::Observer;
use crate::outcome::{End, Outcome};
use crate::plan::{Effective, Nesting, Plan};
use crate::policy::budget::Question;
use crate::policy::classifier::{Reason, Verdict, Why};
use crate::policy::session::{Decision, GiveUp, Session, Stop};
use crate::signal::Signal;

mod shared;
mod variables;

use shared::Shared;
use variables::{of_attempt, of_predicate};

/// What ends an attempt that does not end by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// `--timeout`: bound on one attempt.
    pub timeout: Option<Duration>,
    /// `--idle-timeout`: bound on silence.
    pub idle: Option<Duration>,
    /// `--signal`: what a bound sends first.
    pub signal: Signal,
    /// `--kill-after`: from that signal to KILL; None is never.
    pub kill_after: Option<Duration>,
    /// From a passed-on TERM, INT, HUP or QUIT to KILL: only where `--kill-after` was given.
    pub kill_passed_on_after: Option<Duration>,
}

/// One attempt to be made.
#[derive(Debug)]
pub struct Order<'a> {
    /// What ends it.
    pub bounds: &'a Bounds,
    /// `--deadline`, counted from the start of the run.
    pub deadline: Option<Duration>,
    /// What the command's environment has besides backoff's own: name and value.
    pub variables: Vec<(&'static str, String)>,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// How it ended.
    pub outcome: Outcome,
    /// The first TERM, INT, HUP or QUIT that backoff got meanwhile: no new attempt starts.
    pub interrupted: Option<Signal>,
}

/// Why a run ends without a decision of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cut {
    /// TERM, INT, HUP or QUIT between two attempts.
    Interrupted(Signal),
    /// backoff itself failed; what a person should read.
    Fault(String),
}

/// The world: processes, signals and the clock. Effects only, no decisions.
pub trait Host {
    /// Time since the run began.
    fn elapsed(&self) -> Duration;
    /// Runs the command once and waits for its end.
    fn attempt(&mut self, order: &Order<'_>) -> Result<Attempt, Cut>;
    /// Waits until this much time has passed, hearing signals.
    fn wait(&mut self, delay: Duration) -> Result<(), Cut>;
    /// Asks the shell command of `--retry-if` about the attempt that has just ended.
    fn ask(&mut self, shell: &str, order: &Order<'_>) -> Result<Attempt, Cut>;
    /// The run is over: prints what was kept of the output.
    fn release(&mut self, succeeded: bool) -> Result<(), Cut>;
    /// Does what may block for long, hearing signals. An error if it takes longer than this, or cannot be begun:
    /// what a person should read.
    fn aside<T: Send + 'static>(
        &mut self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Result<T, String>, Cut>;
    /// Writes lines for people to standard error; that it cannot is no error.
    fn say(&mut self, lines: &str) -> Result<(), Cut>;
}

/// What happened, for observers.
#[derive(Debug)]
pub enum Event<'a> {
    /// What the run is about to do, setting by setting (`-vv`).
    Settings(&'a [Effective]),
    /// An attempt is about to start.
    Started,
    /// An attempt succeeded, and must again (`--consecutive`).
    Confirming {
        /// The wait before the next one.
        delay: Duration,
    },
    /// An attempt failed and the command will be run again.
    Retrying {
        /// How it failed.
        outcome: &'a Outcome,
        /// What decided that the failure is transient.
        verdict: &'a Verdict,
        /// The wait before the next one.
        delay: Duration,
    },
    /// Retrying under another backoff, and `--nested warn`.
    Nested(Nesting),
    /// The run succeeded.
    Succeeded {
        /// Whether an attempt had failed before.
        flaky: bool,
    },
    /// The run failed.
    GaveUp {
        /// Why it is not run again.
        why: GiveUp,
        /// How the last attempt ended.
        outcome: &'a Outcome,
        /// What decided that the failure is permanent, if it is.
        verdict: &'a Verdict,
    },
    /// A run of the same budget gave up not long ago: the first attempt waits (`--cool-off`).
    CoolingOff(Duration),
    /// The deadline passes before a first attempt can start.
    NoTime {
        /// What had to be waited out first.
        cool_off: Option<Duration>,
    },
    /// Something is not as it should be, and the run goes on.
    Warning(String),
    /// A signal ended the run.
    Interrupted(Signal),
}

/// Where a run stands when an event happens.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The attempt that the event is about; 1 is the first.
    pub attempt: u64,
    /// All attempts so far, this one included, whatever `--reset-after` did to the count.
    pub total: u64,
    /// Time since the run began.
    pub elapsed: Duration,
}

/// Who this run is, towards the command.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The same for all attempts of a run: usable as an idempotency key.
    pub run_id: String,
}

/// Runs the command until it succeeds, or until running it again is of no use or not allowed. What was
/// kept of the last attempt's output is printed on every way out.
pub fn run(
    plan: &Plan,
    identity: &Identity,
    host: &mut impl Host,
    rng: &mut impl Rng,
    observer: &mut impl Observer,
) -> Result<Exit, Cut> {
    let result = attempts(plan, identity, host, rng, observer);
    if result.is_err() {
        // Prints nothing where it has begun already.
        host.release(false)?;
    }
    result
}

fn attempts(
    plan: &Plan,
    identity: &Identity,
    host: &mut impl Host,
    rng: &mut impl Rng,
    observer: &mut impl Observer,
) -> Result<Exit, Cut> {
    let mut session = Session::new(&plan.limits, &plan.delays, &plan.classes);
    let mut last: Option<(Outcome, Verdict)> = None;
    let mut shared = plan.budget.as_ref();
    // A retry is counted when it is granted.
    let mut counted = false;
    if !plan.effective.is_empty() {
        let moment = Moment {
            attempt: 1,
            total: 0,
            elapsed: host.elapsed(),
        };
        tell(host, observer, moment, &Event::Settings(&plan.effective))?;
    }
    host.wait(plan.initial_delay.saturating_add(splay(plan.splay, rng)))?;
    if !cooled_off(plan, &session, &mut shared, host, rng, observer)? {
        return Ok(exit::no_attempt_in_time(plan.overrides));
    }
    let began = host.elapsed();
    loop {
        let mut moment = Moment {
            attempt: session.attempt(),
            total: session.total() + 1,
            elapsed: host.elapsed(),
        };
        if session.passes_deadline(moment.elapsed, Duration::ZERO) {
            moment.total -= 1;
            return too_late(plan, host, observer, moment, last.as_ref());
        }
        if !counted {
            shared::ask(&mut shared, host, observer, moment, Question::Attempt)?;
        }
        tell(host, observer, moment, &Event::Started)?;
        let variables = of_attempt(plan, identity, &moment, began, last.as_ref());
        let order = Order {
            bounds: &plan.bounds,
            deadline: plan.limits.deadline,
            variables,
        };
        let Attempt { outcome, interrupted } = host.attempt(&order)?;
        moment.elapsed = host.elapsed();

        if let Some(signal) = interrupted {
            host.release(outcome.end == End::Exited(0))?;
            tell(host, observer, moment, &Event::Interrupted(signal))?;
            return Ok(exit::as_it_ended(&outcome.end));
        }
        if outcome.seen.reader_gone && outcome.end == End::Exited(0) {
            // It has said all it had to say into backoff's pipe; bare, it would have died of that.
            return Err(Cut::Interrupted(Signal::PIPE));
        }
        let verdict = match (plan.classifier.judge(&outcome), &plan.retry_if) {
            (Verdict::Ask(reason), Some(shell)) => {
                let variables = of_predicate(&order, &outcome, &reason);
                let bounds = Bounds {
                    timeout: None,
                    idle: None,
                    ..plan.bounds.clone()
                };
                let order = Order {
                    variables,
                    bounds: &bounds,
                    ..order
                };
                answered(reason, &host.ask(shell, &order)?)?
            }
            (verdict, _) => verdict,
        };
        moment.elapsed = host.elapsed();
        let mut decision = session.next(&outcome, &verdict, moment.elapsed, rng);
        let mut owed = None;
        if let Decision::Retry(delay) = decision
            && let Some(answer) = shared::ask(&mut shared, host, observer, moment, Question::Retry)?
            && !answer.allowed
        {
            decision = Decision::Stop(Stop::GaveUp(GiveUp::Budget(answer.counts)));
            owed = Some(delay);
        }
        counted = matches!(decision, Decision::Retry(_));
        match decision {
            Decision::Stop(stop) => {
                let owed = || owed.unwrap_or_else(|| session.owed(&outcome, rng));
                if let Some(word) = shared::last_word(stop, &verdict, owed) {
                    shared::ask(&mut shared, host, observer, moment, word)?;
                }
                let event = match stop {
                    Stop::Succeeded { flaky } => Event::Succeeded { flaky },
                    Stop::GaveUp(why) => Event::GaveUp {
                        why,
                        outcome: &outcome,
                        verdict: &verdict,
                    },
                };
                host.release(matches!(stop, Stop::Succeeded { .. }))?;
                tell(host, observer, moment, &event)?;
                return Ok(exit::status(stop, &outcome.end, plan.overrides));
            }
            Decision::Confirm(delay) => {
                tell(host, observer, moment, &Event::Confirming { delay })?;
                host.wait(delay)?;
            }
            Decision::Retry(delay) => {
                if plan.nesting.warn && session.retries() == 1 {
                    tell(host, observer, moment, &Event::Nested(plan.nesting))?;
                }
                // --reset-after may have started the count again with this attempt.
                moment.attempt = session.attempt() - 1;
                tell(
                    host,
                    observer,
                    moment,
                    &Event::Retrying {
                        outcome: &outcome,
                        verdict: &verdict,
                        delay,
                    },
                )?;
                host.wait(delay)?;
            }
        }
        last = Some((outcome, verdict));
    }
}

/// Waits out what an earlier run left to wait. False if that would pass the deadline.
fn cooled_off(
    plan: &Plan,
    session: &Session<'_>,
    shared: &mut Shared<'_>,
    host: &mut impl Host,
    rng: &mut impl Rng,
    observer: &mut impl Observer,
) -> Result<bool, Cut> {
    if !plan.budget.as_ref().is_some_and(|budget| budget.cool_off) {
        return Ok(true);
    }
    let moment = Moment {
        attempt: 1,
        total: 0,
        elapsed: host.elapsed(),
    };
    let answer = shared::ask(shared, host, observer, moment, Question::CoolOff)?;
    let left = answer.map_or(Duration::ZERO, |answer| answer.cool_off);
    if left.is_zero() {
        return Ok(true);
    }
    // Random upwards only: many runs may have been told the same.
    let wait = plan.delays.at_least(left, left / 4, rng);
    if session.passes_deadline(host.elapsed(), wait) {
        tell(host, observer, moment, &Event::NoTime { cool_off: Some(wait) })?;
        return Ok(false);
    }
    tell(host, observer, moment, &Event::CoolingOff(wait))?;
    host.wait(wait)?;
    Ok(true)
}

/// backoff was stopped (Ctrl-Z) while it waited, for longer than the deadline allows.
fn too_late(
    plan: &Plan,
    host: &mut impl Host,
    observer: &mut impl Observer,
    moment: Moment,
    last: Option<&(Outcome, Verdict)>,
) -> Result<Exit, Cut> {
    let why = GiveUp::Deadline;
    host.release(false)?;
    let Some((outcome, verdict)) = last else {
        tell(host, observer, moment, &Event::NoTime { cool_off: None })?;
        return Ok(exit::no_attempt_in_time(plan.overrides));
    };
    tell(host, observer, moment, &Event::GaveUp { why, outcome, verdict })?;
    Ok(exit::status(Stop::GaveUp(why), &outcome.end, plan.overrides))
}

fn tell(host: &mut impl Host, observer: &mut impl Observer, moment: Moment, event: &Event<'_>) -> Result<(), Cut> {
    match observer.line(&moment, event) {
        Some(line) => host.say(&line),
        None => Ok(()),
    }
}

/// What the answer of `--retry-if` means: 0 is transient, 1 permanent, anything else an error of the
/// predicate, which is told and counts as permanent.
fn answered(reason: Reason, answer: &Attempt) -> Result<Verdict, Cut> {
    if let Some(signal) = answer.interrupted {
        return Err(Cut::Interrupted(signal));
    }
    let rule = Why::Rule("--retry-if".to_owned());
    Ok(match &answer.outcome.end {
        End::Exited(0) => Verdict::Transient(Reason { why: rule, ..reason }),
        End::Exited(1) => Verdict::Permanent(Reason { why: rule, ..reason }),
        end => Verdict::Permanent(Reason {
            why: Why::PredicateFailed(end.to_string()),
            ..reason
        }),
    })
}

/// Uniform in [0, most].
fn splay(most: Duration, rng: &mut impl Rng) -> Duration {
    if most.is_zero() {
        return most;
    }
    let most = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(rng.random_range(0..=most))
}
