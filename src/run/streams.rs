//! Options of the command's three standard streams.

use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use std::time::Duration;

use crate::search::scanner::Patterns;

/// An output of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    Stdout,
    Stderr,
}

impl Channel {
    pub(crate) const ALL: [Channel; 2] = [Channel::Stdout, Channel::Stderr];

    pub(crate) fn other(self) -> Channel {
        match self {
            Channel::Stdout => Channel::Stderr,
            Channel::Stderr => Channel::Stdout,
        }
    }

    /// Returns the name in `--plan`.
    fn short_name(self) -> &'static str {
        match self {
            Channel::Stdout => "stdout",
            Channel::Stderr => "stderr",
        }
    }
}

/// Shows the name in messages.
impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Channel::Stdout => "standard output",
            Channel::Stderr => "standard error",
        })
    }
}

/// A value for each output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PerChannel<T> {
    pub(crate) stdout: T,
    pub(crate) stderr: T,
}

impl<T> PerChannel<T> {
    /// Returns the values that a function gives.
    pub(crate) fn each(mut value: impl FnMut(Channel) -> T) -> PerChannel<T> {
        PerChannel {
            stdout: value(Channel::Stdout),
            stderr: value(Channel::Stderr),
        }
    }

    pub(crate) fn values(&self) -> [&T; 2] {
        [&self.stdout, &self.stderr]
    }
}

impl<T> Index<Channel> for PerChannel<T> {
    type Output = T;

    fn index(&self, channel: Channel) -> &T {
        match channel {
            Channel::Stdout => &self.stdout,
            Channel::Stderr => &self.stderr,
        }
    }
}

impl<T> IndexMut<Channel> for PerChannel<T> {
    fn index_mut(&mut self, channel: Channel) -> &mut T {
        match channel {
            Channel::Stdout => &mut self.stdout,
            Channel::Stderr => &mut self.stderr,
        }
    }
}

/// `--stdin`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// A file is rewound, a pipe replayed, anything else inherited.
    Auto,
    /// Inherited from the caller.
    Inherit,
    /// Read to the end first, then fed to each attempt.
    Replay,
    /// `/dev/null`.
    Null,
}

/// `--stdout`, `--stderr`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OutputMode {
    /// Forwarded at once.
    #[default]
    Stream,
    /// Kept; only the last attempt's is printed.
    Final,
    /// Kept; printed only if the run succeeds, and then only the last attempt's.
    Success,
    /// Kept for all attempts, and printed only if the whole run failed.
    Failure,
    /// Dropped.
    Null,
}

impl OutputMode {
    pub(crate) fn is_kept(self) -> bool {
        matches!(
            self,
            OutputMode::Final | OutputMode::Success | OutputMode::Failure
        )
    }
}

#[derive(Debug, Clone)]
pub(crate) struct StreamOptions {
    pub(crate) input: InputMode,
    /// `--stdin-limit`, in bytes.
    pub(crate) input_limit: u64,
    /// `--stdout`, `--stderr`: see [`StreamOptions::mode`].
    pub(crate) outputs: [OutputMode; 2],
    pub(crate) pty: bool,
    /// `--match-on`: see [`StreamOptions::is_watched`].
    pub(crate) watched: [bool; 2],
    /// Patterns of the rules.
    pub(crate) patterns: Arc<Patterns>,
    /// `--retry-after`: look for waits that the output asks for.
    pub(crate) retry_after: Option<Duration>,
    /// Watched output is kept for `--retry-if` and `--success-if`.
    pub(crate) retry_if: bool,
    pub(crate) success_if: bool,
    /// `--hook-output`: limit on the end of the output that is kept for hooks.
    pub(crate) hook_output: Option<usize>,
    /// Output resets `--idle-timeout`.
    pub(crate) idle: bool,
    /// Messages go to standard error and have to begin a line: commands to a CI runner.
    pub(crate) ends_lines: bool,
}

impl StreamOptions {
    /// Returns what becomes of an output.
    pub(crate) fn mode(&self, channel: Channel) -> OutputMode {
        let [stdout, stderr] = self.outputs;
        match channel {
            Channel::Stdout => stdout,
            Channel::Stderr => stderr,
        }
    }

    /// Returns true if `--match-on` names this output.
    pub(crate) fn is_watched(&self, channel: Channel) -> bool {
        let [stdout, stderr] = self.watched;
        match channel {
            Channel::Stdout => stdout,
            Channel::Stderr => stderr,
        }
    }

    /// Returns true if backoff must see this output.
    pub(crate) fn is_observed(&self, channel: Channel) -> bool {
        !self.reasons(channel).is_empty()
    }

    /// Returns the reasons why backoff must see this output; empty if the output is inherited.
    fn reasons(&self, channel: Channel) -> Vec<&'static str> {
        let watched = self.is_watched(channel);
        let reasons = [
            (self.pty, "--pty"),
            (watched && !self.patterns.list.is_empty(), "rules"),
            (watched && self.retry_if, "--retry-if"),
            (watched && self.success_if, "--success-if"),
            (watched && self.hook_output.is_some(), "--hook-output"),
            (watched && self.retry_after.is_some(), "--retry-after"),
            (self.idle, "--idle-timeout"),
            (self.ends_lines, "--log-format"),
            (self.mode(channel).is_kept(), "kept"),
        ];
        let applicable = reasons.into_iter().filter(|(applies, _)| *applies);
        applicable.map(|(_, reason)| reason).collect()
    }
}

/// Shows `stdin auto, stdout observed for rules, stderr inherited`.
impl fmt::Display for StreamOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = match self.input {
            InputMode::Auto => "auto",
            InputMode::Inherit => "inherited",
            InputMode::Replay => "replayed",
            InputMode::Null => "null",
        };
        write!(f, "stdin {input}")?;
        for channel in Channel::ALL {
            let name = channel.short_name();
            let reasons = self.reasons(channel);
            if !reasons.is_empty() {
                write!(f, ", {name} observed for {}", reasons.join(" and "))?;
            } else if self.mode(channel) == OutputMode::Null {
                write!(f, ", {name} null")?;
            } else {
                write!(f, ", {name} inherited")?;
            }
        }
        Ok(())
    }
}
