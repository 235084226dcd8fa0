//! The command's standard input: inherited, rewound, or fed through a pipe of ours so that every
//! attempt reads the same bytes.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Whence, lseek};
use rustix::fs::OFlags;

use super::replay::PipeStdin;
use super::stdin_pipe::Wait;
use crate::process::sys::fd::{inherited, is_same_file, null};
use crate::process::sys::stdio;
use crate::run::streams::InputMode;

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Stdin {
    source: BorrowedFd<'static>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Inherited,
    Null,
    File {
        /// The offset at which the run began.
        start: libc::off_t,
        was_read: bool,
    },
    Pipe(Box<PipeStdin>),
}

impl Stdin {
    /// Looks at standard input, once. Fails if it is to be replayed and is closed.
    pub(crate) fn new(mode: InputMode, limit: u64) -> io::Result<Stdin> {
        Stdin::over(inherited(stdio::IN), mode, limit)
    }

    /// The same for any descriptor.
    pub(crate) fn over(source: BorrowedFd<'static>, mode: InputMode, limit: u64) -> io::Result<Stdin> {
        let kind = match mode {
            InputMode::Auto => Kind::auto(source, limit)?,
            InputMode::Inherit => Kind::Inherited,
            InputMode::Replay => {
                fstat(source)?;
                Kind::Pipe(Box::new(PipeStdin::new(source, limit, true)))
            }
            InputMode::Null => Kind::Null,
        };
        Ok(Stdin { source, kind })
    }

    /// Returns true if every attempt gets the caller's own, and nothing is to be done about it.
    pub(crate) fn is_inherited(&self) -> bool {
        matches!(self.kind, Kind::Inherited)
    }

    /// Returns the standard input of an attempt, close-on-exec and above 2, or `None` if the attempt is to inherit ours. The
    /// caller drops it once the command has it: only then can it be seen that the command has closed its own.
    pub(crate) fn begin(&mut self) -> io::Result<Option<OwnedFd>> {
        match &mut self.kind {
            Kind::Inherited => Ok(None),
            Kind::Null => null().map(Some),
            Kind::File { start, was_read } => {
                if std::mem::replace(was_read, true) {
                    lseek(self.source, *start, Whence::SeekSet)?;
                }
                Ok(None)
            }
            Kind::Pipe(pipe) => pipe.begin().map(Some),
        }
    }

    fn pipe(&self) -> Option<&PipeStdin> {
        match &self.kind {
            Kind::Pipe(pipe) => Some(pipe),
            _ => None,
        }
    }

    fn pipe_mut(&mut self) -> Option<&mut PipeStdin> {
        match &mut self.kind {
            Kind::Pipe(pipe) => Some(pipe),
            _ => None,
        }
    }

    /// Returns true once if a pipe turned out to need reading ahead of the command.
    pub(crate) fn take_newly_read_ahead(&mut self) -> bool {
        self.pipe_mut().is_some_and(PipeStdin::take_newly_read_ahead)
    }

    /// Returns what to poll for now. No flags: only to hear that the other end was closed.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        self.pipe()?.interest()
    }

    /// Returns after how long to call [`Stdin::work`] even if nothing became ready.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        match self.pipe()?.wait()? {
            Wait::Look(after) => Some(after),
            _ => None,
        }
    }

    /// Returns true while standard input is to be read, before the first attempt (`replay`).
    pub(crate) fn needs_filling(&self) -> bool {
        self.pipe().is_some_and(PipeStdin::is_filling)
    }

    /// Returns true if what was read cannot be replayed: it was more than the limit, or could not be kept.
    pub(crate) fn is_lost(&self) -> bool {
        self.pipe().is_some_and(|pipe| pipe.kept.is_lost)
    }

    /// Feeds the command no further.
    pub(crate) fn stall(&mut self) {
        if let Some(pipe) = self.pipe_mut() {
            pipe.stall();
        }
    }

    /// Returns true if the command may wait for input that will not come.
    pub(crate) fn is_stalled(&self) -> bool {
        self.pipe().is_some_and(|pipe| pipe.wait() == Some(Wait::Nothing))
    }

    /// Does what can be done now, without blocking. If it fails and [`Stdin::is_lost`] (what was read
    /// cannot be kept: a full disk), the attempt goes on as it would, but is the last. If it fails
    /// otherwise, what was kept cannot be read: the attempt must be ended. It never sees a false end.
    pub(crate) fn work(&mut self) -> io::Result<()> {
        self.pipe_mut().map_or(Ok(()), PipeStdin::work)
    }

    /// The attempt is over.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.pipe_mut().map_or(Ok(()), PipeStdin::end)
    }
}

impl Kind {
    fn auto(source: BorrowedFd<'static>, limit: u64) -> io::Result<Kind> {
        let status = match fstat(source) {
            Err(Errno::EBADF) => return Ok(Kind::Inherited),
            status => status?,
        };
        Ok(match SFlag::from_bits_truncate(status.st_mode & SFlag::S_IFMT.bits()) {
            SFlag::S_IFIFO if access_mode(source)? == OFlags::WRONLY => Kind::Inherited,
            SFlag::S_IFIFO => Kind::Pipe(Box::new(PipeStdin::new(source, limit, false))),
            SFlag::S_IFREG | SFlag::S_IFBLK if is_output_too(source)? => Kind::Inherited,
            SFlag::S_IFREG | SFlag::S_IFBLK => {
                lseek(source, 0, Whence::SeekCur).map_or(Kind::Inherited, |start| Kind::File { start, was_read: false })
            }
            _ => Kind::Inherited,
        })
    }
}

/// Returns how a descriptor was opened: read-only, write-only or both.
fn access_mode(source: BorrowedFd<'_>) -> io::Result<OFlags> {
    Ok(rustix::fs::fcntl_getfl(source)? & OFlags::ACCMODE)
}

/// Returns true if what is written goes to the same file by the same way: rewound, it would be overwritten.
fn is_output_too(source: BorrowedFd<'_>) -> io::Result<bool> {
    let is_this = |number| is_same_file(source.as_raw_fd(), number);
    Ok((is_this(stdio::OUT) || is_this(stdio::ERR)) && access_mode(source)? != OFlags::RDONLY)
}

#[cfg(test)]
mod tests;
