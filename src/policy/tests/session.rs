use std::collections::BTreeMap;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::Xoshiro256PlusPlus;

use super::*;
use crate::policy::classifier::{Reason, Why};
use crate::policy::delay::Jitter;
use crate::policy::outcome::{End, StartFailure, TimeLimit};
use crate::policy::test_samples::*;

/// Returns a session's decisions on verdicts, each with the running time of its attempt.
fn decisions(limits: &Limits, delays: &Delays, attempts: &[(Verdict, Duration)]) -> Vec<Decision> {
    let mut session = Session::new(limits, delays);
    let mut elapsed = Duration::ZERO;
    let mut rng = seeded(10);
    let mut decisions = Vec::new();
    for (verdict, ran) in attempts {
        elapsed += *ran;
        session.begin();
        let decision = session.decide_next(&failed(*ran), verdict, elapsed, &mut rng);
        decisions.push(decision);
        match decision {
            Decision::Stop(_) => break,
            Decision::Retry(wait) | Decision::Confirm(wait) => elapsed += wait,
        }
    }
    decisions
}

/// Returns the decisions with waits of 1 s, 2 s, 4 s and so on.
fn decided(limits: &Limits, attempts: &[(Verdict, Duration)]) -> Vec<Decision> {
    decisions(limits, &plain_doubling(), attempts)
}

const fn gave_up(why: GiveUp) -> Decision {
    Decision::Stop(Stop::GaveUp(why))
}

#[test]
fn each_limit_ends_a_run() {
    let unlimited = Limits::UNLIMITED;
    let all = |verdict: Verdict| vec![(verdict, ms(1)); 5];
    let retry = |n| Decision::Retry(s(n));
    let limits = Limits {
        attempts: Some(3),
        ..unlimited
    };
    assert_eq!(
        decided(&limits, &all(PERMANENT)),
        [gave_up(GiveUp::Permanent)]
    );
    let waits = [retry(1), retry(2)];
    assert_eq!(
        decided(&limits, &all(TRANSIENT)),
        [&waits[..], &[gave_up(GiveUp::Attempts)]].concat()
    );
    let limits = Limits {
        leave_to_outer: true,
        ..unlimited
    };
    assert_eq!(decided(&limits, &all(TRANSIENT)), [gave_up(GiveUp::Nested)]);
    let limits = Limits {
        stop_at_delay: Some(s(4)),
        ..unlimited
    };
    assert_eq!(
        decided(&limits, &all(TRANSIENT)),
        [&waits[..], &[gave_up(GiveUp::Delay)]].concat()
    );
    let limits = Limits {
        deadline: Some(s(4)),
        ..unlimited
    };
    assert_eq!(
        decided(&limits, &all(TRANSIENT)),
        [&waits[..], &[gave_up(GiveUp::Deadline)]].concat()
    );
    let succeeded = |flaky| Decision::Stop(Stop::Succeeded { flaky });
    assert_eq!(
        decided(&unlimited, &all(Verdict::Success)),
        [succeeded(false)]
    );
    let late = [(TRANSIENT, ms(1)), (Verdict::Success, ms(1))];
    assert_eq!(decided(&unlimited, &late), [retry(1), succeeded(true)]);
}

#[test]
fn a_long_attempt_starts_growth_and_count_again() {
    let limits = Limits {
        attempts: Some(3),
        reset_after: Some(s(60)),
        ..Limits::UNLIMITED
    };
    let attempts = [ms(1), ms(1), s(60), ms(1), ms(59_999), ms(1)].map(|ran| (TRANSIENT, ran));
    let waits = [1, 2, 1, 2].map(|n| Decision::Retry(s(n)));
    let [w1, w2, w3, w4] = waits;
    // The third attempt is the last one allowed, but runs long enough for a reset. The fourth and fifth do not.
    assert_eq!(
        decided(&limits, &attempts),
        [w1, w2, w3, w4, gave_up(GiveUp::Attempts)]
    );
}

#[test]
fn a_command_that_is_not_idempotent_is_retried_only_if_safe() {
    let limits = Limits {
        attempts: Some(2),
        idempotent: false,
        ..Limits::UNLIMITED
    };
    let safe = Verdict::Transient(Reason {
        is_safe_to_repeat: true,
        ..reason(Why::Default)
    });
    let decided = |verdicts: &[&Verdict]| {
        let attempts: Vec<_> = verdicts
            .iter()
            .map(|verdict| ((*verdict).clone(), ms(1)))
            .collect();
        decided(&limits, &attempts)
    };
    let retry = Decision::Retry(s(1));
    assert_eq!(decided(&[&safe, &safe]), [retry, gave_up(GiveUp::Attempts)]);
    assert_eq!(
        decided(&[&safe, &TRANSIENT]),
        [retry, gave_up(GiveUp::NotIdempotent)]
    );
    assert_eq!(decided(&[&PERMANENT]), [gave_up(GiveUp::Permanent)]);
    // The command may have taken effect, even if the deadline ended the attempt or the attempt limit is reached.
    let ended = Outcome::new(End::TimedOut(TimeLimit::Deadline), ms(1));
    let delays = plain_doubling();
    let mut session = Session::new(&limits, &delays);
    let decision = session.decide_next(&ended, &TRANSIENT, ms(1), &mut seeded(1));
    assert_eq!(decision, gave_up(GiveUp::NotIdempotent));
}

#[test]
fn a_requested_wait_is_granted_up_to_its_limit() {
    let asks = |wait| {
        let mut outcome = failed(ms(1));
        outcome.seen.wait_asked = Some(wait);
        outcome
    };
    let delays = plain_doubling();
    let mut rng = seeded(14);
    let limits = Limits {
        max_retry_after: Some(s(60)),
        asked_is_exact: true,
        ..Limits::UNLIMITED
    };
    let mut session = Session::new(&limits, &delays);
    let mut next = |outcome: &Outcome| {
        let decision = session.decide_next(outcome, &TRANSIENT, ms(1), &mut rng);
        ((decision, session.retries), session.is_wait_asked)
    };
    assert_eq!(next(&failed(ms(1))), ((Decision::Retry(s(1)), 1), false));
    assert_eq!(next(&asks(s(60))), ((Decision::Retry(s(60)), 2), true));
    // The drawn waits have grown meanwhile.
    assert_eq!(next(&asks(ms(1))), ((Decision::Retry(s(4)), 3), false));
    assert_eq!(next(&asks(s(8))), ((Decision::Retry(s(8)), 4), false));
    let too_long = asks(s(60) + Duration::from_nanos(1));
    assert_eq!(next(&too_long).0, (gave_up(GiveUp::RetryAfterTooLong), 4));

    let mut deaf = Session::new(&Limits::UNLIMITED, &delays);
    let decision = deaf.decide_next(&asks(s(60)), &TRANSIENT, ms(1), &mut rng);
    assert_eq!(decision, Decision::Retry(s(1)));
    let never = Limits {
        until: Until::Never,
        ..limits
    };
    let mut cutting = Session::new(&never, &delays);
    let decision = cutting.decide_next(&too_long, &TRANSIENT, ms(1), &mut rng);
    assert_eq!(decision, Decision::Retry(s(60)));
    let limits = Limits {
        asked_is_exact: false,
        ..limits
    };
    let mut jittered = Session::new(&limits, &delays);
    let decision = jittered.decide_next(&asks(s(60)), &TRANSIENT, ms(1), &mut Always(u64::MAX));
    assert!(
        matches!(decision, Decision::Retry(wait) if wait > s(60)),
        "{decision:?}"
    );
    // A wait that the output of a success asks for is ignored.
    let limits = Limits {
        until: Until::Never,
        ..limits
    };
    let mut unasked = Session::new(&limits, &delays);
    for (outcome, verdict, is_asked) in [
        (asks(s(60)), &TRANSIENT, true),
        (asks(s(60)), &Verdict::Success, false),
    ] {
        unasked.decide_next(&outcome, verdict, ms(1), &mut rng);
        assert_eq!(unasked.is_wait_asked, is_asked);
    }
}

/// Asserts that a failed start or unread output is not the failure that `--until failure` waits for.
#[test]
fn an_attempt_that_says_nothing_about_the_command_ends_the_run() {
    let (not_found, message) = (true, String::new());
    let not_started = Outcome::new(End::NotStarted(StartFailure { not_found, message }), ms(1));
    let mut unread = failed(ms(1));
    unread.seen.reader_gone = true;
    let cut_off = Verdict::Permanent(reason(Why::NotRead));
    for until in [Until::Failure, Until::Never] {
        let limits = Limits {
            until,
            ..Limits::UNLIMITED
        };
        for (outcome, verdict) in [
            (&not_started, &PERMANENT),
            (&unread, &PERMANENT),
            (&failed(ms(1)), &cut_off),
        ] {
            let delays = plain_doubling();
            let decision =
                Session::new(&limits, &delays).decide_next(outcome, verdict, ms(1), &mut seeded(1));
            assert_eq!(decision, gave_up(GiveUp::Permanent), "{outcome:?}");
        }
    }
    assert_eq!(Stop::GaveUp(GiveUp::Stdin).gave_up(), Some(GiveUp::Stdin));
    assert_eq!(Stop::FailureCame.gave_up(), None);
}

/// Asserts that a success whose output lost its reader ends a run with its own result, unless the goal is a failure.
#[test]
fn a_success_without_a_reader_is_not_the_failure_that_was_looked_for() {
    let mut unread = failed(ms(1));
    unread.seen.reader_gone = true;
    let succeeded = Decision::Stop(Stop::Succeeded { flaky: false });
    for (until, consecutive, end) in [
        (Until::Success, 1, succeeded),
        (Until::Never, 1, succeeded),
        (Until::Failure, 1, gave_up(GiveUp::Permanent)),
        (Until::Failure, 2, gave_up(GiveUp::Permanent)),
    ] {
        let limits = Limits {
            until,
            consecutive,
            ..Limits::UNLIMITED
        };
        let delays = plain_doubling();
        let mut session = Session::new(&limits, &delays);
        let decision = session.decide_next(&unread, &Verdict::Success, ms(1), &mut seeded(1));
        assert_eq!(decision, end, "{until:?}");
    }
}

/// A model of a session with its own state.
struct Model<'a> {
    limits: &'a Limits,
    delays: &'a Delays,
    attempt: u64,
    retry: u64,
    successes_in_a_row: u64,
    has_failed: bool,
    elapsed: Duration,
    previous: Option<Duration>,
}

impl Model<'_> {
    fn takes_in(&mut self, outcome: &Outcome, verdict: &Verdict) {
        let succeeded = *verdict == Verdict::Success;
        self.elapsed += outcome.ran;
        self.successes_in_a_row = if succeeded {
            self.successes_in_a_row + 1
        } else {
            0
        };
        self.has_failed |= !succeeded;
        let is_healthy = self
            .limits
            .reset_after
            .is_some_and(|healthy| outcome.ran >= healthy);
        let may_go_on = (self.limits.idempotent || succeeded) && !self.limits.leave_to_outer;
        let may_reset = !succeeded || self.limits.until == Until::Never;
        if self.goes_on(verdict) && may_go_on && may_reset && is_healthy {
            (self.attempt, self.retry, self.previous) = (1, 0, None);
        }
        if succeeded && self.limits.until == Until::Never {
            (self.retry, self.previous) = (0, None);
        }
    }

    /// Returns true if another attempt follows this verdict, unless a limit forbids it.
    fn goes_on(&self, verdict: &Verdict) -> bool {
        match self.limits.until {
            Until::Success => *verdict == TRANSIENT,
            Until::Failure => *verdict == Verdict::Success,
            Until::Never => true,
        }
    }

    /// Checks that the decision is allowed and returns its kind.
    fn checks(&mut self, outcome: &Outcome, verdict: &Verdict, decision: Decision) -> &'static str {
        let (limits, delays) = (self.limits, self.delays);
        let succeeded = *verdict == Verdict::Success;
        let out_of_time = outcome.end == End::TimedOut(TimeLimit::Deadline);
        let is_last = limits.attempts == Some(self.attempt);
        let elapsed = self.elapsed;
        let passes =
            |limit: Option<Duration>, wait| limit.is_some_and(|limit| elapsed + wait >= limit);
        let too_late = |wait| passes(limits.deadline, wait) || passes(limits.stop_after, wait);
        let stops = limits
            .stop_at_delay
            .is_some_and(|stop| delays.unjittered(self.retry) >= stop);
        let next = delays.distribution(self.retry, self.previous);
        let goes_on = self.goes_on(verdict);
        let is_allowed = limits.idempotent || succeeded;
        let may_go_on = goes_on && is_allowed && !limits.leave_to_outer && !out_of_time;
        let confirms = succeeded && limits.until == Until::Success;
        if let Decision::Stop(Stop::EndedOnSuccess(_) | Stop::GaveUp(_)) = decision {
            let is_end = limits.until == Until::Never && succeeded;
            assert_eq!(
                matches!(decision, Decision::Stop(Stop::EndedOnSuccess(_))),
                is_end
            );
        }
        match decision {
            Decision::Retry(wait) => {
                assert!(may_go_on && !is_last && !stops && !too_late(wait));
                assert!(next.least() <= wait && wait <= next.most());
                (self.attempt, self.retry, self.previous) =
                    (self.attempt + 1, self.retry + 1, Some(wait));
                self.elapsed += wait;
                "retry"
            }
            Decision::Confirm(wait) => {
                assert!(
                    confirms
                        && self.successes_in_a_row < limits.consecutive
                        && !is_last
                        && !too_late(wait)
                );
                assert!(!limits.leave_to_outer);
                assert_eq!(wait, delays.base);
                self.attempt += 1;
                self.elapsed += wait;
                "confirm"
            }
            Decision::Stop(Stop::Succeeded { flaky }) => {
                assert!(confirms && flaky == self.has_failed);
                assert!(self.successes_in_a_row == limits.consecutive || limits.leave_to_outer);
                "succeeded"
            }
            Decision::Stop(Stop::FailureCame) => {
                assert!(limits.until == Until::Failure && !succeeded && !out_of_time);
                "failure"
            }
            Decision::Stop(Stop::EndedOnSuccess(why) | Stop::GaveUp(why)) => match why {
                GiveUp::Permanent => {
                    assert!(*verdict == PERMANENT && limits.until == Until::Success);
                    "permanent"
                }
                GiveUp::Nested => {
                    assert!((goes_on || out_of_time) && limits.leave_to_outer && is_allowed);
                    "nested"
                }
                GiveUp::NotIdempotent => {
                    assert!((goes_on || out_of_time) && !is_allowed);
                    "not idempotent"
                }
                GiveUp::Attempts => {
                    assert!(is_last && (confirms || may_go_on));
                    "attempts"
                }
                GiveUp::Delay => {
                    assert!(may_go_on && !is_last && stops);
                    "delay"
                }
                GiveUp::Deadline => {
                    let longest = if confirms { delays.base } else { next.most() };
                    assert!(out_of_time || passes(limits.deadline, longest));
                    "deadline"
                }
                GiveUp::StopAfter => {
                    let longest = if confirms { delays.base } else { next.most() };
                    assert!(passes(limits.stop_after, longest));
                    "stop after"
                }
                // Random attempts request no wait and use no budget or standard input.
                GiveUp::RetryAfterTooLong
                | GiveUp::Budget { .. }
                | GiveUp::StoreDown
                | GiveUp::Stdin => {
                    unreachable!("{why:?}")
                }
            },
        }
    }
}

fn any_limits(rng: &mut Xoshiro256PlusPlus) -> Limits {
    let maybe = |rng: &mut Xoshiro256PlusPlus, most: u64| {
        rng.random_bool(0.5).then(|| ms(rng.random_range(1..=most)))
    };
    Limits {
        until: [Until::Success, Until::Failure, Until::Never][rng.random_range(0..3)],
        max_retry_after: None,
        asked_is_exact: false,
        idempotent: rng.random_bool(0.9),
        attempts: rng.random_bool(0.7).then(|| rng.random_range(1..=6)),
        deadline: maybe(rng, 60_000),
        stop_after: maybe(rng, 60_000),
        stop_at_delay: maybe(rng, 60_000),
        reset_after: maybe(rng, 4000),
        consecutive: rng.random_range(1..=3),
        leave_to_outer: rng.random_bool(0.1),
    }
}

fn any_attempt(limits: &Limits, rng: &mut Xoshiro256PlusPlus) -> (Outcome, Verdict) {
    let verdict = match rng.random_range(0..10) {
        0..=2 => Verdict::Success,
        3 => PERMANENT,
        _ => TRANSIENT,
    };
    let out_of_time = verdict == TRANSIENT && limits.deadline.is_some() && rng.random_bool(0.05);
    let ran = ms(rng.random_range(0..5000));
    let outcome = if out_of_time {
        Outcome::new(End::TimedOut(TimeLimit::Deadline), ran)
    } else {
        failed(ran)
    };
    (outcome, verdict)
}

/// Asserts over thousands of random runs that each decision is allowed, and that each kind occurs.
#[test]
fn a_session_keeps_its_limits_whatever_happens() {
    let mut rng = seeded(11);
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for _ in 0..5000 {
        let limits = any_limits(&mut rng);
        let jitter = [
            Jitter::None,
            Jitter::Full,
            Jitter::Decorrelated { factor: 3.0 },
        ][rng.random_range(0..3)];
        let delays = exponential(ms(rng.random_range(0..2000)), 2.0, s(30), jitter);
        let mut session = Session::new(&limits, &delays);
        let mut model = Model {
            limits: &limits,
            delays: &delays,
            attempt: 1,
            retry: 0,
            successes_in_a_row: 0,
            has_failed: false,
            elapsed: Duration::ZERO,
            previous: None,
        };
        for total in 1..=12 {
            session.begin();
            assert_eq!([session.attempt, session.total], [model.attempt, total]);
            let (outcome, verdict) = any_attempt(&limits, &mut rng);
            model.takes_in(&outcome, &verdict);
            let decision = session.decide_next(&outcome, &verdict, model.elapsed, &mut rng);
            *seen
                .entry(model.checks(&outcome, &verdict, decision))
                .or_default() += 1;
            match decision {
                Decision::Retry(_) | Decision::Confirm(_) => {}
                Decision::Stop(_) => break,
            }
        }
    }
    assert!(
        seen.len() == 11 && seen.values().all(|count| *count > 50),
        "{seen:?}"
    );
}
