//! Implements `run::Host` on the operating system: signals, the monotonic clock, the command.

mod between_attempts;
mod budget;
pub(crate) mod clash;
mod files;
mod query;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::policy::outcome::{End, Outcome, TimeLimit};
use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::run;
use crate::process::signals::Signals;
use crate::process::spawn::{ChildStdio, Command, Isolation};
use crate::process::streams::Streams;
use crate::process::streams::sink::Sink;
use crate::process::sys::clock::{self, Deadline};
use crate::process::sys::{fd, stdio, temporary};
use crate::process::terminal;
use crate::run::event::LINES_LOST;
use crate::run::host::{
    Attempt, AttemptSpec, BudgetAnswer, EnvLines, Host, RunError, RunResult, ShellKind,
};
use crate::run::plan::{Plan, SharedBudget};
use crate::text::describe_error;
use query::{GivenUp, Query};

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
    /// The log file, opened for the first line; `/dev/null` once the file could not be written.
    log: Option<Sink>,
    store: Store,
    /// The query that counts the current attempt.
    counting: Option<RunResult<Query>>,
    given_up: GivenUp,
}

impl System {
    /// Takes over this process's signals to run a command.
    pub(crate) fn take_over(plan: &Plan, store: &Store) -> RunResult<System> {
        let signals = Signals::take_over().map_err(fault("cannot receive signals"))?;
        let began = clock::now();
        let streams =
            Streams::new(&plan.streams).map_err(fault("cannot use the standard streams"))?;
        let deadline = Deadline::maybe_after(began, plan.limits.deadline);
        Ok(System {
            began,
            deadline,
            event_loop: EventLoop::new(signals, streams, deadline, plan.output.progress),
            command: Command::new(&plan.command),
            standard_error: None,
            has_lost_lines: false,
            log_path: plan.output.log_file.clone(),
            log: None,
            store: store.clone(),
            counting: None,
            given_up: GivenUp::default(),
        })
    }

    fn isolation(&self) -> Isolation {
        // With a terminal the command shares backoff's process group, so that shell and terminal see one job. Without
        // one its own group can be signalled as a whole. On a pseudo-terminal it has its own session.
        match (
            self.event_loop.streams.pty.is_some(),
            terminal::has_terminal(),
        ) {
            (true, _) => Isolation::Terminal,
            (false, true) => Isolation::Shared,
            (false, false) => Isolation::Group,
        }
    }

    /// Returns standard input, output and error for a hook or predicate. Standard output goes to standard error, as it
    /// is reserved for the command.
    fn stdio_for(&mut self, kind: ShellKind) -> io::Result<ChildStdio> {
        let streams = &mut self.event_loop.streams;
        let input = match kind {
            ShellKind::Predicate => streams.observer.copy_file()?,
            ShellKind::Hook | ShellKind::BeforeRetry => Some(streams.observer.tail_file()?),
        };
        let stderr = streams.held_stderr()?;
        let stdout = match (kind, &stderr) {
            // `jq -e` prints its answer, which is useless at each attempt.
            (ShellKind::Predicate, _) => fd::null()?,
            (_, Some(held)) => held.try_clone()?,
            (_, None) if fd::is_inherited(stdio::ERR) => {
                fd::inherited(stdio::ERR).try_clone_to_owned()?
            }
            // The caller closed standard error, and standard output is the command's.
            (_, None) => fd::null()?,
        };
        let outputs = [Some(stdout), stderr];
        Ok(ChildStdio { input, outputs })
    }

    /// Writes the report: a file is replaced atomically, other targets are written directly. If that fails, a warning
    /// says so.
    pub(crate) fn write_report(&mut self, path: &Path, text: &str) {
        let written = match files::replace(path, text) {
            Ok(None) => Ok(()),
            Ok(Some(other_target)) => self.event_loop.write(&other_target, text),
            Err(error) => Err(RunError::Fault(describe_error(&error))),
        };
        if let Err(error) = written {
            let why = match error {
                RunError::Fault(why) => why,
                RunError::Interrupted(_) => "interrupted".into(),
            };
            let _ = self.complain(&format!(
                "warning: cannot write to --report {path:?}: {why}"
            ));
        }
    }

    /// Appends lines to the log file. Empty `lines` create no file, but show whether an existing one can
    /// be opened.
    fn append_to_log(&mut self, path: &Path, lines: &str) -> RunResult<()> {
        if self.log.is_none() {
            let opened = files::open_to_append(path, !lines.is_empty());
            self.log = opened.map_err(|error| RunError::Fault(describe_error(&error)))?;
        }
        let log = self.log.as_ref();
        log.map_or(Ok(()), |log| self.event_loop.write(log, lines))
    }

    /// Writes lines to standard error, or holds them back with `--stderr failure`. Ignores write errors, as no place is
    /// left to report them.
    fn write_to_standard_error(&mut self, lines: &str) -> RunResult<()> {
        let streams = &mut self.event_loop.streams;
        // `::endgroup::` (`report/github.rs`) comes with its own newline.
        let lacks_newline = std::mem::take(&mut streams.is_mid_line) && !lines.starts_with('\n');
        let lines = [if lacks_newline { "\n" } else { "" }, lines].concat();
        if streams.keep_message(&lines) {
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

    /// Writes one line to standard error like `stdio::complain`, but handles signals. Says first
    /// that earlier lines were lost. Ignores write errors.
    pub(crate) fn complain(&mut self, line: &str) -> RunResult<()> {
        let mut lines = stdio::complaint(line);
        if self.has_lost_lines {
            lines.insert_str(0, &stdio::complaint(&format!("warning: {LINES_LOST}")));
        }
        self.write_to_standard_error(&lines)
    }
}

/// Makes an error of the system a fault of backoff.
fn fault(what: &'static str) -> impl Fn(io::Error) -> RunError {
    move |error| RunError::Fault(format!("{what}: {}", describe_error(&error)))
}

impl Host for System {
    fn elapsed(&self) -> Duration {
        clock::now().saturating_duration_since(self.began)
    }

    fn time_of_day(&self) -> Duration {
        clock::since_epoch()
    }

    fn attempt(&mut self, spec: &AttemptSpec) -> RunResult<Attempt> {
        self.event_loop.receive_signals()?;
        let has_time = self.event_loop.read_input_first(self.deadline)?;
        if !has_time {
            let outcome = Outcome::new(End::TimedOut(TimeLimit::Deadline), Duration::ZERO);
            let interrupted = None;
            return Ok(Attempt {
                outcome,
                interrupted,
            });
        }
        self.event_loop.is_hook = false;
        // No wait is pending that USR1 could end.
        self.event_loop.wait_is_over = false;
        let streams = &mut self.event_loop.streams;
        let stdio = streams.begin().map_err(fault("cannot make the streams"))?;
        let (isolation, deadline) = (self.isolation(), self.deadline);
        run(
            &mut self.event_loop,
            &self.command,
            isolation,
            stdio,
            spec,
            deadline,
        )
    }

    fn tidy_terminal(&mut self) {
        self.event_loop.modes_before.put_back_unless_piped();
    }

    fn wait(
        &mut self,
        delay: Duration,
        countdown_text: &dyn Fn(Duration, usize) -> String,
    ) -> RunResult<bool> {
        // Without a wait, the next attempt receives signals first.
        Ok(delay.is_zero()
            || self
                .event_loop
                .sleep(delay, self.deadline, countdown_text)?)
    }

    fn run_shell(
        &mut self,
        kind: ShellKind,
        shell: &str,
        spec: &AttemptSpec,
    ) -> RunResult<Attempt> {
        let stdio = self.stdio_for(kind);
        let stdio = stdio.map_err(fault("cannot keep the output for hooks and predicates"))?;
        let isolation = match kind {
            ShellKind::Hook => Isolation::Session,
            ShellKind::Predicate | ShellKind::BeforeRetry => self.isolation(),
        };
        let command = Command::new(&["/bin/sh", "-c", shell].map(OsString::from));
        // Later than the run's deadline for `--on-give-up`.
        let deadline = Deadline::maybe_after(self.began, spec.deadline);
        self.event_loop.is_hook = true;
        run(
            &mut self.event_loop,
            &command,
            isolation,
            stdio,
            spec,
            deadline,
        )
    }

    fn run_before_retry(
        &mut self,
        shell: &str,
        mut spec: AttemptSpec,
    ) -> RunResult<(Attempt, EnvLines)> {
        // Private to this user. Without a file the variable is empty.
        let file = temporary::named(".backoff-env-", &std::env::temp_dir());
        spec.set(
            "BACKOFF_ENV",
            file.as_ref().map_or(Path::new(""), |file| file.path()),
        );
        let attempt = self.run_shell(ShellKind::BeforeRetry, shell, &spec)?;
        let lines = match file {
            Ok(file) => {
                files::take_env_file(file).map_or_else(EnvLines::Unreadable, EnvLines::Read)
            }
            Err(error) => EnvLines::NoFile(files::env_file_cannot_be(
                "made",
                &std::env::temp_dir(),
                &error,
            )),
        };
        Ok((attempt, lines))
    }

    fn print_kept(&mut self, has_good_output: bool) -> RunResult<bool> {
        self.event_loop.print_kept(has_good_output)
    }

    fn drop_later_messages(&mut self) {
        self.event_loop.streams.drop_later_messages();
    }

    fn begin_counting(&mut self, budget: &SharedBudget) {
        self.begin_count(budget);
    }

    fn ask_budget(
        &mut self,
        budget: &SharedBudget,
        question: Question,
        patience: Duration,
    ) -> RunResult<BudgetAnswer> {
        self.ask(budget, question, patience)
    }

    fn write_log(&mut self, lines: &str) -> RunResult<()> {
        let Some(path) = self.log_path.clone() else {
            return self.write_to_standard_error(lines);
        };
        match self.append_to_log(&path, lines) {
            Err(RunError::Fault(why)) => {
                // Later lines are dropped without another warning.
                self.log = fd::null().ok().map(|null| Sink::Own(null.into()));
                let warning = format!(
                    "warning: cannot write to --log-file {path:?}: {why}; going on without it"
                );
                self.complain(&warning)
            }
            written => written,
        }
    }

    fn has_lost_lines(&self) -> bool {
        self.log_path.is_none() && self.has_lost_lines
    }
}
