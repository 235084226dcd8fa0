//! Where an output of the command goes: passed on as it comes, kept for later, or nowhere.

use std::cell::{Cell, OnceCell};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};

use nix::errno::Errno;

use super::sink::Sink;
use super::spool::Spool;
use crate::run::streams::OutputMode;
use crate::run::text::describe;

/// The destination of one output; lives for the whole run.
#[derive(Debug)]
pub(crate) struct OutputDestination {
    mode: OutputMode,
    fd: RawFd,
    /// Opened when it is first needed.
    sink: OnceCell<Sink>,
    kept: Spool,
    /// The last byte that was written, until somebody asks.
    last_written: Cell<Option<u8>>,
    /// What is kept ends in the middle of a line.
    keeps_part_of_a_line: bool,
    /// Not only lines of backoff's own are kept.
    holds_output: bool,
    /// Why nothing more can be written or kept.
    broken: Option<Broken>,
}

/// Why an output cannot go where it should.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Nobody reads it any more.
    ReaderGone,
    /// What a person should read.
    Fault(String),
}

impl OutputDestination {
    /// For descriptor 1 or 2.
    pub(super) fn new(fd: RawFd, mode: OutputMode) -> OutputDestination {
        OutputDestination {
            mode,
            fd,
            sink: OnceCell::new(),
            kept: Spool::default(),
            last_written: Cell::new(None),
            keeps_part_of_a_line: false,
            holds_output: false,
            broken: None,
        }
    }

    pub(super) fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    pub(super) fn is_passed_on(&self) -> bool {
        self.mode == OutputMode::Stream
    }

    /// Before an attempt: what is kept of the one before is not the last one's any more.
    pub(super) fn begin(&mut self) {
        if self.mode != OutputMode::Failure {
            self.kept.clear();
            self.keeps_part_of_a_line = false;
        }
    }

    /// The run is over: what is not to be printed is forgotten.
    pub(super) fn settle(&mut self, succeeded: bool) {
        let prints = match self.mode {
            OutputMode::Final => true,
            OutputMode::Success => succeeded,
            OutputMode::Failure => !succeeded,
            OutputMode::Stream | OutputMode::Null => false,
        };
        if !prints {
            self.kept.clear();
        }
    }

    /// Forgets what was kept.
    pub(crate) fn clear(&mut self) {
        self.kept.clear();
    }

    /// Whether anything is kept.
    pub(crate) fn has_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Whether that is output of the command, whose loss is a failure.
    pub(crate) fn holds_output(&self) -> bool {
        self.holds_output
    }

    /// Reads what is kept; 0 at its end.
    pub(super) fn read_kept(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.kept.read_at(buffer, offset)
    }

    /// What to poll for room.
    pub(crate) fn sink_fd(&self) -> BorrowedFd<'_> {
        self.sink().fd()
    }

    fn sink(&self) -> &Sink {
        self.sink.get_or_init(|| Sink::new(self.fd))
    }

    /// Writes some of this; how much.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        self.try_write(bytes).unwrap_or_else(|broken| {
            self.broken = Some(broken);
            0
        })
    }

    pub(super) fn try_write(&self, bytes: &[u8]) -> Result<usize, Broken> {
        match self.sink().write(bytes) {
            Ok(count) => {
                if let Some(last) = bytes[..count].last() {
                    self.last_written.set(Some(*last));
                }
                Ok(count)
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(0),
            Err(Errno::EPIPE) => Err(Broken::ReaderGone),
            Err(errno) => Err(Broken::Fault(describe(errno))),
        }
    }

    /// Whether what was written since this was last asked ends in the middle of a line; None if nothing was.
    pub(super) fn take_is_in_line(&self) -> Option<bool> {
        self.last_written.take().map(|last| last != b'\n')
    }

    /// Keeps this, if it is to be kept.
    pub(super) fn keep(&mut self, bytes: &[u8]) {
        if matches!(self.mode, OutputMode::Stream | OutputMode::Null) {
            return;
        }
        // The command would have noticed; without this it could fill the disk for nobody.
        if self.sink().has_lost_its_reader() {
            self.broken = Some(Broken::ReaderGone);
            return;
        }
        self.keeps_part_of_a_line = bytes.last().is_some_and(|last| *last != b'\n');
        if let Err(error) = self.kept.append(bytes) {
            self.broken = Some(Broken::Fault(cannot_be_kept(&error)));
        }
        self.holds_output = true;
    }

    /// Keeps what backoff or its hooks say among what the command does. The error is what a person should read.
    pub(super) fn keep_own(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.keeps_part_of_a_line = bytes.last().is_some_and(|last| *last != b'\n');
        self.kept.append(bytes).map_err(|error| cannot_be_kept(&error))
    }

    /// A line of backoff's own comes next: one that the command has not ended is ended.
    pub(super) fn end_kept_line(&mut self) -> Result<(), String> {
        match self.keeps_part_of_a_line {
            true => self.keep_own(b"\n"),
            false => Ok(()),
        }
    }

    /// It cannot be taken from the command.
    pub(super) fn fail_to_read(&mut self, errno: Errno) {
        self.broken = Some(Broken::Fault(format!("cannot be read: {}", describe(errno))));
    }
}

fn cannot_be_kept(error: &io::Error) -> String {
    format!("cannot be kept in {error}")
}
