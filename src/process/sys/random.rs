//! Randomness from the operating system, asked for only when needed.

use rand::rngs::{SysRng, Xoshiro256PlusPlus};
use rand::{SeedableRng, TryRng};

use super::clock::since_epoch;

/// Random bytes. Where the system has none to give (a sandbox without getrandom), the clock and the
/// process number have to do: two runs must still not wait in step.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if SysRng.try_fill_bytes(&mut bytes).is_err() {
        let seed = (since_epoch().as_nanos() as u64).rotate_left(32) ^ u64::from(std::process::id());
        let Ok(()) = Xoshiro256PlusPlus::seed_from_u64(seed).try_fill_bytes(&mut bytes);
    }
    bytes
}
