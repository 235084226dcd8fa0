//! Options of the command's three standard streams.

use std::fmt;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

use crate::search::watch::WatchList;

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

    /// Returns the name in the `-vv` line about streams.
    fn short_name(self) -> &'static str {
        match self {
            Channel::Stdout => "stdout",
            Channel::Stderr => "stderr",
        }
    }
}

impl fmt::Display for Channel {
    /// Formats as messages name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Channel::Stdout => "standard output",
            Channel::Stderr => "standard error",
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PerChannel<T> {
    pub(crate) stdout: T,
    pub(crate) stderr: T,
}

impl<T> PerChannel<T> {
    /// Calls a function for each output, and returns its values.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputMode {
    /// Forwarded at once.
    Stream,
    /// Kept. Only the last attempt's is printed.
    Final,
    /// Kept. Printed only if the run succeeds (`EndOfRun::Good`), and then only the last attempt's.
    Success,
    /// Kept for all attempts. Printed only if the whole run failed (`EndOfRun::Failed`).
    Failure,
    /// Dropped.
    Null,
}

impl OutputMode {
    /// Returns true if output is kept until the end of an attempt or the run.
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
    /// `--stdout`, `--stderr`
    pub(crate) modes: PerChannel<OutputMode>,
    pub(crate) pty: bool,
    /// The caller's output is a terminal.
    pub(crate) is_terminal: PerChannel<bool>,
    /// `--match-on`: rules and predicates examine this output.
    pub(crate) is_watched: PerChannel<bool>,
    /// The user's patterns.
    pub(crate) watch_list: Rc<WatchList>,
    /// `--for` is given, whose rules read the end of watched output.
    pub(crate) has_presets: bool,
    /// `--retry-after`: look for waits that the output asks for.
    pub(crate) reads_waits: bool,
    /// `--retry-if` is given, which gets watched output.
    pub(crate) has_retry_if: bool,
    /// `--success-if` is given, which gets watched output.
    pub(crate) has_success_if: bool,
    /// `--hook-output` is given, with a hook that gets the end of watched output.
    pub(crate) has_hook_output: bool,
    /// `--idle-timeout` is given, which output resets.
    pub(crate) has_idle_timeout: bool,
}

impl StreamOptions {
    /// Returns true if backoff must see this output.
    pub(crate) fn is_observed(&self, channel: Channel) -> bool {
        !self.reasons(channel).is_empty()
    }

    /// Returns true if the command would not have the terminal that `--pty` asks for.
    fn needs_pty(&self, channel: Channel) -> bool {
        self.pty && !self.is_terminal[channel] && self.modes[channel] != OutputMode::Null
    }

    fn has_rules(&self) -> bool {
        self.has_presets || !self.watch_list.patterns.is_empty()
    }

    /// Returns the reasons why backoff must see this output, which `-vv` also prints. Without any, nothing passes
    /// through backoff: the command inherits the caller's descriptor, or has `/dev/null`.
    fn reasons(&self, channel: Channel) -> Vec<&'static str> {
        let watched = self.is_watched[channel];
        let reasons = [
            (self.needs_pty(channel), "--pty"),
            (watched && self.has_rules(), "rules"),
            (watched && self.has_retry_if, "--retry-if"),
            (watched && self.has_success_if, "--success-if"),
            (watched && self.has_hook_output, "--hook-output"),
            (watched && self.reads_waits, "--retry-after"),
            (self.has_idle_timeout, "--idle-timeout"),
            (self.modes[channel].is_kept(), "kept"),
        ];
        let applicable = reasons.into_iter().filter(|(applies, _)| *applies);
        applicable.map(|(_, reason)| reason).collect()
    }
}

impl fmt::Display for StreamOptions {
    /// Formats for `-vv` how each stream is handled, and why an output passes through backoff: `stdin auto, stdout
    /// observed for rules, stderr inherited`.
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
            } else if self.modes[channel] == OutputMode::Null {
                write!(f, ", {name} null")?;
            } else {
                write!(f, ", {name} inherited")?;
            }
        }
        Ok(())
    }
}
