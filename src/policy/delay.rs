//! The wait before retry i = 0, 1, 2, ...: growth, jitter, cap. i counts from the last restart of the growth.
//!
//! The un-jittered wait is e(i) = min(cap, growth(i)). The jitter turns it into a [`Distribution`], from which one
//! uniform number in [0, 1) picks the wait. `--plan` shows the distribution that a run draws from.
//!
//! Sources: exponential backoff, RFC 3261 section 17.1.2.2 (SIP, T1 and T2); truncated binary exponential backoff with
//! slots, IEEE 802.3 section 4.2.3.2.5; full, equal and decorrelated jitter, M. Brooker, "Exponential Backoff And
//! Jitter", AWS Architecture Blog, 2015; additive jitter, Google Cloud's documents on truncated exponential backoff.
//!
//! Arithmetic is in nanoseconds as `f64`. It is exact for whole numbers up to 2^53 ns (104 days) and saturates beyond
//! the range of [`Duration`]. The cap is applied last, to the [`Duration`], so rounding cannot lift a wait above it.

use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

/// How the un-jittered wait grows with each retry, before the cap.
#[derive(Debug, Clone, PartialEq)]
pub enum Growth {
    /// base * factor^i
    Exponential {
        /// Multiplier for each further retry, at least 1.
        factor: f64,
    },
    /// base * (i + 1)
    Linear,
    /// base * (1, 1, 2, 3, 5, 8, ...)
    Fibonacci,
    /// base
    Constant,
    /// An explicit list, never empty. Its last entry repeats.
    List(Vec<Duration>),
}

/// Random variation of the un-jittered wait e.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Jitter {
    /// e
    None,
    /// uniform in [0, e]
    Full,
    /// e/2 + uniform in [0, e/2]
    Equal,
    /// uniform in [base, min(cap, previous * factor)], previous = base at the start
    Decorrelated {
        /// Growth of the upper end, at least 1.
        factor: f64,
    },
    /// min(cap, e + uniform in [0, spread])
    Additive {
        /// Width of the random part.
        spread: Duration,
    },
    /// min(cap, e * uniform in [1 - spread, 1 + spread])
    Proportional {
        /// Half the width, as a fraction in [0, 1].
        spread: f64,
    },
    /// k * base, k a uniform integer in [0, 2^min(i + 1, ceiling) - 1], at most the cap
    Slotted {
        /// Limit on the exponent, 1 to 62.
        ceiling: u32,
    },
}

/// Options of the waits between attempts.
#[derive(Debug, Clone, PartialEq)]
pub struct Delays {
    /// Scale of the first wait, slot time of [`Jitter::Slotted`], and wait before confirming a success. A list uses it
    /// only to confirm. `plan::delays` limits it to the cap.
    pub base: Duration,
    /// Limit on every wait, except one that a server asks for.
    pub cap: Duration,
    pub growth: Growth,
    pub jitter: Jitter,
}

/// The possible waits before one retry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Distribution {
    /// min(cap, uniform in [low, high])
    Uniform {
        /// Shortest, in nanoseconds.
        low: f64,
        /// Longest before the cap, in nanoseconds.
        high: f64,
        cap: Duration,
    },
    /// min(cap, k * slot), k a uniform integer in [0, last]
    Slots {
        slot: Duration,
        /// Highest k.
        last: u64,
        cap: Duration,
    },
}

pub(super) fn nanos(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

/// Returns nanoseconds as a duration, rounded and saturating at [`Duration::MAX`]. A negative number becomes zero.
pub(super) fn from_nanos(nanos: f64) -> Duration {
    // `as` saturates, and turns NaN into 0.
    let whole = nanos.round() as u128;
    let seconds = u64::try_from(whole / 1_000_000_000).unwrap_or(u64::MAX);
    if seconds == u64::MAX {
        Duration::MAX
    } else {
        Duration::new(seconds, (whole % 1_000_000_000) as u32)
    }
}

impl Delays {
    /// Returns e(i) = min(cap, growth(i)), the wait before retry `retry` (0 is the first) without jitter.
    ///
    /// Two jitters grow by themselves and ignore `growth`. With decorrelated jitter, e(i) is base * factor^i. With
    /// slots, e(i) is the longest possible wait.
    pub fn unjittered(&self, retry: u64) -> Duration {
        // The type that `powi` takes.
        let steps = i32::try_from(retry).unwrap_or(i32::MAX);
        let wait = match (&self.jitter, &self.growth) {
            (Jitter::Slotted { ceiling }, _) => self.scaled(last_slot(retry, *ceiling) as f64),
            (Jitter::Decorrelated { factor }, _) | (_, Growth::Exponential { factor }) => {
                self.scaled(factor.powi(steps))
            }
            (_, Growth::Linear) => self.scaled(retry as f64 + 1.0),
            (_, Growth::Fibonacci) => self.scaled(fibonacci(retry)),
            (_, Growth::Constant) => self.base,
            (_, Growth::List(list)) => {
                let entry = usize::try_from(retry)
                    .ok()
                    .and_then(|index| list.get(index));
                entry.or(list.last()).copied().unwrap_or_default()
            }
        };
        wait.min(self.cap)
    }

    /// Returns base * times, or zero if base is zero (0 * infinity is NaN).
    fn scaled(&self, times: f64) -> Duration {
        if self.base.is_zero() {
            Duration::ZERO
        } else {
            from_nanos(nanos(self.base) * times)
        }
    }

    /// Returns the distribution of the wait before retry `retry` (0 is the first). `previous` is the wait drawn for the
    /// last retry, None before the first. Only decorrelated jitter uses it.
    pub fn distribution(&self, retry: u64, previous: Option<Duration>) -> Distribution {
        match self.jitter {
            Jitter::Decorrelated { factor } => {
                let low = nanos(self.base);
                // The cap comes before the draw, because min(cap, draw) would pile the waits up at the cap.
                let high = (nanos(previous.unwrap_or(self.base)) * factor).min(nanos(self.cap));
                // Only tests have a base above the cap, which makes `low` the higher one. The draw is cut at the cap.
                self.uniform(low, high.max(low))
            }
            Jitter::Slotted { ceiling } => Distribution::Slots {
                slot: self.base,
                last: last_slot(retry, ceiling),
                cap: self.cap,
            },
            _ => self.around(nanos(self.unjittered(retry))),
        }
    }

    /// Applies the jitter to an un-jittered wait of `e` nanoseconds.
    fn around(&self, e: f64) -> Distribution {
        match self.jitter {
            Jitter::Full => self.uniform(0.0, e),
            Jitter::Equal => self.uniform(e / 2.0, e),
            Jitter::Additive { spread } => self.uniform(e, e + nanos(spread)),
            Jitter::Proportional { spread } => self.uniform(e * (1.0 - spread), e * (1.0 + spread)),
            // No random part. `distribution` handles the other two itself.
            Jitter::None | Jitter::Decorrelated { .. } | Jitter::Slotted { .. } => {
                self.uniform(e, e)
            }
        }
    }

    /// Returns the uniform distribution between two numbers of nanoseconds, with the cap.
    fn uniform(&self, low: f64, high: f64) -> Distribution {
        Distribution::Uniform {
            low,
            high,
            cap: self.cap,
        }
    }

    /// Draws the wait before retry `retry`.
    pub fn draw(&self, retry: u64, previous: Option<Duration>, rng: &mut dyn Rng) -> Duration {
        self.distribution(retry, previous).draw(rng)
    }

    /// Returns the drawn wait or, if the server asks for a longer one, `asked` and a random part, so that clients with
    /// the same answer do not all return at once. The part is uniform in [0, r]. r is the drawn wait, but at least a
    /// tenth of `asked` (to spread the clients), at most a quarter (to respect the answer) and at most the cap. The sum
    /// may exceed the cap, because the server knows better.
    pub fn at_least(&self, asked: Duration, drawn: Duration, rng: &mut dyn Rng) -> Duration {
        if drawn >= asked {
            return drawn;
        }
        let tenth = nanos(asked) / 10.0;
        let quarter = nanos(asked) / 4.0;
        let most_added = nanos(drawn).clamp(tenth, quarter).min(nanos(self.cap));
        asked.saturating_add(from_nanos(most_added * rng.random::<f64>()))
    }
}

/// Returns the generator for a `--seed`.
pub fn generator_of_seed(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Returns 2^min(i + 1, ceiling) - 1, the highest slot number before retry i.
fn last_slot(retry: u64, ceiling: u32) -> u64 {
    let exponent = retry.saturating_add(1).min(u64::from(ceiling));
    (1 << exponent) - 1
}

/// Returns 1, 1, 2, 3, 5, 8, ... for i = 0, 1, 2, ..., and infinity beyond the range of `f64`.
fn fibonacci(i: u64) -> f64 {
    let mut current = 1.0;
    let mut next = 1.0;
    // Infinite from step 1476 on.
    for _ in 0..i.min(1500) {
        (current, next) = (next, current + next);
    }
    current
}

impl Distribution {
    /// Draws a wait of at most the cap. A uniform one without a random part takes nothing from `rng`, so it does not
    /// change the later waits of a `--seed`.
    pub fn draw(&self, rng: &mut dyn Rng) -> Duration {
        match *self {
            Distribution::Uniform { low, high, cap } => {
                let added = if low < high {
                    (high - low) * rng.random::<f64>()
                } else {
                    0.0
                };
                // Clamped, because rounding could leave the range.
                from_nanos((low + added).clamp(low, high)).min(cap)
            }
            Distribution::Slots { slot, last, cap } => {
                let k = rng.random_range(0..=last);
                from_nanos(nanos(slot) * k as f64).min(cap)
            }
        }
    }

    /// Returns the shortest possible wait.
    pub fn least(&self) -> Duration {
        match *self {
            Distribution::Uniform { low, cap, .. } => from_nanos(low).min(cap),
            Distribution::Slots { .. } => Duration::ZERO,
        }
    }

    /// Returns the longest wait, to which uniform draws come arbitrarily close.
    pub fn most(&self) -> Duration {
        match *self {
            Distribution::Uniform { high, cap, .. } => from_nanos(high).min(cap),
            Distribution::Slots { slot, last, cap } => {
                from_nanos(nanos(slot) * last as f64).min(cap)
            }
        }
    }

    /// Returns true if the cap cuts longer draws, so that the mean is not midway between least and most.
    pub fn is_cut(&self) -> bool {
        match *self {
            Distribution::Uniform { low, high, cap } => low < high && high > nanos(cap),
            Distribution::Slots { slot, last, cap } => nanos(slot) * last as f64 > nanos(cap),
        }
    }
}

#[cfg(test)]
#[path = "tests/delay.rs"]
mod tests;
