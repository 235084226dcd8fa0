//! What backoff itself writes: lines about a run, reports, output that was kept. It may go to a pipe that nobody
//! empties, and signals must get through all the same.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};

use super::System;
use crate::policy::signal::Signal;
use crate::process::replace;
use crate::process::streams::output::{Broken, Outlet, Release};
use crate::process::streams::sink::{self, Sink};
use crate::process::sys::stdio;
use crate::process::sys::timer::{later, poll};
use crate::run::host::RunError;
use crate::run::text::{describe, describe_error};

/// Once a signal has ended the run, how long what is still to be said may wait for its reader.
const LAST_WORDS: Duration = Duration::from_millis(250);

impl System {
    /// Writes lines about the run to where they go.
    pub(super) fn write_message(&mut self, lines: &str) -> Result<(), RunError> {
        let sink = match self.messages.sink() {
            Ok(Some(sink)) => sink,
            Ok(None) => return Ok(()),
            Err(warning) => return self.complain(&warning),
        };
        match self.write(&sink, lines) {
            Ok(()) => Ok(()),
            // Nobody can read it; the command's fate does not change.
            Err(Unwritten::Refused(errno)) => match self.messages.fail(errno) {
                Some(warning) => self.complain(&warning),
                None => Ok(()),
            },
            Err(Unwritten::Unread) => {
                self.messages.give_up();
                Ok(())
            }
            Err(Unwritten::RunError(cut)) => Err(cut),
        }
    }

    /// Prints what was kept of both outputs, as the run ended.
    pub(super) fn print_kept(&mut self, succeeded: bool) -> Result<(), RunError> {
        let Some(mut plumbing) = self.plumbing.take() else {
            return Ok(());
        };
        let mut released = Ok(());
        for output in 0..2 {
            let (mut release, outlet) = plumbing.settle(output, succeeded);
            if released.is_ok() {
                released = self.print(&mut release, outlet, ["standard output", "standard error"][output]);
            }
            // Printed, or nobody wants it any more: in no case a second time.
            outlet.clear();
        }
        self.plumbing = Some(plumbing);
        released
    }

    /// Prints what was kept of an output, hearing signals.
    fn print(&mut self, release: &mut Release, outlet: &mut Outlet, name: &str) -> Result<(), RunError> {
        let fault = |why: String| RunError::Fault(format!("cannot print {name}: {why}"));
        while release.work(outlet).map_err(|error| fault(describe_error(&error)))? {
            self.wait_for_room(Release::fd(outlet))?;
        }
        match release.failure() {
            None => Ok(()),
            // As the command itself would have ended.
            Some(Broken::ReaderGone) => Err(RunError::Interrupted(Signal::PIPE)),
            Some(Broken::Fault(why)) => Err(fault(why.clone())),
        }
    }

    /// Writes a report: a file is there complete or not at all; what is no file gets it as it comes. An error is
    /// what a person should read.
    pub fn write_report(&mut self, path: &Path, text: &str) -> Result<(), String> {
        let is_no_file =
            sink::descriptor(path).is_some() || std::fs::metadata(path).is_ok_and(|facts| !facts.is_file());
        if self.is_report_closed {
            return Err(describe(Errno::EBADF));
        }
        if !is_no_file {
            return replace::file(path, text.as_bytes()).map_err(|error| describe_error(&error));
        }
        let sink = Sink::append(path).map_err(|error| describe_error(&error))?;
        self.write(&sink, text).map_err(|unwritten| match unwritten {
            Unwritten::Refused(errno) => describe(errno),
            Unwritten::Unread => "nobody reads it".into(),
            Unwritten::RunError(_) => "interrupted".into(),
        })
    }

    /// One line on standard error, as `stdio::complain`, but hearing signals. That it cannot be written is no
    /// further error.
    pub fn complain(&mut self, line: &str) -> Result<(), RunError> {
        match self.write(&Sink::new(stdio::ERR), &format!("backoff: {line}\n")) {
            Err(Unwritten::RunError(cut)) => Err(cut),
            _ => Ok(()),
        }
    }

    /// Writes all of a text, hearing signals.
    fn write(&mut self, sink: &Sink, text: &str) -> Result<(), Unwritten> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            // It may be a pipe that nobody empties, and a signal must get through; one that has got through must
            // not be held up.
            if self.is_ending {
                let until = later(Self::now(), LAST_WORDS);
                if !self.has_room(sink.fd(), until) {
                    return Err(Unwritten::Unread);
                }
            } else {
                self.wait_for_room(sink.fd()).map_err(Unwritten::RunError)?;
            }
            match sink.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                Err(errno) => return Err(Unwritten::Refused(errno)),
            }
        }
        Ok(())
    }

    /// Whether this has room by then. Signals have to wait.
    fn has_room(&self, fd: BorrowedFd<'_>, until: Option<Instant>) -> bool {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Self::now()));
            let mut fds = [PollFd::new(fd, PollFlags::POLLOUT)];
            if poll(&mut fds, left) && fds[0].any().unwrap_or(false) {
                return true;
            }
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
        }
    }

    /// Waits until this has room, hearing signals.
    fn wait_for_room(&mut self, fd: BorrowedFd<'_>) -> Result<(), RunError> {
        loop {
            let (signals, [has_room, ..]) = self.poll(None, [Some((fd, PollFlags::POLLOUT)), None, None]);
            if signals {
                self.signals.receive();
                self.obey()?;
            }
            if has_room {
                return Ok(());
            }
        }
    }
}

/// Why a text was not written.
enum Unwritten {
    /// The system says so.
    Refused(Errno),
    /// The run is ending, and there is still no room for it.
    Unread,
    /// A signal came first.
    RunError(RunError),
}
