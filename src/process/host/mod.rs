//! The real world of `run::Host`: this process's signals, the monotonic clock, the command.

mod background;
mod between_attempts;
mod env_file;
mod held_output;
mod log_file;
mod replace;
mod standard_error;
mod store_thread;
mod writer;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::policy::outcome::{Bound, End, Outcome};
use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::run::{Launch, run};
use crate::process::signals::receive::Signals;
use crate::process::spawn::command::Command;
use crate::process::spawn::{ChildStdio, Isolation};
use crate::process::streams::sink::{self, Sink};
use crate::process::streams::spool::Spool;
use crate::process::streams::standard::{self, Streams};
use crate::process::sys::clock;
use crate::process::sys::deadline::Deadline;
use crate::process::sys::leaf::Leaf;
use crate::process::sys::{fd, stdio};
use crate::run::host::{Attempt, AttemptSpec, BudgetAnswer, EnvLines, Host, LINES_ARE_LOST, RunError};
use crate::run::output::Progress;
use crate::run::plan::{Plan, SharedBudget};
use crate::run::text::{describe, describe_error};
use crate::run::variables;
use between_attempts::BetweenAttempts;
use env_file::EnvFile;
use log_file::LogFile;
use standard_error::StandardError;
use store_thread::StoreThread;

/// This process and what it starts.
#[derive(Debug)]
pub(crate) struct System {
    began: Instant,
    /// The run's.
    deadline: Deadline,
    between: BetweenAttempts,
    command: Command,
    standard_error: StandardError,
    /// None if the log goes to standard error.
    log_file: Option<LogFile>,
    /// `--report` stands for a descriptor that backoff was not given.
    is_report_closed: bool,
    /// The countdown of waits; None if nobody wants it.
    progress: Option<Progress>,
    store: StoreThread,
}

impl System {
    /// Takes over this process's signals for a command.
    pub(crate) fn take_over(plan: &Plan, store: &Store) -> Result<System, RunError> {
        let output = &plan.output;
        // Before there are descriptors of backoff's own.
        let log_file = output.log_file.clone().map(LogFile::new);
        let report = output.report.as_deref().and_then(sink::descriptor);
        let is_report_closed = report.is_some_and(|number| !fd::is_open(number));
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
            is_report_closed,
            progress: output.progress,
            store: StoreThread::new(store.clone()),
        })
    }

    /// Before the run: says so if there will be no log.
    pub(crate) fn open_log(&mut self) -> Result<(), RunError> {
        match self.log_file.as_mut().and_then(LogFile::open) {
            Some(warning) => self.complain(&warning),
            None => Ok(()),
        }
    }

    /// When an attempt is to be over at the latest, as the run is to be.
    fn deadline(&self, spec: &AttemptSpec) -> Deadline {
        Deadline::maybe_after(self.began, spec.deadline)
    }

    fn isolation(&mut self) -> Isolation {
        // With a terminal the command shares backoff's process group, so that the shell, the terminal
        // and both see one job; without one it gets a group that can be signalled as a whole.
        // On a pseudo-terminal it is in a session of its own.
        let event_loop = &mut self.between.event_loop;
        if event_loop.streams(Streams::has_pty) {
            Isolation::Terminal
        } else if event_loop.job.has_terminal() {
            Isolation::Shared
        } else {
            Isolation::Group
        }
    }

    /// Runs a shell command beside the command, with this standard input. It prints on standard error: standard output
    /// is the command's alone. `stdout` is where its standard output goes instead.
    fn run_shell(
        &mut self,
        shell: &str,
        spec: &AttemptSpec,
        input: Option<OwnedFd>,
        stdout: Option<OwnedFd>,
        isolation: Option<Isolation>,
    ) -> Result<Attempt, RunError> {
        let command = ["/bin/sh", "-c", shell].map(OsString::from);
        let held = self.held_output()?;
        let stderr = match &held {
            Some(held) => Some(held.for_child()?),
            None => None,
        };
        let stdout = match (stdout, &held) {
            (Some(stdout), _) => stdout,
            (None, Some(held)) => held.for_child()?,
            // If standard error is closed, nothing of it may get into the command's output either.
            (None, None) if fd::is_open(stdio::ERR) => fd::duplicate(stdio::ERR).or_else(|_| null())?,
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
        self.between.event_loop.is_beside = true;
        let answer = run(&mut self.between.event_loop, launch, spec, deadline);
        self.between.event_loop.is_beside = false;
        self.between.event_loop.streams = streams;
        if let Some(held) = held {
            held.read(|bytes| self.hold(bytes))?;
        }
        answer
    }

    /// What a hook reads.
    fn hook_input(&self) -> Result<OwnedFd, RunError> {
        let tail = self.between.event_loop.streams.as_deref().and_then(Streams::tail);
        let Some(tail) = tail else {
            return null();
        };
        let mut spool = Spool::default();
        let input = spool.append(tail).and_then(|()| spool.to_file());
        input.map_err(|error| RunError::Fault(format!("cannot keep the output for hooks: {error}")))
    }

    /// Writes a report: a file is there complete or not at all; what is no file gets it as it comes. An error is
    /// what a person should read.
    pub(crate) fn write_report(&mut self, path: &Path, text: &str) -> Result<(), String> {
        if self.is_report_closed {
            return Err(describe(Errno::EBADF));
        }
        let Some(sink) = replace_or_open(path, text).map_err(|error| describe_error(&error))? else {
            return Ok(());
        };
        writer::write(&mut self.between, &sink, &mut text.as_bytes()).map_err(|unwritten| unwritten.why())
    }

    /// One line on standard error, as `stdio::complain`, but handling signals. That it cannot be written is no
    /// further error.
    pub(crate) fn complain(&mut self, line: &str) -> Result<(), RunError> {
        let mut lines = stdio::complaint(line);
        if self.standard_error.has_lost_lines {
            lines.insert_str(0, &stdio::complaint(&format!("warning: {LINES_ARE_LOST}")));
        }
        self.write_to_standard_error(&lines)
    }
}

fn null() -> Result<OwnedFd, RunError> {
    fd::null().map_err(|error| RunError::Fault(format!("cannot open /dev/null: {error}")))
}

/// Replaces a file; of what is none, where to write.
fn replace_or_open(path: &Path, text: &str) -> io::Result<Option<Sink>> {
    if let Some(fd) = sink::descriptor(path) {
        return Ok(Some(Sink::new(fd)));
    }
    let place = Leaf::of(path)?;
    match place.mode_of_a_replacement()? {
        Some(mode) => replace::file(&place, mode, text.as_bytes()).map(|()| None),
        None => Sink::append_to(&place).map(Some),
    }
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
        self.between.forget_wait();
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
        // Whose standard output is inherited may end in any way when nobody reads it.
        if outcome.end != End::Exited(0) && !outcome.could_not_start() && !outcome.seen.reader_gone {
            outcome.seen.reader_gone = stdio::output_has_lost_its_reader();
        }
        Ok(attempt)
    }

    fn tidy_terminal(&mut self) {
        self.between.event_loop.modes_before.put_back(false);
    }

    fn ask(&mut self, shell: &str, spec: &AttemptSpec) -> Result<Attempt, RunError> {
        let streams = self.between.event_loop.streams.as_deref();
        let copy = streams.map(|streams| streams.copy().to_file()).transpose();
        let copy = copy.map_err(|error| RunError::Fault(standard::cannot_keep(&error)))?;
        // `jq -e` prints its answer, which nobody wants to read at each attempt.
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
        spec.variables.push(variables::variable("BACKOFF_ENV", path));
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
        writer::print_kept(&mut self.between, succeeded)
    }

    fn hush(&mut self) {
        if let Some(streams) = &mut self.between.event_loop.streams {
            streams.hush();
        }
    }

    fn time_of_day(&self) -> Duration {
        clock::since_epoch()
    }

    fn wait(&mut self, delay: Duration, shown: Option<&dyn Fn(Duration, usize) -> String>) -> Result<bool, RunError> {
        if delay.is_zero() {
            // The attempt that follows receives signals first.
            return Ok(true);
        }
        self.between.sleep(delay, self.deadline, shown.zip(self.progress))
    }

    fn say(&mut self, lines: &str) -> Result<(), RunError> {
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
