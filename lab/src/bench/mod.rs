//! Measurements of backoff by itself: one module for each command.

mod redis;
pub mod scanner;
mod service;
pub mod store;

use clap::Args;

/// What all of them take.
#[derive(Args)]
pub struct Pace {
    /// Few rounds: whether it works, not what is true
    #[arg(long)]
    quick: bool,
}

impl Pace {
    /// So many, unless it has to be quick.
    fn full_or<N>(&self, full: N, quick: N) -> N {
        if self.quick { quick } else { full }
    }
}
