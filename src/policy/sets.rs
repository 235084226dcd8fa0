//! Sets of exit codes and of signals.

use std::ops::RangeInclusive;

use crate::policy::signal::Signal;

/// A set of exit codes, 0 to 255.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CodeSet([u128; 2]);

impl CodeSet {
    /// Only this code.
    pub fn of(code: u8) -> CodeSet {
        let mut set = CodeSet::default();
        set.add(code..=code);
        set
    }

    pub fn add(&mut self, codes: RangeInclusive<u8>) {
        for code in codes {
            self.0[usize::from(code >> 7)] |= 1 << (code & 127);
        }
    }

    pub fn union(self, other: CodeSet) -> CodeSet {
        CodeSet([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    pub fn contains(&self, code: u8) -> bool {
        self.0[usize::from(code >> 7)] & (1 << (code & 127)) != 0
    }
}

/// A set of signals, real-time signals included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignalSet(u128);

impl SignalSet {
    pub fn add(&mut self, signal: Signal) {
        self.0 |= 1 << signal.number();
    }

    pub fn contains(&self, signal: Signal) -> bool {
        self.0 & (1 << signal.number()) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_code_set_is_a_set(ranges in prop::collection::vec((any::<u8>(), any::<u8>()), 0..6), probe in any::<u8>()) {
            let mut set = CodeSet::default();
            for (first, last) in &ranges {
                set.add(*first..=*last);
            }
            prop_assert_eq!(set.contains(probe), ranges.iter().any(|(a, b)| (a..=b).contains(&&probe)));
        }
    }

    #[test]
    fn a_signal_set_holds_what_was_added_only() {
        let mut set = SignalSet::default();
        set.add(Signal::TERM);
        assert!(set.contains(Signal::TERM));
        assert!(!set.contains(Signal::INT));
    }
}
