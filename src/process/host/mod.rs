//! Implements `run::Host` on the operating system: signals, the monotonic clock, the command.

mod background;
mod files;
mod messages;
mod store_thread;
mod waits;

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::policy::outcome::{Bound, End, Outcome};
use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::run::{Launch, run};
use crate::process::signals::receive::Signals;
use crate::process::spawn::command::Command;
use crate::process::spawn::{ChildStdio, Isolation};
use crate::process::streams::{self, Streams};
use crate::process::sys::clock;
use crate::process::sys::clock::Deadline;
use crate::process::sys::{fd, stdio};
use crate::process::terminal::control;
use crate::report::words::LINES_LOST;
use crate::run::host::{Attempt, AttemptSpec, BudgetAnswer, EnvLines, Host, RunError};
use crate::run::output::Progress;
use crate::run::plan::{Plan, SharedBudget};
use crate::run::text::describe_error;
use files::{EnvFile, FileTarget, LogFile};
use messages::StandardError;
use store_thread::StoreThread;
use waits::BetweenAttempts;

/// The host of a run: this process and its children.
#[derive(Debug)]
pub(crate) struct System {
    began: Instant,
    deadline: Deadline,
    between: BetweenAttempts,
    command: Command,
    standard_error: StandardError,
    /// None if the log goes to standard error.
    log_file: Option<LogFile>,
    report: Option<FileTarget>,
    /// The countdown of waits; None if it is off.
    progress: Option<Progress>,
    store: StoreThread,
}

impl System {
    /// Takes over this process's signals to run a command.
    pub(crate) fn take_over(plan: &Plan, store: &Store) -> Result<System, RunError> {
        let output = &plan.output;
        // Needed before backoff opens descriptors.
        let log_file = output.log_file.as_deref().map(LogFile::new);
        let report = output.report.as_deref().map(FileTarget::new);
        let signals =
            Signals::take_over().map_err(|error| RunError::Fault(format!("cannot receive signals: {error}")))?;
        let began = clock::now();
        let streams = Streams::new(&plan.streams)
            .map_err(|error| RunError::Fault(format!("cannot use the standard streams: {error}")))?;
        let deadline = Deadline::maybe_after(began, plan.limits.deadline);
        Ok(System {
            began,
            deadline,
            between: BetweenAttempts::new(EventLoop::new(signals, streams, deadline)),
            command: Command::new(&plan.command),
            standard_error: StandardError::default(),
            log_file,
            report,
            progress: output.progress,
            store: StoreThread::new(store.clone()),
        })
    }

    /// Opens the log before the run. Writes a warning if that fails.
    pub(crate) fn open_log(&mut self) -> Result<(), RunError> {
        match self.log_file.as_mut().and_then(LogFile::open) {
            Some(warning) => self.complain(&warning),
            None => Ok(()),
        }
    }

    /// Returns the deadline of an attempt.
    fn deadline(&self, spec: &AttemptSpec) -> Deadline {
        Deadline::maybe_after(self.began, spec.deadline)
    }

    fn isolation(&mut self) -> Isolation {
        // With a terminal the command shares backoff's process group, so that shell and terminal see one job. Without
        // one its own group can be signalled as a whole. On a pseudo-terminal it has its own session.
        let event_loop = &mut self.between.event_loop;
        if event_loop.streams(Streams::has_pty) {
            Isolation::Terminal
        } else if control::has_terminal() {
            Isolation::Shared
        } else {
            Isolation::Group
        }
    }

    /// Runs a hook or predicate in a shell, with `input` as standard input. Its standard output goes to `stdout`, by
    /// default to standard error, as standard output is reserved for the command.
    fn run_shell(
        &mut self,
        shell: &str,
        spec: &AttemptSpec,
        input: Option<OwnedFd>,
        stdout: Option<OwnedFd>,
        isolation: Option<Isolation>,
    ) -> Result<Attempt, RunError> {
        let command = ["/bin/sh", "-c", shell].map(OsString::from);
        let held = match &mut self.between.event_loop.streams {
            Some(streams) => streams.held_stderr(),
            None => Ok(None),
        };
        let cannot_keep =
            |error| RunError::Fault(format!("cannot keep the output of hooks in {}", in_temp_dir(&error)));
        let stderr = held.map_err(cannot_keep)?;
        let stdout = match (stdout, &stderr) {
            (Some(stdout), _) => stdout,
            (None, Some(held)) => held.try_clone().map_err(cannot_keep)?,
            (None, None) if fd::is_open(stdio::ERR) => fd::duplicate(stdio::ERR).or_else(|_| null())?,
            // Hook output must not mix with the command's.
            (None, None) => null()?,
        };
        let streams = self.between.event_loop.streams.take();
        let launch = Launch {
            command: &Command::new(&command),
            isolation: isolation.unwrap_or_else(|| self.isolation()),
            stdio: ChildStdio {
                input,
                outputs: [Some(stdout), stderr],
            },
        };
        let deadline = self.deadline(spec);
        self.between.event_loop.is_hook = true;
        let answer = run(&mut self.between.event_loop, launch, spec, deadline);
        self.between.event_loop.is_hook = false;
        self.between.event_loop.streams = streams;
        answer
    }

    /// Returns standard input for a hook.
    fn hook_input(&self) -> Result<OwnedFd, RunError> {
        let streams = self.between.event_loop.streams.as_deref();
        match streams.map_or(Ok(None), Streams::tail) {
            Ok(tail) => tail.map_or_else(null, Ok),
            Err(error) => Err(RunError::Fault(format!("cannot keep the output for hooks: {error}"))),
        }
    }

    /// Writes the report: a file is replaced atomically, other targets are written directly. An error is a message.
    pub(crate) fn write_report(&mut self, text: &str) -> Result<(), String> {
        let Some(report) = &self.report else { return Ok(()) };
        match report.replace(text).map_err(|error| describe_error(&error))? {
            Some(sink) => messages::write(&mut self.between, &sink, text.as_bytes()).map_err(|error| error.why()),
            None => Ok(()),
        }
    }

    /// Writes lines to standard error, or holds them back with `--stderr failure`.
    fn write_to_standard_error(&mut self, lines: &str) -> Result<(), RunError> {
        let mut is_in_line = false;
        if let Some(streams) = &mut self.between.event_loop.streams {
            if streams.hold(lines).map_err(RunError::Fault)? {
                return Ok(());
            }
            is_in_line = streams.take_is_in_line();
        }
        self.standard_error.write(&mut self.between, is_in_line, lines)
    }

    /// Writes one line to standard error like `stdio::complain`, but handles signals. Ignores write errors.
    pub(crate) fn complain(&mut self, line: &str) -> Result<(), RunError> {
        let mut lines = stdio::complaint(line);
        if self.standard_error.has_lost_lines {
            lines.insert_str(0, &stdio::complaint(&format!("warning: {LINES_LOST}")));
        }
        self.write_to_standard_error(&lines)
    }
}

fn in_temp_dir(error: &std::io::Error) -> String {
    format!("{}: {}", std::env::temp_dir().display(), describe_error(error))
}

fn null() -> Result<OwnedFd, RunError> {
    fd::null().map_err(|error| RunError::Fault(format!("cannot open /dev/null: {error}")))
}

impl Host for System {
    fn elapsed(&self) -> Duration {
        clock::now().saturating_duration_since(self.began)
    }

    fn attempt(&mut self, spec: &AttemptSpec) -> Result<Attempt, RunError> {
        self.between.receive_signals()?;
        let deadline = self.deadline(spec);
        if !self.between.fill_input(deadline)? {
            let outcome = Outcome::new(End::TimedOut(Bound::Deadline), Duration::ZERO);
            return Ok(Attempt {
                outcome,
                interrupted: None,
            });
        }
        // No wait is pending that USR1 could end.
        self.between.event_loop.wait_is_over = false;
        let stdio = match &mut self.between.event_loop.streams {
            Some(streams) => streams
                .begin()
                .map_err(|error| RunError::Fault(format!("cannot make the streams: {error}")))?,
            None => ChildStdio::default(),
        };
        let isolation = self.isolation();
        let launch = Launch {
            command: &self.command,
            isolation,
            stdio,
        };
        let mut attempt = run(&mut self.between.event_loop, launch, spec, deadline)?;
        let outcome = &mut attempt.outcome;
        // A command that inherits standard output may end in any way if the reader is gone.
        if outcome.end != End::Exited(0) && !outcome.could_not_start() && !outcome.seen.reader_gone {
            outcome.seen.reader_gone = stdio::output_has_lost_its_reader();
        }
        Ok(attempt)
    }

    fn tidy_terminal(&mut self) {
        self.between.event_loop.modes_before.put_back(false);
    }

    fn ask(&mut self, shell: &str, spec: &AttemptSpec) -> Result<Attempt, RunError> {
        let copy = match self.between.event_loop.streams.as_deref() {
            Some(streams) => streams.copy(),
            None => Ok(None),
        };
        let copy = copy.map_err(|error| RunError::Fault(streams::cannot_keep(&error)))?;
        // `jq -e` prints its answer, which is useless at each attempt.
        self.run_shell(shell, spec, copy, Some(null()?), None)
    }

    fn hook(&mut self, shell: &str, spec: &AttemptSpec) -> Result<Attempt, RunError> {
        let input = self.hook_input()?;
        self.run_shell(shell, spec, Some(input), None, Some(Isolation::Session))
    }

    fn prepare(&mut self, shell: &str, mut spec: AttemptSpec) -> Result<(Attempt, EnvLines), RunError> {
        let input = self.hook_input()?;
        let file = EnvFile::new();
        let path = file.as_ref().map_or(OsStr::new(""), EnvFile::path);
        spec.set("BACKOFF_ENV", path);
        let attempt = self.run_shell(shell, &spec, Some(input), None, None)?;
        let lines = match file.map(EnvFile::take) {
            Ok(Ok(lines)) => EnvLines::Read(lines),
            Ok(Err(why)) => EnvLines::Unreadable(why),
            Err(why) => EnvLines::NoFile(why),
        };
        Ok((attempt, lines))
    }

    fn begin_counting(&mut self, budget: &SharedBudget) {
        self.store.begin_counting(budget);
    }

    fn counted(&mut self, budget: &SharedBudget, patience: Duration) -> Result<BudgetAnswer, RunError> {
        self.store.counted(&mut self.between, budget, patience)
    }

    fn ask_budget(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        self.store.ask(&mut self.between, budget, question, patience)
    }

    fn release(&mut self, succeeded: bool) -> Result<bool, RunError> {
        messages::print_kept(&mut self.between, succeeded)
    }

    fn discard_held_messages(&mut self) {
        if let Some(streams) = &mut self.between.event_loop.streams {
            streams.discard_held_messages();
        }
    }

    fn time_of_day(&self) -> Duration {
        clock::since_epoch()
    }

    fn wait(&mut self, delay: Duration, shown: Option<&dyn Fn(Duration, usize) -> String>) -> Result<bool, RunError> {
        if delay.is_zero() {
            // The next attempt receives signals first.
            return Ok(true);
        }
        self.between.sleep(delay, self.deadline, shown.zip(self.progress))
    }

    fn write_log(&mut self, lines: &str) -> Result<(), RunError> {
        let Some(log_file) = &mut self.log_file else {
            return self.write_to_standard_error(lines);
        };
        match log_file.write(&mut self.between, lines)? {
            Some(warning) => self.complain(&warning),
            None => Ok(()),
        }
    }

    fn has_lost_lines(&self) -> bool {
        self.log_file.is_none() && self.standard_error.has_lost_lines
    }
}
