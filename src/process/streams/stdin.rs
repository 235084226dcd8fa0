//! The command's standard input: every attempt reads the same bytes. A retry that read the rest only would work on cut
//! data, and seem to succeed.
//!
//! A file is rewound. Otherwise a pipe feeds an attempt the kept bytes, which earlier attempts have read, and then the
//! source's. Unread bytes of a pipe or Unix socket are *duplicated* into the command's pipe, by `tee(2)` or by `recv(2)`
//! with MSG_PEEK: the window. Only what the command has read of it is then taken from the source and kept, so that the
//! rest stays for later programs (`while read`). The next window begins when this one has been read, of which no event
//! tells. Where the system cannot duplicate, the source is read ahead of the command.

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

/// First and longest delay between looks at a window that the command has not read yet.
const FIRST_DELAY: Duration = Duration::from_micros(50);
const LONGEST_DELAY: Duration = Duration::from_millis(100);

/// The standard input of all attempts of one run.
#[derive(Debug)]
pub(crate) struct Stdin {
    /// The caller's standard input.
    source: BorrowedFd<'static>,
    method: Method,
    /// The bytes that were taken from the source, to be fed to each attempt.
    kept: Spool,
    /// `--stdin-limit`, in bytes.
    limit: u64,
    /// Kept bytes are not all: they exceed the limit, could not be kept, or another process took some.
    pub(super) is_incomplete: bool,
    /// Why they are not all; None if they exceeded the limit.
    pub(super) error: Option<String>,
    /// Bytes that were read before the first attempt and could not be kept, so that it is the last.
    unfed: Vec<u8>,
    /// The pipe of the running attempt, while there is input to feed.
    feed: Option<Feed>,
    /// The error that stopped feeding. The command may wait for input that will not come, so the attempt must be ended;
    /// it never sees a false end of input.
    pub(crate) fault: Option<String>,
    /// The source needs reading ahead of the command, and this was not reported yet.
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
    /// The source is read before the first attempt (`--stdin replay`); then `Replay` or `ReadAhead` is chosen.
    ReadFirst,
    /// A pipe: kept bytes, then windows of the source.
    Tee,
    /// A pipe: kept bytes, then the source, which is read once the pipe has room.
    ReadAhead,
    /// A pipe: kept bytes only, as the end of the source was seen.
    Replay,
}

/// The pipe into a running attempt.
#[derive(Debug)]
struct Feed {
    /// The end that backoff writes to; the command reads from the other one.
    pipe: OwnedFd,
    /// Offsets of kept bytes that are still to be fed.
    replay: Range<u64>,
    /// Bytes on their way into the pipe, which are not part of a window.
    chunk: Vec<u8>,
    /// The part of the chunk that waits for room.
    unwritten: Range<usize>,
    /// Number of bytes at the head of the source that were duplicated into this pipe.
    window: usize,
    wait: Wait,
}

/// The condition for the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Room in the command's pipe.
    Room,
    /// Bytes from the source.
    Data,
    /// The end of a delay, as no event reports that what is in the pipe was read.
    Delay(Duration),
    /// Nothing: the input has ended, the command has stopped reading, or feeding has failed.
    Over,
}

impl Stdin {
    /// Chooses how attempts get standard input; reads nothing yet. At most `limit` bytes are kept for replay. An error
    /// means that the type of standard input cannot be learned.
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

    /// Returns the source while it has to be read before the first attempt, or else None. Returns the error of a read
    /// (EBADF) if it is open for writing only, as no event might ever report it as readable.
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
    /// of the attempts, which ends this reading. An error is that of the read, and ends the run.
    pub(crate) fn read_first(&mut self) -> io::Result<()> {
        let mut chunk = Vec::new();
        if let Some(count) = read_inherited(self.source, &mut chunk)? {
            self.keep(&chunk[..count]);
            if count == 0 {
                self.method = Method::Replay;
            } else if self.is_incomplete {
                // The first attempt can still get all: kept bytes, this chunk, the rest. There can be no second one.
                chunk.truncate(count);
                self.unfed = chunk;
                self.method = Method::ReadAhead;
            }
        }
        Ok(())
    }

    /// Keeps more bytes, unless some are lost already: an input with a gap cannot be replayed. If they exceed the limit
    /// or cannot be kept, only notes that: then no further attempt is made.
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
            Method::ReadFirst | Method::Tee | Method::ReadAhead | Method::Replay => {}
        }
        let (reader, pipe) = pipe()?;
        // The two ends have separate flags: the command's end stays blocking.
        set_nonblocking(&pipe)?;
        self.feed = Some(Feed {
            pipe,
            replay: 0..self.kept.len,
            chunk: Vec::new(),
            unwritten: 0..0,
            window: 0,
            wait: Wait::Room,
        });
        // Reading ahead takes bytes from later programs: not before the command has started.
        if self.method != Method::ReadAhead {
            self.fill_pipe();
        }
        Ok(Some(reader))
    }

    /// Returns the descriptor and event to poll before [`Stdin::fill_pipe`]. None if nothing is fed, after an error,
    /// or if no event reports the next step, for which [`Stdin::wake_after`] gives a time.
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
    /// or if the command has closed its end. An error is noted in `fault`, and nothing more is fed; the pipe stays open
    /// then, or the command would see an end of input. Does nothing if there is no input to feed.
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

    /// Writes what waits for room, or else takes the next bytes: kept ones first, then the source's. Returns what to wait
    /// for before the next step.
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

    /// Takes the next bytes that were kept. Fails if they are gone (another process has cut the file), as the command
    /// must not see a gap.
    fn read_kept(&self, feed: &mut Feed) -> io::Result<()> {
        let count = self.kept.read_at(&mut feed.chunk, feed.replay.clone())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        feed.replay.start += count as u64;
        feed.unwritten = 0..count;
        Ok(())
    }

    /// Takes bytes from the source, and keeps them for later attempts if they fit. The command may never read them, and
    /// then they are lost to later programs: so this is done only if the source cannot be duplicated, or after
    /// [`Stdin::read_first`] has taken more than can be kept.
    fn read_ahead(&mut self, feed: &mut Feed) -> io::Result<Wait> {
        // Leaves the rest of the source to later programs.
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

    /// Opens the next window of the source once the command has read all that is in its pipe, or begins to read ahead
    /// if the system cannot duplicate the source.
    fn move_window(&mut self, feed: &mut Feed) -> io::Result<Wait> {
        match self.try_to_move_window(feed) {
            // The system or a sandbox may lack `tee(2)` or FIONREAD; ECONNRESET only says that a socket was cut off.
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

    /// Closes the window: takes from the source the part that the command has read, and keeps it for later attempts.
    /// The rest is not taken, as a process that the command left running may still read it, or a later program.
    fn take_window(&mut self, feed: &mut Feed) -> nix::Result<()> {
        if feed.window == 0 {
            return Ok(());
        }
        let read_by_command = feed.window - unread(&feed.pipe)?.min(feed.window);
        feed.chunk.resize(read_by_command, 0);
        let mut taken = 0;
        // Fewer if another process has read from the source: what is left was duplicated, and must not be once more.
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
        // Only now: after an error above, the window stays, so that its bytes are not fed a second time.
        feed.window = 0;
        Ok(())
    }

    /// Ends the attempt: closes its pipe, and takes from the source, and keeps for the next attempt, the bytes that it
    /// has read. An error of that is noted as the fault. Frees all kept bytes if they are incomplete, as they cannot be
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
    /// Writes as much of the chunk as there is room for. Returns what to wait for next: room for the rest or the next
    /// chunk, or nothing if the command has closed its input.
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
