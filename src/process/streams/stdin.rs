//! The command's standard input: rewound, or fed through a pipe, so that every attempt reads the same bytes (first
//! those read by earlier attempts, then the rest of the source); or, without that, inherited or `/dev/null`. A retry
//! that read the rest only would work on cut data, and seem to succeed. An error while input is fed is noted as a
//! fault, which ends the attempt and the run.

use std::io;
use std::mem::take;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::stat::SFlag;
use nix::unistd::{Whence, lseek};

use super::sink::read_inherited;
use super::spool::{Replayable, Spool};
use super::tee::{StdinPipe, Wait};
use crate::process::sys::fd::{
    access_mode, has_lost_its_reader, is_same_file, is_unix_stream, kind, null, pipe,
    set_nonblocking,
};
use crate::process::sys::stdio;
use crate::run::streams::InputMode;
use crate::text::{describe, describe_error};

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Stdin {
    /// The caller's standard input.
    source: BorrowedFd<'static>,
    method: Method,
    /// The bytes that were taken from the source, to be fed to each attempt.
    pub(super) kept: Replayable,
    /// The pipe of the running attempt, while there is input to feed.
    pipe: Option<StdinPipe>,
    /// The error that stopped feeding. The command may wait for input that will not come, so the attempt must be ended;
    /// it never sees a false end of input.
    pub(crate) fault: Option<String>,
    /// The source needs reading ahead of the command, and this was not reported yet.
    pub(super) newly_read_ahead: bool,
}

/// How an attempt gets its standard input.
#[derive(Debug, PartialEq, Eq)]
enum Method {
    Inherit,
    /// `/dev/null`.
    Null,
    /// A file, rewound to its offset at the start of the run.
    Rewind(libc::off_t),
    /// The source is read before the first attempt (`--stdin replay`); then `Replay` or `ReadAhead` is chosen. The
    /// buffer is reused for each read.
    ReadFirst(Vec<u8>),
    /// A pipe: kept bytes, then windows of the source (`tee.rs`). Nothing is read ahead of the command.
    Tee,
    /// A pipe: kept bytes, these bytes, then the source, which is read once the pipe has room. These bytes were read
    /// and could not be kept, so that the attempt that gets them is the last; empty once fed, and if the method is used
    /// because the system cannot duplicate the source.
    ReadAhead(Vec<u8>),
    /// A pipe: kept bytes only, as the end of the source was seen.
    Replay,
}

/// The next step of feeding.
enum Next {
    /// To write so many bytes of the chunk.
    Chunk(usize),
    /// To wait, as there is nothing to write.
    Wait(Wait),
}

impl Stdin {
    /// Chooses how attempts get standard input; reads nothing yet. At most `limit` bytes are kept for replay. An error
    /// means that the type of standard input cannot be learned.
    pub(crate) fn new(
        source: BorrowedFd<'static>,
        mode: InputMode,
        limit: u64,
    ) -> io::Result<Stdin> {
        Ok(Stdin {
            source,
            method: match mode {
                InputMode::Auto => Method::auto(source)?,
                InputMode::Inherit => Method::Inherit,
                InputMode::Replay => Method::ReadFirst(Vec::new()),
                InputMode::Null => Method::Null,
            },
            kept: Replayable {
                limit,
                ..Replayable::default()
            },
            pipe: None,
            fault: None,
            newly_read_ahead: false,
        })
    }

    /// Returns the source while it has to be read before the first attempt, or else None. Returns the error of a read
    /// (EBADF) if it is open for writing only, as no event might ever report it as readable.
    pub(crate) fn source_to_read_first(&self) -> io::Result<Option<BorrowedFd<'static>>> {
        if !matches!(self.method, Method::ReadFirst(_)) {
            return Ok(None);
        }
        if access_mode(self.source)? == OFlag::O_WRONLY {
            return Err(Errno::EBADF.into());
        }
        Ok(Some(self.source))
    }

    /// Reads and keeps the next bytes before the first attempt (`--stdin replay`), once the source is ready. At the end
    /// of the source, or once bytes cannot be kept (beyond the limit, or disk and memory are full), chooses the method
    /// of the attempts, which ends this reading. An error is that of the read, and ends the run.
    pub(crate) fn read_first(&mut self) -> io::Result<()> {
        if let Method::ReadFirst(chunk) = &mut self.method
            && let Some(count) = read_inherited(self.source, chunk)?
        {
            self.kept.keep(&chunk[..count]);
            if count == 0 {
                self.method = Method::Replay;
            } else if self.kept.is_incomplete {
                // The first attempt can still get all: kept bytes, this chunk, the rest. There can be no second one.
                chunk.truncate(count);
                self.method = Method::ReadAhead(take(chunk));
            }
        }
        Ok(())
    }

    /// Returns the standard input of an attempt, or `None` if the attempt inherits the caller's (rewound before, with
    /// [`Method::Rewind`]). Drop it once the command has started: otherwise backoff cannot see that the command has
    /// closed its own.
    pub(crate) fn begin(&mut self) -> io::Result<Option<OwnedFd>> {
        match self.method {
            Method::Inherit => return Ok(None),
            Method::Null => return null().map(Some),
            Method::Rewind(start) => {
                lseek(self.source, start, Whence::SeekSet)?;
                return Ok(None);
            }
            Method::ReadFirst(_) | Method::Tee | Method::ReadAhead(_) | Method::Replay => {}
        }
        let (reader, fd) = pipe()?;
        // The two ends have separate flags: the command's end stays blocking.
        set_nonblocking(&fd)?;
        self.pipe = Some(StdinPipe {
            fd,
            replay: 0..self.kept.spool.len,
            chunk: Vec::new(),
            unwritten: 0..0,
            window: 0,
            wait: Wait::Room,
        });
        // Reading ahead takes bytes from later programs: not before the command has started.
        if !matches!(self.method, Method::ReadAhead(_)) {
            self.fill_pipe();
        }
        Ok(Some(reader))
    }

    /// Returns the descriptor and events to poll before [`Stdin::fill_pipe`]. None if nothing is fed, after an error,
    /// or if no event reports the next step, for which [`Stdin::wake_after`] gives a time.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let pipe = self.pipe.as_ref()?;
        match pipe.wait {
            Wait::Room => Some((pipe.fd.as_fd(), PollFlags::POLLOUT)),
            Wait::Data => Some((self.source, PollFlags::POLLIN)),
            _ => None,
        }
    }

    /// Returns the time after which to call [`Stdin::fill_pipe`] even if nothing is ready, if any.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        match self.pipe.as_ref()?.wait {
            Wait::Delay(after) => Some(after),
            _ => None,
        }
    }

    /// Takes the next step of feeding input to the command, without blocking. Closes the pipe at the end of the input,
    /// or if the command has closed its end. An error is noted in `fault`, and nothing more is fed. Does nothing if
    /// there is no input to feed.
    pub(crate) fn fill_pipe(&mut self) {
        let Some(mut pipe) = self.pipe.take() else {
            return;
        };
        pipe.wait = self.feed(&mut pipe).unwrap_or_else(|error| {
            self.fault = Some(describe_error(&error));
            Wait::Failed
        });
        match pipe.wait {
            // Later attempts get the kept bytes only. Dropping the pipe closes it.
            Wait::SourceEnded => self.method = Method::Replay,
            Wait::ReaderGone => {}
            // Waits for its next step. After an error it waits for none, but stays open, or the command would see an
            // end of input.
            _ => self.pipe = Some(pipe),
        }
    }

    /// Writes the rest of the chunk, or else the next one. Returns what to wait for before the next step, or that there
    /// is none.
    fn feed(&mut self, pipe: &mut StdinPipe) -> io::Result<Wait> {
        if pipe.unwritten.is_empty() {
            match self.next_chunk(pipe)? {
                Next::Chunk(count) => pipe.unwritten = 0..count,
                Next::Wait(wait) => return Ok(wait),
            }
        }
        Ok(pipe.write()?)
    }

    /// Fills the chunk: first with kept bytes, which earlier attempts or [`Stdin::read_first`] have read, then with the
    /// source's. With [`Method::Tee`] the source's bytes need no chunk, as they are duplicated directly into the pipe.
    fn next_chunk(&mut self, pipe: &mut StdinPipe) -> io::Result<Next> {
        if !pipe.replay.is_empty() {
            return self.read_kept(pipe);
        }
        match &mut self.method {
            Method::Tee => self.move_window(pipe).map(Next::Wait),
            Method::ReadAhead(unfed) if !unfed.is_empty() => {
                // Moved, not kept, as no attempt follows this one.
                pipe.chunk = take(unfed);
                Ok(Next::Chunk(pipe.chunk.len()))
            }
            Method::ReadAhead(_) => self.read_ahead(pipe),
            // `Method::Replay`, after the kept bytes; methods without a pipe do not come here.
            _ => Ok(Next::Wait(Wait::SourceEnded)),
        }
    }

    /// Fills the chunk with the next bytes that were kept. Fails if they are gone (another process has cut the file),
    /// as the command must not see a gap.
    fn read_kept(&self, pipe: &mut StdinPipe) -> io::Result<Next> {
        let count = self
            .kept
            .spool
            .read_at(&mut pipe.chunk, pipe.replay.clone())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        pipe.replay.start += count as u64;
        Ok(Next::Chunk(count))
    }

    /// Takes bytes from the source into the chunk, and keeps them for later attempts if they fit. The command may never
    /// read them, and then they are lost to later programs: so this is done only if the source cannot be duplicated, or
    /// after [`Stdin::read_first`] has taken more than can be kept.
    fn read_ahead(&mut self, pipe: &mut StdinPipe) -> io::Result<Next> {
        // Leaves the rest of the source to later programs.
        if has_lost_its_reader(pipe.fd.as_fd()) {
            return Ok(Next::Wait(Wait::ReaderGone));
        }
        let Some(count) = read_inherited(self.source, &mut pipe.chunk)? else {
            return Ok(Next::Wait(Wait::Data));
        };
        self.kept.keep(&pipe.chunk[..count]);
        if count == 0 {
            return Ok(Next::Wait(Wait::SourceEnded));
        }
        Ok(Next::Chunk(count))
    }

    /// Opens the next window of the source ([`StdinPipe::move_window`]), or begins to read ahead if the system cannot
    /// duplicate the source. Returns what to wait for.
    fn move_window(&mut self, pipe: &mut StdinPipe) -> io::Result<Wait> {
        let moved = pipe.move_window(self.source, &mut self.kept);
        if moved.is_err() && moved != Err(Errno::ECONNRESET) && pipe.window == 0 {
            // The system or a sandbox may lack `tee(2)` or FIONREAD; ECONNRESET only says that a socket was cut off.
            // Without a window, the source no longer holds any byte that the command got, so reading ahead repeats
            // none.
            self.method = Method::ReadAhead(Vec::new());
            self.newly_read_ahead = true;
            return Ok(Wait::Room);
        }
        Ok(moved?)
    }

    /// Ends the attempt: closes its pipe, and takes from the source, and keeps for the next attempt, the bytes that it
    /// has read. An error of that is noted as the fault. Frees all kept bytes if they are incomplete, as they cannot be
    /// replayed.
    pub(crate) fn end(&mut self) {
        if let Some(mut pipe) = self.pipe.take()
            && let Err(errno) = pipe.take_window(self.source, &mut self.kept)
        {
            self.fault.get_or_insert(describe(errno));
        }
        if self.kept.is_incomplete {
            self.kept.spool = Spool::default();
        }
    }
}

impl Method {
    /// Chooses the method by the type of standard input (`--stdin auto`): a pipe, or a Unix socket that is not standard
    /// output as well (`spawnSync` of Node gives one), is duplicated; a file or block device is rewound to its offset of
    /// now, or inherited if it has none or an output may share it ([`is_output_too`]); anything else (a terminal,
    /// another socket, a pipe open for writing only, the filler of a closed input) is inherited, as it cannot be read
    /// twice without reading ahead. An error means that the system refuses to tell the type.
    fn auto(source: BorrowedFd<'static>) -> io::Result<Method> {
        let access_mode = access_mode(source)?;
        Ok(match kind(source)? {
            SFlag::S_IFIFO if access_mode != OFlag::O_WRONLY => Method::Tee,
            SFlag::S_IFSOCK
                if is_unix_stream(source) && !is_same_file(source.as_raw_fd(), stdio::OUT) =>
            {
                Method::Tee
            }
            SFlag::S_IFREG | SFlag::S_IFBLK if !is_output_too(source, access_mode) => {
                match lseek(source, 0, Whence::SeekCur) {
                    Ok(start) => Method::Rewind(start),
                    Err(_) => Method::Inherit,
                }
            }
            _ => Method::Inherit,
        })
    }
}

/// Returns true if standard input may share one open file description with an output (`<>file 1>&0`): then a rewind
/// would make the command overwrite its output. The system does not tell that from two descriptions of one file, so
/// these count as shared if input is open for writing.
fn is_output_too(source: BorrowedFd<'_>, access_mode: OFlag) -> bool {
    let number = source.as_raw_fd();
    access_mode != OFlag::O_RDONLY
        && (is_same_file(number, stdio::OUT) || is_same_file(number, stdio::ERR))
}

#[cfg(test)]
mod tests;
