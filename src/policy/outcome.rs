//! Describes a finished attempt without judging it. Exit codes and signals are separate variants, because a number such
//! as 137 could mean either. Messages contain the `Display` texts.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::policy::signal::Signal;
use crate::text::exact;

/// A finished attempt, hook or predicate: how it ended, and what was seen meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub end: End,
    /// Running time until the command exited, without time in which backoff was stopped (Ctrl-Z). Zero if it never
    /// started.
    pub ran: Duration,
    /// Details if a limit or signal ended the attempt.
    pub forced_end: ForcedEnd,
    /// The deadline passed before backoff began to start the command, so nothing ran.
    pub is_too_late: bool,
    /// Processes of the attempt that could not be killed.
    pub survivors: Vec<Survivor>,
    /// What was seen in the streams that options examine.
    pub seen: Seen,
}

/// A process that is still running although it should not. Serialized for JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Survivor {
    pub pid: i32,
    /// Program name as the system shows it, or as given for the command itself. `?` if unknown.
    pub program: String,
    pub why: Survival,
}

/// Why a process could not be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Survival {
    /// This user may not signal the process (EPERM).
    #[serde(rename = "not_permitted")]
    Protected,
    /// SIGKILL did not work, because the system does not let the process run. Its file system may hang, for example.
    #[serde(rename = "unkillable")]
    Unkillable,
}

/// Formats for the message that lists the survivors: `PID 42 (rsync) survived SIGKILL`.
impl fmt::Display for Survivor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            Survival::Protected => "cannot be signaled (Operation not permitted)",
            Survival::Unkillable => "survived SIGKILL",
        };
        write!(f, "PID {} ({}) {why}", self.pid, self.program)
    }
}

impl Outcome {
    /// Returns the outcome of an attempt with no observed streams.
    pub fn new(end: End, ran: Duration) -> Outcome {
        Outcome {
            end,
            ran,
            forced_end: ForcedEnd::default(),
            is_too_late: false,
            survivors: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// Returns the outcome of an attempt that the deadline left no time to start.
    pub(crate) fn too_late() -> Outcome {
        Outcome {
            is_too_late: true,
            ..Outcome::new(End::TimedOut(TimeLimit::Deadline), Duration::ZERO)
        }
    }

    /// Returns true if SIGPIPE (13) killed the command, or a program run by a shell, which then exits with 128 + 13.
    pub fn ended_by_sigpipe(&self) -> bool {
        matches!(self.end, End::Signaled(Signal::PIPE) | End::Exited(141))
    }

    pub(crate) fn ended_by_deadline(&self) -> bool {
        self.end == End::TimedOut(TimeLimit::Deadline)
    }

    /// Returns true if exec failed, so nothing ran. False if the deadline came before the start.
    pub fn could_not_start(&self) -> bool {
        matches!(self.end, End::NotStarted(_))
    }

    /// Returns true if the command certainly did not run, so it had no effect. False if a limit or signal came while
    /// the system started the command, because it may just have begun.
    pub(crate) fn has_not_run(&self) -> bool {
        self.could_not_start() || self.is_too_late
    }
}

/// Details of an end that backoff caused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForcedEnd {
    /// Length of `--timeout` or `--idle-timeout`, if it ended the attempt.
    pub limit: Option<Duration>,
    /// The first signal was not enough, and backoff sent SIGKILL (`--kill-after`).
    pub took_kill: bool,
}

/// Suffix for an attempt that the first signal did not end.
pub(crate) const NEEDED_KILL: &str = " and needed SIGKILL";

/// Formats the end. If `--timeout` or `--idle-timeout` caused it, its length follows: `timed out (--timeout 5s)`.
/// Messages about the deadline add its option and length themselves.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `killed by SIGKILL` already says so.
        let names_kill = self.forced_end.took_kill && matches!(self.end, End::TimedOut(_));
        let kill_note = if names_kill { NEEDED_KILL } else { "" };
        let limit = self.forced_end.limit.map(exact);
        match (&self.end, limit) {
            (End::TimedOut(TimeLimit::Timeout), Some(limit)) => {
                write!(f, "timed out{kill_note} (--timeout {limit})")
            }
            (End::TimedOut(TimeLimit::Idle), Some(limit)) => {
                write!(f, "no output for {limit}{kill_note} (--idle-timeout)")
            }
            (end, _) => write!(f, "{end}{kill_note}"),
        }
    }
}

/// What was seen in the streams of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Longest wait that a failed attempt's output asked for, counted from its end. Without one, the wait that a spent
    /// rate limit needs.
    pub wait_asked: Option<Duration>,
    /// Standard input that the command read cannot be replayed: there was too much, or it was not kept (`input_error`).
    pub input_lost: bool,
    /// Error that prevented keeping the input, other than its size.
    pub input_error: Option<String>,
    /// Standard input has to be read ahead of the command, which was first noticed before this attempt.
    pub input_read_ahead: bool,
    /// The reader of the output is gone. After exit 0 or a failed start, true only if output was refused, because the
    /// command had written everything, or nothing.
    pub reader_gone: bool,
    /// The reader was gone when backoff passed on the output. The command may not have noticed, because backoff took
    /// it.
    pub output_refused: bool,
    /// Which output could not be kept and was printed as it came, and why.
    pub not_kept: Option<String>,
    /// Output was lost, because the attempt was ended before a reader took the rest. False if the deadline ended it,
    /// because messages then name the deadline.
    pub unread: bool,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    Exited(u8),
    /// The signal killed the command. Or backoff received it while the output waited for its reader, so the output was
    /// lost, however the command itself ended.
    Signaled(Signal),
    /// backoff ended the attempt, however the process then died. Or the deadline passed while the output still waited
    /// for its reader, or before the start.
    TimedOut(TimeLimit),
    /// `execve(2)` failed, so nothing ran.
    NotStarted(StartFailure),
    /// A signal told backoff and the command to exit, but the command is still running. Or it exited with 0, and
    /// another process of the attempt is still running (see [`Outcome::survivors`]).
    Unended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// `--timeout`, limit on one attempt.
    Timeout,
    /// `--idle-timeout`, limit on time without output.
    Idle,
    /// `--deadline`, limit on the whole run.
    Deadline,
}

/// Failure of `execve(2)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartFailure {
    /// True if the command, or the interpreter of a script, does not exist (ENOENT, ENOTDIR): status 127. Otherwise it
    /// exists and cannot be run: 126.
    pub not_found: bool,
    /// Human-readable, such as `command not found`.
    pub message: String,
}

impl StartFailure {
    /// Message if no file of that name exists.
    pub const NOT_FOUND: &'static str = "command not found";

    /// Message if there is no file at the given path.
    pub const NO_FILE: &'static str = "No such file or directory";

    /// Returns true if the command's name may be a shell word. `not_found` also covers a script whose interpreter is
    /// missing.
    pub(crate) fn is_about_name(&self) -> bool {
        [StartFailure::NOT_FOUND, StartFailure::NO_FILE].contains(&self.message.as_str())
    }

    /// Returns 127 if the command was not found, 126 if it cannot be run (POSIX `sh`, `env`).
    pub fn code(&self) -> u8 {
        if self.not_found { 127 } else { 126 }
    }
}

impl End {
    /// Returns the code that rules compare: the command's own or, as in a shell, 128+N for a signal and 126 or 127 for
    /// a failed start. None for a timeout, which backoff causes, and for a command that has not ended.
    pub fn code(&self) -> Option<u8> {
        match self {
            End::Exited(code) => Some(*code),
            End::Signaled(signal) => Some(signal.shell_status()),
            End::NotStarted(failure) => Some(failure.code()),
            End::TimedOut(_) | End::Unended => None,
        }
    }

    /// Returns the signal that killed the command or lost its output (see [`End::Signaled`]), None for any other end.
    pub fn signal(&self) -> Option<Signal> {
        match self {
            End::Signaled(signal) => Some(*signal),
            _ => None,
        }
    }

    /// Returns the number that a shell shows in `$?`: the code, 128+N for a signal, 126 or 127 for a failed start. 124
    /// for a timeout (as `timeout(1)` does) and for a command that has not ended.
    pub fn shell_status(&self) -> u8 {
        self.code().unwrap_or(124)
    }
}

/// Formats as in messages: `exit 7`, `killed by SIGTERM`.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Exited(code) => write!(f, "exit {code}"),
            End::Signaled(signal) => write!(f, "killed by {signal}"),
            End::TimedOut(TimeLimit::Timeout) => f.write_str("timed out"),
            End::TimedOut(TimeLimit::Idle) => f.write_str("no output for too long"),
            End::TimedOut(TimeLimit::Deadline) => f.write_str("ended by the deadline"),
            End::NotStarted(failure) => f.write_str(&failure.message),
            End::Unended => f.write_str("has not ended"),
        }
    }
}

#[cfg(test)]
#[path = "tests/outcome.rs"]
mod tests;
