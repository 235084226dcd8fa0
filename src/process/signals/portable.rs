//! Signals from handlers, where there is no `signalfd(2)`.
//!
//! They are blocked here too, and let in only where nothing else is done: while `poll(2)` waits, and when they are
//! received. So the kernel keeps them meanwhile, and a CONT takes back a stop that has not been looked at. A handler does
//! no more than write down what has come, into a pipe that `poll` waits for.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use nix::errno::Errno;
use nix::libc::siginfo_t;
use nix::unistd::write;

use super::disposition::{Disposition, catch, disposition, is_ignored, set_default, stop_ignoring_children};
use super::mask::Mask;
use super::received::{Queue, Received, is_of_own_write, take_in};
use crate::policy::signal::Signal;
use crate::process::sys::current::{Target, send};
use crate::process::sys::fd::{pipe, set_nonblocking};

/// Where handlers write.
static RECORDS: OnceLock<OwnedFd> = OnceLock::new();
/// Signals that could not be written there, by bit: the pipe was full.
static UNWRITTEN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// The signal and its sender, as numbers.
const RECORD: usize = 2 * size_of::<i32>();
/// Records read at once.
const BATCH: usize = 64;

/// The signals of this process, all that can be caught, from [`Signals::take_over`] on.
#[derive(Debug)]
pub(crate) struct Signals {
    records: OwnedFd,
    caller_mask: Mask,
    children_ignored: bool,
    queue: Queue,
}

impl Signals {
    /// Blocks every signal and starts receiving them.
    pub(crate) fn take_over() -> io::Result<Signals> {
        let caller_mask = Mask::all().set()?;
        let (records, write) = pipe()?;
        set_nonblocking(&records)?;
        set_nonblocking(&write)?;
        RECORDS
            .set(write)
            .map_err(|_| io::Error::other("they are received already"))?;
        let children_ignored = stop_ignoring_children();
        // What was ignored stays so. What cannot be caught is left as it is, but for CHLD: no end of an attempt would be
        // noticed.
        for signal in Signal::all().filter(|signal| !is_ignored(signal.number())) {
            let caught = catch(signal.number(), record);
            if signal == Signal::CHLD {
                caught?;
            }
        }
        Ok(Signals {
            records,
            caller_mask,
            children_ignored,
            queue: Queue::new(),
        })
    }

    /// Readable while a signal that was let in is waiting.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.records.as_fd()
    }

    /// Lets signals in while this polls. False if it says so, or not all that has come can be seen by polling.
    pub(crate) fn while_heard(&self, poll: impl FnOnce() -> bool) -> bool {
        let is_all_written = || UNWRITTEN.iter().all(|word| word.load(Ordering::Relaxed) == 0);
        let mask = Mask::none().set();
        // What was waiting has come now. Of what could not be written, nothing would wake the poll.
        let result = is_all_written() && poll();
        let _ = mask.and_then(|mask| mask.set());
        result && is_all_written()
    }

    /// The mask that the command is to start with.
    pub(crate) fn caller_mask(&self) -> &Mask {
        &self.caller_mask
    }

    /// Whether the command is to start with SIGCHLD ignored.
    pub(crate) fn children_ignored(&self) -> bool {
        self.children_ignored
    }

    /// Takes in what is waiting, without blocking; some of it if it is much.
    pub(crate) fn receive(&mut self) {
        self.while_heard(|| true);
        self.take_in();
    }

    /// Takes in what was let in.
    fn take_in(&mut self) {
        // A write of a record is all or nothing.
        take_in::<RECORD, BATCH>(&mut self.queue, &self.records, of_record);
        let unwritten = UNWRITTEN.each_ref().map(|word| word.swap(0, Ordering::Relaxed));
        if unwritten != [0, 0] {
            let is_there = |signal: &Signal| {
                let (word, bit) = place(signal.number());
                unwritten[word] & bit != 0
            };
            self.queue.extend(
                Signal::all()
                    .filter(is_there)
                    .map(|signal| Received::new(signal, false)),
            );
        }
    }

    /// The next signal that was taken in.
    pub(crate) fn take(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Lets a signal have its default effect on this process: it stops, or dies.
    pub(crate) fn raise(&mut self, signal: Signal) {
        send(Target::Own, signal);
        self.deliver_pending(signal);
    }

    /// Lets a signal that the kernel holds for this process have its default effect; nothing if there is none.
    #[allow(
        clippy::unused_self,
        reason = "without signals taken over there would be none to deliver"
    )]
    pub(crate) fn deliver_pending(&mut self, signal: Signal) {
        let is_caught = disposition(signal.number()) == Disposition::Handled;
        if is_caught {
            set_default(signal.number());
        }
        let mask = Mask::only(signal);
        let _ = mask.unblock();
        let _ = mask.block();
        if is_caught {
            let _ = catch(signal.number(), record);
        }
    }

    /// Whether a signal has come and was not taken.
    pub(crate) fn is_waiting(&mut self, signal: Signal) -> bool {
        self.take_in();
        self.queue.iter().any(|received| received.signal == signal) || Mask::pending().contains(signal)
    }
}

/// The handler of all signals.
extern "C" fn record(signal: i32, info: *mut siginfo_t, _: *mut c_void) {
    let errno = Errno::last_raw();
    // SAFETY: the kernel gives a handler of this kind a record of what has come.
    let sender = unsafe { (*info).si_pid() };
    let mut record = [0; RECORD];
    record[..RECORD / 2].copy_from_slice(&signal.to_ne_bytes());
    record[RECORD / 2..].copy_from_slice(&sender.to_ne_bytes());
    if RECORDS.get().is_none_or(|records| write(records, &record).is_err()) {
        let (word, bit) = place(signal);
        UNWRITTEN[word].fetch_or(bit, Ordering::Relaxed);
    }
    Errno::set_raw(errno);
}

/// No signal that is known here has a number above 127.
fn place(signal: i32) -> (usize, u64) {
    ((signal as usize / 64) % 2, 1 << (signal % 64))
}

fn of_record(record: &[u8; RECORD]) -> Option<Received> {
    let field = |at: usize| record[at..at + size_of::<i32>()].try_into().map(i32::from_ne_bytes);
    let signal = Signal::from_number(field(0).ok()?)?;
    let sender = field(size_of::<i32>()).ok()?;
    // Some systems name no sender of what a write has made.
    let writer = if sender == 0 { std::process::id() as i32 } else { sender };
    // What no process has sent, the kernel has.
    (!is_of_own_write(signal, writer)).then(|| Received::new(signal, sender == 0))
}
