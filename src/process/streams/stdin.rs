//! The command's standard input: inherited, rewound, or fed through a pipe, so that every attempt reads the same bytes:
//! first those read by earlier attempts, then the rest of the source.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::{Whence, lseek};

use super::spool::Replayable;
use super::tee::{CHUNK, StdinPipe, Wait, make_room, read_chunk};
use crate::process::sys::fd::{has_lost_its_reader, is_same_file, kind, null, pipe, ready, set_nonblocking};
use crate::process::sys::stdio;
use crate::run::streams::InputMode;
use crate::run::text::describe_error;

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Stdin {
    source: BorrowedFd<'static>,
    kind: Kind,
    pub(super) kept: Replayable,
    tail: Tail,
    /// Bytes that were read first but not kept; the first attempt gets them after the kept bytes.
    surplus: Vec<u8>,
    /// The pipe of the running attempt, while there is input to feed.
    pipe: Option<StdinPipe>,
    /// The error that stopped reading or feeding. The command may wait for input that will not come, so the attempt must
    /// be ended; it never sees a false end of input.
    pub(crate) fault: Option<String>,
    /// The source needs reading ahead of the command, and this was not reported yet.
    pub(super) newly_read_ahead: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Inherited,
    Null,
    /// A file, rewound to its offset at the start of the run.
    File(libc::off_t),
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
    pub(crate) fn new(source: BorrowedFd<'static>, mode: InputMode, limit: u64) -> io::Result<Stdin> {
        let kind = match mode {
            InputMode::Auto => Kind::auto(source)?,
            InputMode::Inherit => Kind::Inherited,
            InputMode::Replay => fstat(source).map(|_| Kind::Replayed)?,
            InputMode::Null => Kind::Null,
        };
        let reads_first = mode == InputMode::Replay;
        Ok(Stdin {
            source,
            kind,
            kept: Replayable {
                limit,
                ..Replayable::default()
            },
            tail: if reads_first { Tail::ReadFirst } else { Tail::Tee },
            surplus: Vec::new(),
            pipe: None,
            fault: None,
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
        let kept = self.kept.spool.len()?;
        let pipe = self.pipe.insert(StdinPipe::new(writer, kept));
        if self.tail == Tail::Tee && kept == 0 {
            if pipe.open_window(self.source).is_err() {
                // The system or a sandbox may lack the calls. Nothing was consumed.
                pipe.fit(CHUNK);
                self.tail = Tail::ReadAhead;
                self.newly_read_ahead = true;
            }
            self.close_ended_pipe();
            return Ok(reader);
        }
        pipe.fit(CHUNK);
        // A command that cannot be started must consume no input.
        if self.tail != Tail::ReadAhead {
            self.work();
        }
        Ok(reader)
    }

    /// Returns true while standard input is to be read, before the first attempt (`replay`).
    pub(crate) fn needs_filling(&self) -> bool {
        self.tail == Tail::ReadFirst
    }

    /// Returns the descriptor and events to poll. Without flags, `poll` reports only that the other end was closed.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.needs_filling() {
            return self.fault.is_none().then_some((self.source, PollFlags::POLLIN));
        }
        // After an error the pipe stays open, or the command would see an end of input.
        let pipe = self.pipe.as_ref().filter(|_| self.fault.is_none())?;
        match pipe.wait {
            Wait::Room => Some((pipe.fd.as_fd(), PollFlags::POLLOUT)),
            Wait::Data => Some((self.source, PollFlags::POLLIN)),
            Wait::Look(_) => Some((pipe.fd.as_fd(), PollFlags::empty())),
            Wait::SourceEnded | Wait::ReaderGone => None,
        }
    }

    /// Returns the time until the next call of [`Stdin::work`] even if nothing is ready.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        match self.pipe.as_ref()?.wait {
            Wait::Look(after) => Some(after),
            _ => None,
        }
    }

    /// Moves input without blocking.
    pub(crate) fn work(&mut self) {
        if self.needs_filling() {
            let filled = self.fill();
            return self.note(filled);
        }
        let Some(mut pipe) = self.pipe.take() else { return };
        let fed = self.feed(&mut pipe);
        self.pipe = Some(pipe);
        self.note(fed);
        self.close_ended_pipe();
    }

    fn note(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.fault.get_or_insert_with(|| describe_error(&error));
        }
    }

    /// Closes the pipe once there is nothing to wait for.
    fn close_ended_pipe(&mut self) {
        match self.pipe.as_ref().map(|pipe| pipe.wait) {
            Some(Wait::SourceEnded) => self.tail = Tail::Ended,
            Some(Wait::ReaderGone) => {}
            _ => return,
        }
        self.pipe = None;
    }

    /// Ends the attempt, and keeps the bytes that it has read.
    pub(crate) fn end(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let ended = pipe.end_window(self.source, &mut self.kept);
            self.note(ended);
        }
        if self.kept.is_lost {
            self.kept.spool.clear();
        }
    }

    /// Reads the next bytes towards the end of the source.
    fn fill(&mut self) -> io::Result<()> {
        let Some(count) = read_some(self.source, &mut self.surplus)? else {
            return Ok(());
        };
        self.kept.keep(&self.surplus[..count]);
        if self.kept.is_lost {
            self.surplus.truncate(count);
            self.tail = Tail::ReadAhead;
        } else if count == 0 {
            self.surplus = Vec::new();
            self.tail = Tail::Ended;
        }
        Ok(())
    }

    /// Moves input without blocking.
    fn feed(&mut self, pipe: &mut StdinPipe) -> io::Result<()> {
        if pipe.unwritten.is_empty() {
            pipe.wait = Wait::Room;
            pipe.unwritten = 0..self.next_chunk(pipe)?;
        }
        match pipe.unwritten.is_empty() {
            true => Ok(()),
            false => pipe.write(),
        }
    }

    /// Prepares the next bytes to write. Returns how many there are; 0 if the pipe has to wait.
    fn next_chunk(&mut self, pipe: &mut StdinPipe) -> io::Result<usize> {
        if !pipe.replay.is_empty() {
            make_room(&mut pipe.chunk);
            let count = self.kept.spool.read_at(&mut pipe.chunk, pipe.replay.start)?;
            pipe.replay.start += count as u64;
            return match count {
                0 => Err(io::ErrorKind::UnexpectedEof.into()),
                count => Ok(count),
            };
        }
        if !self.surplus.is_empty() {
            pipe.chunk = std::mem::take(&mut self.surplus);
            return Ok(pipe.chunk.len());
        }
        match self.tail {
            Tail::Tee => pipe.move_window(self.source, &mut self.kept)?,
            Tail::Ended => pipe.wait = Wait::SourceEnded,
            _ if has_lost_its_reader(pipe.fd.as_fd()) => pipe.wait = Wait::ReaderGone,
            _ => match read_some(self.source, &mut pipe.chunk)? {
                None => pipe.wait = Wait::Data,
                Some(0) => pipe.wait = Wait::SourceEnded,
                Some(count) => {
                    self.kept.keep(&pipe.chunk[..count]);
                    return Ok(count);
                }
            },
        }
        Ok(0)
    }
}

impl Kind {
    /// Chooses the kind by the type of standard input.
    fn auto(source: BorrowedFd<'static>) -> io::Result<Kind> {
        Ok(match kind(source)? {
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
    if ready(source, PollFlags::POLLIN)?.is_empty() {
        return Ok(None);
    }
    Ok(read_chunk(source, into, CHUNK)?)
}

#[cfg(test)]
mod tests;
