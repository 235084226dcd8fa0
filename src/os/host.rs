//! The real world of `run::Host`: this process's signals, the monotonic clock, the command.

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags};

use super::environment::Environment;
use super::signals::Signals;
use super::spawn::{Program, SpawnError};
use super::{attempt, child, stdio, terminal};
use crate::outcome::{End, Outcome};
use crate::run::{Attempt, Cut, Host, Order};
use crate::signal::Signal;

/// The most one `poll(2)` waits; a longer wait polls again.
const LONGEST_POLL: Duration = Duration::from_secs(1 << 20);

/// This process and what it starts.
#[derive(Debug)]
pub struct System {
    pub(super) signals: Signals,
    began: Instant,
    program: Program,
    environment: Option<Environment>,
    /// Whether there is a controlling terminal; asked before the first attempt.
    has_terminal: Option<bool>,
    is_init: bool,
}

/// A point in time this much later; None if the clock will never show it.
pub(super) fn later(from: Instant, by: Duration) -> Option<Instant> {
    from.checked_add(by)
}

impl System {
    /// Takes over this process's signals for a command.
    pub fn take_over(command: &[OsString]) -> Result<System, Cut> {
        let signals = Signals::take_over().map_err(|error| Cut::Fault(format!("cannot receive signals: {error}")))?;
        Ok(System {
            signals,
            began: Self::now(),
            program: Program::new(command),
            environment: None,
            has_terminal: None,
            is_init: std::process::id() == 1,
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

    /// Sleeps until a signal comes or the time is up, and takes in what came.
    pub(super) fn listen(&mut self, until: Option<Instant>) {
        let (signals, _) = self.poll(until, None);
        if signals {
            self.signals.receive();
        }
    }

    /// Waits for signals, for `other` or until the time is up. Whether signals are waiting, and whether
    /// `other` is ready.
    fn poll(&self, until: Option<Instant>, other: Option<PollFd<'_>>) -> (bool, bool) {
        let mut fds = vec![PollFd::new(self.signals.fd(), PollFlags::POLLIN)];
        fds.extend(other);
        let left = until.map(|until| until.saturating_duration_since(Self::now()).min(LONGEST_POLL));
        if !poll(&mut fds, left) {
            return (true, true);
        }
        let is_ready = |fd: Option<&PollFd<'_>>| fd.and_then(PollFd::any).unwrap_or(false);
        (is_ready(fds.first()), is_ready(fds.get(1)))
    }

    pub(super) fn reap_orphans(&self, attempt: Option<libc::pid_t>) {
        if self.is_init {
            child::reap_orphans(attempt);
        }
    }

    pub(super) fn attempt_is_over(&mut self) {
        self.reap_orphans(None);
    }

    /// Signals between two attempts: what asks to end ends the run, what stops a job stops backoff,
    /// the rest was for a command that is not there.
    fn obey(&mut self) -> Result<(), Cut> {
        while let Some(received) = self.signals.take() {
            match received.signal {
                signal if received.asks_to_end() => return Err(Cut::Interrupted(signal)),
                signal if signal.stops_a_job() => {
                    let insist = !self.has_terminal();
                    terminal::stop_self(&self.signals, signal, insist);
                    self.signals.receive();
                }
                Signal::CHLD => self.reap_orphans(None),
                _ => {}
            }
        }
        Ok(())
    }

    fn has_terminal(&mut self) -> bool {
        *self.has_terminal.get_or_insert_with(terminal::is_controlled)
    }
}

impl Host for System {
    fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(self.began)
    }

    fn attempt(&mut self, order: &Order<'_>) -> Result<Attempt, Cut> {
        self.signals.receive();
        self.obey()?;
        // With a terminal the command shares backoff's process group, so that the shell, the terminal
        // and both see one job; without one it gets a group that can be signalled as a whole.
        let own_group = !self.has_terminal();
        let environment = self.environment.get_or_insert_with(|| {
            let names: Vec<&str> = order.variables.iter().map(|(name, _)| *name).collect();
            Environment::without(&names)
        });
        environment.set(&order.variables);
        let was_in_foreground = !own_group && terminal::is_in_foreground();
        let started = Self::now();
        match self.program.start(environment, &self.signals, own_group) {
            Ok(child) => {
                let attempt = attempt::run(self, child, started, order);
                if was_in_foreground {
                    terminal::take_back();
                }
                Ok(attempt)
            }
            Err(SpawnError::Exec(failure)) => {
                let outcome = Outcome {
                    end: End::NotStarted(failure),
                    ran: Duration::ZERO,
                };
                Ok(Attempt {
                    outcome,
                    interrupted: None,
                })
            }
            Err(SpawnError::Fork(errno)) => Err(Cut::Fault(format!(
                "cannot start a process: {}",
                super::describe(errno)
            ))),
        }
    }

    fn wait(&mut self, delay: Duration) -> Result<(), Cut> {
        if delay.is_zero() {
            // The attempt that follows listens first.
            return Ok(());
        }
        self.signals.receive();
        self.obey()?;
        let until = later(Self::now(), delay);
        let slack = exact_timers();
        let waited = loop {
            if until.is_some_and(|until| until <= Self::now()) {
                break Ok(());
            }
            self.listen(until);
            if let Err(cut) = self.obey() {
                break Err(cut);
            }
        };
        set_timer_slack(slack);
        waited
    }

    fn say(&mut self, lines: &str) -> Result<(), Cut> {
        let mut rest = lines.as_bytes();
        while !rest.is_empty() {
            // Not write(2) at once: standard error may be a pipe that nobody empties, and a signal must
            // get through. What is writable takes at least PIPE_BUF bytes.
            // SAFETY: used for this poll only; poll says POLLNVAL if it is closed.
            let stderr = unsafe { BorrowedFd::borrow_raw(stdio::ERR) };
            let (signals, writable) = self.poll(None, Some(PollFd::new(stderr, PollFlags::POLLOUT)));
            if signals {
                self.signals.receive();
                self.obey()?;
            }
            if !writable {
                continue;
            }
            let chunk = &rest[..rest.len().min(libc::PIPE_BUF)];
            match stdio::write_some(stdio::ERR, chunk) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                // Nobody can read it; the command's fate does not change.
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }
}

/// `poll(2)` with the finest time-out the system has. An interrupted one counts as one that has
/// nothing to tell; the callers poll again. False if the system cannot poll (a limit of descriptors that was
/// lowered meanwhile, a filter): everything has to be tried then, after a pause that keeps this from spinning.
fn poll(fds: &mut [PollFd<'_>], left: Option<Duration>) -> bool {
    #[cfg(all(target_os = "linux", not(backoff_portable)))]
    let result = nix::poll::ppoll(fds, left.map(nix::sys::time::TimeSpec::from_duration), None);
    #[cfg(any(not(target_os = "linux"), backoff_portable))]
    let result = {
        let millis = |left: Duration| i32::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
        let timeout = left.map_or(nix::poll::PollTimeout::NONE, |left| {
            nix::poll::PollTimeout::try_from(millis(left)).unwrap_or(nix::poll::PollTimeout::MAX)
        });
        nix::poll::poll(fds, timeout)
    };
    match result {
        Ok(_) | Err(Errno::EINTR) => true,
        Err(_) => {
            let _ = nix::poll::poll(&mut [], nix::poll::PollTimeout::from(10u8));
            false
        }
    }
}

/// Linux lets timers fire some 50 us late to save power; during a wait that is too much. The command
/// would inherit the setting, so what this gives is to be set again after the wait.
fn exact_timers() -> libc::c_ulong {
    #[cfg(target_os = "linux")]
    // SAFETY: only asks.
    let slack = unsafe { libc::prctl(libc::PR_GET_TIMERSLACK) };
    #[cfg(not(target_os = "linux"))]
    let slack = 0;
    set_timer_slack(1);
    // More than an int holds cannot be told; 0 is this process's default.
    libc::c_ulong::try_from(slack).unwrap_or(0)
}

fn set_timer_slack(nanoseconds: libc::c_ulong) {
    #[cfg(target_os = "linux")]
    // SAFETY: PR_SET_TIMERSLACK takes a number and changes this thread's timers only.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, nanoseconds);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nanoseconds;
}
