//! Implements `run::Host` on the operating system: signals, the monotonic clock, the command.

mod files;
mod messages;
mod store_thread;
mod waits;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::policy::outcome::{Bound, End, Outcome};
use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::run::{Launch, run};
use crate::process::signals::receive::Signals;
use crate::process::spawn::command::Command;
use crate::process::spawn::{ChildStdio, Isolation};
use crate::process::streams::sink::Sink;
use crate::process::streams::{self, Streams};
use crate::process::sys::clock::{self, Deadline};
use crate::process::sys::{fd, stdio};
use crate::process::terminal::control;
use crate::run::event::LINES_LOST;
use crate::run::host::{Attempt, AttemptSpec, BudgetAnswer, EnvLines, Host, RunError};
use crate::run::output::Progress;
use crate::run::plan::{Plan, SharedBudget};
use files::LogFile;
use messages::{WriteError, write};
use store_thread::StoreThread;

/// The host of a run: this process and its children.
#[derive(Debug)]
pub(crate) struct System {
    began: Instant,
    deadline: Deadline,
    event_loop: EventLoop,
    command: Command,
    /// Standard error, opened for the first message.
    standard_error: Option<Sink>,
    /// Earlier messages were lost, as there was no time to wait for their reader.
    has_lost_lines: bool,
    /// None if the log goes to standard error.
    log_file: Option<LogFile>,
    report: Option<PathBuf>,
    /// The countdown of waits; None if it is off.
    progress: Option<Progress>,
    store: StoreThread,
}

impl System {
    /// Takes over this process's signals to run a command.
    pub(crate) fn take_over(plan: &Plan, store: &Store) -> Result<System, RunError> {
        let signals = Signals::take_over().map_err(fault("cannot receive signals"))?;
        let began = clock::now();
        let streams = Streams::new(&plan.streams).map_err(fault("cannot use the standard streams"))?;
        let deadline = Deadline::maybe_after(began, plan.limits.deadline);
        Ok(System {
            began,
            deadline,
            event_loop: EventLoop::new(signals, streams, deadline),
            command: Command::new(&plan.command),
            standard_error: None,
            has_lost_lines: false,
            log_file: plan.output.log_file.as_deref().map(LogFile::new),
            report: plan.output.report.clone(),
            progress: plan.output.progress,
            store: StoreThread::new(store.clone()),
        })
    }

    /// Opens the log before the run. Writes a warning if that fails.
    pub(crate) fn open_log(&mut self) -> Result<(), RunError> {
        let opened = self.log_file.as_mut().map_or(Ok(()), LogFile::open);
        self.warn_of_log(opened)
    }

    /// Warns if the log cannot be written; later lines are dropped.
    fn warn_of_log(&mut self, written: Result<(), WriteError>) -> Result<(), RunError> {
        match (written, &mut self.log_file) {
            (Err(WriteError::Run(error)), _) => Err(error),
            (Err(error), Some(log)) => {
                log.is_lost = true;
                let (path, why) = (&log.path, error.why());
                let warning = format!("warning: cannot write to --log-file {path:?}: {why}; going on without it");
                self.complain(&warning)
            }
            _ => Ok(()),
        }
    }

    fn isolation(&self) -> Isolation {
        // With a terminal the command shares backoff's process group, so that shell and terminal see one job. Without
        // one its own group can be signalled as a whole. On a pseudo-terminal it has its own session.
        if self.event_loop.streams.pty.is_some() {
            Isolation::Terminal
        } else if control::has_terminal() {
            Isolation::Shared
        } else {
            Isolation::Group
        }
    }

    fn deadline(&self, spec: &AttemptSpec) -> Deadline {
        Deadline::maybe_after(self.began, spec.deadline)
    }

    /// Runs a hook or predicate in a shell, with `input` as standard input. Its standard output goes to `stdout`, by
    /// default to standard error, as standard output is reserved for the command.
    fn run_shell(
        &mut self,
        shell: &str,
        spec: &AttemptSpec,
        input: Option<OwnedFd>,
        stdout: Option<OwnedFd>,
        isolation: Isolation,
    ) -> Result<Attempt, RunError> {
        let cannot_keep = fault("cannot keep the output of hooks");
        let stderr = self.event_loop.streams.held_stderr().map_err(&cannot_keep)?;
        let stdout = match (stdout, &stderr) {
            (Some(stdout), _) => stdout,
            (None, Some(held)) => held.try_clone().map_err(cannot_keep)?,
            (None, None) if fd::is_inherited(stdio::ERR) => fd::duplicate(stdio::ERR).or_else(|_| null())?,
            // Hook output must not mix with the command's.
            (None, None) => null()?,
        };
        let launch = Launch {
            command: &Command::new(&["/bin/sh", "-c", shell].map(OsString::from)),
            isolation,
            stdio: ChildStdio {
                input,
                outputs: [Some(stdout), stderr],
            },
        };
        let deadline = self.deadline(spec);
        self.event_loop.is_hook = true;
        let attempt = run(&mut self.event_loop, launch, spec, deadline);
        self.event_loop.is_hook = false;
        attempt
    }

    /// Returns standard input for a hook: the end of the output.
    fn hook_input(&self) -> Result<OwnedFd, RunError> {
        let tail = self.event_loop.streams.observer.tail();
        let tail = tail.map_err(fault("cannot keep the output for hooks"))?;
        tail.map_or_else(null, Ok)
    }

    /// Writes the report: a file is replaced atomically, other targets are written directly. An error is a message.
    pub(crate) fn write_report(&mut self, text: &str) -> Result<(), String> {
        let Some(path) = &self.report else { return Ok(()) };
        let written = match files::replace(path, text) {
            Ok(Some(sink)) => write(&mut self.event_loop, &sink, text.as_bytes()),
            Ok(None) => Ok(()),
            Err(error) => Err(error.into()),
        };
        written.map_err(|error| error.why())
    }

    /// Writes lines to standard error, or holds them back with `--stderr failure`. Ignores write errors, as no place is
    /// left to report them.
    fn write_to_standard_error(&mut self, lines: &str) -> Result<(), RunError> {
        let streams = &mut self.event_loop.streams;
        let is_in_line = std::mem::take(&mut streams.is_in_line) && !lines.starts_with('\n');
        let lines = [if is_in_line { "\n" } else { "" }, lines].concat();
        let held = streams.held_stderr().map_err(fault("cannot keep messages"))?;
        let held = held.map(|held| Sink::to_file(held.into()));
        let sink = match &held {
            Some(held) => held,
            None => self.standard_error.get_or_insert_with(|| Sink::new(stdio::ERR)),
        };
        let written = write(&mut self.event_loop, sink, lines.as_bytes());
        if !matches!(written, Err(WriteError::Failed(_))) {
            self.has_lost_lines = written.is_err();
        }
        match written {
            Err(WriteError::Run(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes one line to standard error like `stdio::complain`, but handles signals. Ignores write errors.
    pub(crate) fn complain(&mut self, line: &str) -> Result<(), RunError> {
        let mut lines = stdio::complaint(line);
        if self.has_lost_lines {
            lines.insert_str(0, &stdio::complaint(&format!("warning: {LINES_LOST}")));
        }
        self.write_to_standard_error(&lines)
    }
}

/// Makes an error of the system a fault of backoff.
fn fault(what: &'static str) -> impl Fn(io::Error) -> RunError {
    move |error| RunError::Fault(format!("{what}: {error}"))
}

fn null() -> Result<OwnedFd, RunError> {
    fd::null().map_err(fault("cannot open /dev/null"))
}

impl Host for System {
    fn elapsed(&self) -> Duration {
        clock::now().saturating_duration_since(self.began)
    }

    fn time_of_day(&self) -> Duration {
        clock::since_epoch()
    }

    fn attempt(&mut self, spec: &AttemptSpec) -> Result<Attempt, RunError> {
        self.event_loop.receive_signals()?;
        let deadline = self.deadline(spec);
        if !self.event_loop.fill_input(deadline)? {
            let outcome = Outcome::new(End::TimedOut(Bound::Deadline), Duration::ZERO);
            return Ok(Attempt {
                outcome,
                interrupted: None,
            });
        }
        // No wait is pending that USR1 could end.
        self.event_loop.wait_is_over = false;
        let stdio = self
            .event_loop
            .streams
            .begin()
            .map_err(fault("cannot make the streams"))?;
        let launch = Launch {
            command: &self.command,
            isolation: self.isolation(),
            stdio,
        };
        let mut attempt = run(&mut self.event_loop, launch, spec, deadline)?;
        let outcome = &mut attempt.outcome;
        // A command that inherits standard output may end in any way if the reader is gone.
        if outcome.end != End::Exited(0) && !outcome.could_not_start() && !outcome.seen.reader_gone {
            outcome.seen.reader_gone = stdio::output_has_lost_its_reader();
        }
        Ok(attempt)
    }

    fn tidy_terminal(&mut self) {
        self.event_loop.modes_before.put_back(false);
    }

    fn wait(&mut self, delay: Duration, shown: Option<&dyn Fn(Duration, usize) -> String>) -> Result<bool, RunError> {
        if delay.is_zero() {
            // The next attempt receives signals first.
            return Ok(true);
        }
        self.event_loop.sleep(delay, self.deadline, shown.zip(self.progress))
    }

    fn ask(&mut self, shell: &str, spec: &AttemptSpec) -> Result<Attempt, RunError> {
        let copy = self.event_loop.streams.observer.copy();
        let copy = copy.map_err(|error| RunError::Fault(streams::cannot_keep(&error)))?;
        // `jq -e` prints its answer, which is useless at each attempt.
        self.run_shell(shell, spec, copy, Some(null()?), self.isolation())
    }

    fn hook(&mut self, shell: &str, spec: &AttemptSpec) -> Result<Attempt, RunError> {
        let input = self.hook_input()?;
        self.run_shell(shell, spec, Some(input), None, Isolation::Session)
    }

    fn prepare(&mut self, shell: &str, mut spec: AttemptSpec) -> Result<(Attempt, EnvLines), RunError> {
        let input = self.hook_input()?;
        let file = files::new_env_file();
        spec.set(
            "BACKOFF_ENV",
            file.as_ref().map_or(OsStr::new(""), |path| path.as_os_str()),
        );
        let attempt = self.run_shell(shell, &spec, Some(input), None, self.isolation())?;
        let lines = match file.map(files::take_env_file) {
            Ok(Ok(lines)) => EnvLines::Read(lines),
            Ok(Err(why)) => EnvLines::Unreadable(why),
            Err(why) => EnvLines::NoFile(why),
        };
        Ok((attempt, lines))
    }

    fn release(&mut self, succeeded: bool) -> Result<bool, RunError> {
        messages::print_kept(&mut self.event_loop, succeeded)
    }

    fn discard_held_messages(&mut self) {
        self.event_loop.streams.discard_held_messages();
    }

    fn begin_counting(&mut self, budget: &SharedBudget) {
        self.store.begin_counting(budget);
    }

    fn ask_budget(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> Result<BudgetAnswer, RunError> {
        self.store.ask(&mut self.event_loop, budget, question, patience)
    }

    fn write_log(&mut self, lines: &str) -> Result<(), RunError> {
        let written = match &mut self.log_file {
            None => return self.write_to_standard_error(lines),
            Some(log) if log.is_lost => Ok(()),
            Some(log) => log.write(&mut self.event_loop, lines),
        };
        self.warn_of_log(written)
    }

    fn has_lost_lines(&self) -> bool {
        self.log_file.is_none() && self.has_lost_lines
    }
}
