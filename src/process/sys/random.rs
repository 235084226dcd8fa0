//! Randomness from the operating system, asked for only when needed.

use std::convert::Infallible;

use rand::rngs::{SysRng, Xoshiro256PlusPlus};
use rand::{SeedableRng, TryRng};

/// Random bytes. Where the system has none to give (a sandbox without getrandom), the clock and the
/// process number have to do: two runs must still not wait in step.
pub fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if SysRng.try_fill_bytes(&mut bytes).is_err() {
        #[allow(clippy::disallowed_methods, reason = "this is `os`")]
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let seed = (now.as_nanos() as u64).rotate_left(32) ^ u64::from(std::process::id());
        let Ok(()) = Xoshiro256PlusPlus::seed_from_u64(seed).try_fill_bytes(&mut bytes);
    }
    bytes
}

/// A generator that is made when it is first used: a run that never waits needs none.
#[derive(Debug)]
pub struct Lazy<F> {
    make: F,
    rng: Option<Xoshiro256PlusPlus>,
}

impl<F: FnMut() -> Xoshiro256PlusPlus> Lazy<F> {
    /// A generator that `make` will make.
    pub fn new(make: F) -> Lazy<F> {
        Lazy { make, rng: None }
    }

    fn rng(&mut self) -> &mut Xoshiro256PlusPlus {
        self.rng.get_or_insert_with(&mut self.make)
    }
}

impl<F: FnMut() -> Xoshiro256PlusPlus> TryRng for Lazy<F> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.rng().try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.rng().try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng().try_fill_bytes(bytes)
    }
}
