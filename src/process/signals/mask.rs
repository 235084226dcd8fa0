//! The signals that this thread blocks. Everything here is async-signal-safe.

use nix::libc;
use nix::sys::signal::{SigSet, SigmaskHow};

use crate::policy::signal::Signal;

/// A set of signals, without those that the C library keeps for itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mask(SigSet);

impl Mask {
    pub(crate) fn all() -> Mask {
        Mask(SigSet::all())
    }

    pub(crate) fn none() -> Mask {
        Mask(SigSet::empty())
    }

    pub(crate) fn only(signal: Signal) -> Mask {
        let mut set = *SigSet::empty().as_ref();
        // SAFETY: the set is initialized, and stays so. Not `nix`, which cannot name all real-time signals.
        unsafe {
            libc::sigaddset(&raw mut set, signal.number());
            Mask(SigSet::from_sigset_t_unchecked(set))
        }
    }

    /// Blocks these signals and no others. Returns what was blocked before.
    pub(crate) fn set(&self) -> nix::Result<Mask> {
        self.0.thread_swap_mask(SigmaskHow::SIG_SETMASK).map(Mask)
    }

    pub(crate) fn block(&self) -> nix::Result<Mask> {
        self.0.thread_swap_mask(SigmaskHow::SIG_BLOCK).map(Mask)
    }

    pub(crate) fn unblock(&self) -> nix::Result<Mask> {
        self.0.thread_swap_mask(SigmaskHow::SIG_UNBLOCK).map(Mask)
    }
}

/// Returns true if a blocked signal waits for this process.
pub(crate) fn is_pending(signal: Signal) -> bool {
    let mut pending = *SigSet::empty().as_ref();
    // SAFETY: the set is initialized, and stays so.
    unsafe {
        libc::sigpending(&raw mut pending);
        libc::sigismember(&raw const pending, signal.number()) == 1
    }
}
