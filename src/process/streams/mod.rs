//! Streams of the command that backoff handles: created before an attempt, moved while it runs, settled at the end of
//! the run. All other streams are inherited.

mod observer;
pub(crate) mod output;
pub(crate) mod sink;
mod spool;
mod stdin;
mod tee;

use std::io;
use std::mem::take;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::poll::PollFlags;

use crate::policy::outcome::Seen;
use crate::process::spawn::ChildStdio;
use crate::process::sys::{fd, stdio};
use crate::process::terminal::pty::Pty;
use crate::run::streams::{OutputMode, StreamOptions};
use crate::run::text::describe_error;
use observer::OutputObserver;
use output::Output;
use stdin::Stdin;

/// Names of the outputs in messages.
pub(crate) const NAMES: [&str; 2] = ["standard output", "standard error"];

/// The streams of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    options: StreamOptions,
    input: Stdin,
    outputs: [Output; 2],
    /// Standard output and standard error go to the same file.
    share_place: bool,
    /// The last output to the file of standard error ends within a line.
    is_in_line: bool,
    /// The terminal of the running attempt (`--pty`); `outputs[0]` reads its output.
    pty: Option<Pty>,
    /// Observes the running attempt, or has observed the last one.
    observer: OutputObserver,
    has_new_output: bool,
    messages: Messages,
    fault: Option<String>,
}

/// A stream that backoff moves: typed or replayed input, or an output (0 is standard output, 1 standard error).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Input,
    Output(usize),
}

/// Destination of messages of backoff and its hooks for standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Messages {
    /// Standard error.
    Written,
    /// Kept standard error (`--stderr failure`).
    Kept,
    /// None, as the run has succeeded.
    Dropped,
}

/// Returns the message for output that a predicate needs and that cannot be kept.
pub(crate) fn cannot_keep(error: &io::Error) -> String {
    format!("cannot keep the output for --retry-if or --success-if: {error}")
}

/// Before and after an attempt.
impl Streams {
    /// Inspects the caller's streams.
    pub(crate) fn new(options: &StreamOptions) -> io::Result<Streams> {
        Ok(Streams {
            input: Stdin::new(fd::inherited(stdio::IN), options.input, options.input_limit)?,
            outputs: [(stdio::OUT, 0), (stdio::ERR, 1)].map(|(fd, i)| Output::new(fd, options.keep[i], options.pty)),
            share_place: options.is_observed(0) && fd::is_same_file(stdio::OUT, stdio::ERR),
            is_in_line: false,
            pty: None,
            observer: OutputObserver::new(options),
            has_new_output: false,
            messages: match options.keep[1] {
                OutputMode::Failure => Messages::Kept,
                _ => Messages::Written,
            },
            fault: None,
            options: options.clone(),
        })
    }

    /// Returns true if standard input has to be read to its end before the first attempt.
    pub(crate) fn needs_filling(&self) -> bool {
        self.input.needs_filling()
    }

    /// Creates the streams of an attempt.
    pub(crate) fn begin(&mut self) -> io::Result<ChildStdio> {
        self.observer = OutputObserver::new(&self.options);
        let mut child = ChildStdio {
            input: self.input.begin()?,
            outputs: [None, None],
        };
        if self.options.pty {
            let pty = self.pty.insert(Pty::open(self.input.is_inherited())?);
            self.outputs[0].begin(Some(pty.output()?));
            child.input = child.input.or(pty.child_input()?);
            child.outputs = [pty.child_output()?, pty.child_output()?];
            return Ok(child);
        }
        for (i, output) in self.outputs.iter_mut().enumerate() {
            let mut source = None;
            if self.options.is_observed(i) {
                let (read, write) = fd::pipe()?;
                fd::set_nonblocking(&read)?;
                (source, child.outputs[i]) = (Some(read), Some(write));
            } else if self.options.keep[i] == OutputMode::Null {
                child.outputs[i] = Some(fd::null()?);
            }
            output.begin(source);
        }
        Ok(child)
    }

    /// Ends the attempt. Returns observations of its streams, or an error.
    pub(crate) fn end(&mut self) -> Result<Seen, String> {
        // Restores our terminal's modes.
        self.pty = None;
        let input_ended = self.input.end();
        self.on_input(input_ended);
        let (matched, wait_asked) = self.observer.finish();
        let seen = Seen {
            matched,
            wait_asked,
            input_lost: self.input.kept.is_lost,
            input_error: self.input.kept.error.clone(),
            input_read_ahead: take(&mut self.input.newly_read_ahead),
            reader_gone: self.outputs.iter().any(|output| output.reader_gone),
            unread: false,
        };
        for (output, name) in self.outputs.iter_mut().zip(NAMES) {
            if let Some(why) = output.end() {
                self.fault.get_or_insert(format!("{name}: {why}"));
            }
        }
        self.fault.take().map_or(Ok(seen), Err)
    }

    /// Returns all observed output of the last attempt, for predicates.
    pub(crate) fn copy(&self) -> io::Result<Option<OwnedFd>> {
        self.observer.copy()
    }

    /// Returns the end of the observed output, for hooks.
    pub(crate) fn tail(&self) -> io::Result<Option<OwnedFd>> {
        self.observer.tail()
    }

    /// Reduces kept output to what has to be printed at the end of the run.
    pub(crate) fn settle(&mut self, succeeded: bool) {
        self.outputs.iter_mut().for_each(|output| output.settle(succeeded));
    }

    pub(crate) fn output(&mut self, i: usize) -> &mut Output {
        &mut self.outputs[i]
    }

    /// Writes later messages directly, as the run is over and kept output was printed.
    pub(crate) fn release_messages(&mut self) {
        for i in 0..2 {
            self.outputs[i].close();
            self.outputs[i].kept.clear();
            self.note_written(i);
        }
        self.messages = Messages::Written;
    }

    /// Drops held messages, as the run has succeeded.
    pub(crate) fn discard_held_messages(&mut self) {
        if self.options.keep[1] == OutputMode::Failure {
            self.messages = Messages::Dropped;
        }
    }

    /// Keeps or drops lines for standard error if messages are held. Returns false if the caller has to write them.
    pub(crate) fn hold(&mut self, lines: &str) -> Result<bool, String> {
        if self.messages == Messages::Kept {
            let kept = self.outputs[1].keep_lines(lines);
            kept.map_err(|error| format!("{}: cannot be kept in {error}", NAMES[1]))?;
        }
        Ok(self.messages != Messages::Written)
    }

    /// Returns standard error for hooks and predicates if messages are held.
    pub(crate) fn held_stderr(&mut self) -> io::Result<Option<OwnedFd>> {
        match self.messages {
            Messages::Written => Ok(None),
            Messages::Kept => self.outputs[1].kept.for_child().map(Some),
            Messages::Dropped => fd::null().map(Some),
        }
    }

    /// Returns true once if the command has left an unfinished line in the file of standard error.
    pub(crate) fn take_is_in_line(&mut self) -> bool {
        take(&mut self.is_in_line)
    }
}

/// While an attempt runs.
impl Streams {
    /// Returns descriptors and events to poll. Empty between attempts.
    pub(crate) fn interests(&self) -> Vec<(Stream, BorrowedFd<'_>, PollFlags)> {
        let typed = || self.pty.as_ref()?.interest();
        let all = [
            (Stream::Input, self.input.interest().or_else(typed)),
            (Stream::Output(0), self.outputs[0].interest()),
            (Stream::Output(1), self.outputs[1].interest()),
        ];
        let all = all.into_iter();
        all.filter_map(|(stream, interest)| interest.map(|(fd, events)| (stream, fd, events)))
            .collect()
    }

    /// Returns the time until the next call of [`Streams::work`] even if `poll` reports nothing.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        let typed = || self.pty.as_ref()?.wake_after();
        self.input.wake_after().or_else(typed)
    }

    /// Moves data of ready streams.
    pub(crate) fn work(&mut self, ready: &[Stream]) {
        let has_input = ready.contains(&Stream::Input);
        if has_input || self.input.wake_after().is_some() {
            let worked = self.input.work();
            self.on_input(worked);
        }
        if let Some(pty) = &mut self.pty {
            pty.work(has_input);
        }
        for stream in ready {
            if let Stream::Output(i) = stream {
                self.move_output(*i);
            }
        }
    }

    fn move_output(&mut self, i: usize) {
        let output = &mut self.outputs[i];
        let bytes = output.work(self.observer.most(i));
        self.has_new_output |= !bytes.is_empty();
        let observed = self.observer.take_in(i, bytes);
        if output.is_broken() {
            self.pty.iter_mut().for_each(Pty::hang_up);
        }
        self.note_written(i);
        if let Err(error) = observed {
            self.fail(cannot_keep(&error));
        }
    }

    fn note_written(&mut self, i: usize) {
        if let Some(last) = self.outputs[i].last_written.take()
            && (i == 1 || self.share_place)
        {
            self.is_in_line = last != b'\n';
        }
    }

    /// Limits the time spent on searching the remaining output.
    pub(crate) fn limit_search(&mut self, limit: Duration) {
        self.observer.limit_search(limit);
    }

    fn on_input(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            self.fail(format!("standard input: {}", describe_error(&error)));
        }
    }

    /// Reads no more output: the command ends by SIGPIPE or by itself.
    fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
        self.outputs.iter_mut().for_each(Output::close);
        self.pty.iter_mut().for_each(Pty::hang_up);
    }

    /// Returns the attempt's own terminal, if it has one.
    pub(crate) fn pty(&mut self) -> Option<&mut Pty> {
        self.pty.as_mut()
    }

    pub(crate) fn has_pty(&self) -> bool {
        self.pty.is_some()
    }

    /// Returns true if the attempt's own terminal was hung up because its output has no reader.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.options.pty && self.outputs[0].reader_gone
    }

    /// Returns true if the attempt must be ended, as it may wait for input that will not come.
    pub(crate) fn is_stalled(&self) -> bool {
        self.input.is_stalled()
    }

    /// Returns an error that occurred since the last call.
    pub(crate) fn take_fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Returns true if output has come since the last call.
    pub(crate) fn take_new_output(&mut self) -> bool {
        take(&mut self.has_new_output)
    }

    /// Returns true if output may still come, or waits for its reader.
    pub(crate) fn is_open(&self) -> bool {
        self.outputs.iter().any(Output::is_open)
    }

    /// Returns true if output was read and waits for its reader.
    pub(crate) fn has_pending_output(&self) -> bool {
        self.outputs.iter().any(Output::is_unread)
    }
}
