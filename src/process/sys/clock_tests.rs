use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn it_is_due_from_its_time_on() {
    let now = now();
    let deadline = Deadline::after(now, SECOND);
    assert!(
        !deadline.is_due(now) && deadline.is_due(now + SECOND) && deadline.is_due(now + 2 * SECOND)
    );
    assert_eq!(deadline.left(now), Some(SECOND));
    assert_eq!(deadline.left(now + 2 * SECOND), Some(Duration::ZERO));
}

#[test]
fn a_pause_puts_it_off() {
    let now = now();
    let mut deadline = Deadline::after(now, SECOND);
    deadline.put_off(SECOND);
    assert_eq!(deadline, Deadline::after(now, 2 * SECOND));
}

#[test]
fn never_is_never_due_and_stays_never() {
    let now = now();
    for mut never in [
        Deadline::NEVER,
        Deadline::maybe_after(now, None),
        Deadline::after(now, Duration::MAX),
    ] {
        never.put_off(SECOND);
        assert!(!never.is_set() && !never.is_due(now + 1000 * SECOND));
        assert_eq!(never.or_later(now), never);
        assert_eq!(never.left(now), None);
    }
}

#[test]
fn the_earlier_one_counts() {
    let now = now();
    let (soon, late) = (
        Deadline::after(now, SECOND),
        Deadline::after(now, 2 * SECOND),
    );
    assert_eq!(soon.or_earlier(late), soon);
    assert_eq!(late.or_earlier(soon), soon);
    assert_eq!(soon.or_later(now), soon);
    assert_eq!(soon.or_later(now + 2 * SECOND), late);
    assert_eq!(Deadline::NEVER.or_earlier(late), late);
    assert_eq!(late.or_earlier(Deadline::NEVER), late);
}
