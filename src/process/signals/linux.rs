//! Signals from a `signalfd(2)`.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;

use super::{KERNEL_MASK, Queue, Received, is_ignored, watch_children};
use crate::policy::signal::Signal;
use crate::process::sys::fd::above_standard;

/// The signals of this process, all blocked, from [`Signals::take_over`] on.
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
    caller_mask: libc::sigset_t,
    children_ignored: bool,
    queue: Queue,
}

const RECORD: usize = size_of::<libc::signalfd_siginfo>();
/// Records read at once.
const BATCH: usize = 8;

impl Signals {
    /// Blocks every signal and starts hearing them.
    pub fn take_over() -> io::Result<Signals> {
        // SAFETY: plain data, for which zeroes are valid; the kernel writes to and reads from the first
        // KERNEL_MASK bytes only. The C library's own calls would leave two signals out. The descriptor is new.
        let (fd, caller_mask) = unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            std::ptr::from_mut(&mut all).cast::<u8>().write_bytes(0xff, KERNEL_MASK);
            let mut caller: libc::sigset_t = std::mem::zeroed();
            let blocked = libc::syscall(
                libc::SYS_rt_sigprocmask,
                libc::SIG_SETMASK,
                &raw const all,
                &raw mut caller,
                KERNEL_MASK,
            );
            // What is not blocked is not heard: the end of the command would be waited for in vain.
            if blocked < 0 {
                return Err(io::Error::last_os_error());
            }
            let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
            let fd = libc::syscall(libc::SYS_signalfd4, -1, &raw const all, KERNEL_MASK, flags) as i32;
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            (OwnedFd::from_raw_fd(fd), caller)
        };
        let fd = above_standard(fd)?;
        Ok(Signals {
            fd,
            caller_mask,
            children_ignored: watch_children(),
            queue: Queue::new(),
        })
    }

    /// Readable while a signal is waiting.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The mask that the command is to start with.
    pub fn caller_mask(&self) -> &libc::sigset_t {
        &self.caller_mask
    }

    /// Whether the command is to start with SIGCHLD ignored.
    pub fn children_ignored(&self) -> bool {
        self.children_ignored
    }

    /// Takes in what is waiting, without blocking; some of it if it is much.
    pub fn receive(&mut self) {
        let mut records = [MaybeUninit::<libc::signalfd_siginfo>::uninit(); BATCH];
        // SAFETY: the buffer is BATCH records long, and a signalfd gives whole records.
        let read = unsafe { libc::read(self.fd.as_raw_fd(), records.as_mut_ptr().cast(), BATCH * RECORD) };
        if read < 0 && !matches!(Errno::last(), Errno::EAGAIN | Errno::EINTR) {
            // What cannot be heard may be that the command has ended: it is looked at.
            self.queue.push_back(Received {
                signal: Signal::CHLD,
                from_kernel: true,
            });
        }
        let count = usize::try_from(read).unwrap_or(0) / RECORD;
        for record in &records[..count] {
            // SAFETY: this record was filled by the read.
            let record = unsafe { record.assume_init_ref() };
            let Some(signal) = Signal::from_number(record.ssi_signo as i32) else {
                continue;
            };
            // A blocked signal is queued even if it is ignored; and a SIGPIPE of our own making is
            // the news that nobody reads our messages.
            let own_pipe = signal == Signal::PIPE && record.ssi_pid == std::process::id();
            if own_pipe || is_ignored(signal.number()) {
                continue;
            }
            self.queue.push_back(Received {
                signal,
                from_kernel: record.ssi_code == libc::SI_KERNEL,
            });
        }
    }

    /// The next signal that was taken in.
    pub fn take(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Lets a signal have its default effect on this process: it stops, or dies.
    pub fn raise(&mut self, signal: Signal) {
        // SAFETY: a plain call on this process with a valid signal.
        unsafe {
            libc::kill(libc::getpid(), signal.number());
        }
        self.admit(signal);
    }

    /// Lets a signal that the kernel holds for this process have its default effect; nothing if there is none.
    pub fn admit(&mut self, signal: Signal) {
        // SAFETY: plain calls on this process with a valid signal and an initialised set.
        unsafe {
            let mut set = MaybeUninit::uninit();
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), signal.number());
            let set = set.assume_init();
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        }
    }

    /// Whether a signal has come and was not taken.
    pub fn is_waiting(&self, signal: Signal) -> bool {
        self.queue.iter().any(|received| received.signal == signal) || self.is_pending(signal)
    }

    /// Whether the kernel holds a signal for this process.
    #[allow(
        clippy::unused_self,
        reason = "without signals taken over the answer would mean nothing"
    )]
    fn is_pending(&self, signal: Signal) -> bool {
        // SAFETY: sigpending fills the set that sigismember reads.
        unsafe {
            let mut set = MaybeUninit::uninit();
            libc::sigpending(set.as_mut_ptr()) == 0 && libc::sigismember(set.as_ptr(), signal.number()) == 1
        }
    }
}
