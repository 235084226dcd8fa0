//! Waits by `select(2)` for descriptors of which `poll(2)` refuses one: macOS can select its `/dev/tty`, but not poll
//! it.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags};
use nix::sys::select::{FD_SETSIZE, FdSet, select};
use nix::sys::time::{TimeVal, TimeValLike};

/// Longest wait: a system may refuse more.
const LONGEST: Duration = Duration::from_secs(1_000_000);

/// Waits like `poll` until a descriptor is ready or the time is up (`timeout`; None waits without limit). Sets the
/// events that `poll` would set, except that one that has hung up is shown as readable and writable, and returns how
/// many descriptors are ready. If `select` cannot be used either (a closed descriptor, a number that is too large), the
/// events stay as `poll` has left them, and those that are ready are counted. An error is EINTR: a signal has come.
pub(super) fn wait(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> nix::Result<i32> {
    // `wanted` borrows `fds`, which change only afterwards.
    let found = {
        let mut wanted = Wanted::default();
        for fd in fds.iter() {
            if !wanted.add(fd) {
                return Ok(count(fds));
            }
        }
        match wanted.select(timeout) {
            Ok(()) => fds.iter().map(|fd| wanted.events(fd)).collect::<Vec<_>>(),
            Err(Errno::EINTR) => return Err(Errno::EINTR),
            Err(_) => return Ok(count(fds)),
        }
    };
    for (fd, events) in fds.iter_mut().zip(found) {
        set_events(fd, events);
    }
    Ok(count(fds))
}

/// Counts the descriptors that have events, of a kind that `nix` knows or of another (`any` is None).
fn count(fds: &[PollFd<'_>]) -> i32 {
    let ready = fds.iter().filter(|fd| fd.any().unwrap_or(true)).count();
    i32::try_from(ready).unwrap_or(i32::MAX)
}

/// The descriptors to wait for; after [`Wanted::select`] those that are ready.
#[derive(Default)]
struct Wanted<'a> {
    to_read: FdSet<'a>,
    to_write: FdSet<'a>,
}

impl<'a> Wanted<'a> {
    /// Adds a descriptor to the sets of the events that are wanted from it. Returns false, without adding it, if a set
    /// cannot hold a number so large: `select` would be no use then.
    fn add(&mut self, fd: &'a PollFd<'_>) -> bool {
        let borrowed: BorrowedFd<'a> = fd.as_fd();
        if usize::try_from(borrowed.as_raw_fd()).is_ok_and(|number| number >= FD_SETSIZE) {
            return false;
        }
        if fd.events().contains(PollFlags::POLLIN) {
            self.to_read.insert(borrowed);
        }
        if fd.events().contains(PollFlags::POLLOUT) {
            self.to_write.insert(borrowed);
        }
        true
    }

    /// Waits until a descriptor is ready or the time is up (None: without limit). The sets then hold the ready ones.
    fn select(&mut self, timeout: Option<Duration>) -> nix::Result<()> {
        // Rounded up: a wait that ended early would be repeated, again and again, with less than a microsecond left.
        let mut timeout = timeout.map(|timeout| {
            let microseconds = timeout.min(LONGEST).as_nanos().div_ceil(1000);
            TimeVal::microseconds(i64::try_from(microseconds).unwrap_or(i64::MAX))
        });
        let Wanted { to_read, to_write } = self;
        select(None, to_read, to_write, None, timeout.as_mut())?;
        Ok(())
    }

    /// Returns, after [`Wanted::select`], the events of a descriptor that are ready.
    fn events(&self, fd: &PollFd<'_>) -> PollFlags {
        let mut events = PollFlags::empty();
        if self.to_read.contains(fd.as_fd()) {
            events |= PollFlags::POLLIN;
        }
        if self.to_write.contains(fd.as_fd()) {
            events |= PollFlags::POLLOUT;
        }
        events
    }
}

/// Stores the ready events in a record of `poll`, whose type lets only `poll` itself do so.
fn set_events(fd: &mut PollFd<'_>, events: PollFlags) {
    let raw = std::ptr::from_mut(fd).cast::<libc::pollfd>();
    // SAFETY: the type is a transparent wrapper of this record; `poll` sets the field the same way.
    unsafe { (*raw).revents = events.bits() };
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use nix::poll::PollTimeout;
    use nix::pty::openpty;

    use super::*;

    /// Waits by both calls, and returns the events of each.
    fn by_both(fds: &[(BorrowedFd<'_>, PollFlags)]) -> [Vec<PollFlags>; 2] {
        let new = || {
            let new = fds.iter().map(|(fd, events)| PollFd::new(*fd, *events));
            new.collect::<Vec<_>>()
        };
        let events = |fds: &[PollFd<'_>]| {
            let events = fds.iter().map(|fd| fd.revents().unwrap());
            events.collect::<Vec<_>>()
        };
        let mut polled = new();
        let by_poll = nix::poll::poll(&mut polled, PollTimeout::ZERO).unwrap();
        let mut selected = new();
        let by_select = wait(&mut selected, Some(Duration::ZERO)).unwrap();
        assert_eq!(by_poll, by_select);
        [events(&polled), events(&selected)]
    }

    #[test]
    fn it_finds_what_poll_finds() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let terminal = openpty(None, None).unwrap();
        let wanted = [
            (reader.as_fd(), PollFlags::POLLIN),
            (writer.as_fd(), PollFlags::POLLOUT),
            (
                terminal.slave.as_fd(),
                PollFlags::POLLIN | PollFlags::POLLOUT,
            ),
            (terminal.master.as_fd(), PollFlags::POLLIN),
        ];
        let [polled, selected] = by_both(&wanted);
        assert_eq!(polled, selected);
        assert_eq!(selected[0], PollFlags::empty());
        (&writer).write_all(b"x").unwrap();
        let [polled, selected] = by_both(&wanted);
        assert_eq!(polled, selected);
        assert_eq!(selected[0], PollFlags::POLLIN);
        writer.flush().unwrap();
    }

    #[test]
    fn it_waits_and_ends_in_time() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
        let wait = wait(&mut fds, Some(Duration::from_millis(1)));
        assert_eq!(wait, Ok(0));
        assert_eq!(fds[0].revents(), Some(PollFlags::empty()));
    }

    #[test]
    fn a_lost_reader_makes_a_pipe_ready() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut fds = [PollFd::new(writer.as_fd(), PollFlags::POLLOUT)];
        assert_eq!(wait(&mut fds, None), Ok(1));
    }
}
