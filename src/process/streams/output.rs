//! One output of the command. Each chunk is forwarded, kept (until the end of the run, as with `--stdout final`) or
//! dropped before the next is read, so that a slow reader slows the command, and memory is bounded. "The reader" is the
//! process that reads backoff's own output.

use std::cell::OnceCell;
use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::PollFlags;

use super::sink::{CHUNK, Sink, read_chunk};
use super::spool::Spool;
use crate::process::sys::clock::now;
use crate::process::sys::fd::has_lost_its_reader;
use crate::process::sys::stdio;
use crate::process::terminal::pty;
use crate::run::host::EndOfRun;
use crate::run::streams::OutputMode;
use crate::text::{describe, describe_error};

/// How long an unfinished line waits for its end, if the other output goes to the same place.
const LINE_GRACE: Duration = Duration::from_millis(100);

/// Standard output or standard error. Lives for the whole run.
#[derive(Debug)]
pub(crate) struct Output {
    mode: OutputMode,
    /// The caller's descriptor, 1 or 2.
    fd: RawFd,
    /// Opened at first use.
    sink: OnceCell<Sink>,
    /// Kept output. With `--stderr failure`, also messages of backoff and what hooks and predicates wrote.
    pub(super) kept: Spool,
    /// No more can be kept. Kept output is printed, and further output is forwarded.
    spills: bool,
    /// Why no more output could be kept. None once that was reported.
    pub(super) why_not_kept: Option<String>,
    /// The command's pipe or terminal, while more output may come.
    source: Option<OwnedFd>,
    /// A pseudo-terminal that has lost its reader. Unlike a pipe, it does not tell the command.
    pub(super) lost_pty: Option<OwnedFd>,
    chunk: Vec<u8>,
    /// Bytes to forward or print that are not written yet.
    unwritten: Vec<u8>,
    /// Lines are written whole, because the other output goes to the same place.
    pub(super) by_lines: bool,
    /// When the first of the unwritten bytes was read, or the bytes before it were written.
    unwritten_since: Instant,
    /// The reader had no room for the rest of a line, so the other output must not be written now.
    is_within_line: bool,
    /// How many bytes of kept output were read for printing.
    printed: u64,
    /// Last byte written (or kept, with `--stderr failure`) since the field was taken. Unless it ends a line, the next
    /// message of backoff begins a new one.
    pub(super) last_written: Option<u8>,
    /// Output of the command was kept in this run, so failing to print it is a failure. Otherwise only lines of backoff
    /// and of hooks can be there.
    pub(crate) holds_output: bool,
    /// The output has lost its reader. Remains set in later attempts, until [`Output::drop_unless_wanted`].
    pub(crate) reader_gone: bool,
    /// The error that stopped reading or writing. A lack of room for kept output is not one (`why_not_kept`).
    pub(crate) fault: Option<String>,
}

impl Output {
    pub(super) fn new(fd: RawFd, mode: OutputMode) -> Output {
        Output {
            mode,
            fd,
            sink: OnceCell::new(),
            kept: Spool::default(),
            spills: false,
            why_not_kept: None,
            source: None,
            lost_pty: None,
            chunk: Vec::new(),
            unwritten: Vec::new(),
            by_lines: false,
            unwritten_since: now(),
            is_within_line: false,
            printed: 0,
            last_written: None,
            holds_output: false,
            reader_gone: false,
            fault: None,
        }
    }

    /// Begins an attempt that reads output from `source`, a pipe or pseudo-terminal. None means that backoff sees none
    /// of it (inherited, or `/dev/null`). Drops kept output of the previous attempt, except with `failure`, which
    /// prints that of all attempts. The caller has ended that attempt ([`Output::end`]).
    pub(super) fn begin(&mut self, source: Option<OwnedFd>) {
        self.source = source;
        if self.mode != OutputMode::Failure {
            self.forget_kept();
            self.spills = false;
        }
    }

    /// Closes the command's pipe or terminal, and drops bytes that wait for the reader. A command that goes on writing
    /// to the pipe receives SIGPIPE. Kept output remains. If it is being printed because no more can be kept, the rest
    /// is dropped.
    pub(crate) fn close(&mut self) {
        self.source = None;
        self.unwritten.clear();
        if self.spills {
            self.forget_kept();
        }
    }

    /// Forwards further output of this attempt (with `failure`, of the run) instead of keeping it. Kept output was
    /// printed, or cannot be. Messages are no longer held back.
    pub(super) fn begin_to_forward(&mut self) {
        self.spills = true;
        self.forget_kept();
    }

    fn forget_kept(&mut self) {
        self.kept = Spool::default();
        self.printed = 0;
    }

    /// Returns true if further output, including messages, is kept.
    pub(super) fn keeps(&self) -> bool {
        self.mode.is_kept() && !self.spills
    }

    /// Returns true while kept output is printed because no more can be kept.
    fn is_spilling(&self) -> bool {
        self.spills && self.kept.len_of_all().is_ok_and(|len| self.printed < len)
    }

    /// Ends the attempt, closes the pipe and frees memory. Returns the error that stopped reading or writing, if any,
    /// and forgets it.
    pub(super) fn end(&mut self) -> Option<String> {
        self.close();
        self.chunk = Vec::new();
        self.unwritten = Vec::new();
        self.fault.take()
    }

    /// Gives a pseudo-terminal the size of our terminal. Returns true if the size changed.
    pub(super) fn copy_size(&self) -> bool {
        let is_terminal = |source: &&_| IsTerminal::is_terminal(*source);
        self.source
            .as_ref()
            .filter(is_terminal)
            .is_some_and(pty::copy_size)
    }

    /// Returns true while output may come or waits for the reader.
    pub(super) fn is_open(&self) -> bool {
        self.source.is_some() || self.has_unwritten()
    }

    /// Returns true if bytes that were read are not written yet, because they wait for the reader or for the end of
    /// their line. Kept bytes count while they are printed.
    pub(super) fn has_unwritten(&self) -> bool {
        !self.unwritten.is_empty() || self.is_spilling()
    }

    /// Returns true if part of a line was written because the reader had no room for the rest, and the other output
    /// goes to the same place.
    pub(super) fn is_within_line(&self) -> bool {
        self.is_within_line && self.has_unwritten()
    }

    fn sink(&self) -> &Sink {
        self.sink.get_or_init(|| Sink::new(self.fd))
    }

    /// Returns how many bytes may be written now. An unfinished line may have to wait for its end.
    fn writable(&self) -> usize {
        match self.unfinished_line() {
            Some(begin) if begin > 0 || now() < self.unwritten_since + LINE_GRACE => begin,
            _ => self.unwritten.len(),
        }
    }

    /// Returns where an unfinished line that must wait for its end begins in the unwritten bytes.
    fn unfinished_line(&self) -> Option<usize> {
        let may_be_finished = self.source.is_some() && self.unwritten.len() < CHUNK;
        if !self.by_lines || !may_be_finished {
            return None;
        }
        let end_before = memchr::memrchr(b'\n', &self.unwritten);
        Some(end_before.map_or(0, |end| end + 1))
    }

    /// Returns how long until a waiting unfinished line is written, if there is one.
    pub(super) fn wake_after(&self) -> Option<Duration> {
        let waits = !self.unwritten.is_empty() && self.writable() == 0;
        waits.then(|| (self.unwritten_since + LINE_GRACE).saturating_duration_since(now()))
    }

    /// Returns what to poll, which is the reader while bytes wait for it, or else the command's pipe. So no more is
    /// read until all is written, except to finish a line. Returns None if the output is inherited or has ended.
    pub(super) fn interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if self.writable() > 0 || self.is_spilling() {
            return Some((self.sink().fd(), PollFlags::POLLOUT));
        }
        self.source
            .as_ref()
            .map(|source| (source.as_fd(), PollFlags::POLLIN))
    }

    /// Reads the next chunk once [`Output::interest`] is ready, unless bytes wait for their reader. The chunk is kept,
    /// dropped, or left to [`Output::write`]. Returns it for examination, with at most `limit` bytes (1 or more), or
    /// none if nothing was read. While kept output is printed because no more can be kept, goes on with that instead.
    pub(super) fn read_next(&mut self, limit: usize) -> &[u8] {
        if self.is_spilling() {
            self.print();
            return &[];
        }
        // An unfinished line is written after `LINE_GRACE`, but its end may have arrived meanwhile.
        if self.writable() > 0 && self.unfinished_line() != Some(0) {
            return &[];
        }
        let count = self.read(limit);
        if count > 0 && self.keeps() {
            self.keep(count);
        } else if self.mode != OutputMode::Null {
            if self.unwritten.is_empty() {
                self.unwritten_since = now();
            }
            self.unwritten.extend_from_slice(&self.chunk[..count]);
        }
        &self.chunk[..count]
    }

    /// Reads the next chunk into `chunk`, at most `limit` bytes. Returns its length, or 0 if there is none now, at the
    /// end (`source` is then None), or after an error, which becomes the output's fault.
    fn read(&mut self, limit: usize) -> usize {
        let Some(source) = &self.source else { return 0 };
        match read_chunk(source.as_fd(), &mut self.chunk, limit) {
            Ok(Some(0)) => self.source = None,
            // The end of a pseudo-terminal.
            Err(Errno::EIO) if source.is_terminal() => self.source = None,
            Ok(count) => return count.unwrap_or(0),
            // This is not the end. Missing output must be reported.
            Err(errno) => self.fail(format!("cannot be read: {}", describe(errno))),
        }
        0
    }

    /// Writes as many of the bytes that were read as there is room for, without blocking. Returns how many, or 0 if
    /// there is no room or after an error, which is noted. Also notes the last byte, which tells whether a line is
    /// unfinished.
    pub(super) fn write(&mut self) -> usize {
        let end = self.writable();
        if end == 0 {
            return 0;
        }
        match self.sink().write(&self.unwritten[..end]) {
            Ok(count) => {
                self.last_written = self.unwritten[..count].last().copied();
                self.is_within_line =
                    self.by_lines && count < end && self.last_written != Some(b'\n');
                self.unwritten.drain(..count);
                self.unwritten_since = now();
                return count;
            }
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(Errno::EPIPE) => self.lose_reader(),
            // Messages that nobody can see are no reason to fail. The command would also go on.
            Err(_) if self.fd == stdio::ERR => {
                self.mode = OutputMode::Null;
                self.unwritten.clear();
                self.forget_kept();
            }
            Err(errno) => self.fail(describe(errno)),
        }
        0
    }

    /// Keeps the first `count` bytes of the chunk, which were just read. If no more can then be kept (disk and memory
    /// are full), kept output is printed from now on, and later output is forwarded. If the reader is gone, closes the
    /// output instead.
    fn keep(&mut self, count: usize) {
        // Without backoff, SIGPIPE would have killed the command. Kept output could fill the disk for nothing.
        if has_lost_its_reader(self.sink().fd()) {
            return self.lose_reader();
        }
        self.holds_output = true;
        // With `--stderr failure`, messages of backoff are kept in the same file and begin a new line there.
        if self.mode == OutputMode::Failure && self.fd == stdio::ERR {
            self.last_written = self.chunk[..count].last().copied();
        }
        self.kept.append(&self.chunk[..count]);
        if let Some(why) = &self.kept.full {
            self.why_not_kept.get_or_insert(why.clone());
            self.spills = true;
        }
    }

    /// Notes that the reader is gone, and closes the output. A pseudo-terminal remains open until the command is sent
    /// SIGPIPE.
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

    /// Drops kept output unless its mode wants it printed after this end of the run. Resets `reader_gone`.
    pub(crate) fn drop_unless_wanted(&mut self, end: EndOfRun) {
        // A reader that left was noted during attempts, and judged with them. Dropped output needs no reader. `print`
        // notes it again if the reader is still gone.
        self.reader_gone = false;
        let is_wanted = match self.mode {
            OutputMode::Final => true,
            OutputMode::Success => end == EndOfRun::Good,
            OutputMode::Failure => end == EndOfRun::Failed,
            OutputMode::Stream | OutputMode::Null => false,
        };
        if !is_wanted {
            self.forget_kept();
        }
    }

    /// Prints the next part of kept output, as far as the reader has room. Returns true if the caller must wait for
    /// room and call again, and false once all is printed or printing has failed (`fault`, `reader_gone`).
    pub(crate) fn print(&mut self) -> bool {
        if self.unwritten.is_empty() {
            // Read to the end of the spool, not only what backoff has appended, as hooks and predicates may have
            // written to its file.
            match self.kept.read_at(&mut self.chunk, self.printed..u64::MAX) {
                Ok(0) => return false,
                Ok(count) => {
                    self.unwritten.extend_from_slice(&self.chunk[..count]);
                    self.printed += count as u64;
                }
                Err(error) => {
                    self.fail(describe_error(&error));
                    return false;
                }
            }
        }
        self.write();
        !self.reader_gone && self.fault.is_none()
    }
}
