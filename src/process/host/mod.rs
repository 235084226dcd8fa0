//! Implements `run::Host`, by which a run acts on the operating system, with signals, the monotonic clock and the
//! command. Decides nothing about retries. A `RunError` ends the run, because a signal arrived or backoff itself
//! failed. Only a failure to run a hook (`--on-retry`, `--on-give-up`) causes a warning instead.

mod store;

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::budget::store::Store;
use crate::policy::outcome::Outcome;
use crate::process::attempt::{Program, Role, run};
use crate::process::event_loop::EventLoop;
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
    Attempt, AttemptSpec, BudgetAnswer, EndOfRun, Host, Printed, RunError, RunResult, ShellKind,
    WaitEnd,
};
use crate::run::plan::{Plan, SharedBudget};
use crate::search::examined::Examined;
use crate::text::describe_error;
use store::Stores;

/// The host of a run, which is this process and its children.
#[derive(Debug)]
pub(crate) struct System {
    began: Instant,
    deadline: Deadline,
    event_loop: EventLoop,
    command: Command,
    /// Standard error, opened for the first message.
    standard_error: Option<Sink>,
    /// The last message was lost, for example because there was no time to wait for its reader.
    has_lost_lines: bool,
    /// `--log-file`. None if the log goes to standard error.
    log_path: Option<PathBuf>,
    /// The log file. None if it cannot be written.
    log: Option<Sink>,
    stores: Stores,
}

impl System {
    /// Takes over this process's signals, and starts the clock of the run. Returns an error if backoff fails, before
    /// any command has run.
    pub(crate) fn take_over(plan: &Plan, store: &Store) -> Result<System, String> {
        let signals = Signals::take_over()
            .map_err(|error| format!("cannot receive signals: {}", describe_error(&error)))?;
        let began = clock::now();
        let streams = Streams::new(&plan.streams).map_err(|error| {
            let why = describe_error(&error);
            format!("cannot use the standard streams: {why}")
        })?;
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
            // The shell and the terminal see one job.
            Isolation::Shared
        } else {
            // The group can be signalled as a whole.
            Isolation::Group
        }
    }

    /// Returns standard input, output and error for a hook or predicate. Predicates read all of the attempt's output,
    /// and hooks its end. A hook's standard output goes to standard error, as backoff's own is reserved for the
    /// command. Returns an error if the attempt's output was not kept, or if no descriptor is free.
    fn stdio_for(&mut self, kind: ShellKind) -> io::Result<ChildStdio> {
        let streams = &mut self.event_loop.streams;
        let input = match kind {
            // Never None, as a run with predicates keeps the output.
            ShellKind::Predicate => streams.observer.copy_file()?,
            ShellKind::Hook | ShellKind::BeforeRetry => Some(streams.observer.tail_file()?),
        };
        // None, and thus backoff's own standard error, unless that is held back.
        let error = streams.stderr_for_helper()?;
        let output = match kind {
            // `jq -e` prints its answer, which is useless after each attempt.
            ShellKind::Predicate => fd::null()?,
            ShellKind::Hook | ShellKind::BeforeRetry => output_of_hook(error.as_ref())?,
        };
        Ok(ChildStdio {
            input,
            output: Some(output),
            error,
        })
    }

    /// Writes the report (`--report`). A file is replaced atomically, other targets are written directly. A failure
    /// only causes a warning, as a report must not change how the run ends.
    pub(crate) fn write_report(&mut self, path: &Path, text: &str) {
        let written = match replace(path, text) {
            Ok(None) => Ok(()),
            Ok(Some(sink)) => self.event_loop.write(&sink, text),
            Err(error) => Err(RunError::Fault(describe_error(&error))),
        };
        let why = match written {
            Ok(()) => return,
            Err(RunError::Fault(why)) => why,
            Err(RunError::Interrupted(_)) => "interrupted".into(),
        };
        let _ = self.complain(&format!(
            "warning: cannot write to --report {path:?}: {why}"
        ));
    }

    /// Opens the file of `--log-file` before the first attempt, so that a problem is noticed early. If it cannot be
    /// used, warns, and messages go to standard error.
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

    /// Sends later log lines to standard error, after a warning there. A log must not end a run, and a failure must not
    /// be hidden.
    fn go_on_without_log(&mut self, why: &str) -> RunResult<()> {
        self.log = None;
        let path = self.log_path.clone().unwrap_or_default();
        self.complain(&format!(
            "warning: cannot write to --log-file {path:?}: {why}; messages go to standard error"
        ))
    }

    /// Writes lines to standard error, or holds them back or drops them with `--stderr failure`. They begin a new line
    /// if the command's output ends within one. Write errors cannot be reported anywhere, so the next message says that
    /// lines were lost.
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
            Err(RunError::Fault(_)) => Ok(()),
            written => written,
        }
    }

    /// Writes an error or warning as one line to standard error like `stdio::complain`, but handles signals while the
    /// reader is slow. First says so if earlier lines were lost.
    pub(crate) fn complain(&mut self, line: &str) -> RunResult<()> {
        let mut lines = stdio::complaint(line);
        if self.has_lost_lines {
            lines.insert_str(0, &stdio::complaint(&format!("warning: {LINES_LOST}")));
        }
        self.write_to_standard_error(&lines)
    }
}

/// Returns the standard output of a hook, which joins its standard error. That is the file that holds standard error
/// back (`--stderr failure`), if any, or else backoff's standard error.
fn output_of_hook(stderr_for_helper: Option<&OwnedFd>) -> io::Result<OwnedFd> {
    match stderr_for_helper {
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

    fn attempt(
        &mut self,
        spec: &AttemptSpec,
        counted_in: Option<&SharedBudget>,
    ) -> RunResult<Attempt> {
        self.event_loop.read_input_first(self.deadline)?;
        self.event_loop.receive_signals()?;
        // A SIGUSR1 that came too late for the last wait must not end the next one.
        self.event_loop.skips_wait = false;
        if self.deadline.is_due(clock::now()) {
            return Ok(Attempt {
                outcome: Outcome::too_late(),
                interrupted: None,
            });
        }
        let streams = &mut self.event_loop.streams;
        let stdio = streams
            .begin()
            .map_err(|error| RunError::of_system("cannot create the command's streams", &error))?;
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

    fn wait(
        &mut self,
        delay: Duration,
        countdown_text: &dyn Fn(Duration, usize) -> String,
    ) -> RunResult<WaitEnd> {
        // `attempt` still handles pending signals before it starts the command.
        if delay.is_zero() {
            return Ok(WaitEnd::Elapsed);
        }
        self.event_loop.sleep(delay, self.deadline, countdown_text)
    }

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
            // They may ask the user.
            ShellKind::Predicate | ShellKind::BeforeRetry => Self::isolation(),
        };
        let command = Command::new(&["/bin/sh", "-c", shell].map(OsString::from));
        let program = Program {
            command: &command,
            role: Role::Helper,
            isolation,
            stdio,
            spec,
            // Not `self.deadline`, as `--on-give-up` may run past it and has a later one.
            deadline: Deadline::maybe_after(self.began, spec.deadline),
        };
        self.event_loop.receive_signals()?;
        run(&mut self.event_loop, program, &mut || {})
    }

    fn print_kept(&mut self, end: EndOfRun) -> RunResult<Printed> {
        self.event_loop.print_kept(end)
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

    fn write_log(&mut self, lines: &str) -> RunResult<()> {
        let Some(log) = &self.log else {
            return self.write_to_standard_error(lines);
        };
        match self.event_loop.write(log, lines) {
            Err(RunError::Fault(why)) => {
                self.go_on_without_log(&why)?;
                self.write_to_standard_error(lines)
            }
            written => written,
        }
    }

    fn has_lost_lines(&self) -> bool {
        // With `--log-file`, only `complain` writes to standard error, and it reports lost lines itself.
        self.log.is_none() && self.has_lost_lines
    }
}
