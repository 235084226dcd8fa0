//! One output of the command: each chunk is forwarded, kept (until the end of the run, as with `--stdout final`) or
//! dropped before the next is read, so that a slow reader slows the command, and memory is bounded. "The reader" is the
//! process that reads backoff's own output.

use std::cell::OnceCell;
use std::io::IsTerminal;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::poll::PollFlags;

use super::sink::{Sink, read_chunk};
use super::spool::Spool;
use crate::process::sys::fd::has_lost_its_reader;
use crate::process::sys::stdio;
use crate::process::terminal::pty;
use crate::run::host::KeptOutput;
use crate::run::streams::OutputMode;
use crate::text::{describe, describe_error};

/// The handling of output in a mode that keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Keeping {
    /// It is kept.
    #[default]
    Keeps,
    /// No more can be kept. Kept output is being printed, and nothing is read meanwhile.
    Prints,
    /// Kept output is printed. Further output is forwarded.
    Forwards,
}

/// Standard output or standard error; lives for the whole run.
#[derive(Debug, Default)]
pub(crate) struct Output {
    mode: OutputMode,
    /// The caller's descriptor, 1 or 2.
    fd: RawFd,
    /// Opened at first use.
    sink: OnceCell<Sink>,
    /// Kept output; with `--stderr failure` also messages of backoff and what hooks and predicates wrote.
    pub(super) kept: Spool,
    keeping: Keeping,
    /// Why no more output could be kept; None once that was reported.
    pub(super) why_not_kept: Option<String>,
    /// The command's pipe or terminal, while more output may come.
    source: Option<OwnedFd>,
    /// A pseudo-terminal that has lost its reader: unlike a pipe, it does not tell the command so.
    pub(super) lost_pty: Option<OwnedFd>,
    /// The bytes read last are at its beginning.
    chunk: Vec<u8>,
    /// The part of the chunk that is forwarded or printed, and not written yet.
    unwritten: Range<usize>,
    /// Bytes of kept output that were read for printing.
    printed: u64,
    /// Last byte written (or kept, with `--stderr failure`) since the field was taken: unless it ends a line, the next
    /// message of backoff begins a new one.
    pub(super) last_written: Option<u8>,
    /// Output of the command was kept in this run, so failing to print what is kept is a failure. Without it, only
    /// backoff's own lines and those of hooks can be there.
    pub(crate) holds_output: bool,
    /// The output has lost its reader. Stays set in later attempts, until [`Output::drop_unless_wanted`].
    pub(crate) reader_gone: bool,
    /// The error that stopped reading or writing. A lack of room for kept output is none (`why_not_kept`).
    pub(crate) fault: Option<String>,
}

impl Output {
    /// Returns an output that no attempt has used yet.
    pub(super) fn new(fd: RawFd, mode: OutputMode) -> Output {
        Output {
            fd,
            mode,
            ..Output::default()
        }
    }

    /// Begins an attempt: output will be read from `source`, a pipe or pseudo-terminal; None if backoff sees none of it
    /// (inherited, or `/dev/null`). Drops kept output of the previous attempt, except with `failure`, which prints that
    /// of all attempts. The caller has ended that attempt ([`Output::end`]).
    pub(super) fn begin(&mut self, source: Option<OwnedFd>) {
        self.source = source;
        if self.mode != OutputMode::Failure {
            self.kept = Spool::default();
            self.keeping = Keeping::Keeps;
        }
    }

    /// Closes the command's pipe or terminal (a command that goes on writing to the pipe gets SIGPIPE), and drops bytes
    /// that wait for the reader. Kept output stays; but if it is being printed because no more can be kept, its rest is
    /// dropped.
    pub(crate) fn close(&mut self) {
        self.source = None;
        self.unwritten = 0..0;
        if self.keeping == Keeping::Prints {
            self.begin_to_forward();
        }
    }

    /// Forgets kept output, as it was printed or cannot be. Further output of this attempt (with `failure`: of the run)
    /// is forwarded instead of kept, and messages are no longer held back.
    pub(super) fn begin_to_forward(&mut self) {
        self.keeping = Keeping::Forwards;
        self.kept = Spool::default();
        self.printed = 0;
    }

    /// Returns true if further output, and messages among it, are kept.
    pub(super) fn keeps(&self) -> bool {
        self.mode.is_kept() && self.keeping == Keeping::Keeps
    }

    /// Ends the attempt: closes the pipe and frees memory. Returns the error that stopped reading or writing, if any,
    /// and forgets it.
    pub(super) fn end(&mut self) -> Option<String> {
        self.close();
        self.chunk = Vec::new();
        self.fault.take()
    }

    /// Gives a pseudo-terminal the size of our terminal. Returns true if that has changed it.
    pub(super) fn copy_size(&self) -> bool {
        let is_terminal = |source: &&_| IsTerminal::is_terminal(*source);
        self.source
            .as_ref()
            .filter(is_terminal)
            .is_some_and(pty::copy_size)
    }

    pub(super) fn is_broken(&self) -> bool {
        self.reader_gone || self.fault.is_some()
    }

    /// Returns true while output may come or waits for the reader.
    pub(super) fn is_open(&self) -> bool {
        self.source.is_some() || self.has_unwritten()
    }

    /// Returns true if bytes that were read are not written yet: they wait for the reader, or for the end of the other
    /// output's line. Kept bytes count while they are printed.
    pub(super) fn has_unwritten(&self) -> bool {
        !self.unwritten.is_empty() || self.keeping == Keeping::Prints
    }

    /// Returns true while the command may write more.
    pub(super) fn has_source(&self) -> bool {
        self.source.is_some()
    }

    /// Returns the place to write to, opened at the first call.
    fn sink(&self) -> &Sink {
        self.sink.get_or_init(|| Sink::new(self.fd))
    }

    /// Returns the descriptor and events to poll: the reader while bytes wait for it, or else the command's pipe. So no
    /// more is read until all is written. None if the output is inherited or has ended.
    pub(super) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.has_unwritten() {
            return Some((self.sink().fd(), PollFlags::POLLOUT));
        }
        self.source
            .as_ref()
            .map(|source| (source.as_fd(), PollFlags::POLLIN))
    }

    /// Called once [`Output::interest`] is ready: reads the next chunk, unless a part of the last one waits for its
    /// reader. The chunk is kept, dropped, or left to [`Output::write`]. Returns it for examination: at most `limit`
    /// bytes (1 or more), none if nothing was read. While kept output is printed because no more can be kept, goes on
    /// with that instead, and forwards further output once all is printed.
    pub(super) fn read_next(&mut self, limit: usize) -> &[u8] {
        if self.keeping == Keeping::Prints {
            if !self.print() && !self.is_broken() {
                self.begin_to_forward();
            }
            return &[];
        }
        if self.has_unwritten() {
            return &[];
        }
        let count = self.read(limit);
        if count > 0 {
            if self.keeps() {
                self.keep(count);
            } else if self.mode != OutputMode::Null {
                self.unwritten = 0..count;
            }
        }
        &self.chunk[..count]
    }

    /// Writes bytes that were read, without blocking. Returns the number of bytes written.
    pub(super) fn write(&mut self) -> usize {
        self.write_at_most(self.unwritten.len())
    }

    /// Writes the rest of the first line that waits, or all bytes if they hold no line feed, without blocking, as the
    /// other output has its turn after a line. Returns the number of bytes written.
    pub(super) fn write_line(&mut self) -> usize {
        let waiting = &self.chunk[self.unwritten.clone()];
        let end = waiting.iter().position(|byte| *byte == b'\n');
        self.write_at_most(end.map_or(waiting.len(), |end| end + 1))
    }

    /// Reads the next chunk into `chunk`, at most `limit` bytes. Returns its length, which is 0 if there is none now,
    /// at the end (`source` is None then), or after an error, which is noted as the output's fault.
    fn read(&mut self, limit: usize) -> usize {
        let Some(source) = &self.source else { return 0 };
        match read_chunk(source.as_fd(), &mut self.chunk, limit) {
            Ok(Some(0)) => self.source = None,
            // The end of a pseudo-terminal.
            Err(Errno::EIO) if source.is_terminal() => self.source = None,
            Ok(count) => return count.unwrap_or(0),
            // Not the end: missing output must be reported.
            Err(errno) => self.fail(format!("cannot be read: {}", describe(errno))),
        }
        0
    }

    /// Writes the first `most` of the unwritten bytes (there are at least so many), or as many of them as there is room
    /// for, without blocking. Returns the number of bytes written: 0 if there is no room, and after an error, which is
    /// noted (a lost reader, or a fault) and closes the output. Notes the last byte, which tells whether a line is
    /// unfinished.
    fn write_at_most(&mut self, most: usize) -> usize {
        let start = self.unwritten.start;
        match self.sink().write(&self.chunk[start..start + most]) {
            Ok(0) => return 0,
            Ok(count) => {
                self.unwritten.start += count;
                self.last_written = self.chunk[..self.unwritten.start].last().copied();
                return count;
            }
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EPIPE) => self.lose_reader(),
            Err(errno) => self.fail(describe(errno)),
        }
        0
    }

    /// Keeps the first `count` bytes of the chunk, which were just read. If no more can be kept afterwards (disk and
    /// memory are full), what was kept is printed from now on, and later output is forwarded. Closes the output instead
    /// if its reader is gone.
    fn keep(&mut self, count: usize) {
        // Without a reader, the bare command would have died of SIGPIPE; kept output could fill the disk in vain.
        if has_lost_its_reader(self.sink().fd()) {
            return self.lose_reader();
        }
        self.holds_output = true;
        // With `--stderr failure`, messages of backoff are kept in the same file, and begin a new line there.
        if self.mode == OutputMode::Failure && self.fd == stdio::ERR {
            self.last_written = self.chunk[..count].last().copied();
        }
        self.kept.append(&self.chunk[..count]);
        if let Some(why) = self.kept.full() {
            self.why_not_kept.get_or_insert(why);
            self.keeping = Keeping::Prints;
        }
    }

    /// Notes that the reader is gone, and closes the output. A pseudo-terminal stays open until the command has got PIPE.
    fn lose_reader(&mut self) {
        self.reader_gone = true;
        self.lost_pty = self.source.take().filter(IsTerminal::is_terminal);
        self.close();
    }

    /// Notes the first error as the output's fault, which ends the run later, and closes the output.
    fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
        self.close();
    }

    /// Drops kept output unless its mode wants it printed after a run that ended like this (`kept`). Resets
    /// `reader_gone`.
    pub(crate) fn drop_unless_wanted(&mut self, kept: KeptOutput) {
        // A reader that left was noted during attempts, and judged with them. Dropped output needs no reader; `print`
        // notes it again if the reader is still gone.
        self.reader_gone = false;
        let is_wanted = match self.mode {
            OutputMode::Final => true,
            OutputMode::Success => kept == KeptOutput::Good,
            OutputMode::Failure => kept == KeptOutput::OfFailure,
            OutputMode::Stream | OutputMode::Null => false,
        };
        if !is_wanted {
            self.kept = Spool::default();
        }
    }

    /// Prints the next part of kept output, as far as the reader has room. Returns true if the caller has to wait for
    /// room and call again, and false once all is printed or printing has failed (`fault`, `reader_gone`).
    pub(crate) fn print(&mut self) -> bool {
        if self.unwritten.is_empty() {
            // To the end of the spool, not of what backoff has appended: hooks and predicates may have written to its
            // file.
            match self.kept.read_at(&mut self.chunk, self.printed..u64::MAX) {
                Ok(0) => return false,
                Ok(count) => {
                    self.unwritten = 0..count;
                    self.printed += count as u64;
                }
                Err(error) => {
                    self.fail(describe_error(&error));
                    return false;
                }
            }
        }
        self.write();
        !self.is_broken()
    }
}
