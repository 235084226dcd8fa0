//! One output of the command on its way: taken from the pipe, passed on or kept, looked at.

use std::cell::OnceCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::PollFlags;

use super::sink::Sink;
use super::spool::Spool;
use crate::process::sys::fd::widen_pipe;
use crate::run::streams::OutputMode;
use crate::search::pattern::Patterns;
use crate::search::scanner::Scanner;

/// Taken from the pipe at once.
const CHUNK: usize = 64 * 1024;
/// A command that writes faster than it is read gets a wider pipe after it was full so many times, so that the two do
/// not wait for each other all the time: it makes the most of two processors, up to four times as fast. Not before,
/// as what all pipes of a user may hold is limited.
const MUCH: u32 = 16;
/// How wide, in bytes.
const WIDE_PIPE: usize = 256 * 1024;

/// Where an output goes; lives for the whole run.
#[derive(Debug)]
pub struct Outlet {
    keep: OutputMode,
    fd: RawFd,
    /// Opened when it is first needed.
    sink: OnceCell<Sink>,
    held: Spool,
    /// Why nothing more can be written or kept.
    broken: Option<Broken>,
}

/// Why an output cannot go where it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// Nobody reads it any more.
    ReaderGone,
    /// What a person should read.
    Fault(String),
}

impl Outlet {
    /// For descriptor 1 or 2.
    pub fn new(fd: RawFd, keep: OutputMode) -> Outlet {
        Outlet {
            keep,
            fd,
            sink: OnceCell::new(),
            held: Spool::default(),
            broken: None,
        }
    }

    /// Why it is broken, if it is.
    pub fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Before an attempt: what is kept of the one before is not the last one's any more.
    pub fn begin(&mut self) {
        if self.keep != OutputMode::Failure {
            self.held.clear();
        }
    }

    /// The run is over: what is kept is to be printed, or not.
    pub fn settle(&mut self, succeeded: bool) -> Release {
        let prints = match self.keep {
            OutputMode::Final => true,
            OutputMode::Success => succeeded,
            OutputMode::Failure => !succeeded,
            OutputMode::Stream | OutputMode::Null => false,
        };
        if !prints {
            self.held.clear();
        }
        Release {
            offset: 0,
            chunk: Vec::new(),
            written: 0,
            failure: None,
        }
    }

    /// Forgets what was kept.
    pub fn clear(&mut self) {
        self.held.clear();
    }

    fn sink(&self) -> &Sink {
        self.sink.get_or_init(|| Sink::new(self.fd))
    }

    fn is_passed_on(&self) -> bool {
        self.keep == OutputMode::Stream
    }

    fn write(&mut self, bytes: &[u8]) -> usize {
        match self.sink().write(bytes) {
            Ok(count) => count,
            Err(Errno::EAGAIN | Errno::EINTR) => 0,
            Err(Errno::EPIPE) => {
                self.broken = Some(Broken::ReaderGone);
                0
            }
            Err(errno) => {
                self.broken = Some(Broken::Fault(crate::run::text::describe(errno)));
                0
            }
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        // The command would have noticed; without this it could fill the disk for nobody.
        if self.sink().is_abandoned() {
            self.broken = Some(Broken::ReaderGone);
            return;
        }
        if let Err(error) = self.held.append(bytes) {
            self.broken = Some(Broken::Fault(format!("cannot be kept in {error}")));
        }
    }
}

/// Printing what was kept.
#[derive(Debug)]
pub struct Release {
    offset: u64,
    chunk: Vec<u8>,
    written: usize,
    failure: Option<Broken>,
}

impl Release {
    /// Writes some more. Whether there is more to write.
    pub fn work(&mut self, outlet: &mut Outlet) -> io::Result<bool> {
        if self.written == self.chunk.len() {
            self.chunk.resize(CHUNK, 0);
            let count = outlet.held.read_at(&mut self.chunk, self.offset)?;
            self.chunk.truncate(count);
            self.offset += count as u64;
            self.written = 0;
        }
        if self.chunk.is_empty() {
            return Ok(false);
        }
        // That more could not be kept is told elsewhere; what was kept is printed all the same.
        let earlier = outlet.broken.take();
        self.written += outlet.write(&self.chunk[self.written..]);
        self.failure = std::mem::replace(&mut outlet.broken, earlier);
        Ok(self.failure.is_none())
    }

    /// Why it could not be printed wholly.
    pub fn failure(&self) -> Option<&Broken> {
        self.failure.as_ref()
    }

    /// What to poll for room.
    pub fn fd(outlet: &Outlet) -> BorrowedFd<'_> {
        outlet.sink().fd()
    }
}

/// One output of one attempt.
#[derive(Debug)]
pub struct Flow {
    source: Option<OwnedFd>,
    /// EIO is the end of a pseudo-terminal: its other side was closed.
    is_terminal: bool,
    buffer: Vec<u8>,
    /// What was taken and is not passed on yet.
    pending: std::ops::Range<usize>,
    /// How often one read took what may have been a full pipe.
    full_reads: u32,
    scanner: Option<Scanner>,
}

/// What an output showed.
pub trait Watcher {
    /// A piece of output, as it came.
    fn piece(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// A pattern was found for the first time, in this text.
    fn found(&mut self, pattern: usize, text: &[u8]);
}

impl Flow {
    /// Takes from this end of a pipe, or of a pseudo-terminal, looking for patterns if there are any.
    pub fn new(source: OwnedFd, is_terminal: bool, patterns: Option<Arc<Patterns>>) -> Flow {
        Flow {
            source: Some(source),
            is_terminal,
            buffer: Vec::new(),
            pending: 0..0,
            full_reads: 0,
            scanner: patterns.map(Scanner::new),
        }
    }

    /// Whether more may come or has to be passed on.
    pub fn is_open(&self) -> bool {
        self.source.is_some() || self.has_pending()
    }

    /// Whether something was taken and not passed on yet.
    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes nothing more: the command gets SIGPIPE when it writes.
    pub fn close(&mut self) {
        self.source = None;
        self.pending = 0..0;
    }

    /// A pattern need not be looked for any more.
    pub fn forget(&mut self, pattern: usize) {
        if let Some(scanner) = &mut self.scanner {
            scanner.forget(pattern);
        }
    }

    /// What to poll for.
    pub fn interest<'a>(&'a self, outlet: &'a Outlet) -> Option<(BorrowedFd<'a>, PollFlags)> {
        if self.has_pending() {
            return Some((outlet.sink().fd(), PollFlags::POLLOUT));
        }
        self.source.as_ref().map(|source| (source.as_fd(), PollFlags::POLLIN))
    }

    /// Does what `interest` waited for. Whether output came.
    pub fn work(&mut self, outlet: &mut Outlet, watcher: &mut impl Watcher) -> io::Result<bool> {
        if self.has_pending() {
            self.pass_on(outlet);
            return Ok(false);
        }
        let Some(source) = &self.source else { return Ok(false) };
        self.buffer.resize(CHUNK, 0);
        let count = match nix::unistd::read(source, &mut self.buffer) {
            Ok(count) => count,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(false),
            Err(Errno::EIO) if self.is_terminal => 0,
            // Not to be taken for the end: what is missing must not be missed.
            Err(errno) => {
                outlet.broken = Some(Broken::Fault(format!(
                    "cannot be read: {}",
                    crate::run::text::describe(errno)
                )));
                self.close();
                return Ok(false);
            }
        };
        if count == 0 {
            self.source = None;
            return Ok(false);
        }
        // Writes that do not fill whole pages leave gaps in a full pipe, of less than half of it.
        if count > CHUNK / 2 {
            self.full_reads += 1;
            if self.full_reads == MUCH {
                widen_pipe(source, WIDE_PIPE);
            }
        }
        if outlet.is_passed_on() {
            self.pending = 0..count;
            self.pass_on(outlet);
        } else if outlet.keep != OutputMode::Null {
            outlet.hold(&self.buffer[..count]);
        }
        watcher.piece(&self.buffer[..count])?;
        if let Some(scanner) = &mut self.scanner {
            scanner.push(&self.buffer[..count], &mut |pattern, text| watcher.found(pattern, text));
        }
        if outlet.broken.is_some() {
            self.close();
        }
        Ok(true)
    }

    fn pass_on(&mut self, outlet: &mut Outlet) {
        let written = outlet.write(&self.buffer[self.pending.clone()]);
        self.pending.start += written;
        if outlet.broken.is_some() {
            self.close();
        }
    }

    /// The output is complete: a last line without its end is looked at, too.
    pub fn finish(&mut self, watcher: &mut impl Watcher) {
        self.close();
        if let Some(scanner) = &mut self.scanner {
            scanner.finish(&mut |pattern, text| watcher.found(pattern, text));
        }
    }
}
