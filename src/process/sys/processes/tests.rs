use super::*;

#[test]
fn a_name_may_hold_anything() {
    let stat = b"42 (a) S 1 (b)) Z 7 8 9 34818 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 0 0";
    let expected = Process {
        pid: 42,
        parent: 7,
        group: 8,
        started: 123_456,
        is_zombie: true,
        is_stopped: false,
    };
    assert_eq!(parse(42, stat), Some(expected));
    // Its main thread has ended, and two others go on.
    let stat = b"42 (a) Z 7 8 9 34818 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 123456 0 0";
    assert!(!parse(42, stat).unwrap().is_zombie);
    for stat in [
        &b""[..],
        b"1 (x",
        b"1 (x) S",
        b"1 (x) S a b c",
        b"1 (\xff) \xff",
    ] {
        assert_eq!(parse(1, stat), None);
    }
}

#[test]
fn this_process_and_its_child_are_seen() {
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let (own, pid) = (std::process::id().cast_signed(), child.id().cast_signed());
    let seen = processes()
        .unwrap()
        .into_iter()
        .find(|process| process.pid == pid);
    let alone = read_process(pid);
    child.kill().unwrap();
    child.wait().unwrap();
    let seen = seen.unwrap();
    assert_eq!(
        (seen.parent, seen.is_zombie, seen.is_stopped),
        (own, false, false)
    );
    assert!(alone.is_some_and(|process| process.is_same(&seen)));
    assert_eq!(read_process(pid), None);
}
