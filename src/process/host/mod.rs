//! The real world of `run::Host`: this process's signals, the monotonic clock, the command.

use std::ffi::OsString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::libc;
use nix::poll::{PollFd, PollFlags};

use crate::budget::client::Store;
use crate::policy::budget::Question;
use crate::policy::outcome::{Bound, End, Outcome};
use crate::policy::signal::Signal;
use crate::process::attempt::running as attempt;
use crate::process::background::Background;
use crate::process::messages::Messages;
use crate::process::signals::Signals;
use crate::process::spawn::child;
use crate::process::spawn::{Place, Program, SpawnError};
use crate::process::streams::plumbing::{Ends, Plumbing};
use crate::process::streams::sink;
use crate::process::sys::environment::Environment;
use crate::process::sys::fd;
use crate::process::sys::timer::{ExactTimers, LONGEST_POLL, later, poll};
use crate::process::sys::{clock, stdio};
use crate::process::terminal::countdown::Countdown;
use crate::process::terminal::job as terminal;
use crate::process::terminal::pty::Pty;
use crate::run::host::{Attempt, AttemptSpec, BudgetAnswer, Host, RunError};
use crate::run::output::Progress;
use crate::run::plan::{Plan, SharedBudget};
use crate::run::text::{describe, describe_error};

mod writing;

/// What is waited for besides signals.
type Interests<'a> = [Option<(BorrowedFd<'a>, PollFlags)>; 3];

/// This process and what it starts.
#[derive(Debug)]
pub struct System {
    pub(super) signals: Signals,
    began: Instant,
    /// Where the budget is kept.
    store: Store,
    program: Rc<Program>,
    messages: Messages,
    countdown: Countdown,
    /// The countdown of waits; None if nobody wants it.
    progress: Option<Progress>,
    environment: Option<Environment>,
    /// Whether there is a controlling terminal; asked before the first attempt.
    has_terminal: Option<bool>,
    is_init: bool,
    /// A signal has ended the run, and how it ends is decided.
    is_ending: bool,
    /// `--report` stands for a descriptor that backoff was not given.
    is_report_closed: bool,
    /// A key has made this signal on the command's own terminal, and so on ours: the command has it.
    typed: Option<Signal>,
    /// A key has made this signal, by which the job is to stop once the command has.
    pub(super) typed_stop: Option<Signal>,
    /// The streams that backoff has a hand in; None if all are the caller's own.
    pub(super) plumbing: Option<Plumbing>,
}

impl System {
    /// Takes over this process's signals for a command.
    pub fn take_over(plan: &Plan, store: &Store) -> Result<System, RunError> {
        let output = &plan.output;
        // Before there are descriptors of backoff's own.
        let messages = Messages::new(output.log_file.clone());
        let report = output.report.as_deref().and_then(sink::descriptor);
        let is_report_closed = report.is_some_and(|number| !stdio::is_open(number));
        let signals =
            Signals::take_over().map_err(|error| RunError::Fault(format!("cannot receive signals: {error}")))?;
        Ok(System {
            signals,
            began: Self::now(),
            store: store.clone(),
            program: Rc::new(Program::new(&plan.command)),
            messages,
            countdown: Countdown::default(),
            progress: output.progress,
            environment: None,
            has_terminal: None,
            is_init: std::process::id() == 1,
            is_ending: false,
            is_report_closed,
            typed: None,
            typed_stop: None,
            plumbing: Plumbing::new(&plan.streams)
                .map_err(|error| RunError::Fault(format!("cannot use the standard streams: {error}")))?,
        })
    }

    /// The clock: CLOCK_MONOTONIC, which does not jump and stands still while the machine sleeps.
    #[allow(clippy::disallowed_methods, reason = "this is the one place that reads it")]
    pub(super) fn now() -> Instant {
        Instant::now()
    }

    pub(super) fn began(&self) -> Instant {
        self.began
    }

    /// Sleeps until something comes or the time is up, takes in signals and moves the command's streams.
    /// Whether a stream was ready.
    pub(super) fn listen(&mut self, until: Option<Instant>) -> bool {
        let wake_at = self
            .plumbing
            .as_ref()
            .and_then(Plumbing::wake_after)
            .and_then(|after| later(Self::now(), after));
        let interests = self.plumbing.as_ref().map_or([None; 3], Plumbing::interests);
        let (signals, ready) = self.poll([until, wake_at].into_iter().flatten().min(), interests);
        if signals {
            self.signals.receive();
        }
        if let Some(plumbing) = &mut self.plumbing {
            #[allow(clippy::disallowed_methods, reason = "this is `os`")]
            plumbing.work(ready, std::time::SystemTime::now());
            for signal in plumbing.typed() {
                if signal.stops_a_job() {
                    // Nobody would notice a leader of the session that stops.
                    self.typed_stop = (!terminal::leads_session()).then_some(signal);
                } else {
                    self.typed = Some(signal);
                    terminal::signal_as_typed(signal);
                }
            }
        }
        ready.contains(&true)
    }

    /// Waits for signals, for one of the others or until the time is up. Whether signals are waiting, and
    /// which of the others are ready.
    fn poll(&self, until: Option<Instant>, others: Interests<'_>) -> (bool, [bool; 3]) {
        let mut fds = vec![PollFd::new(self.signals.fd(), PollFlags::POLLIN)];
        fds.extend(others.iter().flatten().map(|(fd, flags)| PollFd::new(*fd, *flags)));
        let left = until.map(|until| until.saturating_duration_since(Self::now()).min(LONGEST_POLL));
        if !poll(&mut fds, left) {
            return (true, others.map(|other| other.is_some()));
        }
        let mut ready = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let signals = ready.next().unwrap_or(false);
        (
            signals,
            others.map(|other| other.is_some() && ready.next().unwrap_or(false)),
        )
    }

    /// Starts a program and waits for its end. What cannot be started is an outcome, too.
    fn run(
        &mut self,
        program: &Program,
        environment: &mut Environment,
        order: &AttemptSpec,
        ends: Ends,
    ) -> Result<Attempt, RunError> {
        let place = self.place();
        self.run_at(place, program, environment, order, ends)
    }

    fn place(&mut self) -> Place {
        // With a terminal the command shares backoff's process group, so that the shell, the terminal
        // and both see one job; without one it gets a group that can be signalled as a whole.
        // On a pseudo-terminal it is in a session of its own.
        if self.streams(Plumbing::has_pty) {
            Place::Terminal
        } else if self.has_terminal() {
            Place::Shared
        } else {
            Place::Group
        }
    }

    fn run_at(
        &mut self,
        place: Place,
        program: &Program,
        environment: &mut Environment,
        order: &AttemptSpec,
        ends: Ends,
    ) -> Result<Attempt, RunError> {
        environment.set(&order.variables);
        let was_in_foreground = place == Place::Shared && terminal::is_in_foreground();
        let started = Self::now();
        let child = program.start(environment, &self.signals, place, ends.numbers());
        drop(ends);
        match child {
            Ok(child) => {
                if let Some(pty) = self.pty() {
                    pty.started(child.pid());
                }
                let attempt = attempt::run(self, child, place, started, order);
                if let Some(pty) = self.pty() {
                    pty.leave();
                }
                // The command ended before it could stop; the rest of the job stops all the same.
                if let Some(signal) = self.typed_stop.take() {
                    terminal::stop_job(&mut self.signals, signal);
                }
                if was_in_foreground {
                    terminal::take_back();
                }
                let attempt = attempt?;
                self.is_ending |= attempt.interrupted.is_some();
                Ok(attempt)
            }
            Err(SpawnError::Exec(failure)) => {
                let outcome = Outcome::new(End::NotStarted(failure), Duration::ZERO);
                Ok(Attempt {
                    outcome,
                    interrupted: None,
                })
            }
            Err(SpawnError::Fork(errno)) => {
                Err(RunError::Fault(format!("cannot start a process: {}", describe(errno))))
            }
        }
    }

    /// Runs a shell command beside the command, with this standard input. What it prints is for people: standard
    /// output is the command's alone.
    fn run_shell(
        &mut self,
        shell: &str,
        order: &AttemptSpec,
        input: Option<OwnedFd>,
        place: Option<Place>,
    ) -> Result<Attempt, RunError> {
        let command = ["/bin/sh", "-c", shell].map(OsString::from);
        let names: Vec<&str> = order.variables.iter().map(|(name, _)| *name).collect();
        // Where standard error is closed, nothing of it may get into the command's output either.
        let output = fd::duplicate(stdio::ERR)
            .or_else(|_| fd::null())
            .map_err(|error| RunError::Fault(format!("cannot open /dev/null: {error}")))?;
        let ends = Ends([input, Some(output), None]);
        let plumbing = self.plumbing.take();
        let place = place.unwrap_or_else(|| self.place());
        let mut environment = Environment::without(&names);
        let answer = self.run_at(place, &Program::new(&command), &mut environment, order, ends);
        self.plumbing = plumbing;
        answer
    }

    /// Reads standard input to its end, where that has to come first. Whether the deadline left time.
    fn fill(&mut self, order: &AttemptSpec) -> Result<bool, RunError> {
        let deadline = order.deadline.and_then(|deadline| later(self.began, deadline));
        while self.plumbing.as_ref().is_some_and(Plumbing::needs_filling) {
            if deadline.is_some_and(|deadline| deadline <= Self::now()) {
                return Ok(false);
            }
            self.listen(deadline);
            self.obey()?;
            if let Some(why) = self.plumbing.as_mut().and_then(Plumbing::fault) {
                return Err(RunError::Fault(why));
            }
        }
        Ok(true)
    }

    /// Asks the streams that backoff has a hand in; false if there are none.
    pub(super) fn streams(&self, question: fn(&Plumbing) -> bool) -> bool {
        self.plumbing.as_ref().is_some_and(question)
    }

    /// The attempt's own terminal, if it has one (`--pty`).
    pub(super) fn pty(&mut self) -> Option<&mut Pty> {
        self.plumbing.as_mut().and_then(Plumbing::pty)
    }

    /// Whether the command got this signal, which backoff hears, from a key on its own terminal.
    pub(super) fn was_typed(&mut self, signal: Signal) -> bool {
        self.typed.take_if(|typed| *typed == signal).is_some()
    }

    /// Whether output has come since this was last asked.
    pub(super) fn has_moved(&mut self) -> bool {
        self.plumbing.as_mut().is_some_and(Plumbing::has_moved)
    }

    pub(super) fn reap_orphans(&self, attempt: Option<libc::pid_t>) {
        if self.is_init {
            child::reap_orphans(attempt);
        }
    }

    pub(super) fn attempt_is_over(&mut self) {
        self.reap_orphans(None);
    }

    /// Does what may block for long, hearing signals. An error if it takes longer than this, or cannot be begun: what a
    /// person should read.
    fn in_background<T: Send + 'static>(
        &mut self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Result<T, String>, RunError> {
        let background = match Background::begin(work) {
            Ok(background) => background,
            Err(error) => return Ok(Err(format!("cannot start a thread: {}", describe_error(&error)))),
        };
        let mut until = later(Self::now(), limit);
        loop {
            let (signals, [is_over, ..]) = self.poll(until, [Some((background.fd(), PollFlags::POLLIN)), None, None]);
            if signals {
                let heard = Self::now();
                self.signals.receive();
                self.obey()?;
                // While backoff is stopped (Ctrl-Z), so is the work.
                until = until.and_then(|until| later(until, Self::now().saturating_duration_since(heard)));
            }
            if is_over {
                return Ok(background.result().ok_or_else(|| "failed".to_owned()));
            }
            if until.is_some_and(|until| until <= Self::now()) {
                return Ok(Err(format!("gives no answer within {} ms", limit.as_millis())));
            }
        }
    }

    /// Signals between two attempts: what asks to end ends the run, what stops a job stops backoff,
    /// the rest was for a command that is not there.
    fn obey(&mut self) -> Result<(), RunError> {
        while let Some(received) = self.signals.take() {
            match received.signal {
                signal if received.asks_to_end() => {
                    self.is_ending = true;
                    return Err(RunError::Interrupted(signal));
                }
                signal if signal.stops_a_job() => {
                    let insist = !self.has_terminal();
                    self.countdown.erase();
                    terminal::stop_self(&mut self.signals, signal, insist);
                    self.signals.receive();
                }
                Signal::CHLD => self.reap_orphans(None),
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn has_terminal(&mut self) -> bool {
        *self.has_terminal.get_or_insert_with(terminal::is_controlled)
    }
}

impl Host for System {
    fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(self.began)
    }

    fn attempt(&mut self, order: &AttemptSpec) -> Result<Attempt, RunError> {
        self.signals.receive();
        self.obey()?;
        if !self.fill(order)? {
            let outcome = Outcome::new(End::TimedOut(Bound::Deadline), Duration::ZERO);
            return Ok(Attempt {
                outcome,
                interrupted: None,
            });
        }
        let ends = match &mut self.plumbing {
            Some(plumbing) => plumbing
                .begin()
                .map_err(|error| RunError::Fault(format!("cannot make the streams: {error}")))?,
            None => Ends::default(),
        };
        let names = || order.variables.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let mut environment = self
            .environment
            .take()
            .unwrap_or_else(|| Environment::without(&names()));
        let program = Rc::clone(&self.program);
        let attempt = self.run(&program, &mut environment, order, ends);
        self.environment = Some(environment);
        let mut attempt = attempt?;
        if let Some(plumbing) = &mut self.plumbing {
            #[allow(clippy::disallowed_methods, reason = "this is `os`")]
            match plumbing.end(std::time::SystemTime::now()) {
                Ok(seen) => {
                    // Its terminal was hung up since nobody reads what it shows: on a pipe, PIPE.
                    if plumbing.is_hung_up() && attempt.outcome.end == End::Signaled(Signal::HUP) {
                        attempt.outcome.end = End::Signaled(Signal::PIPE);
                    }
                    attempt.outcome.seen = seen;
                }
                Err(why) => return Err(RunError::Fault(why)),
            }
        }
        Ok(attempt)
    }

    fn ask(&mut self, shell: &str, order: &AttemptSpec) -> Result<Attempt, RunError> {
        let copy = self
            .plumbing
            .as_ref()
            .map(|plumbing| plumbing.copy().to_file())
            .transpose();
        let copy = copy.map_err(|error| RunError::Fault(format!("cannot keep the output for --retry-if: {error}")))?;
        self.run_shell(shell, order, copy, None)
    }

    fn hook(&mut self, shell: &str, order: &AttemptSpec) -> Result<Attempt, RunError> {
        let nothing = fd::null().map_err(|error| RunError::Fault(format!("cannot open /dev/null: {error}")))?;
        self.run_shell(shell, order, Some(nothing), Some(Place::Session))
    }

    fn ask_budget(
        &mut self,
        budget: &SharedBudget,
        question: Question,
    ) -> Result<Result<BudgetAnswer, String>, RunError> {
        let (store, asked) = (self.store.clone(), budget.clone());
        let answer = self.in_background(budget.timeout, move || store.ask(&asked, question, clock::since_epoch))?;
        Ok(answer.unwrap_or_else(|why| Err(format!("{}: {why}", self.store))))
    }

    fn release(&mut self, succeeded: bool) -> Result<(), RunError> {
        self.print_kept(succeeded)
    }

    fn time_of_day(&self) -> Duration {
        clock::since_epoch()
    }

    fn wait(&mut self, delay: Duration, shown: Option<&dyn Fn(Duration) -> String>) -> Result<(), RunError> {
        if delay.is_zero() {
            // The attempt that follows listens first.
            return Ok(());
        }
        self.signals.receive();
        self.obey()?;
        let until = later(Self::now(), delay);
        let exact = ExactTimers::begin();
        let shown = shown.zip(self.progress);
        if let Some((_, progress)) = shown {
            self.countdown = Countdown::new(delay, progress == Progress::Always);
        }
        let waited = loop {
            let now = Self::now();
            if until.is_some_and(|until| until <= now) {
                break Ok(());
            }
            let anew = match (shown, until) {
                (Some((text, _)), Some(until)) => self.countdown.show(now, until, text),
                _ => None,
            };
            self.listen([until, anew].into_iter().flatten().min());
            if let Err(cut) = self.obey() {
                break Err(cut);
            }
        };
        self.countdown.erase();
        drop(exact);
        waited
    }

    fn say(&mut self, lines: &str) -> Result<(), RunError> {
        self.write_message(lines)
    }
}
