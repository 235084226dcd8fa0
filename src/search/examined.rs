//! What an attempt printed, as far as rules look at it.

use std::cell::OnceCell;
use std::sync::LazyLock;
use std::time::SystemTime;

use regex::bytes::Regex;

use super::pattern::Pattern;
use super::tail::Tail;
use super::visible::{lines, visible};

/// What BuildKit prints before a line of a build's step: `#15 49.22 npm error code ECONNRESET`.
static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u)^#\d+ \d+\.\d+ ").ok());

/// The examined output of an attempt that has ended.
#[derive(Debug)]
pub struct Examined {
    /// Each pattern of the user that matched, and the beginning of the first match.
    found: Vec<(String, String)>,
    /// The end of each output, which patterns of presets are searched for in.
    tails: Vec<Tail>,
    /// What a person reads of the tails. Made at the first look, as a success needs none.
    visible: OnceCell<Vec<u8>>,
    /// The time of day when the attempt ended.
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

    /// Returns the last lines of the outputs, without what BuildKit prints before them.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let read = || {
            let outputs = self.tails.iter().map(|tail| visible(tail.bytes()));
            outputs.collect::<Vec<_>>().join(&b'\n')
        };
        lines(self.visible.get_or_init(read)).map(without_step)
    }
}

fn without_step(line: &[u8]) -> &[u8] {
    let step = STEP.as_ref().and_then(|step| step.find(line));
    step.map_or(line, |step| &line[step.end()..])
}
