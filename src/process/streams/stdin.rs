//! The command's standard input: inherited, rewound, or fed through a pipe, so that every attempt reads the same bytes:
//! first those read by earlier attempts, then the rest of the source.

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
    /// Bytes that were read first but not kept; the first attempt gets them after the kept bytes.
    surplus: Vec<u8>,
    /// The pipe of the running attempt, while there is input to feed.
    pipe: Option<StdinPipe>,
    full_reads: u32,
    /// The source needs reading ahead of the command, and this was not reported yet.
    newly_read_ahead: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Inherited,
    Null,
    /// A file before the first attempt, and after it; rewound to its offset at the start of the run.
    File(libc::off_t),
    ReadFile(libc::off_t),
    /// Fed through a pipe.
    Replayed,
}

/// The source of input after the kept bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// The source is read to its end before the first attempt (`--stdin replay`).
    ReadFirst,
    /// Windows of the source are duplicated (`tee.rs`): nothing is read ahead of the command.
    Tee,
    /// The source is read once the command's pipe has room.
    ReadAhead,
    /// The end of the source was seen.
    Ended,
}

impl Stdin {
    /// Inspects standard input. Fails if it is to be replayed and is closed.
    pub(crate) fn new(mode: InputMode, limit: u64) -> io::Result<Stdin> {
        Stdin::over(inherited(stdio::IN), mode, limit)
    }

    /// Inspects any descriptor in place of standard input.
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

    /// Returns true if every attempt inherits the caller's standard input unchanged.
    pub(crate) fn is_inherited(&self) -> bool {
        self.kind == Kind::Inherited
    }

    /// Returns the standard input of an attempt, or `None` if the attempt inherits the caller's. Drop once the command
    /// has started: otherwise backoff cannot see that the command has closed its own.
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
        // The two ends have separate flags: the command's end stays blocking.
        set_nonblocking(&writer)?;
        let tees = self.tail == Tail::Tee;
        let pipe = self.pipe.insert(StdinPipe::new(writer, self.kept.spool.len()?, tees));
        if !tees || pipe.has_kept() {
            // A command that cannot be started must consume no input.
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
            // The system or a sandbox may lack the calls. Nothing was consumed.
            Err(_) => {
                widen_pipe(&pipe.fd, CHUNK);
                self.tail = Tail::ReadAhead;
                self.newly_read_ahead = true;
            }
        }
        Ok(reader)
    }

    /// Returns true once if a pipe needs reading ahead of the command.
    pub(crate) fn take_newly_read_ahead(&mut self) -> bool {
        std::mem::take(&mut self.newly_read_ahead)
    }

    /// Returns true while standard input is to be read, before the first attempt (`replay`).
    pub(crate) fn needs_filling(&self) -> bool {
        self.tail == Tail::ReadFirst
    }

    /// Returns true if input cannot be replayed: it exceeded the limit or could not be kept.
    pub(crate) fn is_lost(&self) -> bool {
        self.kept.is_lost
    }

    /// Returns the descriptor and events to poll. Without flags, `poll` reports only that the other end was closed.
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

    /// Returns the time until the next call of [`Stdin::work`] even if nothing is ready.
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

    /// Moves input without blocking. After an error with [`Stdin::is_lost`] (a full disk), the attempt goes on, but is
    /// the last. After any other error kept bytes cannot be read, and the attempt must be ended. It never sees a false
    /// end of input.
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
        // After an error the pipe stays open, or the command would see an end of input.
        if !matches!(goes_on, Ok(false)) {
            self.pipe = Some(pipe);
        }
        goes_on.map(drop)
    }

    /// Ends the attempt, and keeps the bytes that it has read.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        match self.pipe.take() {
            Some(mut pipe) => pipe.end_window(self.source, &mut self.kept),
            None => Ok(()),
        }
    }

    /// Reads the next bytes towards the end of the source.
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
            // The kept bytes are still needed for the first attempt.
            self.kept.is_lost = true;
            self.tail = Tail::ReadAhead;
        }
        kept
    }

    /// Moves input without blocking. Returns false once the command has all input, or has stopped reading.
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
                // Set before an error is returned: the command gets these bytes in any case.
                pipe.unwritten = 0..pipe.chunk.len();
                self.kept.keep(&pipe.chunk)?;
            }
            pipe.unwritten = 0..pipe.chunk.len();
        }
        let is_read = pipe.write()?;
        let has_all = pipe.unwritten.is_empty() && !pipe.has_kept() && self.surplus.is_empty();
        // The command sees the end of input without delay.
        Ok(is_read && !(has_all && self.tail == Tail::Ended))
    }
}

impl Kind {
    /// Chooses the kind by the type of standard input.
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

/// Returns true if an output shares this read-write description's file: a rewind would make the command overwrite it.
fn is_output_too(source: BorrowedFd<'_>) -> io::Result<bool> {
    let is_this = |number| is_same_file(source.as_raw_fd(), number);
    Ok((is_this(stdio::OUT) || is_this(stdio::ERR)) && access_mode(source)? != OFlag::O_RDONLY)
}

/// Reads a chunk if that does not block. Returns 0 at the end, `None` if no data is available.
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
