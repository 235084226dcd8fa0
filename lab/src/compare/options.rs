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
    /// Before whatever else runs, as root; not for throughput, nor where processors are kept busy
    #[arg(long)]
    pub first: bool,
    /// Where tables (Markdown, CSV) and charts (SVG) go; target/performance unless given
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Into docs/performance, and the tables into docs/performance.md
    #[arg(long, conflicts_with = "into")]
    docs: bool,
    /// The size of the log that is looked at in MiB, 1024 unless given; TMPDIR says where
    #[arg(long, value_name = "N")]
    megabytes: Option<NonZeroUsize>,
    /// What to measure, all unless named
    parts: Vec<Part>,
}

/// What is measured, in the order of the document.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Part {
    StartUp,
    Retries,
    Memory,
    Waits,
    Jitter,
    Throughput,
}

impl Options {
    /// Where files go.
    pub fn dir(&self) -> PathBuf {
        match &self.into {
            Some(dir) => dir.clone(),
            None if self.docs => builds::root().join("docs/performance"),
            None => builds::root().join("target/performance"),
        }
    }

    /// What the tables go into.
    pub fn document(&self) -> Option<PathBuf> {
        self.docs.then(|| builds::root().join("docs/performance.md"))
    }

    pub fn megabytes(&self) -> usize {
        let usual = if self.quick { 32 } else { 1024 };
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
