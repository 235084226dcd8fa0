//! The expressions of a run, and one look for many of them.

use std::sync::OnceLock;

use super::pattern::Pattern;
use super::words::Words;

/// The most expressions of a set.
pub(crate) const MOST_PATTERNS: usize = 1000;

/// The most memory that all expressions of a set may take when they are compiled, in bytes.
pub(crate) const LARGEST_SET: usize = 32 << 20;

/// The expressions to be looked for, each known by its index. Streams share one set: what has been
/// found in a stream is known to its `Scanner`.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    list: Vec<Pattern>,
    /// For those that come with the program.
    words: OnceLock<Option<Words>>,
}

impl Patterns {
    /// A set in the order of its indices.
    pub fn new(mut patterns: Vec<Pattern>) -> Self {
        let sharers = patterns.len();
        for pattern in &mut patterns {
            pattern.sharers = sharers;
        }
        Self {
            list: patterns,
            words: OnceLock::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The expressions in the order of their indices.
    pub fn as_slice(&self) -> &[Pattern] {
        &self.list
    }

    /// For each expression whether it may match in this text.
    pub(crate) fn candidates(&self, text: &[u8]) -> Vec<bool> {
        match self.words.get_or_init(|| Words::new(&self.list)) {
            Some(words) => words.candidates(text),
            None => vec![true; self.list.len()],
        }
    }
}
