//! Small safe functions over single system calls.

use rand::rngs::{SysRng, Xoshiro256PlusPlus};
use rand::{RngExt, SeedableRng};

pub(crate) mod clock;
pub(crate) mod environment;
pub(crate) mod fd;
pub(crate) mod processes;
pub(crate) mod stdio;

/// Returns the generator of a run, seeded by `seed` or the system's randomness. If the system has none (a sandbox
/// without getrandom), clock and process number are the seed, as runs must not wait in step.
pub(crate) fn generator(seed: Option<u64>) -> Xoshiro256PlusPlus {
    let of_moment = || clock::since_epoch().as_nanos() as u64 ^ u64::from(std::process::id()).rotate_right(32);
    let of_number = Xoshiro256PlusPlus::seed_from_u64;
    match seed {
        Some(seed) => of_number(seed),
        None => Xoshiro256PlusPlus::try_from_rng(&mut SysRng).unwrap_or_else(|_| of_number(of_moment())),
    }
}

/// Returns a random UUID (RFC 9562, version 4).
pub(crate) fn uuid() -> String {
    let bits: u128 = generator(None).random();
    let bits = bits & !(0xf << 76) & !(3 << 62) | (4 << 76) | (2 << 62);
    let hex = format!("{bits:032x}");
    [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]).join("-")
}
