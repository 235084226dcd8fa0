//! What is meant for the command's three standard streams. Plain data.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::io::pattern::Patterns;

/// `--stdin`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A file is rewound, a pipe replayed, anything else inherited.
    Auto,
    /// The caller's own.
    Inherit,
    /// Read to the end first, then fed to each attempt.
    Replay,
    /// `/dev/null`.
    Null,
}

/// `--stdout`, `--stderr`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Passed through as it comes.
    Stream,
    /// Kept; only the last attempt's is printed.
    Final,
    /// Kept; printed only if the run succeeds, and then only the last attempt's.
    Success,
    /// Kept; printed only if the whole run failed.
    Failure,
    /// Dropped.
    Null,
}

/// Somebody who reads the lines of an attempt's output for a wait that they ask for.
pub trait Listener {
    /// Reads a line, at this time of day.
    fn read(&mut self, line: &[u8], now: SystemTime);
    /// The longest wait that was asked for.
    fn wait(&self) -> Option<Duration>;
}

/// All that is meant for the streams of each attempt.
#[derive(Debug, Clone)]
pub struct Streams {
    /// `--stdin`
    pub input: Input,
    /// `--stdin-limit`, in bytes.
    pub input_limit: u64,
    /// `--stdout`, `--stderr`
    pub keep: [Keep; 2],
    /// `--pty`
    pub pty: bool,
    /// What is looked at: standard output, standard error.
    pub watched: [bool; 2],
    /// What the rules look for.
    pub patterns: Arc<Patterns>,
    /// A pattern that was found makes these others of no interest.
    pub moot: Vec<Vec<usize>>,
    /// Makes what listens for waits that the output of an attempt asks for (`--retry-after`).
    pub listener: Option<fn() -> Box<dyn Listener>>,
    /// What is watched is kept for `--retry-if`.
    pub copy: bool,
    /// Output resets `--idle-timeout`.
    pub idle: bool,
}

impl Streams {
    /// Whether backoff must see what this output (0 standard output, 1 standard error) carries.
    pub fn is_observed(&self, output: usize) -> bool {
        !self.reasons(output).is_empty()
    }

    /// Why backoff must see what this output carries; nothing if it is the caller's own.
    fn reasons(&self, output: usize) -> Vec<&'static str> {
        let watched = self.watched[output];
        [
            (self.pty, "--pty"),
            (watched && !self.patterns.is_empty(), "rules"),
            (watched && self.copy, "--retry-if"),
            (watched && self.listener.is_some(), "--retry-after"),
            (self.idle, "--idle-timeout"),
            (!matches!(self.keep[output], Keep::Stream | Keep::Null), "kept"),
        ]
        .into_iter()
        .filter_map(|(applies, reason)| applies.then_some(reason))
        .collect()
    }
}

/// "stdin auto, stdout observed (rules), stderr inherited"
impl fmt::Display for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = match self.input {
            Input::Auto => "auto",
            Input::Inherit => "inherited",
            Input::Replay => "replayed",
            Input::Null => "null",
        };
        write!(f, "stdin {input}")?;
        for (output, name) in ["stdout", "stderr"].into_iter().enumerate() {
            let reasons = self.reasons(output);
            match self.keep[output] {
                _ if !reasons.is_empty() => write!(f, ", {name} observed ({})", reasons.join(", "))?,
                Keep::Null => write!(f, ", {name} null")?,
                _ => write!(f, ", {name} inherited")?,
            }
        }
        Ok(())
    }
}
