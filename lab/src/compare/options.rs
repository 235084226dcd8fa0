//! What was typed after `compare`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::builds;

#[derive(Args)]
pub struct Options {
    /// Few rounds: whether it works, not what is true
    #[arg(long)]
    pub quick: bool,
    /// The page and its picture into docs, and not into target/performance
    #[arg(long)]
    docs: bool,
    /// The size of the log that is passed on in MiB, 512 unless given; TMPDIR says where
    #[arg(long, value_name = "N")]
    megabytes: Option<NonZeroUsize>,
    /// What to measure, all unless named
    parts: Vec<Part>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Part {
    StartUp,
    Retries,
    Memory,
    Waits,
    Throughput,
}

impl Options {
    /// Where the page goes.
    pub fn dir(&self) -> PathBuf {
        builds::root().join(if self.docs { "docs" } else { "target/performance" })
    }

    pub fn megabytes(&self) -> usize {
        let usual = if self.quick { 32 } else { 512 };
        self.megabytes.map_or(usual, NonZeroUsize::get)
    }

    pub fn parts(&self) -> &[Part] {
        if self.parts.is_empty() {
            Part::value_variants()
        } else {
            &self.parts
        }
    }

    pub fn has_all_parts(&self) -> bool {
        Part::value_variants().iter().all(|part| self.parts().contains(part))
    }
}
