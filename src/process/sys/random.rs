//! Randomness from the operating system.

use rand::rngs::{SysRng, Xoshiro256PlusPlus};
use rand::{SeedableRng, TryRng};

use super::clock::since_epoch;

/// The generator of a run: by the seed, or by the system's randomness.
pub(crate) fn generator(seed: Option<u64>) -> Xoshiro256PlusPlus {
    match seed {
        Some(seed) => Xoshiro256PlusPlus::seed_from_u64(seed),
        None => Xoshiro256PlusPlus::from_seed(bytes()),
    }
}

/// Random bytes. Where the system has none to give (a sandbox without getrandom), the clock and the
/// process number have to do: two runs must still not wait in step.
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if !fill(&mut bytes) && SysRng.try_fill_bytes(&mut bytes).is_err() {
        let seed = (since_epoch().as_nanos() as u64).rotate_left(32) ^ u64::from(std::process::id());
        let Ok(()) = Xoshiro256PlusPlus::seed_from_u64(seed).try_fill_bytes(&mut bytes);
    }
    bytes
}

/// Asks the kernel at once: [`SysRng`] first looks, in each run, for a libc that has the call.
#[cfg(not(portable))]
fn fill(bytes: &mut [u8]) -> bool {
    use rustix::rand::{GetRandomFlags, getrandom};
    getrandom(&mut *bytes, GetRandomFlags::empty()).is_ok_and(|count| count == bytes.len())
}

#[cfg(portable)]
fn fill(_bytes: &mut [u8]) -> bool {
    false
}

/// A random UUID (RFC 9562, version 4).
pub(crate) fn uuid() -> String {
    let mut bytes: [u8; 16] = bytes();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut id = String::with_capacity(36);
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            id.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    id
}
