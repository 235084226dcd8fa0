use super::*;

/// Waits until the condition is true: a child that another test forks has all descriptors until its exec.
fn eventually(condition: impl Fn() -> bool) -> bool {
    (0..1000).any(|_| {
        let is_true = condition();
        if !is_true {
            nix::poll::poll(&mut [], 10_u16).unwrap();
        }
        is_true
    })
}

fn is_at_its_end(master: BorrowedFd<'_>) -> bool {
    ready(master, PollFlags::POLLIN).is_ok_and(|events| events.contains(PollFlags::POLLHUP))
}

#[test]
fn the_terminal_stays_until_it_is_released() {
    let OpenPty {
        mut pty,
        output,
        child,
    } = Pty::open(false, Vec::new()).unwrap();
    write(child.output.as_ref().unwrap(), b"last words").unwrap();
    drop(child);
    pty.stop_forwarding();
    assert!(pty.is_held() && !is_at_its_end(output.as_fd()));
    let mut bytes = [0; 64];
    assert_eq!(read(&output, &mut bytes), Ok(10));
    pty.release();
    assert!(!pty.is_held() && eventually(|| is_at_its_end(output.as_fd())));
}

#[test]
fn a_hang_up_closes_both_ends() {
    let opened = Pty::open(false, Vec::new()).unwrap();
    let slave = opened.child.output.unwrap();
    let mut pty = opened.pty;
    drop(opened.output);
    pty.hang_up();
    assert!(!pty.is_held());
    assert!(eventually(|| crate::process::sys::system::has_hung_up(
        slave.as_fd()
    )));
}
