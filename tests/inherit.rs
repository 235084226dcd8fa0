//! Environments and children that no console block can set up. Other tests are in `tests/cases/transparency.md`.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::util::process::is_alive;
use crate::util::{Live, eventually, shell};

tests! {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    entries_without_an_equals_sign_survive
    a_daemon_or_background_child_is_left_alone_and_not_waited_for
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn entries_without_an_equals_sign_survive() {
    use crate::util::{BIN, Ends, clean};

    // env(1) cannot create such an entry. execve (call 59) accepts any.
    let source = "my $e = pack('p p p Q', 'NOEQUALS', '=odd', 'A=1', 0); my @a = @ARGV; \
                  my $v = pack('p' x @a . 'Q', @a, 0); syscall(59, $a[0], $v, $e);";
    let environment = |wrapper: &[&str]| {
        let mut perl = clean("perl");
        perl.args(["-e", source])
            .args(wrapper)
            .args(["/bin/cat", "/proc/self/environ"]);
        perl.code(0).out()
    };
    assert_eq!(environment(&[]), "NOEQUALS\0=odd\0A=1\0");
    assert!(environment(&[*BIN]).starts_with("NOEQUALS\0=odd\0A=1\0"));
}

fn a_daemon_or_background_child_is_left_alone_and_not_waited_for() {
    let script = "backoff -- sh -c 'sleep 60 >/dev/null 2>&1 & echo $!'; backoff -- sh -c 'setsid sleep 60 & echo $!' | head -n 1";
    let mut live = Live::start(&mut shell(script));
    let daemons = [live.line(), live.line()].map(|line| line.parse().unwrap());
    eventually("backoff ends", || live.child.try_wait().unwrap().is_some());
    for daemon in daemons {
        assert!(is_alive(daemon));
        kill(Pid::from_raw(daemon), Signal::SIGKILL).unwrap();
    }
}
