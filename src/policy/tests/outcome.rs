use super::*;

#[test]
fn a_time_out_says_what_it_took() {
    let outcome = |which, limit, took_kill| Outcome {
        forced_end: ForcedEnd { limit, took_kill },
        ..Outcome::new(End::TimedOut(which), Duration::ZERO)
    };
    let limit = Some(Duration::from_millis(90_500));
    for (which, limit, took_kill, shown) in [
        (
            TimeLimit::Timeout,
            limit,
            false,
            "timed out (--timeout 1m30.5s)",
        ),
        (
            TimeLimit::Timeout,
            None,
            true,
            "timed out and needed SIGKILL",
        ),
        (
            TimeLimit::Idle,
            limit,
            true,
            "no output for 1m30.5s and needed SIGKILL (--idle-timeout)",
        ),
        (
            TimeLimit::Idle,
            Some(Duration::ZERO),
            false,
            "no output for 0 (--idle-timeout)",
        ),
        (TimeLimit::Idle, None, false, "no output for too long"),
        (TimeLimit::Deadline, None, false, "ended by the deadline"),
    ] {
        assert_eq!(outcome(which, limit, took_kill).to_string(), shown);
    }
}
