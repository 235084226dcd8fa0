//! Random numbers from the system, so that runs that start together do not wait in step, and each has its own ID.

use rand::rngs::{SysRng, Xoshiro256PlusPlus};
use rand::{RngExt, SeedableRng};

use super::clock::since_epoch;

/// Returns a random generator, seeded from the system. If the system has no randomness (a sandbox without getrandom),
/// the clock and the PID are the seed. They differ between runs, which must not wait in step.
pub(crate) fn generator() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::try_from_rng(&mut SysRng).unwrap_or_else(|_| {
        // The PID goes into the upper half, as that half of the clock rarely changes.
        let pid = u64::from(std::process::id()) << 32;
        Xoshiro256PlusPlus::seed_from_u64(since_epoch().as_nanos() as u64 ^ pid)
    })
}

/// Returns a random UUID (RFC 9562, version 4) in the usual form of five groups. No other run has the same ID.
pub(crate) fn uuid() -> String {
    let random: u128 = generator().random();
    // The version, 4, begins at bit 76, and the variant, 2, at bit 62.
    let without_fixed_bits = random & !(0b1111 << 76) & !(0b11 << 62);
    let bits = without_fixed_bits | (4 << 76) | (2 << 62);
    let hex = format!("{bits:032x}");
    [0..8, 8..12, 12..16, 16..20, 20..32]
        .map(|part| &hex[part])
        .join("-")
}
