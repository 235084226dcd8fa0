//! The command's standard input. Every attempt reads the same bytes. A retry that read only the rest would work on
//! truncated data, and seem to succeed.
//!
//! A file is rewound. Otherwise a pipe feeds an attempt the kept bytes, which earlier attempts have read, and then the
//! source's. Unread bytes of a pipe or Unix socket are *duplicated* into the command's pipe, by `tee(2)` or by
//! `recv(2)` with MSG_PEEK. They are called the window. Only what the command has read of it is then taken from the
//! source and kept, so that the rest remains for later programs (`while read`). The next window begins when this one
//! has been read, which no event reports. If the system cannot duplicate, the source is read ahead of the command.

use std::io;
use std::mem::take;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::libc;
use nix::poll::PollFlags;
use nix::sys::stat::SFlag;
use nix::unistd::{Whence, lseek, read, write};

use super::sink::{CHUNK, read_inherited, widen_if_busy};
use super::spool::Spool;
use crate::process::sys::fd::{
    access_mode, has_lost_its_reader, is_same_file, is_unix_stream, kind, null, pipe,
    set_nonblocking, unread,
};
use crate::process::sys::{stdio, system};
use crate::run::streams::InputMode;
use crate::run::uninterrupted;
use crate::text::{describe, describe_error};

/// First and longest delay between checks of a window that the command has not read yet.
const FIRST_DELAY: Duration = Duration::from_micros(50);
const LONGEST_DELAY: Duration = Duration::from_millis(100);

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Stdin {
    /// The caller's standard input.
    source: BorrowedFd<'static>,
    method: Method,
    /// The bytes taken from the source, to be fed to each attempt.
    kept: Spool,
    /// `--stdin-limit`, in bytes.
    limit: u64,
    /// Kept bytes are incomplete, because they exceed the limit, could not be kept, or another process took some.
    pub(super) is_incomplete: bool,
    /// Why they are incomplete. None if they exceeded the limit.
    pub(super) error: Option<String>,
    /// Bytes that were read before the first attempt and could not be kept, so that attempt is the last.
    unfed: Vec<u8>,
    /// The pipe of the running attempt, while there is input to feed.
    feed: Option<Feed>,
    /// The error that stopped feeding. The command may wait for input that will not come, so the attempt must be ended.
    /// It never sees a false end of input.
    pub(crate) fault: Option<String>,
    /// The source must be read ahead of the command, and this was not reported yet.
    pub(super) newly_read_ahead: bool,
}

/// How an attempt gets its standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Inherit,
    /// `/dev/null`.
    Null,
    /// A file, rewound to its offset at the start of the run.
    Rewind(libc::off_t),
    /// The source is read before the first attempt (`--stdin replay`). Then `Replay` or `ReadAhead` is chosen.
    ReadFirst,
    /// A pipe with kept bytes, then windows of the source.
    Tee,
    /// A pipe with kept bytes, then the source, which is read once the pipe has room.
    ReadAhead,
    /// A pipe with kept bytes only, as the source has ended.
    Replay,
}

/// The pipe into a running attempt.
#[derive(Debug)]
struct Feed {
    /// The end that backoff writes to. The command reads from the other one.
    pipe: OwnedFd,
    /// Offsets of kept bytes that are still to be fed.
    replay: Range<u64>,
    /// Bytes on their way into the pipe that are not part of a window.
    chunk: Vec<u8>,
    /// The part of the chunk that waits for room.
    unwritten: Range<usize>,
    /// Number of bytes at the head of the source that were duplicated into this pipe.
    window: usize,
    wait: Wait,
}

/// What the next step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Room in the command's pipe.
    Room,
    /// Bytes from the source.
    Data,
    /// The end of a delay, as no event reports that the pipe's contents were read.
    Delay(Duration),
    /// Nothing, because the input has ended, the command has stopped reading, or feeding has failed.
    Over,
}

impl Stdin {
    /// Chooses how attempts get standard input, and reads nothing yet. Keeps at most `limit` bytes for replay. Returns
    /// an error if the type of standard input cannot be determined.
    pub(crate) fn new(
        source: BorrowedFd<'static>,
        mode: InputMode,
        limit: u64,
    ) -> io::Result<Stdin> {
        let method = match mode {
            InputMode::Auto => Method::auto(source)?,
            InputMode::Inherit => Method::Inherit,
            InputMode::Replay => Method::ReadFirst,
            InputMode::Null => Method::Null,
        };
        Ok(Stdin {
            source,
            method,
            kept: Spool::default(),
            limit,
            is_incomplete: false,
            error: None,
            unfed: Vec::new(),
            feed: None,
            fault: None,
            newly_read_ahead: false,
        })
    }

    /// Returns the source if it must be read before the first attempt. Returns EBADF, as a read would, if it is open
    /// for writing only, as no event might ever report it as readable.
    pub(crate) fn source_to_read_first(&self) -> io::Result<Option<BorrowedFd<'static>>> {
        if self.method != Method::ReadFirst {
            return Ok(None);
        }
        if access_mode(self.source)? == OFlag::O_WRONLY {
            return Err(Errno::EBADF.into());
        }
        Ok(Some(self.source))
    }

    /// Reads and keeps the next bytes before the first attempt (`--stdin replay`), once the source is ready. At the end
    /// of the source, or once bytes cannot be kept (beyond the limit, or disk and memory are full), chooses the method
    /// of the attempts, which ends this reading. Returns the error of a failed read, which ends the run.
    pub(crate) fn read_first(&mut self) -> io::Result<()> {
        let mut chunk = Vec::new();
        if let Some(count) = read_inherited(self.source, &mut chunk)? {
            self.keep(&chunk[..count]);
            if count == 0 {
                self.method = Method::Replay;
            } else if self.is_incomplete {
                // The first attempt can still get the kept bytes, this chunk and the rest. There can be no second one.
                chunk.truncate(count);
                self.unfed = chunk;
                self.method = Method::ReadAhead;
            }
        }
        Ok(())
    }

    /// Keeps more bytes, unless some are already lost, as an input with a gap cannot be replayed. If they exceed the
    /// limit or cannot be kept, only notes that. No further attempt is then made.
    fn keep(&mut self, bytes: &[u8]) {
        self.is_incomplete |= self.kept.len + bytes.len() as u64 > self.limit;
        if self.is_incomplete || bytes.is_empty() {
            return;
        }
        self.error = self.kept.full.clone();
        if self.error.is_some() {
            self.is_incomplete = true;
        } else {
            self.kept.append(bytes);
        }
    }

    /// Returns the standard input of an attempt, or None if the attempt inherits the caller's, which [`Method::Rewind`]
    /// rewinds first. Drop it once the command has started, or backoff cannot see that the command has closed its own.
    pub(crate) fn begin(&mut self) -> io::Result<Option<OwnedFd>> {
        match self.method {
            Method::Inherit => return Ok(None),
            Method::Null => return null().map(Some),
            Method::Rewind(start) => {
                lseek(self.source, start, Whence::SeekSet)?;
                return Ok(None);
            }
            Method::ReadFirst | Method::Tee | Method::ReadAhead | Method::Replay => {}
        }
        let (reader, pipe) = pipe()?;
        // The two ends have separate flags, so the command's end remains blocking.
        set_nonblocking(&pipe)?;
        self.feed = Some(Feed {
            pipe,
            replay: 0..self.kept.len,
            chunk: Vec::new(),
            unwritten: 0..0,
            window: 0,
            wait: Wait::Room,
        });
        // Reading ahead takes bytes from later programs, so it waits until the command has started.
        if self.method != Method::ReadAhead {
            self.fill_pipe();
        }
        Ok(Some(reader))
    }

    /// Returns the descriptor and event to poll before [`Stdin::fill_pipe`]. Returns None if nothing is fed, after an
    /// error, or if no event reports the next step. Then [`Stdin::wake_after`] gives a time.
    pub(crate) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let feed = self.feed.as_ref()?;
        match feed.wait {
            Wait::Room => Some((feed.pipe.as_fd(), PollFlags::POLLOUT)),
            Wait::Data => Some((self.source, PollFlags::POLLIN)),
            Wait::Delay(_) | Wait::Over => None,
        }
    }

    /// Returns the time after which to call [`Stdin::fill_pipe`] even if nothing is ready, if any.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        match self.feed.as_ref()?.wait {
            Wait::Delay(delay) => Some(delay),
            _ => None,
        }
    }

    /// Takes the next step of feeding input to the command, without blocking. Closes the pipe at the end of the input,
    /// or if the command has closed its end. After an error, which is noted in `fault`, nothing more is fed. The pipe
    /// then remains open, or the command would see an end of input. Does nothing if there is no input to feed.
    pub(crate) fn fill_pipe(&mut self) {
        let Some(mut feed) = self.feed.take() else {
            return;
        };
        feed.wait = self.step(&mut feed).unwrap_or_else(|error| {
            self.fault = Some(describe_error(&error));
            Wait::Over
        });
        if feed.wait != Wait::Over || self.fault.is_some() {
            self.feed = Some(feed);
        }
    }

    /// Writes what waits for room. If nothing does, first takes the next bytes, kept ones before the source's. Returns
    /// what to wait for before the next step.
    fn step(&mut self, feed: &mut Feed) -> io::Result<Wait> {
        if feed.unwritten.is_empty() {
            if !feed.replay.is_empty() {
                self.read_kept(feed)?;
            } else if !self.unfed.is_empty() {
                // Moved, not kept, as no attempt follows this one.
                feed.chunk = take(&mut self.unfed);
                feed.unwritten = 0..feed.chunk.len();
            } else if self.method == Method::Tee {
                return self.move_window(feed);
            } else if self.method == Method::ReadAhead {
                return self.read_ahead(feed);
            } else {
                return Ok(Wait::Over);
            }
        }
        feed.write()
    }

    /// Takes the next kept bytes. Fails if they are gone (another process has truncated the file), as the command must
    /// not see a gap.
    fn read_kept(&self, feed: &mut Feed) -> io::Result<()> {
        let count = self.kept.read_at(&mut feed.chunk, feed.replay.clone())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        feed.replay.start += count as u64;
        feed.unwritten = 0..count;
        Ok(())
    }

    /// Takes bytes from the source, and keeps them for later attempts if they fit. Those that the command never reads
    /// are lost to later programs. So this is done only if the source cannot be duplicated, or after
    /// [`Stdin::read_first`] has taken more than can be kept.
    fn read_ahead(&mut self, feed: &mut Feed) -> io::Result<Wait> {
        // Leave the rest of the source to later programs.
        if has_lost_its_reader(feed.pipe.as_fd()) {
            return Ok(Wait::Over);
        }
        let Some(count) = read_inherited(self.source, &mut feed.chunk)? else {
            return Ok(Wait::Data);
        };
        if count == 0 {
            self.method = Method::Replay;
            return Ok(Wait::Over);
        }
        self.keep(&feed.chunk[..count]);
        feed.unwritten = 0..count;
        feed.write()
    }

    /// Opens the next window of the source once the command has read everything in its pipe. Begins to read ahead if
    /// the system cannot duplicate the source.
    fn move_window(&mut self, feed: &mut Feed) -> io::Result<Wait> {
        match self.try_to_move_window(feed) {
            // The system or a sandbox may lack `tee(2)` or FIONREAD. ECONNRESET only says that a socket was cut off.
            // Without a window, the source no longer holds any byte that the command got, so reading ahead repeats
            // none.
            Err(errno) if errno != Errno::ECONNRESET && feed.window == 0 => {
                self.method = Method::ReadAhead;
                self.newly_read_ahead = true;
                Ok(Wait::Room)
            }
            moved => Ok(moved?),
        }
    }

    fn try_to_move_window(&mut self, feed: &mut Feed) -> nix::Result<Wait> {
        if unread(&feed.pipe)? > 0 && !has_lost_its_reader(feed.pipe.as_fd()) {
            return Ok(Wait::Delay(match feed.wait {
                Wait::Delay(before) => (before * 2).min(LONGEST_DELAY),
                _ => FIRST_DELAY,
            }));
        }
        self.take_window(feed)?;
        match system::duplicate(self.source, feed.pipe.as_fd(), CHUNK) {
            Ok(0) => {
                self.method = Method::Replay;
                Ok(Wait::Over)
            }
            Ok(count) => {
                feed.window = count;
                Ok(Wait::Delay(FIRST_DELAY))
            }
            Err(Errno::EAGAIN) => Ok(Wait::Data),
            Err(Errno::EPIPE) => Ok(Wait::Over),
            Err(errno) => Err(errno),
        }
    }

    /// Closes the window. Takes from the source the part that the command has read, and keeps it for later attempts.
    /// The rest is not taken, as a process that the command left running, or a later program, may still read it.
    fn take_window(&mut self, feed: &mut Feed) -> nix::Result<()> {
        if feed.window == 0 {
            return Ok(());
        }
        let read_by_command = feed.window - unread(&feed.pipe)?.min(feed.window);
        feed.chunk.resize(read_by_command, 0);
        let mut taken = 0;
        // Fewer if another process has read from the source. What is left was duplicated, and must not be duplicated
        // again.
        let left = unread(self.source).unwrap_or(0).min(read_by_command);
        while taken < left {
            match uninterrupted(|| read(self.source, &mut feed.chunk[taken..left]))? {
                0 => break,
                count => taken += count,
            }
        }
        widen_if_busy(self.source, taken);
        widen_if_busy(feed.pipe.as_fd(), taken);
        if taken < read_by_command {
            self.is_incomplete = true;
            self.error = Some("another process has read from it".to_owned());
        }
        self.keep(&feed.chunk[..taken]);
        // Only now, so that the window remains after an error above, and its bytes are not fed a second time.
        feed.window = 0;
        Ok(())
    }

    /// Ends the attempt. Closes its pipe, takes from the source the bytes that it has read, and keeps them for the next
    /// attempt. An error there becomes the fault. Frees all kept bytes if they are incomplete, as they cannot be
    /// replayed.
    pub(crate) fn end(&mut self) {
        if let Some(mut feed) = self.feed.take()
            && let Err(errno) = self.take_window(&mut feed)
        {
            self.fault.get_or_insert(describe(errno));
        }
        if self.is_incomplete {
            self.kept = Spool::default();
        }
    }
}

impl Feed {
    /// Writes as much of the chunk as there is room for. Returns what to wait for next, either room for more, or
    /// nothing if the command has closed its input.
    fn write(&mut self) -> io::Result<Wait> {
        match write(&self.pipe, &self.chunk[self.unwritten.clone()]) {
            Ok(count) => self.unwritten.start += count,
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EPIPE) => return Ok(Wait::Over),
            Err(errno) => return Err(errno.into()),
        }
        Ok(Wait::Room)
    }
}

impl Method {
    /// Chooses the method for `--stdin auto` by the type of standard input. A pipe is duplicated, and so is a Unix
    /// socket that is not also standard output (`spawnSync` of Node gives one). A file or block device is rewound to
    /// its current offset. It is inherited if it has none, or if an output may share it ([`is_output_too`]). Anything
    /// else (a terminal, another socket, a pipe open for writing only, the filler of a closed input) is inherited, as
    /// it cannot be read twice without reading ahead. Returns an error if the system refuses to tell the type.
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

/// Returns true if standard input may share one open file description with an output (`<>file 1>&0`). A rewind would
/// then make the command overwrite its output. The system does not tell that from two descriptions of one file, so
/// these count as shared if input is open for writing.
fn is_output_too(source: BorrowedFd<'_>, access_mode: OFlag) -> bool {
    let number = source.as_raw_fd();
    access_mode != OFlag::O_RDONLY
        && (is_same_file(number, stdio::OUT) || is_same_file(number, stdio::ERR))
}

#[cfg(test)]
#[path = "stdin_tests.rs"]
mod tests;
