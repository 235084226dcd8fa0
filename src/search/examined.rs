//! What an attempt printed, as far as rules look at it.

use std::cell::OnceCell;
use std::sync::LazyLock;
use std::time::SystemTime;

use regex::bytes::Regex;

use super::pattern::Pattern;
use super::tail::Tail;
use super::visible::{lines, visible};

/// BuildKit's prefix of a line, step and time: `#15 49.22 npm error code ECONNRESET`.
static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?m-u)^#\d+ \d+\.\d+ ").ok());

/// The examined output of a finished attempt.
#[derive(Debug)]
pub struct Examined {
    /// The user's patterns that matched, each with the beginning of its first match.
    found: Vec<(String, String)>,
    /// The end of each output, which is searched for patterns of presets.
    tails: Vec<Tail>,
    /// The tails as a person reads them. Built at the first look, because a success needs none.
    visible: OnceCell<Vec<u8>>,
    /// Time of day when the attempt ended.
    pub at: SystemTime,
}

impl Examined {
    pub fn new(found: Vec<(String, String)>, tails: Vec<Tail>, at: SystemTime) -> Examined {
        Examined {
            found,
            tails,
            visible: OnceCell::new(),
            at,
        }
    }

    /// Returns the beginning of the first match of a pattern.
    pub fn find(&self, pattern: &Pattern) -> Option<String> {
        if pattern.is_of_preset() {
            return self.lines().find_map(|line| pattern.find(line));
        }
        let mut found = self.found.iter();
        let (_, text) = found.find(|(known, _)| known == pattern.text())?;
        Some(text.clone())
    }

    /// Returns the last lines of the outputs, without BuildKit's prefixes.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let read = || {
            let outputs = self.tails.iter().map(|tail| visible(tail.bytes()));
            without_steps(&outputs.collect::<Vec<_>>().join(&b'\n'))
        };
        lines(self.visible.get_or_init(read))
    }
}

fn without_steps(text: &[u8]) -> Vec<u8> {
    match &*STEP {
        Some(step) => step.replace_all(text, &b""[..]).into_owned(),
        None => text.to_vec(),
    }
}
