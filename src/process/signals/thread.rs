//! A thread that leaves signals as they are.
//!
//! For its first thread the C library unblocks signals that it keeps for itself, for good, and glibc catches one of
//! them; a new thread unblocks another one. To whoever sends it each is a signal like others, and would end this
//! process.

use std::io;
use std::thread::Builder;

#[cfg(not(portable))]
pub(crate) use imp::begin;

#[cfg(not(portable))]
mod imp {
    use std::sync::mpsc::sync_channel;

    use nix::libc;

    use super::{Builder, io};
    use crate::process::signals::disposition::{restore, set};
    use crate::process::signals::mask::Mask;

    /// Of glibc the first two, of musl all.
    const KEPT_BY_LIBC: [i32; 3] = [32, 33, 34];

    /// Starts the thread, which blocks all signals, and puts back what was changed for that. While it is so, the signals
    /// in question are dropped: the command, which they would be for, does not run then.
    pub(crate) fn begin(thread: Builder, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let mask = Mask::ALL.block()?;
        let kept = KEPT_BY_LIBC.map(|signal| set(signal, libc::SIG_IGN));
        let (sender, blocks_all) = sync_channel(1);
        let started = thread.spawn(move || {
            let _ = Mask::ALL.set();
            let _ = sender.send(());
            work();
        });
        if started.is_ok() {
            let _ = blocks_all.recv();
        }
        let whole = mask.set();
        for (signal, kept) in KEPT_BY_LIBC.into_iter().zip(kept) {
            restore(signal, kept);
        }
        started.and(whole).map(drop)
    }
}

/// Starts the thread, which blocks all signals, as this one does.
#[cfg(portable)]
pub(crate) fn begin(thread: Builder, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread.spawn(work).map(drop)
}
