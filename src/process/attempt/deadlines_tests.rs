use super::*;
use crate::policy::signal::Signal;
use crate::process::sys::clock;

const SECOND: Duration = Duration::from_secs(1);

fn attempt_limits() -> AttemptLimits {
    AttemptLimits {
        timeout: Some(5 * SECOND),
        idle: Some(60 * SECOND),
        signal: Signal::TERM,
        never_ignored: None,
        kill_after: Some(SECOND),
        kill_interrupted_after: None,
    }
}

#[test]
fn a_pause_counts_against_the_run_only() {
    let (attempt_limits, start) = (attempt_limits(), clock::now());
    let mut deadlines = Deadlines::new(&attempt_limits, start, Deadline::after(start, 7 * SECOND));
    deadlines.on_pause(10 * SECOND);
    assert_eq!(
        deadlines.reached_limit(start + 7 * SECOND),
        Some(TimeLimit::Deadline)
    );
    assert_eq!(deadlines.ran(start + 12 * SECOND), 2 * SECOND);
    let mut deadlines = Deadlines::new(&attempt_limits, start, Deadline::NEVER);
    deadlines.on_pause(10 * SECOND);
    assert_eq!(deadlines.reached_limit(start + 14 * SECOND), None);
    assert_eq!(
        deadlines.reached_limit(start + 15 * SECOND),
        Some(TimeLimit::Timeout)
    );
    deadlines.on_limit(TimeLimit::Timeout, start + 15 * SECOND);
    deadlines.on_pause(10 * SECOND);
    assert_eq!(deadlines.earliest(), Deadline::after(start, 26 * SECOND));
}

#[test]
fn kill_comes_after_what_was_sent_first() {
    let (attempt_limits, start) = (attempt_limits(), clock::now());
    let mut deadlines = Deadlines::new(&attempt_limits, start, Deadline::NEVER);
    deadlines.on_interruption(start);
    assert!(!deadlines.kill.is_set());
    deadlines.on_limit(TimeLimit::Timeout, start);
    assert_eq!(deadlines.earliest(), Deadline::after(start, SECOND));
    assert_eq!(deadlines.reached_limit(start + 9 * SECOND), None);
    assert!(!deadlines.take_kill(start));
    assert!(deadlines.take_kill(start + SECOND));
    assert!(!deadlines.take_kill(start + SECOND));
    // backoff gives up on a process that does not die of SIGKILL.
    assert_eq!(
        deadlines.earliest(),
        Deadline::after(start + SECOND, TREE_GRACE)
    );
    assert!(!deadlines.never_kills());
}

#[test]
fn nothing_is_given_up_before_the_kill_of_a_limit() {
    let attempt_limits = AttemptLimits {
        kill_interrupted_after: Some(SECOND),
        ..attempt_limits()
    };
    let start = clock::now();
    let mut deadlines = Deadlines::new(&attempt_limits, start, Deadline::NEVER);
    deadlines.on_interruption(start);
    assert!(deadlines.take_kill(start + SECOND));
    let give_up = Deadline::after(start + SECOND, TREE_GRACE);
    assert_eq!(deadlines.earliest(), give_up);
    // A second signal does not delay the end.
    deadlines.on_interruption(start + 2 * SECOND);
    assert_eq!(deadlines.earliest(), give_up);
    // A limit does, so that processes started since then have time to exit.
    deadlines.on_limit(TimeLimit::Timeout, start + 2 * SECOND);
    assert_eq!(
        deadlines.earliest(),
        Deadline::after(start + 3 * SECOND, Duration::ZERO)
    );
    assert!(!deadlines.give_up.is_set() && !deadlines.never_kills());
    assert!(deadlines.take_kill(start + 3 * SECOND));
    assert_eq!(
        deadlines.earliest(),
        Deadline::after(start + 3 * SECOND, TREE_GRACE)
    );
}
