//! Streams of the command that backoff handles. These are input that every attempt must read again, and output that an
//! option examines or keeps. Created before an attempt, moved while it runs (`moving.rs`), closed at its end. Output
//! may be kept until the end of the run. All other streams are inherited or `/dev/null`, and backoff never sees their
//! data.

mod moving;
mod observer;
pub(crate) mod output;
pub(crate) mod sink;
mod spool;
mod stdin;

use std::io;
use std::mem::take;
use std::os::fd::{AsFd, OwnedFd};

use crate::policy::outcome::Seen;
use crate::process::spawn::ChildStdio;
use crate::process::sys::{fd, stdio};
use crate::process::terminal::pty;
use crate::run::host::EndOfRun;
use crate::run::streams::{Channel, OutputMode, PerChannel, StreamOptions};
use observer::OutputObserver;
use output::Output;
use stdin::Stdin;

#[derive(Debug)]
pub(crate) struct Streams {
    options: StreamOptions,
    pub(crate) input: Stdin,
    pub(crate) outputs: PerChannel<Output>,
    /// backoff handles standard output, and it goes to the same file as standard error.
    stdout_shares_file: bool,
    /// The last output to the file of standard error ends within a line.
    pub(crate) is_mid_line: bool,
    /// With `--stderr failure`, messages and the output of hooks are dropped, as the run has succeeded.
    drops_messages: bool,
    /// Observes the running attempt, or observed the last one.
    pub(crate) observer: OutputObserver,
}

/// A descriptor to poll, by its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Input fed through a pipe. Either its source or the pipe is polled.
    Input,
    Output(Channel),
}

/// Before and after an attempt. `moving.rs` has what happens while it runs.
impl Streams {
    /// Prepares the streams of a run. Called before the first attempt, which moves the offset of standard input. Later
    /// attempts return to the one noted here. Returns an error if standard input cannot be examined.
    pub(crate) fn new(options: &StreamOptions) -> io::Result<Streams> {
        let outputs = PerChannel {
            stdout: Output::new(stdio::OUT, options.modes[Channel::Stdout]),
            stderr: Output::new(stdio::ERR, options.modes[Channel::Stderr]),
        };
        Ok(Streams {
            input: Stdin::new(fd::inherited(stdio::IN), options.input, options.input_limit)?,
            stdout_shares_file: options.is_observed(Channel::Stdout)
                && fd::is_same_file(stdio::OUT, stdio::ERR),
            is_mid_line: false,
            drops_messages: false,
            observer: OutputObserver::new(options),
            outputs,
            options: options.clone(),
        })
    }

    /// Creates pipes or pseudo-terminals for an attempt, forgets what the last attempt's output showed, and returns the
    /// command's ends. The caller must drop them once the command has started, or its output would never end. The pipe
    /// of standard input may already hold kept or duplicated bytes, but nothing is taken from the source yet. An error
    /// ends the run.
    pub(crate) fn begin(&mut self) -> io::Result<ChildStdio> {
        // A single stream has no lines to keep apart.
        let by_lines = self.are_streamed_to_one_file() && !self.share_one_pty();
        self.outputs.stdout.by_lines = by_lines;
        self.outputs.stderr.by_lines = by_lines;
        self.observer = OutputObserver::new(&self.options);
        let input = self.input.begin()?;
        let output = self.begin_output(Channel::Stdout)?;
        let error = match &output {
            // Both outputs then have the same order as on a terminal.
            Some(output) if self.share_one_pty() => {
                self.outputs.stderr.begin(None);
                Some(output.try_clone()?)
            }
            _ => self.begin_output(Channel::Stderr)?,
        };
        Ok(ChildStdio {
            input,
            output,
            error,
        })
    }

    /// Returns true if both outputs pass through backoff and are forwarded at once to the same file.
    fn are_streamed_to_one_file(&self) -> bool {
        self.stdout_shares_file
            && self.is_streamed(Channel::Stdout)
            && self.is_streamed(Channel::Stderr)
    }

    /// Returns true if one pseudo-terminal carries both outputs, as `outputs.stdout`, because nothing needs them apart.
    fn share_one_pty(&self) -> bool {
        self.options.pty
            && self.are_streamed_to_one_file()
            && self.options.is_watched[Channel::Stdout] == self.options.is_watched[Channel::Stderr]
    }

    /// Returns a pseudo-terminal that has lost its reader, to be dropped once the command was sent SIGPIPE.
    pub(crate) fn take_lost_pty(&mut self) -> Option<OwnedFd> {
        let outputs = &mut self.outputs;
        outputs
            .stdout
            .lost_pty
            .take()
            .or_else(|| outputs.stderr.lost_pty.take())
    }

    /// Gives the attempt's pseudo-terminals the size of our terminal. Returns true if a size changed.
    pub(crate) fn copy_size(&self) -> bool {
        let outputs = self.outputs.values().into_iter();
        outputs.filter(|output| output.copy_size()).count() > 0
    }

    /// Returns true if an output passes through backoff and is forwarded at once.
    fn is_streamed(&self, channel: Channel) -> bool {
        self.options.is_observed(channel) && self.options.modes[channel] == OutputMode::Stream
    }

    /// Prepares an output for an attempt, and returns the command's end. If backoff must see it, creates a pipe or
    /// pseudo-terminal and keeps the read end. Returns `/dev/null` if the output is only dropped, and None if the
    /// command inherits the caller's.
    fn begin_output(&mut self, channel: Channel) -> io::Result<Option<OwnedFd>> {
        let output = &mut self.outputs[channel];
        if channel == Channel::Stderr && !fd::is_inherited(stdio::ERR) {
            // The caller has closed it, perhaps to get no messages.
            output.begin(None);
            return Ok(None);
        }
        if self.options.is_observed(channel) {
            let (read, write) = if self.options.pty {
                pty::open()?
            } else {
                fd::pipe()?
            };
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

    /// Ends the attempt. Closes its pipes and pseudo-terminals, and keeps the input that it has read for the next
    /// attempt. Returns what the streams have shown, or the first error of a stream as a message, which ends the run.
    pub(crate) fn end(&mut self) -> Result<Seen, String> {
        self.input.end();
        let seen = Seen {
            // Set by the run.
            wait_asked: None,
            input_lost: self.input.is_incomplete,
            input_error: self.input.error.clone(),
            input_read_ahead: take(&mut self.input.newly_read_ahead),
            // A lost reader of standard error does not matter, as for a command whose output is inherited.
            reader_gone: self.outputs.stdout.reader_gone,
            // Not changed when the caller sets `reader_gone` for a reader that left without a failed write.
            output_refused: self.outputs.stdout.reader_gone,
            not_kept: self.not_kept(),
            // Set by the caller.
            unread: false,
        };
        match self.end_outputs_and_take_fault() {
            Some(fault) => Err(fault),
            None => Ok(seen),
        }
    }

    /// Ends both outputs, and takes the errors of all streams. Returns the first as a message, if any, as one is enough
    /// to end the run.
    fn end_outputs_and_take_fault(&mut self) -> Option<String> {
        let of_input = self.input.fault.take();
        let of_input = of_input.map(|why| format!("standard input: {why}"));
        let [of_stdout, of_stderr] = Channel::ALL.map(|channel| {
            let why = self.outputs[channel].end()?;
            Some(format!("{channel}: {why}"))
        });
        of_input.or(of_stdout).or(of_stderr)
    }

    /// Returns, once, which outputs could not be kept completely and why, for a warning. Such an output is printed
    /// instead, first what was kept and then the rest as it comes.
    fn not_kept(&mut self) -> Option<String> {
        let messages = Channel::ALL.into_iter().filter_map(|channel| {
            let why = self.outputs[channel].why_not_kept.take()?;
            Some(format!("{channel} cannot be kept: {why}"))
        });
        let messages: Vec<_> = messages.collect();
        (!messages.is_empty()).then(|| messages.join("; "))
    }

    /// Drops kept output unless it must be printed after this end of the run. Also forgets whether its reader is gone.
    pub(crate) fn drop_unless_wanted(&mut self, end: EndOfRun) {
        self.outputs.stdout.drop_unless_wanted(end);
        self.outputs.stderr.drop_unless_wanted(end);
    }

    /// Forgets kept output once it was printed or given up, so that it is never printed twice, and later messages are
    /// no longer held back with it.
    pub(crate) fn forget_kept_output(&mut self) {
        for channel in Channel::ALL {
            self.outputs[channel].close();
            self.outputs[channel].begin_to_forward();
        }
        // The printed output may end within a line. This is noted only now, as the end of standard output does not
        // count while standard error holds messages back.
        for channel in Channel::ALL {
            self.note_written(channel);
        }
    }

    /// With `--stderr failure`, drops later messages, because the run has succeeded. No hook runs after this.
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

    /// Takes lines of backoff that must not be printed now. Adds them to the held-back standard error, which keeps the
    /// order, or drops them. Returns false, without any effect, if the caller must print them.
    pub(crate) fn hold_message(&mut self, lines: &str) -> bool {
        if self.drops_messages {
            return true;
        }
        let holds = self.holds_messages();
        if holds {
            self.outputs.stderr.kept.append(lines.as_bytes());
        }
        holds
    }

    /// Returns the file that holds standard error back (`--stderr failure`), to which hooks and predicates write.
    /// Returns None if they write to standard error itself, also once held-back output was printed or could no longer
    /// be kept. Returns an error if no descriptor is free, so they cannot run.
    pub(crate) fn stderr_for_helper(&mut self) -> io::Result<Option<OwnedFd>> {
        if !self.holds_messages() {
            return Ok(None);
        }
        let file = self.outputs.stderr.kept.shared_file()?;
        file.as_fd().try_clone_to_owned().map(Some)
    }
}
