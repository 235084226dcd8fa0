//! Implements `run::Host`, by which the loop of a run acts, on the operating system: signals, the monotonic clock, the
//! command. Decides nothing about retries. A `RunError` ends the run: a signal has come, or backoff itself has failed;
//! only a failure in running a hook (`--on-retry`, `--on-give-up`) makes a warning instead.

mod store;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::budget::store::Store;
use crate::process::attempt::{Program, Role, run};
use crate::process::event_loop::EventLoop;
use crate::process::event_loop::waits::WriteError;
use crate::process::files::{open_to_append, replace};
use crate::process::signals::Signals;
use crate::process::spawn::{ChildStdio, Command, Isolation};
use crate::process::streams::Streams;
use crate::process::streams::sink::Sink;
use crate::process::sys::clock::{self, Deadline};
use crate::process::sys::{environment, fd, stdio};
use crate::process::terminal;
use crate::run::event::LINES_LOST;
use crate::run::host::{
    Attempt, AttemptSpec, BudgetAnswer, Host, KeptOutput, Printed, RunError, RunResult, ShellKind,
    WaitEnd,
};
use crate::run::plan::{Plan, SharedBudget};
use crate::search::examined::Examined;
use crate::text::describe_error;
use store::Stores;

/// The host of a run: this process and its children.
#[derive(Debug)]
pub(crate) struct System {
    began: Instant,
    deadline: Deadline,
    event_loop: EventLoop,
    command: Command,
    /// Standard error, opened for the first message.
    standard_error: Option<Sink>,
    /// The last message was lost, for example as there was no time to wait for its reader.
    has_lost_lines: bool,
    /// `--log-file`; None if the log goes to standard error.
    log_path: Option<PathBuf>,
    /// The log file; None if it cannot be written.
    log: Option<Sink>,
    stores: Stores,
}

impl System {
    /// Makes the host of a run. Takes over this process's signals, and starts the clock of the run. An error is a fault
    /// of backoff, before any command has run.
    pub(crate) fn take_over(plan: &Plan, store: &Store) -> RunResult<System> {
        let signals = Signals::take_over()
            .map_err(|error| RunError::of_system("cannot receive signals", &error))?;
        let began = clock::now();
        let streams = Streams::new(&plan.streams)
            .map_err(|error| RunError::of_system("cannot use the standard streams", &error))?;
        let deadline = Deadline::maybe_after(began, plan.limits.deadline);
        let own_store = match plan.budget {
            Some(_) => Store::Directory(environment::state_home()),
            None => Store::Directory(None),
        };
        Ok(System {
            began,
            deadline,
            event_loop: EventLoop::new(signals, streams, deadline, plan.output.progress),
            command: Command::new(&plan.command),
            standard_error: None,
            has_lost_lines: false,
            log_path: plan.output.log_file.clone(),
            log: None,
            stores: Stores::new(store.clone(), own_store),
        })
    }

    /// Returns the group and session of a program that starts now.
    fn isolation() -> Isolation {
        if terminal::has_terminal() {
            // Shell and terminal see one job.
            Isolation::Shared
        } else {
            // The group can be signalled as a whole.
            Isolation::Group
        }
    }

    /// Returns standard input, output and error for a hook or predicate. Predicates read all of the attempt's output,
    /// hooks the end of it. A hook's standard output goes to standard error, as backoff's own is reserved for the
    /// command. An error means that the attempt's output was not kept for them, or that no descriptor is free.
    fn stdio_for(&mut self, kind: ShellKind) -> io::Result<ChildStdio> {
        let streams = &mut self.event_loop.streams;
        let input = match kind {
            // Never None, as the output is kept in a run with predicates.
            ShellKind::Predicate => streams.observer.copy_file()?,
            ShellKind::Hook | ShellKind::BeforeRetry => Some(streams.observer.tail_file()?),
        };
        // None, which is backoff's own standard error, unless that is held back.
        let error = streams.held_stderr()?;
        let output = match kind {
            // `jq -e` prints its answer, which is useless at each attempt.
            ShellKind::Predicate => fd::null()?,
            ShellKind::Hook | ShellKind::BeforeRetry => output_of_hook(error.as_ref())?,
        };
        Ok(ChildStdio {
            input,
            output: Some(output),
            error,
        })
    }

    /// Writes the report (`--report`): a file is replaced atomically, other targets are written directly. If that
    /// fails, a warning says so: a report must not change how the run ends.
    pub(crate) fn write_report(&mut self, path: &Path, text: &str) {
        let written = match replace(path, text) {
            Ok(None) => Ok(()),
            Ok(Some(sink)) => self.event_loop.write(&sink, text),
            Err(error) => Err(WriteError::Failed(describe_error(&error))),
        };
        if let Err(error) = written {
            let why = match error {
                WriteError::Failed(why) => why,
                WriteError::Interrupted(_) => "interrupted".into(),
            };
            let _ = self.complain(&format!(
                "warning: cannot write to --report {path:?}: {why}"
            ));
        }
    }

    /// Opens the file of `--log-file` before the first attempt, so that a problem is known early. If it cannot be used,
    /// warns, and messages go to standard error. An error is a signal that ends the run.
    pub(crate) fn open_log(&mut self) -> RunResult<()> {
        let Some(path) = &self.log_path else {
            return Ok(());
        };
        match open_to_append(path) {
            Ok(log) => {
                self.log = Some(log);
                Ok(())
            }
            Err(error) => self.go_on_without_log(&describe_error(&error)),
        }
    }

    /// Writes later lines of the log to standard error, after a warning there: a log must not end a run, and a failure
    /// must not be hidden. An error is a signal that ends the run.
    fn go_on_without_log(&mut self, why: &str) -> RunResult<()> {
        self.log = None;
        let path = self.log_path.clone().unwrap_or_default();
        self.complain(&format!(
            "warning: cannot write to --log-file {path:?}: {why}; messages go to standard error"
        ))
    }

    /// Writes lines to standard error, or holds them back or drops them with `--stderr failure`. They begin a new line
    /// if the command's output ends within one. Write errors are no errors, as no place is left to report them: they
    /// are noted, and the next message says that lines were lost. An error is a signal that ends the run.
    fn write_to_standard_error(&mut self, lines: &str) -> RunResult<()> {
        let streams = &mut self.event_loop.streams;
        let lacks_newline = std::mem::take(&mut streams.is_mid_line);
        let lines = [if lacks_newline { "\n" } else { "" }, lines].concat();
        if streams.hold_message(&lines) {
            return Ok(());
        }
        let sink = self
            .standard_error
            .get_or_insert_with(|| Sink::new(stdio::ERR));
        let written = self.event_loop.write(sink, &lines);
        self.has_lost_lines = written.is_err();
        match written {
            Err(WriteError::Interrupted(signal)) => Err(RunError::Interrupted(signal)),
            Err(WriteError::Failed(_)) | Ok(()) => Ok(()),
        }
    }

    /// Writes an error or warning as one line to standard error like `stdio::complain`, but handles signals while its
    /// reader is slow. Says before it if earlier lines were lost. An error is a signal that ends the run.
    pub(crate) fn complain(&mut self, line: &str) -> RunResult<()> {
        let mut lines = stdio::complaint(line);
        if self.has_lost_lines {
            lines.insert_str(0, &stdio::complaint(&format!("warning: {LINES_LOST}")));
        }
        self.write_to_standard_error(&lines)
    }
}

/// Returns the standard output of a hook: where its standard error goes, that is the file that holds standard error
/// back (`--stderr failure`), if any, or else backoff's standard error.
fn output_of_hook(held_stderr: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    match held_stderr {
        Some(held) => held.try_clone(),
        None if fd::is_inherited(stdio::ERR) => fd::inherited(stdio::ERR).try_clone_to_owned(),
        // The caller closed standard error, and standard output is the command's.
        None => fd::null(),
    }
}

impl Host for System {
    fn elapsed(&self) -> Duration {
        clock::now().saturating_duration_since(self.began)
    }

    fn time_of_day(&self) -> Duration {
        clock::since_epoch()
    }

    /// Runs the command once until it has ended. If the deadline has passed, for example while input was read first
    /// (`--stdin replay`) or backoff was stopped, starts nothing: the attempt counts as timed out. An error is a signal
    /// that came before the start, or a fault of backoff.
    fn attempt(
        &mut self,
        spec: &AttemptSpec,
        counted_in: Option<&SharedBudget>,
    ) -> RunResult<Attempt> {
        self.event_loop.read_input_first(self.deadline)?;
        self.event_loop.receive_signals()?;
        // A USR1 that came too late for the last wait must not end the next one.
        self.event_loop.skips_wait = false;
        if self.deadline.is_due(clock::now()) {
            return Ok(Attempt::too_late());
        }
        let streams = &mut self.event_loop.streams;
        let stdio = streams
            .begin()
            .map_err(|error| RunError::of_system("cannot make the streams", &error))?;
        let isolation = Self::isolation();
        let program = Program {
            command: &self.command,
            role: Role::Command,
            isolation,
            stdio,
            spec,
            deadline: self.deadline,
        };
        let mut begin_count = || {
            if let Some(budget) = counted_in {
                self.stores.begin_count(budget);
            }
        };
        run(&mut self.event_loop, program, &mut begin_count)
    }

    fn take_examined(&mut self) -> Examined {
        self.event_loop.streams.observer.take_examined()
    }

    fn tidy_terminal(&mut self) {
        self.event_loop.modes_before.restore_unless_piped();
    }

    /// Waits, with a countdown on a terminal, until `delay` has passed, the deadline has come or USR1 ends the wait.
    /// Returns `Skipped` only for USR1. `countdown_text` formats the time left for a number of columns. An error is a signal
    /// that ends the run.
    fn wait(
        &mut self,
        delay: Duration,
        countdown_text: &dyn Fn(Duration, usize) -> String,
    ) -> RunResult<WaitEnd> {
        // Even then `attempt` handles signals that have come, before it starts the command.
        if delay.is_zero() {
            return Ok(WaitEnd::Elapsed);
        }
        self.event_loop.sleep(delay, self.deadline, countdown_text)
    }

    /// Runs a command line of the user by `/bin/sh -c`, and waits for its end. A predicate or `--before-retry` shares
    /// backoff's group and terminal, as it may ask the user, or has a group of its own if backoff has no terminal;
    /// other hooks have a session of their own, without a terminal. An error is a fault of backoff, about which the run
    /// only warns for other hooks; a signal that came meanwhile is in the result.
    fn run_shell(
        &mut self,
        kind: ShellKind,
        shell: &str,
        spec: &AttemptSpec,
    ) -> RunResult<Attempt> {
        let what = "cannot keep the output for hooks and predicates";
        let stdio = self
            .stdio_for(kind)
            .map_err(|error| RunError::of_system(what, &error))?;
        let isolation = match kind {
            ShellKind::Hook => Isolation::Session,
            ShellKind::Predicate | ShellKind::BeforeRetry => Self::isolation(),
        };
        let command = Command::new(&["/bin/sh", "-c", shell].map(OsString::from));
        let program = Program {
            command: &command,
            role: Role::Helper,
            isolation,
            stdio,
            spec,
            // Not `self.deadline`: `--on-give-up` may run past it, and has a later one.
            deadline: Deadline::maybe_after(self.began, spec.deadline),
        };
        self.event_loop.receive_signals()?;
        run(&mut self.event_loop, program, &mut || {})
    }

    fn print_kept(&mut self, kept: KeptOutput) -> RunResult<Printed> {
        self.event_loop.print_kept(kept)
    }

    fn drop_later_messages(&mut self) {
        self.event_loop.streams.drop_later_messages();
    }

    fn finish_counting(
        &mut self,
        budget: &SharedBudget,
        patience: Duration,
    ) -> RunResult<BudgetAnswer> {
        self.stores
            .finish_count(&mut self.event_loop, budget, patience)
    }

    fn ask_budget(&mut self, budget: &SharedBudget, patience: Duration) -> RunResult<BudgetAnswer> {
        self.stores.ask(&mut self.event_loop, budget, patience)
    }

    /// Writes lines to standard error or, with `--log-file`, appends them to that file. If it cannot be written, they and
    /// later lines go to standard error. An error is a signal that ends the run.
    fn write_log(&mut self, lines: &str) -> RunResult<()> {
        let Some(log) = &self.log else {
            return self.write_to_standard_error(lines);
        };
        match self.event_loop.write(log, lines) {
            Ok(()) => Ok(()),
            Err(WriteError::Interrupted(signal)) => Err(RunError::Interrupted(signal)),
            Err(WriteError::Failed(why)) => {
                self.go_on_without_log(&why)?;
                self.write_to_standard_error(lines)
            }
        }
    }

    fn has_lost_lines(&self) -> bool {
        // With `--log-file` only `complain` writes to standard error, and says so itself.
        self.log.is_none() && self.has_lost_lines
    }
}
