//! The command's standard input: inherited, rewound, or fed through a pipe of ours so that every attempt reads the same
//! bytes: first those that earlier attempts have read, and then the tail of the source.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Whence, lseek};
use rustix::buffer::spare_capacity;

use super::output::{CHUNK, widen_if_busy};
use super::spool::Replayable;
use super::tee::{StdinPipe, Wait};
use crate::process::sys::fd::{
    has_lost_its_reader, inherited, is_same_file, null, pipe, ready, set_nonblocking, to_nix,
};
use crate::process::sys::native::widen_pipe;
use crate::process::sys::stdio;
use crate::run::streams::InputMode;

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Stdin {
    source: BorrowedFd<'static>,
    kind: Kind,
    kept: Replayable,
    tail: Tail,
    /// Bytes that were read first and could not be kept; the first attempt gets them after what was.
    surplus: Vec<u8>,
    /// The pipe of the running attempt, while there is something to feed.
    pipe: Option<StdinPipe>,
    full_reads: u32,
    /// The source turned out to need reading ahead of the command, and no caller was told yet.
    newly_read_ahead: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Inherited,
    Null,
    /// A file before the first attempt, and afterwards; rewound to where the run began.
    File(libc::off_t),
    ReadFile(libc::off_t),
    /// Fed through a pipe of ours.
    Replayed,
}

/// How the command gets what follows the kept bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// The source is read to its end before the first attempt (`--stdin replay`).
    ReadFirst,
    /// Windows on the source are duplicated (`tee.rs`): nothing is read ahead of the command.
    Tee,
    /// The source is read once the command's pipe has room.
    ReadAhead,
    /// The end of the source was seen.
    Ended,
}

impl Stdin {
    /// Looks at standard input, once. Fails if it is to be replayed and is closed.
    pub(crate) fn new(mode: InputMode, limit: u64) -> io::Result<Stdin> {
        Stdin::over(inherited(stdio::IN), mode, limit)
    }

    /// Does the same for any descriptor.
    fn over(source: BorrowedFd<'static>, mode: InputMode, limit: u64) -> io::Result<Stdin> {
        let kind = match mode {
            InputMode::Auto => Kind::auto(source)?,
            InputMode::Inherit => Kind::Inherited,
            InputMode::Replay => fstat(source).map(|_| Kind::Replayed)?,
            InputMode::Null => Kind::Null,
        };
        Ok(Stdin {
            source,
            kind,
            kept: Replayable::new(limit),
            tail: match mode {
                InputMode::Replay => Tail::ReadFirst,
                _ => Tail::Tee,
            },
            surplus: Vec::new(),
            pipe: None,
            full_reads: 0,
            newly_read_ahead: false,
        })
    }

    /// Returns true if every attempt gets the caller's own, and nothing is to be done about it.
    pub(crate) fn is_inherited(&self) -> bool {
        self.kind == Kind::Inherited
    }

    /// Returns the standard input of an attempt, or `None` if the attempt is to inherit ours. The caller drops it once the
    /// command has it: only then can it be seen that the command has closed its own.
    pub(crate) fn begin(&mut self) -> io::Result<Option<OwnedFd>> {
        match self.kind {
            Kind::Inherited => Ok(None),
            Kind::Null => null().map(Some),
            Kind::File(start) => {
                self.kind = Kind::ReadFile(start);
                Ok(None)
            }
            Kind::ReadFile(start) => {
                lseek(self.source, start, Whence::SeekSet)?;
                Ok(None)
            }
            Kind::Replayed => self.begin_pipe().map(Some),
        }
    }

    fn begin_pipe(&mut self) -> io::Result<OwnedFd> {
        let (reader, writer) = pipe()?;
        // A pipe's two ends have flags of their own: the command's stays as it is.
        set_nonblocking(&writer)?;
        let tees = self.tail == Tail::Tee;
        let pipe = self.pipe.insert(StdinPipe::new(writer, self.kept.spool.len()?, tees));
        if !tees || pipe.has_kept() {
            // A command that cannot be started takes nothing that was not read yet.
            if self.tail != Tail::ReadAhead {
                self.work()?;
            }
            return Ok(reader);
        }
        match pipe.begin_window(self.source) {
            Ok(true) => {}
            Ok(false) => {
                self.tail = Tail::Ended;
                self.pipe = None;
            }
            // A system, or a sandbox, may lack the calls. Nothing was taken.
            Err(_) => {
                widen_pipe(&pipe.fd, CHUNK);
                self.tail = Tail::ReadAhead;
                self.newly_read_ahead = true;
            }
        }
        Ok(reader)
    }

    /// Returns true once if a pipe turned out to need reading ahead of the command.
    pub(crate) fn take_newly_read_ahead(&mut self) -> bool {
        std::mem::take(&mut self.newly_read_ahead)
    }

    /// Returns true while standard input is to be read, before the first attempt (`replay`).
    pub(crate) fn needs_filling(&self) -> bool {
        self.tail == Tail::ReadFirst
    }

    /// Returns true if what was read cannot be replayed: it was more than the limit, or could not be kept.
    pub(crate) fn is_lost(&self) -> bool {
        self.kept.is_lost
    }

    /// Returns what to poll for. No flags: only to hear that the other end was closed.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.needs_filling() {
            return Some((self.source, PollFlags::POLLIN));
        }
        let pipe = self.pipe.as_ref()?;
        match pipe.wait {
            Wait::Room => Some((pipe.fd.as_fd(), PollFlags::POLLOUT)),
            Wait::Data => Some((self.source, PollFlags::POLLIN)),
            Wait::Look(_) => Some((pipe.fd.as_fd(), PollFlags::empty())),
            Wait::Nothing => None,
        }
    }

    /// Returns after how long to call [`Stdin::work`] even if nothing became ready.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        match self.pipe.as_ref()?.wait {
            Wait::Look(after) => Some(after),
            _ => None,
        }
    }

    /// Returns true if the command may wait for input that will not come.
    pub(crate) fn is_stalled(&self) -> bool {
        self.pipe.as_ref().is_some_and(|pipe| pipe.wait == Wait::Nothing)
    }

    /// Does what can be done now, without blocking. If it fails and [`Stdin::is_lost`] (what was read cannot be kept: a full
    /// disk), the attempt goes on as it would, but is the last. If it fails otherwise, what was kept cannot be read: the
    /// attempt must be ended. It never sees a false end.
    pub(crate) fn work(&mut self) -> io::Result<()> {
        if self.needs_filling() {
            return self.fill();
        }
        let Some(mut pipe) = self.pipe.take() else {
            return Ok(());
        };
        let goes_on = self.feed(&mut pipe);
        if goes_on.is_err() && !self.is_lost() {
            pipe.wait = Wait::Nothing;
        }
        // After an error the command must not take this for the end of its input.
        if !matches!(goes_on, Ok(false)) {
            self.pipe = Some(pipe);
        }
        goes_on.map(drop)
    }

    /// Ends the attempt: bytes that it has read are kept.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.pipe.take() {
            Some(mut pipe) => pipe.end_window(self.source, &mut self.kept),
            None => Ok(()),
        }
    }

    /// Reads on towards the end.
    fn fill(&mut self) -> io::Result<()> {
        let Some(count) = read_some(self.source, &mut self.surplus)? else {
            return Ok(());
        };
        widen_if_busy(self.source, &mut self.full_reads, count);
        if count == 0 {
            self.surplus = Vec::new();
            self.tail = Tail::Ended;
            return Ok(());
        }
        let has_room = self.kept.has_room_for(count)?;
        let kept = if has_room {
            self.kept.spool.append(&self.surplus)
        } else {
            Ok(())
        };
        if has_room && kept.is_ok() {
            self.surplus.clear();
        } else {
            // What is kept is still needed once.
            self.kept.is_lost = true;
            self.tail = Tail::ReadAhead;
        }
        kept
    }

    /// Moves what can be moved without blocking. Returns false once the command has everything, or reads no more.
    fn feed(&mut self, pipe: &mut StdinPipe) -> io::Result<bool> {
        if pipe.unwritten.is_empty() {
            pipe.wait = Wait::Room;
            if pipe.has_kept() {
                pipe.read_kept(&self.kept.spool)?;
            } else if !self.surplus.is_empty() {
                pipe.chunk = std::mem::take(&mut self.surplus);
            } else if self.tail == Tail::Tee {
                let goes_on = pipe.move_window(self.source, &mut self.kept);
                if pipe.source_ended {
                    self.tail = Tail::Ended;
                }
                return goes_on;
            } else if self.tail == Tail::Ended || has_lost_its_reader(pipe.fd.as_fd()) {
                return Ok(false);
            } else {
                match read_some(self.source, &mut pipe.chunk)? {
                    Some(0) => self.tail = Tail::Ended,
                    Some(_) => {}
                    None => pipe.wait = Wait::Data,
                }
                // Before an error is returned: the command gets these bytes all the same.
                pipe.unwritten = 0..pipe.chunk.len();
                self.kept.keep(&pipe.chunk)?;
            }
            pipe.unwritten = 0..pipe.chunk.len();
        }
        let is_read = pipe.write()?;
        let has_all = pipe.unwritten.is_empty() && !pipe.has_kept() && self.surplus.is_empty();
        // The command hears of the end without delay.
        Ok(is_read && !(has_all && self.tail == Tail::Ended))
    }
}

impl Kind {
    /// Chooses by what standard input is.
    fn auto(source: BorrowedFd<'static>) -> io::Result<Kind> {
        let kind = match fstat(source) {
            Err(Errno::EBADF) => return Ok(Kind::Inherited),
            facts => SFlag::from_bits_truncate(facts?.st_mode & SFlag::S_IFMT.bits()),
        };
        Ok(match kind {
            SFlag::S_IFIFO if access_mode(source)? != OFlag::O_WRONLY => Kind::Replayed,
            SFlag::S_IFREG | SFlag::S_IFBLK if !is_output_too(source)? => {
                lseek(source, 0, Whence::SeekCur).map_or(Kind::Inherited, Kind::File)
            }
            _ => Kind::Inherited,
        })
    }
}

/// Returns how a descriptor was opened: read-only, write-only or both.
fn access_mode(source: BorrowedFd<'_>) -> io::Result<OFlag> {
    Ok(OFlag::from_bits_retain(fcntl(source, FcntlArg::F_GETFL)?) & OFlag::O_ACCMODE)
}

/// Returns true if what is written goes to the same file by the same way: rewound, it would be overwritten.
fn is_output_too(source: BorrowedFd<'_>) -> io::Result<bool> {
    let is_this = |number| is_same_file(source.as_raw_fd(), number);
    Ok((is_this(stdio::OUT) || is_this(stdio::ERR)) && access_mode(source)? != OFlag::O_RDONLY)
}

/// Reads a chunk if that does not block. Returns 0 at the end, `None` if there is nothing yet.
fn read_some(source: BorrowedFd<'_>, into: &mut Vec<u8>) -> io::Result<Option<usize>> {
    into.clear();
    if ready(source, PollFlags::POLLIN)?.is_empty() {
        return Ok(None);
    }
    into.reserve(CHUNK);
    match rustix::io::read(source, spare_capacity(into)).map_err(to_nix) {
        Ok(count) => Ok(Some(count)),
        Err(Errno::EINTR | Errno::EAGAIN) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests;
