//! macOS's own calls. Processes are listed by `sysctl(3)`, as `libproc` describes those of other users (a command of
//! `sudo`) to root only.

use std::ffi::{CStr, c_int};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;
use std::ptr::null_mut;

use nix::errno::Errno;
use nix::libc;
use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};
use nix::sys::stat::SFlag;

use super::kinfo::{self, Record};
use crate::process::sys::fd::kind;
use crate::process::sys::processes::Process;

/// Processes that may start while the list is read.
const SPARE: usize = 64;
/// Most readings of a list that outgrows its buffer.
const MOST_READINGS: usize = 8;

/// Returns all processes of the system; None if it refuses to list them, or if they multiply faster than the list is
/// read.
pub(crate) fn list() -> Option<Vec<Process>> {
    let name = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_ALL];
    for _ in 0..MOST_READINGS {
        let size_now = read_sysctl(&name, &mut []).ok()?;
        let mut records = vec![0; size_now + SPARE * kinfo::SIZE];
        match read_sysctl(&name, &mut records) {
            Ok(count) => return Some(kinfo::parse_all(&records[..count.min(records.len())])),
            // More processes have started than there was room for: ask for the size again.
            Err(Errno::ENOMEM) => {}
            Err(_) => return None,
        }
    }
    None
}

pub(crate) fn read_process(pid: libc::pid_t) -> Option<Process> {
    Some(read_record(pid)?.process)
}

/// Returns the name of the program that a process runs; None if the process is gone or has none.
pub(crate) fn program_name(pid: libc::pid_t) -> Option<String> {
    Some(read_record(pid)?.name).filter(|name| !name.is_empty())
}

/// Reads the system's record of a process. Returns None if the process is gone (then the record is empty), or if the
/// system refuses.
fn read_record(pid: libc::pid_t) -> Option<Record> {
    let name = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PID, pid];
    let mut record = [0; kinfo::SIZE];
    let count = read_sysctl(&name, &mut record).ok()?;
    kinfo::parse(record.get(..count)?)
}

/// Reads the value of `sysctl(3)` with this `name` into a buffer, and returns its size in bytes. With an empty buffer,
/// reads nothing, and returns the size that it has now. ENOMEM if the buffer is too small.
fn read_sysctl(name: &[c_int], into: &mut [u8]) -> nix::Result<usize> {
    let mut name = name.to_vec();
    let mut size = into.len();
    let buffer = if into.is_empty() {
        null_mut()
    } else {
        into.as_mut_ptr().cast()
    };
    // SAFETY: name, buffer and size are valid for the call, and the size is that of the buffer.
    let result = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            name.len() as u32,
            buffer,
            &raw mut size,
            null_mut(),
            0,
        )
    };
    Errno::result(result)?;
    Ok(size)
}

/// Returns the most bytes that a write can take without blocking, once `poll` has found room. PIPE_BUF is always safe,
/// but only 512, which would be slow: for a pipe or socket a queue of events tells the room.
pub(crate) fn room(fd: BorrowedFd<'_>) -> usize {
    // A terminal may turn a byte into several, so its room is no promise.
    if kind(fd).is_ok_and(|kind| kind == SFlag::S_IFCHR) {
        return libc::PIPE_BUF;
    }
    room_by_event(fd).unwrap_or(0).max(libc::PIPE_BUF)
}

/// Returns the room that the kernel reports for a pipe or socket, by kqueue(2): an event of a writable descriptor has
/// the number of bytes in its `data`. Returns 0 if there is no such event.
fn room_by_event(fd: BorrowedFd<'_>) -> nix::Result<usize> {
    let event = |flags| {
        let number = usize::try_from(fd.as_raw_fd()).unwrap_or_default();
        KEvent::new(
            number,
            EventFilter::EVFILT_WRITE,
            flags,
            FilterFlag::empty(),
            0,
            0,
        )
    };
    let changes = [event(EvFlags::EV_ADD | EvFlags::EV_ONESHOT)];
    // Replaced by the event, if there is one.
    let mut found = [event(EvFlags::empty())];
    let at_once = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let count = Kqueue::new()?.kevent(&changes, &mut found, Some(at_once))?;
    if count == 0 || found[0].flags().contains(EvFlags::EV_ERROR) {
        return Ok(0);
    }
    Ok(usize::try_from(found[0].data()).unwrap_or(0))
}

/// Returns the device behind `/dev/tty`, as that name cannot be polled, and does not show a hang-up. Without a
/// terminal, or if the device has no name, returns `/dev/tty` itself: opening it tells which.
pub(crate) fn terminal_path() -> PathBuf {
    let own = std::process::id().cast_signed();
    read_record(own)
        .and_then(|record| device_path(record.terminal?))
        .unwrap_or_else(|| "/dev/tty".into())
}

/// Returns the path of a terminal with this device number; None if `/dev` has none.
fn device_path(device: i32) -> Option<PathBuf> {
    // SAFETY: the call returns a string that lives until the next one of this thread, the only one, or null.
    let name = unsafe {
        let name = libc::devname(device, libc::S_IFCHR);
        if name.is_null() {
            return None;
        }
        CStr::from_ptr(name)
    };
    Some(PathBuf::from("/dev").join(name.to_str().ok()?))
}
