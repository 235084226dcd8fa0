//! The signals that this thread blocks. Everything here is async-signal-safe.

#[cfg(not(portable))]
mod imp {
    use std::ffi::c_ulong;
    use std::io;
    use std::ptr;

    use nix::libc;

    use crate::policy::signal::Signal;

    /// The kernel's set. The C library's own would leave out the signals that it keeps for itself.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[repr(transparent)]
    pub(crate) struct Mask([c_ulong; WORDS]);

    const WORDS: usize = (64 / c_ulong::BITS) as usize;

    impl Mask {
        pub(crate) const ALL: Mask = Mask([c_ulong::MAX; WORDS]);

        pub(crate) fn only(signal: Signal) -> Mask {
            let mut words = [0; WORDS];
            let (word, bit) = place(signal);
            words[word] = bit;
            Mask(words)
        }

        pub(crate) fn contains(&self, signal: Signal) -> bool {
            let (word, bit) = place(signal);
            self.0[word] & bit != 0
        }

        /// Blocks these and no others; gives what was blocked before.
        pub(crate) fn set(&self) -> io::Result<Mask> {
            self.change(libc::SIG_SETMASK)
        }

        pub(crate) fn block(&self) -> io::Result<Mask> {
            self.change(libc::SIG_BLOCK)
        }

        pub(crate) fn unblock(&self) -> io::Result<Mask> {
            self.change(libc::SIG_UNBLOCK)
        }

        fn change(&self, how: i32) -> io::Result<Mask> {
            let mut before = Mask([0; WORDS]);
            let (new, old) = (ptr::from_ref(self), &raw mut before);
            // SAFETY: two sets of the size that is told.
            let result = unsafe { libc::syscall(libc::SYS_rt_sigprocmask, how, new, old, size_of::<Mask>()) };
            if result < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(before)
        }

        /// The blocked signals that the kernel holds for this process.
        pub(crate) fn pending() -> Mask {
            let mut pending = Mask([0; WORDS]);
            // SAFETY: a set of the size that is told.
            unsafe { libc::syscall(libc::SYS_rt_sigpending, &raw mut pending, size_of::<Mask>()) };
            pending
        }
    }

    fn place(signal: Signal) -> (usize, c_ulong) {
        let index = signal.number() as u32 - 1;
        ((index / c_ulong::BITS) as usize, 1 << (index % c_ulong::BITS))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn every_signal_has_a_bit_of_its_own() {
            let all: Vec<Signal> = (1..=64).filter_map(Signal::from_number).collect();
            for one in &all {
                assert!(Mask::ALL.contains(*one));
                for other in &all {
                    assert_eq!(Mask::only(*one).contains(*other), one == other);
                }
            }
        }
    }
}

#[cfg(portable)]
mod imp {
    use std::io;

    use nix::libc;
    use nix::sys::signal::{SigSet, SigmaskHow};

    use crate::policy::signal::Signal;

    /// The C library's set: without the signals that it keeps for itself.
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
            // SAFETY: a set that is initialized, and stays so. Not `nix`, which cannot name all real-time signals.
            unsafe {
                libc::sigaddset(&raw mut set, signal.number());
                Mask(SigSet::from_sigset_t_unchecked(set))
            }
        }

        pub(crate) fn contains(&self, signal: Signal) -> bool {
            // SAFETY: a set that is initialized.
            unsafe { libc::sigismember(self.0.as_ref(), signal.number()) == 1 }
        }

        /// Blocks these and no others; gives what was blocked before.
        pub(crate) fn set(&self) -> io::Result<Mask> {
            Ok(Mask(self.0.thread_swap_mask(SigmaskHow::SIG_SETMASK)?))
        }

        pub(crate) fn block(&self) -> io::Result<Mask> {
            Ok(Mask(self.0.thread_swap_mask(SigmaskHow::SIG_BLOCK)?))
        }

        pub(crate) fn unblock(&self) -> io::Result<Mask> {
            Ok(Mask(self.0.thread_swap_mask(SigmaskHow::SIG_UNBLOCK)?))
        }

        /// The blocked signals that the kernel holds for this process.
        pub(crate) fn pending() -> Mask {
            let mut pending = *SigSet::empty().as_ref();
            // SAFETY: a set that is initialized, and stays so.
            unsafe {
                libc::sigpending(&raw mut pending);
                Mask(SigSet::from_sigset_t_unchecked(pending))
            }
        }
    }
}

pub(crate) use imp::Mask;
