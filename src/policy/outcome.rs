//! Plain facts about an attempt that is over. Facts only: no judgement, no `i32` in which a code
//! and a signal could be confused.

use std::fmt;
use std::time::Duration;

use crate::policy::signal::Signal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub end: End,
    /// Without the time in which backoff was stopped (Ctrl-Z).
    pub ran: Duration,
    /// Where a bound or a signal has ended it.
    pub cut: Cut,
    /// As far as backoff looked.
    pub seen: Seen,
}

impl Outcome {
    /// Of an attempt whose output was not looked at.
    pub fn new(end: End, ran: Duration) -> Outcome {
        Outcome {
            end,
            ran,
            cut: Cut::default(),
            seen: Seen::default(),
        }
    }

    /// Whether it ended as what nobody reads any more does: by SIGPIPE, its own or that of a program which a shell ran.
    pub fn ended_by_sigpipe(&self) -> bool {
        matches!(self.end, End::Signaled(Signal::PIPE) | End::Exited(141))
    }

    /// Returns true if exec failed, so that nothing ran.
    pub fn could_not_start(&self) -> bool {
        matches!(self.end, End::NotStarted(_))
    }
}

/// More about an end that was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cut {
    /// How long the bound was, where it is one of the attempt's own.
    pub limit: Option<Duration>,
    /// What was sent first was not enough.
    pub took_kill: bool,
}

/// After what asked it to end.
pub(crate) const NEEDED_KILL: &str = " and needed KILL";

/// How the attempt ended: with what a person needs to know of the bound that ended it.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Other ends say it themselves.
        let has_to_be_said = self.cut.took_kill && matches!(self.end, End::TimedOut(_));
        let and = if has_to_be_said { NEEDED_KILL } else { "" };
        match (&self.end, self.cut.limit.map(exact)) {
            (End::TimedOut(Bound::Timeout), Some(limit)) => write!(f, "timed out{and} (--timeout {limit})"),
            (End::TimedOut(Bound::Idle), Some(limit)) => write!(f, "no output for {limit}{and} (--idle-timeout)"),
            (end, _) => write!(f, "{end}{and}"),
        }
    }
}

/// As one would type it, `1m30s`: nothing is rounded.
pub(crate) fn exact(length: Duration) -> String {
    if length.is_zero() {
        return "0".to_owned();
    }
    humantime::format_duration(length).to_string().replace(' ', "")
}

/// What the streams of an attempt showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// For each pattern the text in which it was found first.
    pub matched: Vec<Option<String>>,
    /// The longest wait that a line asked for.
    pub wait_asked: Option<Duration>,
    /// More was read of standard input than can be given again.
    pub input_lost: bool,
    /// Why that could not be kept, if it was not for its size.
    pub input_error: Option<String>,
    /// This attempt was the first before which it turned out that standard input has to be read ahead of the command.
    pub input_read_ahead: bool,
    /// Nobody reads the output any more.
    pub reader_gone: bool,
    /// Output was lost, as a time-out had cut it off and its reader did not read on.
    pub unread: bool,
}

impl Seen {
    pub fn text(&self, pattern: usize) -> Option<&str> {
        self.matched.get(pattern)?.as_deref()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Exited(u8),
    Signaled(Signal),
    /// backoff ended it; how the process then died does not count.
    TimedOut(Bound),
    /// `execve(2)` refused it; nothing ran.
    NotStarted(StartFailure),
}

/// The bound that ended an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `--timeout`, one attempt.
    Timeout,
    /// `--idle-timeout`, silence.
    Idle,
    /// `--deadline`, the whole run.
    Deadline,
}

/// Why a command could not be started, as `execve(2)` reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartFailure {
    /// Not found at all (ENOENT, ENOTDIR): status 127. Otherwise it is there and cannot be run: 126.
    pub not_found: bool,
    /// What a person should read, such as `command not found`.
    pub message: String,
}

impl StartFailure {
    /// The message where there is no file of that name.
    pub const NOT_FOUND: &'static str = "command not found";

    /// 127 if the command was not found, 126 if it was found and cannot be run (POSIX `sh`, `env`).
    pub fn code(&self) -> u8 {
        if self.not_found { 127 } else { 126 }
    }
}

impl End {
    /// The code by which rules know it: that of a shell for a death by a signal, and none for a time-out, which is
    /// backoff's own doing.
    pub fn code(&self) -> Option<u8> {
        match self {
            End::Exited(code) => Some(*code),
            End::Signaled(signal) => Some(signal.shell_status()),
            End::NotStarted(failure) => Some(failure.code()),
            End::TimedOut(_) => None,
        }
    }

    /// The number a shell would show in `$?`: the code, 128+N for a signal, 124 for a time-out.
    pub fn shell_status(&self) -> u8 {
        self.code().unwrap_or(124)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited(code) => write!(f, "exit {code}"),
            End::Signaled(signal) => write!(f, "killed by {signal}"),
            End::TimedOut(Bound::Timeout) => f.write_str("timed out"),
            End::TimedOut(Bound::Idle) => f.write_str("no output for too long"),
            End::TimedOut(Bound::Deadline) => f.write_str("ended by the deadline"),
            End::NotStarted(failure) => f.write_str(&failure.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_out_says_what_it_took() {
        let outcome = |bound, limit, took_kill| Outcome {
            cut: Cut { limit, took_kill },
            ..Outcome::new(End::TimedOut(bound), Duration::ZERO)
        };
        let limit = Some(Duration::from_millis(90_500));
        for (bound, limit, took_kill, shown) in [
            (Bound::Timeout, limit, false, "timed out (--timeout 1m30s500ms)"),
            (Bound::Timeout, None, true, "timed out and needed KILL"),
            (
                Bound::Idle,
                limit,
                true,
                "no output for 1m30s500ms and needed KILL (--idle-timeout)",
            ),
            (
                Bound::Idle,
                Some(Duration::ZERO),
                false,
                "no output for 0 (--idle-timeout)",
            ),
            (Bound::Idle, None, false, "no output for too long"),
            (Bound::Deadline, None, false, "ended by the deadline"),
        ] {
            assert_eq!(outcome(bound, limit, took_kill).to_string(), shown);
        }
    }

    #[test]
    fn the_number_a_shell_shows() {
        assert_eq!(End::Exited(7).shell_status(), 7);
        assert_eq!(End::Signaled(Signal::TERM).shell_status(), 143);
        assert_eq!(End::TimedOut(Bound::Timeout).shell_status(), 124);
        for (not_found, code) in [(true, 127), (false, 126)] {
            let failure = StartFailure {
                not_found,
                message: String::new(),
            };
            assert_eq!(End::NotStarted(failure).shell_status(), code);
        }
    }
}
