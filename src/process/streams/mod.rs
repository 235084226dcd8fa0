//! Streams of the command that backoff handles: created before an attempt, moved while it runs, settled at the end of
//! the run. All other streams are inherited.

mod observer;
pub(crate) mod output;
pub(crate) mod sink;
mod spool;
mod stdin;
mod tee;
mod turns;

use std::io;
use std::iter::once;
use std::mem::take;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::poll::PollFlags;

use crate::policy::outcome::Seen;
use crate::process::spawn::ChildStdio;
use crate::process::sys::clock::now;
use crate::process::sys::{fd, stdio};
use crate::process::terminal::pty::Pty;
use crate::run::streams::{OutputMode, StreamOptions};
use observer::OutputObserver;
use output::Output;
use spool::Spool;
use stdin::Stdin;
use turns::Turns;

/// Names of the outputs in messages.
pub(crate) const NAMES: [&str; 2] = ["standard output", "standard error"];

/// The streams of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    options: StreamOptions,
    pub(crate) input: Stdin,
    pub(crate) outputs: [Output; 2],
    /// Standard output, if backoff handles it, goes to the file of standard error.
    is_same_file: bool,
    /// The turns of both outputs, if they are streamed to the same file.
    turns: Option<Turns>,
    /// The last output to the file of standard error ends within a line.
    pub(crate) is_mid_line: bool,
    /// Messages with `--stderr failure` are dropped, as the run has succeeded.
    drops_messages: bool,
    /// The terminal of the running attempt (`--pty`); `outputs[0]` reads its output.
    pub(crate) pty: Option<Pty>,
    /// Bytes that were typed for `pty` while the last attempt ended.
    typed_late: Vec<u8>,
    /// Observes the running attempt, or has observed the last one.
    pub(crate) observer: OutputObserver,
}

/// A stream that backoff moves: typed or replayed input, or an output (0 is standard output, 1 standard error).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Input,
    Output(usize),
}

/// Before and after an attempt.
impl Streams {
    /// Prepares the streams of a run, before an attempt moves the offset of standard input.
    pub(crate) fn new(options: &StreamOptions) -> io::Result<Streams> {
        let mut outputs =
            [(stdio::OUT, 0), (stdio::ERR, 1)].map(|(fd, i)| Output::new(fd, options.outputs[i]));
        if options.outputs[1] == OutputMode::Failure {
            // A file from the start, as predicates and hooks write to it, too.
            outputs[1].kept = Spool::shared();
        }
        Ok(Streams {
            input: Stdin::new(fd::inherited(stdio::IN), options.input, options.input_limit)?,
            is_same_file: options.is_observed(0) && fd::is_same_file(stdio::OUT, stdio::ERR),
            turns: None,
            is_mid_line: false,
            drops_messages: false,
            pty: None,
            typed_late: Vec::new(),
            observer: OutputObserver::new(options),
            outputs,
            options: options.clone(),
        })
    }

    /// Creates the streams of an attempt.
    pub(crate) fn begin(&mut self) -> io::Result<ChildStdio> {
        self.turns = self.are_streamed_to_one_file().then(Turns::default);
        self.observer = OutputObserver::new(&self.options);
        let mut child = ChildStdio {
            input: self.input.begin()?,
            outputs: [None, None],
        };
        if self.options.pty {
            // Input can be typed if nothing replaces the caller's.
            let typed_before = take(&mut self.typed_late);
            let (pty, both_outputs, terminal) = Pty::open(self.input.is_inherited(), typed_before)?;
            self.pty = Some(pty);
            self.outputs[0].begin(Some(both_outputs));
            child.input = child.input.or(terminal.input);
            child.outputs = terminal.outputs;
            return Ok(child);
        }
        for (i, output) in self.outputs.iter_mut().enumerate() {
            let mut source = None;
            if self.options.is_observed(i) {
                let (read, write) = fd::pipe()?;
                fd::set_nonblocking(&read)?;
                (source, child.outputs[i]) = (Some(read), Some(write));
            } else if self.options.outputs[i] == OutputMode::Null {
                child.outputs[i] = Some(fd::null()?);
            }
            output.begin(source);
        }
        Ok(child)
    }

    fn are_streamed_to_one_file(&self) -> bool {
        let is_streamed =
            |i| self.options.is_observed(i) && self.options.outputs[i] == OutputMode::Stream;
        self.is_same_file && !self.options.pty && is_streamed(0) && is_streamed(1)
    }

    /// Ends the attempt. Returns observations of its streams, or an error.
    pub(crate) fn end(&mut self) -> Result<Seen, String> {
        // Restores our terminal's modes.
        self.typed_late = self
            .pty
            .take()
            .map(|mut pty| take(&mut pty.typed_late))
            .unwrap_or_default();
        self.input.end();
        let (matched, wait_asked) = self.observer.finish();
        let seen = Seen {
            matched,
            wait_asked,
            input_lost: self.input.kept.is_incomplete,
            input_error: self.input.kept.error.clone(),
            input_read_ahead: take(&mut self.input.newly_read_ahead),
            // As for a command that is not observed, a reader of standard error that is gone does not matter.
            reader_gone: self.outputs[0].reader_gone,
            not_kept: self.not_kept(),
            // Set by the caller.
            unread: false,
        };
        let input = ("standard input", self.input.fault.take());
        let outputs = NAMES
            .into_iter()
            .zip(self.outputs.each_mut().map(Output::end));
        let mut faults = once(input).chain(outputs);
        let first_fault = faults.find_map(|(name, fault)| Some((name, fault?)));
        first_fault.map_or(Ok(seen), |(name, why)| Err(format!("{name}: {why}")))
    }

    /// Returns the output that could not be kept, and why.
    fn not_kept(&mut self) -> Option<String> {
        let outputs = NAMES.into_iter().zip(&mut self.outputs);
        let not_kept = outputs.filter_map(|(name, output)| {
            let why = output.full.take()?;
            Some(format!("{name} cannot be kept: {why}"))
        });
        not_kept.reduce(|all, one| format!("{all}; {one}"))
    }

    /// Forgets kept output once it was printed, so that later messages are written directly.
    pub(crate) fn forget_kept_output(&mut self) {
        for output in &mut self.outputs {
            output.close();
            output.begin_to_forward();
        }
        // The printed output may end within a line.
        self.note_written(0);
        self.note_written(1);
    }

    /// Drops later messages with `--stderr failure`, as the run has succeeded.
    pub(crate) fn drop_later_messages(&mut self) {
        self.drops_messages = self.options.outputs[1] == OutputMode::Failure;
    }

    /// Returns true if messages and the output of hooks are held back with standard error.
    fn holds_messages(&self) -> bool {
        self.options.outputs[1] == OutputMode::Failure && self.outputs[1].keeps()
    }

    /// Holds back or drops lines of backoff. Returns false if they have to be printed now.
    pub(crate) fn keep_message(&mut self, lines: &str) -> bool {
        if self.drops_messages {
            return true;
        }
        let holds = self.holds_messages();
        if holds {
            self.outputs[1].kept.append(lines.as_bytes());
        }
        holds
    }

    /// Returns the file that holds standard error back, for hooks, if any.
    pub(crate) fn held_stderr(&self) -> io::Result<Option<OwnedFd>> {
        if self.drops_messages {
            return fd::null().map(Some);
        }
        if !self.holds_messages() {
            return Ok(None);
        }
        let file = self.outputs[1].kept.shared_file();
        file.map(|file| file.as_fd().try_clone_to_owned())
            .transpose()
    }
}

/// While an attempt runs.
impl Streams {
    /// Returns descriptors and events to poll. Empty between attempts.
    pub(crate) fn interests(&self) -> Vec<(Stream, BorrowedFd<'_>, PollFlags)> {
        let typed = || self.pty.as_ref()?.interest();
        let all = [
            (Stream::Input, self.input.interest().or_else(typed)),
            (Stream::Output(0), self.output_interest(0)),
            (Stream::Output(1), self.output_interest(1)),
        ];
        let all = all.into_iter();
        all.filter_map(|(stream, interest)| interest.map(|(fd, events)| (stream, fd, events)))
            .collect()
    }

    /// Returns None for an output that waits for its turn.
    fn output_interest(&self, i: usize) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let waits = self
            .turns
            .as_ref()
            .is_some_and(|turns| turns.has_to_wait(i));
        if waits && self.outputs[i].has_unwritten() {
            return None;
        }
        self.outputs[i].interest()
    }

    /// Returns the time after which to call [`Streams::work`] even if `poll` reports nothing, if any.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        let of_input = self.input.wake_after();
        let of_pty = self.pty.as_ref().and_then(Pty::wake_after);
        let of_turns = self.turns.as_ref().and_then(|turns| turns.left(now()));
        [of_input, of_pty, of_turns].into_iter().flatten().min()
    }

    /// Moves data of ready streams. Returns true if output was moved.
    pub(crate) fn work(&mut self, ready: &[Stream]) -> bool {
        let is_input_ready = ready.contains(&Stream::Input);
        // If `wake_after` returns a delay, no event reports that the command has read its input.
        if is_input_ready || self.input.wake_after().is_some() {
            self.input.fill_pipe();
        }
        if let Some(pty) = &mut self.pty {
            pty.work(is_input_ready);
        }
        let is_ready = [0, 1].map(|i| ready.contains(&Stream::Output(i)));
        let mut has_moved = false;
        for i in 0..2 {
            has_moved |= is_ready[i] && self.outputs[i].has_unwritten();
            has_moved |= is_ready[i] && self.read_output(i, is_ready[1 - i]);
        }
        if self.turns.is_some() {
            return self.write_in_turns() || has_moved;
        }
        for (i, is_ready) in is_ready.into_iter().enumerate() {
            if is_ready && self.outputs[i].has_unwritten() {
                self.outputs[i].write();
                self.after_write(i);
            }
        }
        has_moved
    }

    /// Reads and examines the next chunk of an output, a small one if both outputs have data and take turns. Returns
    /// true if there was one.
    fn read_output(&mut self, i: usize, is_other_ready: bool) -> bool {
        let mut limit = self.observer.read_limit(i);
        if self.turns.is_some() && is_other_ready {
            limit = limit.min(turns::CHUNK);
        }
        let new_bytes = self.outputs[i].read_next(limit);
        let has_read = !new_bytes.is_empty();
        self.observer.observe(i, new_bytes);
        self.after_write(i);
        has_read
    }

    /// Forwards both outputs line by line. Returns true if something was written.
    fn write_in_turns(&mut self) -> bool {
        let mut has_moved = false;
        loop {
            let waiting = [0, 1].map(|i| self.outputs[i].has_unwritten());
            let may_go_on = [0, 1].map(|i| self.outputs[i].has_source());
            let Some(turns) = &mut self.turns else {
                return has_moved;
            };
            let Some(i) = turns.next(waiting, may_go_on, now()) else {
                return has_moved;
            };
            let written = match waiting[1 - i] {
                true => self.outputs[i].write_line(),
                false => self.outputs[i].write(),
            };
            let last = self.outputs[i].last_written;
            if let (Some(turns), Some(last)) = (&mut self.turns, last) {
                turns.on_written(i, last);
            }
            self.after_write(i);
            if written == 0 {
                return has_moved;
            }
            has_moved = true;
        }
    }

    /// Hangs up a pseudo-terminal whose output cannot be written, and notes whether a line is unfinished.
    fn after_write(&mut self, i: usize) {
        if self.outputs[i].is_broken() {
            self.pty.iter_mut().for_each(Pty::hang_up);
        }
        self.note_written(i);
    }

    /// Updates `is_mid_line` if something was written to the place where messages of backoff go.
    fn note_written(&mut self, i: usize) {
        let holds_messages = self.holds_messages();
        if let Some(last) = self.outputs[i].last_written.take()
            && (i == 1 || self.is_same_file && !holds_messages)
        {
            self.is_mid_line = last != b'\n';
        }
    }

    /// Returns true if the attempt's own terminal was hung up because its output has no reader.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.options.pty && self.outputs[0].reader_gone
    }

    /// Returns true if output may still come, or waits for its reader.
    pub(crate) fn is_open(&self) -> bool {
        self.outputs.iter().any(Output::is_open)
    }

    /// Returns true if output was read and waits for its reader.
    pub(crate) fn has_pending_output(&self) -> bool {
        self.outputs.iter().any(Output::has_unwritten)
    }
}
