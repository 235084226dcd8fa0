//! Options of the command's three standard streams.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::search::scanner::Patterns;

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
    pub(crate) outputs: [OutputMode; 2],
    pub(crate) pty: bool,
    /// `--match-on`: standard output, standard error.
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
}

impl StreamOptions {
    /// Returns true if backoff must see this output (0 is standard output, 1 standard error).
    pub(crate) fn is_observed(&self, output: usize) -> bool {
        !self.reasons(output).is_empty()
    }

    /// Returns the reasons why backoff must see this output; empty if the output is inherited.
    fn reasons(&self, output: usize) -> Vec<&'static str> {
        let watched = self.watched[output];
        let reasons = [
            (self.pty, "--pty"),
            (watched && !self.patterns.list.is_empty(), "rules"),
            (watched && self.retry_if, "--retry-if"),
            (watched && self.success_if, "--success-if"),
            (watched && self.hook_output.is_some(), "--hook-output"),
            (watched && self.retry_after.is_some(), "--retry-after"),
            (self.idle, "--idle-timeout"),
            (self.outputs[output].is_kept(), "kept"),
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
        for (output, name) in ["stdout", "stderr"].into_iter().enumerate() {
            let reasons = self.reasons(output);
            match self.outputs[output] {
                _ if !reasons.is_empty() => {
                    write!(f, ", {name} observed for {}", reasons.join(" and "))?;
                }
                OutputMode::Null => write!(f, ", {name} null")?,
                _ => write!(f, ", {name} inherited")?,
            }
        }
        Ok(())
    }
}
