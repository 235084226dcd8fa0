//! Implements `run::Host` on the operating system: signals, the monotonic clock, the command.

mod files;
mod messages;
mod store_thread;
mod waits;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::poll::PollFlags;

use crate::budget::client::{Store, TIMEOUT};
use crate::policy::budget::Question;
use crate::policy::outcome::{Bound, End, Outcome};
use crate::process::attempt::event_loop::EventLoop;
use crate::process::attempt::run;
use crate::process::signals::Signals;
use crate::process::spawn::command::Command;
use crate::process::spawn::{ChildStdio, Isolation};
use crate::process::streams::Streams;
use crate::process::streams::sink::Sink;
use crate::process::sys::clock::{self, Deadline};
use crate::process::sys::{environment, fd, stdio};
use crate::process::terminal;
use crate::run::event::LINES_LOST;
use crate::run::host::{Attempt, AttemptSpec, BudgetAnswer, EnvLines, Host, RunError, RunResult, ShellKind};
use crate::run::plan::{Plan, SharedBudget};
use crate::run::text::describe_error;
use files::LogFile;
use messages::{WriteError, write};
use store_thread::{Answered, Begun, COUNTING, StoreThread};

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
    store: Store,
    /// The count of the current attempt.
    counting: Option<Begun>,
    /// The last question to this machine's own store, and to a server, unless it was answered.
    threads: [Option<StoreThread>; 2],
}

impl System {
    /// Takes over this process's signals to run a command.
    pub(crate) fn take_over(plan: &Plan, store: &Store) -> RunResult<System> {
        let signals = Signals::take_over().map_err(fault("cannot receive signals"))?;
        let began = clock::now();
        let streams = Streams::new(&plan.streams).map_err(fault("cannot use the standard streams"))?;
        let deadline = Deadline::maybe_after(began, plan.limits.deadline);
        Ok(System {
            began,
            deadline,
            event_loop: EventLoop::new(signals, streams, deadline, plan.output.progress),
            command: Command::new(&plan.command),
            standard_error: None,
            has_lost_lines: false,
            log_file: plan.output.log_file.as_deref().map(LogFile::new),
            store: store.clone(),
            counting: None,
            threads: [None, None],
        })
    }

    fn isolation(&self) -> Isolation {
        // With a terminal the command shares backoff's process group, so that shell and terminal see one job. Without
        // one its own group can be signalled as a whole. On a pseudo-terminal it has its own session.
        match (self.event_loop.streams.pty.is_some(), terminal::has_terminal()) {
            (true, _) => Isolation::Terminal,
            (false, true) => Isolation::Shared,
            (false, false) => Isolation::Group,
        }
    }

    /// Returns standard input, output and error for a hook or predicate. Standard output goes to standard error, as it
    /// is reserved for the command.
    fn stdio_for(&mut self, kind: ShellKind) -> RunResult<ChildStdio> {
        let streams = &mut self.event_loop.streams;
        let input = match kind {
            ShellKind::Predicate => streams.observer.copy(),
            ShellKind::Hook | ShellKind::BeforeRetry => streams.observer.tail(),
        };
        let input = input.map_err(fault("cannot keep the output for hooks and predicates"))?;
        let cannot_keep = fault("cannot keep the output of hooks");
        let stderr = streams.held_stderr().map_err(&cannot_keep)?;
        let stdout = match &stderr {
            // `jq -e` prints its answer, which is useless at each attempt.
            _ if kind == ShellKind::Predicate => fd::null(),
            Some(held) => held.try_clone(),
            None if fd::is_inherited(stdio::ERR) => fd::duplicate(stdio::ERR),
            // Hook output must not mix with the command's.
            None => fd::null(),
        };
        let outputs = [Some(stdout.map_err(&cannot_keep)?), stderr];
        Ok(ChildStdio { input, outputs })
    }

    /// Writes the report: a file is replaced atomically, other targets are written directly. An error is a message.
    pub(crate) fn write_report(&mut self, path: &Path, text: &str) -> Result<(), String> {
        files::replace(&mut self.event_loop, path, text).map_err(|error| error.why())
    }

    fn begin(&mut self, store: &Store, budget: &SharedBudget, question: Question, time: Duration) -> Begun {
        let thread = &mut self.threads[usize::from(store.is_remote())];
        // A thread that hangs in a file system cannot be ended, so there is at most one.
        if thread.as_ref().is_some_and(|thread| !thread.answer.is_finished()) {
            return Err(format!("{store}: still gives no answer"));
        }
        let (store, budget) = (store.clone(), budget.clone());
        let ask = move || store.ask(&budget, question, clock::now(), time, clock::since_epoch);
        let begun = StoreThread::begin(ask);
        *thread = Some(begun.map_err(|error| format!("cannot start a thread: {}", describe_error(&error)))?);
        Ok(())
    }

    /// Waits for the answer, at most `time` from the start of the thread.
    fn finish(&mut self, store: &Store, begun: Begun, time: Duration) -> RunResult<Answered> {
        let slot = &mut self.threads[usize::from(store.is_remote())];
        let thread = match (begun, slot.as_ref()) {
            (Ok(()), Some(thread)) => thread,
            (begun, _) => return Ok(begun.map(|()| BudgetAnswer::default())),
        };
        let until = Deadline::after(thread.began, time);
        if !self
            .event_loop
            .is_ready(thread.done.as_fd(), PollFlags::POLLIN, until)?
        {
            return Ok(Err(format!("{store}: gives no answer within {}ms", time.as_millis())));
        }
        let answered = slot.take().and_then(|thread| thread.answer.join().ok());
        Ok(answered.unwrap_or_else(|| Err(format!("{store}: failed"))))
    }

    /// Writes lines to standard error, or holds them back with `--stderr failure`. Ignores write errors, as no place is
    /// left to report them.
    fn write_to_standard_error(&mut self, lines: &str) -> RunResult<()> {
        let streams = &mut self.event_loop.streams;
        let is_in_line = std::mem::take(&mut streams.is_in_line) && !lines.starts_with('\n');
        let lines = [if is_in_line { "\n" } else { "" }, lines].concat();
        let held = streams.held_stderr().map_err(fault("cannot keep messages"))?;
        let held = held.map(|held| Sink::Own(held.into()));
        let sink = self.standard_error.get_or_insert_with(|| Sink::new(stdio::ERR));
        let mut written = write(&mut self.event_loop, held.as_ref().unwrap_or(sink), &lines);
        if held.is_some() && matches!(written, Err(WriteError::Failed(_))) {
            // A message that cannot be held back (a full disk) is shown at once.
            written = write(&mut self.event_loop, sink, &lines);
        }
        if !matches!(written, Err(WriteError::Failed(_))) {
            self.has_lost_lines = written.is_err();
        }
        match written {
            Err(WriteError::Run(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes one line to standard error like `stdio::complain`, but handles signals. Ignores write errors.
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
    move |error| RunError::Fault(format!("{what}: {error}"))
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
        let deadline = Deadline::maybe_after(self.began, spec.deadline);
        if !self.event_loop.fill_input(deadline)? {
            let outcome = Outcome::new(End::TimedOut(Bound::Deadline), Duration::ZERO);
            let interrupted = None;
            return Ok(Attempt { outcome, interrupted });
        }
        // No wait is pending that USR1 could end.
        self.event_loop.wait_is_over = false;
        let streams = &mut self.event_loop.streams;
        let stdio = streams.begin().map_err(fault("cannot make the streams"))?;
        let isolation = self.isolation();
        run(&mut self.event_loop, &self.command, isolation, stdio, spec, deadline)
    }

    fn tidy_terminal(&mut self) {
        self.event_loop.modes_before.put_back(false);
    }

    fn wait(&mut self, delay: Duration, shown: &dyn Fn(Duration, usize) -> String) -> RunResult<bool> {
        // Without a wait, the next attempt receives signals first.
        Ok(delay.is_zero() || self.event_loop.sleep(delay, self.deadline, shown)?)
    }

    fn run_shell(&mut self, kind: ShellKind, shell: &str, spec: &AttemptSpec) -> RunResult<Attempt> {
        let stdio = self.stdio_for(kind)?;
        let isolation = match kind {
            ShellKind::Hook => Isolation::Session,
            ShellKind::Predicate | ShellKind::BeforeRetry => self.isolation(),
        };
        let command = Command::new(&["/bin/sh", "-c", shell].map(OsString::from));
        let deadline = Deadline::maybe_after(self.began, spec.deadline);
        self.event_loop.is_hook = true;
        let attempt = run(&mut self.event_loop, &command, isolation, stdio, spec, deadline);
        self.event_loop.is_hook = false;
        attempt
    }

    fn prepare(&mut self, shell: &str, mut spec: AttemptSpec) -> RunResult<(Attempt, EnvLines)> {
        let file = files::new_env_file();
        let path = file.as_ref().map_or(OsStr::new(""), |path| path.as_os_str());
        spec.set("BACKOFF_ENV", path);
        let attempt = self.run_shell(ShellKind::BeforeRetry, shell, &spec)?;
        let lines = match file {
            Ok(file) => files::take_env_file(file).map_or_else(EnvLines::Unreadable, EnvLines::Read),
            Err(why) => EnvLines::NoFile(why),
        };
        Ok((attempt, lines))
    }

    fn release(&mut self, succeeded: bool) -> RunResult<bool> {
        messages::print_kept(&mut self.event_loop, succeeded)
    }

    fn discard_held_messages(&mut self) {
        self.event_loop.streams.discard_held_messages();
    }

    fn begin_counting(&mut self, budget: &SharedBudget) {
        let patience = budget.timeout.max(COUNTING);
        self.counting = Some(self.begin(&self.store.clone(), budget, Question::Attempt, patience));
    }

    fn ask_budget(&mut self, budget: &SharedBudget, question: Question, patience: Duration) -> RunResult<BudgetAnswer> {
        let store = self.store.clone();
        let begun = match (question, self.counting.take()) {
            (Question::Attempt, None) => return Ok(BudgetAnswer::default()),
            (Question::Attempt, Some(begun)) => begun,
            _ => self.begin(&store, budget, question, patience),
        };
        // If a server gives no answer, this machine's own budget does.
        let mut why = match self.finish(&store, begun, patience)? {
            Ok(answered) => return Ok(answered),
            Err(why) => why,
        };
        let name = &budget.name;
        let mut answer = None;
        let mut then = match budget.denies_if_down {
            true => format!("without the budget \"{name}\" no retry is made (--store-down deny)"),
            false => format!("going on without the budget \"{name}\""),
        };
        if store.is_remote() && !budget.denies_if_down {
            let home = Store::Directory(environment::state_home());
            let begun = self.begin(&home, budget, question, TIMEOUT);
            match self.finish(&home, begun, TIMEOUT)? {
                Ok(answered) => {
                    answer = answered.answer;
                    then = format!("going on with this machine's own budget \"{name}\"");
                }
                Err(also) => why = format!("{why}; {also}"),
            }
        }
        let warning = Some(format!("{why}; {then}"));
        Ok(BudgetAnswer { answer, warning })
    }

    fn write_log(&mut self, lines: &str) -> RunResult<()> {
        let Some(log) = &mut self.log_file else {
            return self.write_to_standard_error(lines);
        };
        match log.write(&mut self.event_loop, lines) {
            Ok(()) => Ok(()),
            Err(WriteError::Run(error)) => Err(error),
            Err(error) => {
                let warning = log.give_up(&error);
                self.complain(&warning)
            }
        }
    }

    fn has_lost_lines(&self) -> bool {
        self.log_file.is_none() && self.has_lost_lines
    }
}
