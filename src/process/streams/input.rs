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

use super::feed::{Feed, Wait};
use super::kept::Kept;
use super::pipe_input::PipeInput;
use super::replay_input::{Reading, ReplayInput};
use crate::process::sys::fd::{inherited, is_same_file, null};
use crate::process::sys::stdio;
use crate::run::streams::InputMode;

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Input {
    source: BorrowedFd<'static>,
    kind: Kind,
    limit: u64,
    /// It turned out that a pipe has to be read ahead of the command, and nobody was told yet.
    newly_read_ahead: bool,
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
    Pipe(PipeInput),
    Replay(ReplayInput),
}

impl Input {
    /// Looks at standard input, once. Fails if it is to be replayed and is closed.
    pub(crate) fn new(mode: InputMode, limit: u64) -> io::Result<Input> {
        Input::over(inherited(stdio::IN), mode, limit)
    }

    /// The same of any descriptor.
    pub(crate) fn over(source: BorrowedFd<'static>, mode: InputMode, limit: u64) -> io::Result<Input> {
        let kind = match mode {
            InputMode::Auto => Kind::auto(source, limit)?,
            InputMode::Inherit => Kind::Inherited,
            InputMode::Replay => {
                fstat(source)?;
                Kind::Replay(ReplayInput::new(source, limit, Reading::First))
            }
            InputMode::Null => Kind::Null,
        };
        Ok(Input {
            source,
            kind,
            limit,
            newly_read_ahead: false,
        })
    }

    /// Whether every attempt gets the caller's own, and nothing is to be done about it.
    pub(crate) fn is_inherited(&self) -> bool {
        matches!(self.kind, Kind::Inherited)
    }

    /// Before each attempt: its standard input, close-on-exec and above 2, or `None` if it is to
    /// inherit ours. The caller drops it once the command has it: only then can it be seen that the
    /// command has closed its own.
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
            Kind::Pipe(pipe) => match pipe.begin()? {
                Some(begun) => Ok(Some(begun)),
                None if !is_readable(self.source) => {
                    self.kind = Kind::Inherited;
                    Ok(None)
                }
                None => {
                    let mut replay = ReplayInput::new(self.source, self.limit, Reading::AsTaken);
                    let begun = replay.begin()?;
                    self.kind = Kind::Replay(replay);
                    self.newly_read_ahead = true;
                    Ok(Some(begun))
                }
            },
            Kind::Replay(replay) => replay.begin().map(Some),
        }
    }

    /// Whether, since this was last asked, it turned out that a pipe has to be read ahead of the command.
    pub(crate) fn take_newly_read_ahead(&mut self) -> bool {
        std::mem::take(&mut self.newly_read_ahead)
    }

    fn feed(&self) -> Option<&Feed> {
        match &self.kind {
            Kind::Pipe(pipe) => pipe.feed.as_ref(),
            Kind::Replay(replay) => replay.feed.as_ref(),
            _ => None,
        }
    }

    fn kept(&self) -> Option<&Kept> {
        match &self.kind {
            Kind::Pipe(pipe) => Some(&pipe.kept),
            Kind::Replay(replay) => Some(&replay.kept),
            _ => None,
        }
    }

    /// What to poll for now. No flags: only to hear that the other end was closed.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.needs_filling() {
            return Some((self.source, PollFlags::POLLIN));
        }
        self.feed()?.interest(self.source)
    }

    /// After how long [`Input::work`] is to be called even if nothing became ready.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        self.feed()?.wake_after()
    }

    /// Whether standard input is still to be read, before the first attempt (`replay`).
    pub(crate) fn needs_filling(&self) -> bool {
        matches!(&self.kind, Kind::Replay(replay) if replay.is_filling())
    }

    /// Whether what was read cannot be given again: it was more than the limit, or could not be kept.
    pub(crate) fn is_lost(&self) -> bool {
        self.kept().is_some_and(|kept| kept.is_lost)
    }

    /// Feeds the command no further.
    pub(crate) fn stall(&mut self) {
        let feed = match &mut self.kind {
            Kind::Pipe(pipe) => pipe.feed.as_mut(),
            Kind::Replay(replay) => replay.feed.as_mut(),
            _ => None,
        };
        if let Some(feed) = feed {
            feed.wait = Wait::Nothing;
        }
    }

    /// Whether the command may wait for input that will not come.
    pub(crate) fn is_stalled(&self) -> bool {
        self.feed().is_some_and(|feed| feed.wait == Wait::Nothing)
    }

    /// Does what can be done now, without blocking. If it fails and [`Input::is_lost`] (what was read
    /// cannot be kept: a full disk), the attempt goes on as it would, but is the last. If it fails
    /// otherwise, what was kept cannot be read: the attempt must be ended. It never sees a false end.
    pub(crate) fn work(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Pipe(pipe) => pipe.work(),
            Kind::Replay(replay) => replay.work(),
            _ => Ok(()),
        }
    }

    /// The attempt is over.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Pipe(pipe) => pipe.end(),
            Kind::Replay(replay) => {
                replay.end();
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Kind {
    fn auto(source: BorrowedFd<'static>, limit: u64) -> io::Result<Kind> {
        let status = match fstat(source) {
            Err(Errno::EBADF) => return Ok(Kind::Inherited),
            status => status?,
        };
        Ok(match SFlag::from_bits_truncate(status.st_mode & SFlag::S_IFMT.bits()) {
            SFlag::S_IFIFO => Kind::Pipe(PipeInput::new(source, limit)),
            SFlag::S_IFREG | SFlag::S_IFBLK if is_output_too(source) => Kind::Inherited,
            SFlag::S_IFREG | SFlag::S_IFBLK => {
                lseek(source, 0, Whence::SeekCur).map_or(Kind::Inherited, |start| Kind::File { start, was_read: false })
            }
            _ => Kind::Inherited,
        })
    }
}

/// Whether it was opened for reading.
fn is_readable(source: BorrowedFd<'_>) -> bool {
    is_opened_not_only(source, OFlags::WRONLY)
}

fn is_opened_not_only(source: BorrowedFd<'_>, access: OFlags) -> bool {
    rustix::fs::fcntl_getfl(source).is_ok_and(|flags| flags & OFlags::ACCMODE != access)
}

/// Whether what is written goes to the same file by the same way: rewound, it would be overwritten.
fn is_output_too(source: BorrowedFd<'_>) -> bool {
    let is_this = |number| is_same_file(source.as_raw_fd(), number);
    is_opened_not_only(source, OFlags::RDONLY) && (is_this(stdio::OUT) || is_this(stdio::ERR))
}

#[cfg(test)]
mod tests;
