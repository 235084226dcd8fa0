//! Replacements for Linux's own calls, which `linux.rs` explains, on other systems.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{BorrowedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc::{self, siginfo_t};
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::signal::Signal;
use nix::sys::termios::tcgetattr;
use nix::unistd::ttyname;

use super::fd::{inherited, open_for_output, ready};
use super::origin::Senders;
use super::processes::Process;
use super::temporary::{unnamed, unnamed_in};
use crate::policy::signal;

pub(crate) const PATH_ONLY: OFlag = OFlag::O_RDONLY;

/// The BSDs mark what the kernel sends.
pub(crate) const SENDERS: Senders = if cfg!(target_os = "macos") {
    Senders::Unmarked
} else {
    Senders::Marked
};

/// Returns SIGINFO, by which Ctrl-T asks the foreground group for its status. All systems that have it use
/// this number.
pub(crate) fn status_key_signal() -> Option<signal::Signal> {
    const SIGINFO: i32 = 29;
    signal::Signal::from_number(SIGINFO)
}

/// Polls with a timeout that is rounded up to milliseconds. Returns how many descriptors have events, 0 once the time is
/// up. May return early from a wait of weeks, which the caller then repeats.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> nix::Result<i32> {
    nix::poll::poll(fds, in_milliseconds(timeout))
}

/// Converts a timeout to milliseconds, rounded up, as a wait that ended early would be repeated again and again without
/// sleep. None waits without limit. A time that is too long becomes the longest that `poll` takes, about 25 days.
fn in_milliseconds(timeout: Option<Duration>) -> PollTimeout {
    timeout.map_or(PollTimeout::NONE, |timeout| {
        let milliseconds = timeout.as_nanos().div_ceil(1_000_000);
        PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
    })
}

pub(crate) fn poll_now(fds: &mut [PollFd<'_>]) -> nix::Result<i32> {
    poll(fds, Some(Duration::ZERO))
}

#[derive(Debug)]
pub(crate) struct Adoption;

impl Adoption {
    pub(crate) fn begin() -> Adoption {
        Adoption
    }
}

/// There is no such signal: if backoff is killed by KILL, the command runs on.
pub(crate) fn set_death_signal(_parent: u32, _signal: Signal) -> bool {
    true
}

/// There is no such setting: the limit on the size of a core has to do.
pub(crate) fn forbid_core() {}

/// Returns true if the kernel sent a signal by itself, as far as the system shows that: the terminal and timers have no
/// sender. If in doubt true, as the sender is then not known.
pub(crate) fn is_from_kernel(info: &siginfo_t, sender: libc::pid_t) -> bool {
    // Linux's. FreeBSD has another number, and no sender.
    const SI_KERNEL: i32 = 0x80;
    // On macOS all pending signals share one record: it may be about a child that has changed state and sent nothing.
    let is_about_child = (libc::CLD_EXITED..=libc::CLD_CONTINUED).contains(&info.si_code);
    info.si_code == SI_KERNEL || sender == 0 || is_about_child
}

/// Returns true if a terminal was closed or lost its line; false for what is no terminal. On macOS the calls of a
/// terminal that was taken away from the session fail with one of several errors. If only the other end of a
/// pseudo-terminal was closed they succeed, and `poll` shows it.
pub(crate) fn has_hung_up(terminal: BorrowedFd<'_>) -> bool {
    match tcgetattr(terminal) {
        Ok(_) => ready(terminal, PollFlags::POLLOUT)
            .is_ok_and(|events| events.contains(PollFlags::POLLHUP)),
        // Other errors tell that it is no terminal: ENOTTY, of some devices ENODEV.
        Err(errno) => [Errno::EIO, Errno::ENXIO, Errno::EBADF].contains(&errno),
    }
}

/// There is no list of processes: a limit reaches the process group.
pub(crate) fn list() -> Option<Vec<Process>> {
    None
}

pub(crate) fn read_process(_pid: libc::pid_t) -> Option<Process> {
    None
}

pub(crate) fn program_name(_pid: libc::pid_t) -> Option<String> {
    None
}

/// Returns the most bytes that a write can take without blocking, once `poll` has found room.
pub(crate) fn room(_fd: BorrowedFd<'_>) -> usize {
    libc::PIPE_BUF
}

pub(crate) fn terminal_path() -> PathBuf {
    "/dev/tty".into()
}

/// There are no files without a name: the caller makes one with a name and removes the name.
pub(crate) fn unnamed_file(_directory: &Path, _mode: u32) -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

/// There are no files in memory: one without a name, in `/tmp` if the temporary directory cannot be used.
pub(crate) fn memory_file() -> io::Result<File> {
    unnamed().or_else(|_| unnamed_in(Path::new("/tmp")))
}

/// Reopens a terminal for writing, as a non-blocking description of our own: others share the caller's. Returns None,
/// so that writes have to take care not to block, if that cannot be done: always for a pipe, as only a terminal has
/// a name to open; opening `/dev/fd/N` would return the same description.
pub(crate) fn reopen(fd: RawFd) -> Option<File> {
    let name = ttyname(inherited(fd)).ok()?;
    // `/dev/tty` depends on the process, and macOS cannot poll it; `/dev/ptmx` creates a new terminal.
    if ["tty", "ptmx"].iter().any(|alias| name.ends_with(alias)) {
        return None;
    }
    open_for_output(name).ok()
}

/// There is no such call: pipes stay as they are.
pub(crate) fn widen_pipe(_pipe: BorrowedFd<'_>, _size: i32) {}

/// There is no `tee(2)`: the caller reads input ahead of the command instead.
pub(crate) fn duplicate(
    _source: BorrowedFd<'_>,
    _target: BorrowedFd<'_>,
    _unread: usize,
    _limit: usize,
) -> nix::Result<usize> {
    Err(Errno::ENOSYS)
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, AsRawFd};

    use super::*;

    /// Returns the record of a signal.
    fn record(number: i32, code: i32) -> siginfo_t {
        // SAFETY: siginfo_t is plain data, for which zeroes are valid.
        let mut info: siginfo_t = unsafe { std::mem::zeroed() };
        info.si_signo = number;
        info.si_code = code;
        info
    }

    #[test]
    fn a_record_that_is_shared_names_no_sender() {
        let by_process = record(libc::SIGPIPE, 0);
        assert!(!is_from_kernel(&by_process, 4711) && is_from_kernel(&by_process, 0));
        // The end of child 4711 came before PIPE was delivered.
        let shared = record(libc::SIGPIPE, libc::CLD_EXITED);
        assert!(is_from_kernel(&shared, 4711));
    }

    #[test]
    fn a_terminal_has_hung_up_once_its_other_end_is_closed() {
        let terminal = nix::pty::openpty(None, None).unwrap();
        let slave = terminal.slave;
        assert!(!has_hung_up(slave.as_fd()));
        drop(terminal.master);
        assert!(has_hung_up(slave.as_fd()));
        let (pipe, _writer) = io::pipe().unwrap();
        assert!(!has_hung_up(pipe.as_fd()));
        let null = File::open("/dev/null").unwrap();
        assert!(!has_hung_up(null.as_fd()));
    }

    #[test]
    fn only_a_terminal_is_opened_again() {
        let (_reader, pipe) = io::pipe().unwrap();
        assert!(reopen(pipe.as_raw_fd()).is_none());
        let terminal = nix::pty::openpty(None, None).unwrap();
        assert!(reopen(terminal.slave.as_raw_fd()).is_some());
        assert!(reopen(terminal.master.as_raw_fd()).is_none());
    }
}
