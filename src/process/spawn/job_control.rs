//! Job control for a command that leads a session of its own.
//!
//! The kernel lets TSTP, TTIN and TTOU stop a process group only where somebody is there to continue it: one of its
//! members has a parent in another group of the same session, as a shell is. So a parent of this kind and a member of this
//! kind are made, which do nothing but wait for the end of the attempt.

use std::io::PipeWriter;
use std::os::fd::BorrowedFd;

use nix::libc;
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, close, dup2_stdin, getpid, read, setpgid, write};

use crate::policy::signal::Signal;
use crate::process::signals::disposition;
use crate::process::sys::current::{Target, exit_now, send};
use crate::process::sys::fd::inherited;
use crate::process::sys::stdio;

/// Where not all descriptors above one can be closed in a single call.
const MOST_DESCRIPTORS: i32 = 65_536;

/// Lets the group of this process, which leads its session, be stopped. `until` is a pipe that nobody ever writes into, and
/// whose other end backoff alone holds. All signals are blocked.
pub(super) fn make_stoppable(until: BorrowedFd<'_>) {
    let leader = getpid();
    let between = fork();
    if between == 0 {
        // It ends, or the command would have a child that it did not start; but not before all is done.
        if let Ok((done, stand_in_writes)) = std::io::pipe() {
            if fork() == 0 {
                stand_in(leader, until, stand_in_writes);
            }
            drop(stand_in_writes);
            let _ = read(done, &mut [0]);
        }
        exit_now(0);
    }
    if between > 0 {
        let _ = waitpid(Pid::from_raw(between), None);
        // Its end is no news for the command: what waits is dropped.
        disposition::set_default(libc::SIGCHLD);
    }
}

/// In place of the shell.
fn stand_in(leader: Pid, until: BorrowedFd<'_>, done: PipeWriter) -> ! {
    let own = Pid::from_raw(0);
    let _ = setpgid(own, own);
    let member = fork();
    if member > 0 {
        let _ = setpgid(Pid::from_raw(member), leader);
        let _ = write(done, &[0]);
    }
    wait_for_the_end(until);
    if member > 0 {
        // It may be stopped, as the rest of its group, and would not see the end.
        send(Target::Process(member), Signal::KILL);
        let _ = waitpid(Pid::from_raw(member), None);
    }
    exit_now(0)
}

/// Holds nothing open meanwhile whose end somebody waits for.
fn wait_for_the_end(until: BorrowedFd<'_>) {
    if dup2_stdin(until).is_ok() {
        close_all_above_standard_input();
        let _ = read(inherited(stdio::IN), &mut [0]);
    }
}

fn close_all_above_standard_input() {
    #[cfg(not(portable))]
    {
        // SAFETY: two numbers of descriptors, which nobody in this process uses any more, and no flags.
        let result = unsafe { libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0) };
        if result == 0 {
            return;
        }
    }
    for fd in 1..MOST_DESCRIPTORS {
        let _ = close(fd);
    }
}

/// A copy of this process, past the C library, whose state another thread may be changing.
fn fork() -> libc::pid_t {
    #[cfg(not(portable))]
    // SAFETY: the copy has its own memory, and does async-signal-safe calls only.
    unsafe {
        libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t
    }
    #[cfg(portable)]
    // SAFETY: the copy does async-signal-safe calls only.
    unsafe {
        libc::fork()
    }
}
