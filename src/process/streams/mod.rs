//! Streams of the command that backoff handles: created before an attempt, moved while it runs, settled at the end of
//! the run. All other streams are inherited.

mod observer;
pub(crate) mod output;
pub(crate) mod sink;
mod spool;
mod stdin;
mod tee;

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::poll::PollFlags;

use crate::policy::outcome::Seen;
use crate::process::spawn::ChildStdio;
use crate::process::sys::clock::time_of_day;
use crate::process::sys::{fd, stdio};
use crate::process::terminal::pty::Pty;
use crate::run::streams::{OutputMode, StreamOptions};
use crate::run::text::describe_error;
use observer::OutputObserver;
use output::Output;
use spool::Spool;
use stdin::Stdin;

/// Names of the outputs in messages.
pub(crate) const NAMES: [&str; 2] = ["standard output", "standard error"];

/// The streams of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    options: StreamOptions,
    input: Stdin,
    /// Why bytes of standard input could not be kept, perhaps before the first attempt.
    input_error: Option<String>,
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
        let input = Stdin::new(options.input, options.input_limit)?;
        let messages = match options.keep[1] {
            OutputMode::Failure => Messages::Kept,
            _ => Messages::Written,
        };
        Ok(Streams {
            input,
            input_error: None,
            outputs: [(stdio::OUT, 0), (stdio::ERR, 1)].map(|(fd, i)| Output::new(fd, options.keep[i], options.pty)),
            share_place: options.is_observed(0) && fd::is_same_file(stdio::OUT, stdio::ERR),
            is_in_line: false,
            pty: None,
            observer: OutputObserver::new(options),
            has_new_output: false,
            messages,
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
            let pty = Pty::open(self.input.is_inherited())?;
            self.outputs[0].begin(Some(pty.output()?));
            child.input = child.input.or(pty.child_input()?);
            child.outputs = [pty.child_output()?, pty.child_output()?];
            self.pty = Some(pty);
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
        let mut seen = Seen {
            input_lost: self.input.is_lost(),
            input_error: self.input_error.clone(),
            input_read_ahead: self.input.take_newly_read_ahead(),
            reader_gone: self.outputs.iter().any(|output| output.reader_gone),
            ..Seen::default()
        };
        self.observer.finish(time_of_day());
        self.observer.report(&mut seen);
        for (output, name) in self.outputs.iter_mut().zip(NAMES) {
            if let Some(why) = output.end() {
                self.fault.get_or_insert(format!("{name}: {why}"));
            }
        }
        self.take_fault().map_or(Ok(seen), Err)
    }

    /// Returns all observed output of the last attempt, for predicates.
    pub(crate) fn copy(&self) -> io::Result<Option<OwnedFd>> {
        self.observer.copy().map(Spool::to_file).transpose()
    }

    /// Returns the end of the observed output, for hooks.
    pub(crate) fn tail(&self) -> io::Result<Option<OwnedFd>> {
        self.observer.tail().map(spool::file_of).transpose()
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
            let output = &mut self.outputs[1];
            let end = if output.keeps_part_of_a_line() { "\n" } else { "" };
            let kept = output.kept.append(format!("{end}{lines}").as_bytes());
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
        std::mem::take(&mut self.is_in_line)
    }
}

/// While an attempt runs.
impl Streams {
    /// Returns descriptors and events to poll. Empty between attempts.
    pub(crate) fn interests(&self) -> Vec<(Stream, BorrowedFd<'_>, PollFlags)> {
        let typed = || self.pty.as_ref()?.interest();
        let input = self
            .input
            .interest()
            .or_else(typed)
            .map(|interest| (Stream::Input, interest));
        let output = |i: usize| Some((Stream::Output(i), self.outputs[i].interest()?));
        let all = [input, output(0), output(1)].into_iter().flatten();
        all.map(|(stream, (fd, events))| (stream, fd, events)).collect()
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
        let mut taken_in = Ok(());
        if !bytes.is_empty() {
            self.has_new_output = true;
            taken_in = self.observer.take_in(i, bytes, time_of_day());
        }
        if output.is_broken()
            && let Some(pty) = &mut self.pty
        {
            pty.hang_up();
        }
        self.note_written(i);
        if let Err(error) = taken_in {
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

    /// Input that could not be kept makes a failure permanent; other errors end the run.
    fn on_input(&mut self, done: io::Result<()>) {
        let Err(error) = done else { return };
        if self.input.is_lost() {
            self.input_error.get_or_insert_with(|| error.to_string());
        } else {
            self.fail(format!("standard input: {}", describe_error(&error)));
        }
    }

    /// Reads no more output: the command ends by SIGPIPE or by itself.
    fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
        self.outputs.iter_mut().for_each(Output::close);
        if let Some(pty) = &mut self.pty {
            pty.hang_up();
        }
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
        std::mem::take(&mut self.has_new_output)
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
