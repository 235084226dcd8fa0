//! Randomness from the operating system.

use rand::rngs::{SysRng, Xoshiro256PlusPlus};
use rand::{RngExt, SeedableRng, TryRng};

use super::clock::since_epoch;

/// Returns the generator of a run, seeded by `seed` or the system's randomness. If the system has none (a sandbox
/// without getrandom), clock and process number are the seed, as runs must not wait in step.
pub(crate) fn generator(seed: Option<u64>) -> Xoshiro256PlusPlus {
    let mut system = [0; 32];
    match seed {
        Some(seed) => Xoshiro256PlusPlus::seed_from_u64(seed),
        None if SysRng.try_fill_bytes(&mut system).is_ok() => Xoshiro256PlusPlus::from_seed(system),
        None => {
            let now = since_epoch().as_nanos() as u64;
            Xoshiro256PlusPlus::seed_from_u64(now.rotate_left(32) ^ u64::from(std::process::id()))
        }
    }
}

/// Returns a random UUID (RFC 9562, version 4).
pub(crate) fn uuid() -> String {
    let bits: u128 = generator(None).random();
    let bits = bits & !(0xf << 76) & !(3 << 62) | (4 << 76) | (2 << 62);
    let hex = format!("{bits:032x}");
    [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]).join("-")
}
