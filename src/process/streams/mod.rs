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
use std::mem::take;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::poll::PollFlags;

use crate::policy::outcome::Seen;
use crate::process::spawn::ChildStdio;
use crate::process::spawn::child::Child;
use crate::process::sys::clock::now;
use crate::process::sys::{fd, stdio};
use crate::process::terminal::pty::Pty;
use crate::run::host::KeptOutput;
use crate::run::streams::{Channel, OutputMode, PerChannel, StreamOptions};
use observer::OutputObserver;
use output::Output;
use spool::Spool;
use stdin::Stdin;
use turns::Turns;

/// The streams of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    options: StreamOptions,
    pub(crate) input: Stdin,
    pub(crate) outputs: PerChannel<Output>,
    /// Standard output, if backoff handles it, goes to the file of standard error.
    is_same_file: bool,
    /// The turns of both outputs, if they are streamed to the same file.
    turns: Option<Turns>,
    /// The last output to the file of standard error ends within a line.
    pub(crate) is_mid_line: bool,
    /// Messages with `--stderr failure` are dropped, as the run has succeeded.
    drops_messages: bool,
    /// The terminal of the running attempt (`--pty`); `outputs.stdout` reads its output.
    pub(crate) pty: Option<Pty>,
    /// Bytes that were typed for `pty` while the last attempt ended.
    typed_late: Vec<u8>,
    /// Readable once the program has started or could not be started: input is moved only for a program that runs.
    starting: Option<OwnedFd>,
    /// The program could not be started, so its input stays where it is.
    holds_input: bool,
    /// Observes the running attempt, or has observed the last one.
    pub(crate) observer: OutputObserver,
}

/// A stream that backoff moves: typed or replayed input, or an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The start of the program.
    Start,
    Input,
    Output(Channel),
}

/// Before and after an attempt.
impl Streams {
    /// Prepares the streams of a run, before an attempt moves the offset of standard input.
    pub(crate) fn new(options: &StreamOptions) -> io::Result<Streams> {
        let mut outputs = PerChannel {
            stdout: Output::new(stdio::OUT, options.modes[Channel::Stdout]),
            stderr: Output::new(stdio::ERR, options.modes[Channel::Stderr]),
        };
        if options.modes[Channel::Stderr] == OutputMode::Failure {
            // A file from the start, as predicates and hooks write to it, too.
            outputs.stderr.kept = Spool::shared();
        }
        Ok(Streams {
            input: Stdin::new(fd::inherited(stdio::IN), options.input, options.input_limit)?,
            is_same_file: options.is_observed(Channel::Stdout)
                && fd::is_same_file(stdio::OUT, stdio::ERR),
            turns: None,
            is_mid_line: false,
            drops_messages: false,
            pty: None,
            typed_late: Vec::new(),
            starting: None,
            holds_input: false,
            observer: OutputObserver::new(options),
            outputs,
            options: options.clone(),
        })
    }

    /// Creates the streams of an attempt.
    pub(crate) fn begin(&mut self) -> io::Result<ChildStdio> {
        self.turns = self.are_streamed_to_one_file().then(Turns::default);
        self.holds_input = false;
        self.observer = OutputObserver::new(&self.options);
        let input = self.input.begin()?;
        if self.options.pty {
            return self.begin_on_pty(input);
        }
        let output = self.begin_output(Channel::Stdout)?;
        let error = self.begin_output(Channel::Stderr)?;
        Ok(ChildStdio {
            input,
            output,
            error,
        })
    }

    /// Returns true if both outputs are streamed to the same file, so that lines have to be kept apart.
    fn are_streamed_to_one_file(&self) -> bool {
        self.is_same_file
            && !self.options.pty
            && self.is_streamed(Channel::Stdout)
            && self.is_streamed(Channel::Stderr)
    }

    fn is_streamed(&self, channel: Channel) -> bool {
        self.options.is_observed(channel) && self.options.modes[channel] == OutputMode::Stream
    }

    /// Opens the terminal of an attempt. `input` replaces the caller's, if given.
    fn begin_on_pty(&mut self, input: Option<OwnedFd>) -> io::Result<ChildStdio> {
        // Input can be typed if nothing replaces the caller's.
        let typed_before = take(&mut self.typed_late);
        let opened = Pty::open(self.input.is_inherited(), typed_before)?;
        self.pty = Some(opened.pty);
        self.outputs.stdout.begin(Some(opened.output));
        let mut child = opened.child;
        if input.is_some() {
            child.input = input;
        }
        Ok(child)
    }

    /// Begins to read an output, if backoff must see it. Returns the command's end; None if the output is inherited.
    fn begin_output(&mut self, channel: Channel) -> io::Result<Option<OwnedFd>> {
        let output = &mut self.outputs[channel];
        if self.options.is_observed(channel) {
            let (read, write) = fd::pipe()?;
            fd::set_nonblocking(&read)?;
            output.begin(Some(read));
            return Ok(Some(write));
        }
        output.begin(None);
        if self.options.modes[channel] == OutputMode::Null {
            return fd::null().map(Some);
        }
        Ok(None)
    }

    /// Ends the attempt. Returns observations of its streams, or an error.
    pub(crate) fn end(&mut self) -> Result<Seen, String> {
        if self.pty.is_some() {
            // Before the command's terminal, whose last close may wait for the reader of its output.
            self.outputs.stdout.close();
        }
        // Restores our terminal's modes.
        self.typed_late = match self.pty.take() {
            Some(mut pty) => take(&mut pty.typed_late),
            None => Vec::new(),
        };
        self.input.end();
        self.starting = None;
        let found = self.observer.finish();
        let seen = Seen {
            matched: found.matched,
            wait_asked: found.wait_asked,
            input_lost: self.input.kept.is_incomplete,
            input_error: self.input.kept.error.clone(),
            input_read_ahead: take(&mut self.input.newly_read_ahead),
            // As for a command that is not observed, a reader of standard error that is gone does not matter.
            reader_gone: self.outputs.stdout.reader_gone,
            not_kept: self.not_kept(),
            // Set by the caller.
            unread: false,
        };
        match self.take_first_fault() {
            Some(fault) => Err(fault),
            None => Ok(seen),
        }
    }

    /// Ends both outputs. Returns the first error of a stream, if any.
    fn take_first_fault(&mut self) -> Option<String> {
        let of_input = self.input.fault.take();
        let of_stdout = self.outputs.stdout.end();
        let of_stderr = self.outputs.stderr.end();
        if let Some(why) = of_input {
            return Some(format!("standard input: {why}"));
        }
        if let Some(why) = of_stdout {
            return Some(format!("{}: {why}", Channel::Stdout));
        }
        of_stderr.map(|why| format!("{}: {why}", Channel::Stderr))
    }

    /// Returns the outputs that could not be kept, and why.
    fn not_kept(&mut self) -> Option<String> {
        let mut not_kept = Vec::new();
        for channel in Channel::ALL {
            if let Some(why) = self.outputs[channel].full.take() {
                not_kept.push(format!("{channel} cannot be kept: {why}"));
            }
        }
        if not_kept.is_empty() {
            return None;
        }
        Some(not_kept.join("; "))
    }

    /// Drops kept output unless it has to be printed at the end of the run.
    pub(crate) fn drop_unless_wanted(&mut self, kept: KeptOutput) {
        self.outputs.stdout.drop_unless_wanted(kept);
        self.outputs.stderr.drop_unless_wanted(kept);
    }

    /// Forgets kept output once it was printed, so that later messages are written directly.
    pub(crate) fn forget_kept_output(&mut self) {
        for channel in Channel::ALL {
            self.outputs[channel].close();
            self.outputs[channel].begin_to_forward();
            // The printed output may end within a line.
            self.note_written(channel);
        }
    }

    /// Drops later messages with `--stderr failure`, as the run has succeeded.
    pub(crate) fn drop_later_messages(&mut self) {
        self.drops_messages = self.holds_back_stderr();
    }

    /// Returns true with `--stderr failure`.
    fn holds_back_stderr(&self) -> bool {
        self.options.modes[Channel::Stderr] == OutputMode::Failure
    }

    /// Returns true if messages and the output of hooks are held back with standard error.
    fn holds_messages(&self) -> bool {
        self.holds_back_stderr() && self.outputs.stderr.keeps()
    }

    /// Holds back or drops lines of backoff. Returns false if they have to be printed now.
    pub(crate) fn keep_message(&mut self, lines: &str) -> bool {
        if self.drops_messages {
            return true;
        }
        let holds = self.holds_messages();
        if holds {
            self.outputs.stderr.kept.append(lines.as_bytes());
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
        match self.outputs.stderr.kept.shared_file() {
            Some(file) => file.as_fd().try_clone_to_owned().map(Some),
            None => Ok(None),
        }
    }
}

/// While an attempt runs.
impl Streams {
    /// Returns descriptors and events to poll. Empty between attempts.
    pub(crate) fn interests(&self) -> Vec<(Stream, BorrowedFd<'_>, PollFlags)> {
        let mut all = Vec::new();
        if let Some(started) = &self.starting {
            all.push((Stream::Start, started.as_fd(), PollFlags::POLLIN));
        }
        if let Some((fd, events)) = self.input_interest() {
            all.push((Stream::Input, fd, events));
        }
        for channel in Channel::ALL {
            if let Some((fd, events)) = self.output_interest(channel) {
                all.push((Stream::Output(channel), fd, events));
            }
        }
        all
    }

    /// Returns what the input waits for: a pipe, or else what is typed.
    fn input_interest(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if let Some(interest) = self.input.interest()
            && !self.has_to_hold_input()
        {
            return Some(interest);
        }
        self.pty.as_ref()?.interest()
    }

    /// Returns None for an output that waits for its turn.
    fn output_interest(&self, channel: Channel) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let output = &self.outputs[channel];
        if let Some(turns) = &self.turns
            && turns.has_to_wait(channel)
            && output.has_unwritten()
        {
            return None;
        }
        output.interest()
    }

    /// Moves no input until the program has started.
    pub(crate) fn hold_input_until_start(&mut self, child: &Child) {
        let moves_input = self.input.interest().is_some() || self.input.wake_after().is_some();
        if moves_input {
            self.starting = child.started().ok();
        }
    }

    fn has_to_hold_input(&self) -> bool {
        self.starting.is_some() || self.holds_input
    }

    /// Notes whether the program has started: exec closes the pipe, and a failure leaves a report in it.
    fn note_start(&mut self) {
        if let Some(started) = self.starting.take() {
            self.holds_input = has_report(&started);
        }
    }

    /// Returns the time after which to call [`Streams::work`] even if `poll` reports nothing, if any.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        let of_input = if self.has_to_hold_input() {
            None
        } else {
            self.input.wake_after()
        };
        let of_pty = self.pty.as_ref().and_then(Pty::wake_after);
        let of_turns = self.turns.as_ref().and_then(|turns| turns.left(now()));
        [of_input, of_pty, of_turns].into_iter().flatten().min()
    }

    /// Moves data of ready streams. Returns true if output was moved.
    pub(crate) fn work(&mut self, ready: &[Stream]) -> bool {
        if ready.contains(&Stream::Start) {
            self.note_start();
        }
        let is_input_ready = ready.contains(&Stream::Input);
        // If `wake_after` returns a delay, no event reports that the command has read its input.
        if (is_input_ready || self.input.wake_after().is_some()) && !self.has_to_hold_input() {
            self.input.fill_pipe();
        }
        if let Some(pty) = &mut self.pty {
            pty.work(is_input_ready);
        }
        let is_ready = PerChannel::each(|channel| ready.contains(&Stream::Output(channel)));
        let mut has_moved = false;
        for channel in Channel::ALL {
            if is_ready[channel] {
                // Ready means that the reader has room for bytes that wait.
                has_moved |= self.outputs[channel].has_unwritten();
                has_moved |= self.read_output(channel, is_ready[channel.other()]);
            }
        }
        if self.turns.is_some() {
            return self.write_in_turns() || has_moved;
        }
        for channel in Channel::ALL {
            if is_ready[channel] && self.outputs[channel].has_unwritten() {
                self.outputs[channel].write();
                self.after_write(channel);
            }
        }
        has_moved
    }

    /// Reads and examines the next chunk of an output, a small one if both outputs have data and take turns. Returns
    /// true if there was one.
    fn read_output(&mut self, channel: Channel, is_other_ready: bool) -> bool {
        let mut limit = self.observer.read_limit(channel);
        if self.turns.is_some() && is_other_ready {
            limit = limit.min(turns::CHUNK);
        }
        let new_bytes = self.outputs[channel].read_next(limit);
        let has_read = !new_bytes.is_empty();
        self.observer.observe(channel, new_bytes);
        self.after_write(channel);
        has_read
    }

    /// Forwards both outputs line by line. Returns true if something was written.
    fn write_in_turns(&mut self) -> bool {
        let mut has_moved = false;
        while let Some(channel) = self.next_turn() {
            let written = if self.outputs[channel.other()].has_unwritten() {
                self.outputs[channel].write_line()
            } else {
                self.outputs[channel].write()
            };
            let last = self.outputs[channel].last_written;
            if let (Some(turns), Some(last)) = (&mut self.turns, last) {
                turns.on_written(channel, last);
            }
            self.after_write(channel);
            if written == 0 {
                break;
            }
            has_moved = true;
        }
        has_moved
    }

    /// Returns the output to write next, if the outputs take turns and one has bytes to write.
    fn next_turn(&mut self) -> Option<Channel> {
        let waiting = PerChannel::each(|channel| self.outputs[channel].has_unwritten());
        let may_go_on = PerChannel::each(|channel| self.outputs[channel].has_source());
        self.turns.as_mut()?.next(waiting, may_go_on, now())
    }

    /// Hangs up a pseudo-terminal whose output cannot be written, and notes whether a line is unfinished.
    fn after_write(&mut self, channel: Channel) {
        if self.outputs[channel].is_broken()
            && let Some(pty) = &mut self.pty
        {
            pty.hang_up();
        }
        self.note_written(channel);
    }

    /// Updates `is_mid_line` if something was written to the place where messages of backoff go.
    fn note_written(&mut self, channel: Channel) {
        let Some(last) = self.outputs[channel].last_written.take() else {
            return;
        };
        let is_place_of_messages = match channel {
            Channel::Stdout => self.is_same_file && !self.holds_messages(),
            Channel::Stderr => true,
        };
        if is_place_of_messages {
            self.is_mid_line = last != b'\n';
        }
    }

    /// Returns true if the attempt's own terminal was hung up because its output has no reader.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.options.pty && self.outputs.stdout.reader_gone
    }

    /// Returns true while backoff itself has the terminal of the command open.
    pub(crate) fn holds_terminal(&self) -> bool {
        self.pty.as_ref().is_some_and(Pty::is_held)
    }

    /// Closes the terminal of the command, of which all output was read.
    pub(crate) fn release_terminal(&mut self) {
        if let Some(pty) = &mut self.pty {
            pty.release();
        }
    }

    /// Returns true if output may still come, or waits for its reader.
    pub(crate) fn is_open(&self) -> bool {
        self.outputs.values().into_iter().any(Output::is_open)
    }

    /// Returns true if output was read and waits for its reader.
    pub(crate) fn has_pending_output(&self) -> bool {
        self.outputs.values().into_iter().any(Output::has_unwritten)
    }
}

/// Returns true if a failed start has left its report in the pipe. For a pipe that exec closed, some systems report POLLIN,
/// too, so the bytes are counted. Linux does not, and a sandbox there may refuse to count.
fn has_report(started: &OwnedFd) -> bool {
    match fd::unread(started) {
        Ok(count) => count > 0,
        Err(_) => fd::ready(started.as_fd(), PollFlags::POLLIN)
            .is_ok_and(|events| events.contains(PollFlags::POLLIN)),
    }
}
