//! Streams of the command that backoff handles: input that every attempt has to read again, and output that an option
//! examines or keeps. Created before an attempt, moved while it runs (`moving.rs`), closed at its end; output may be
//! kept until the end of the run. All other streams are inherited, or `/dev/null`: backoff never sees their data.

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
use crate::run::host::KeptOutput;
use crate::run::streams::{Channel, OutputMode, PerChannel, StreamOptions};
use observer::OutputObserver;
use output::Output;
use stdin::Stdin;

/// The streams of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    options: StreamOptions,
    pub(crate) input: Stdin,
    pub(crate) outputs: PerChannel<Output>,
    /// backoff handles standard output, which goes to the same file as standard error.
    stdout_shares_file: bool,
    /// The last output to the file of standard error ends within a line.
    pub(crate) is_mid_line: bool,
    /// Messages and the output of hooks are dropped with `--stderr failure`, as the run has succeeded.
    drops_messages: bool,
    /// Observes the running attempt, or has observed the last one.
    pub(crate) observer: OutputObserver,
}

/// A descriptor to poll, by its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Input to feed through a pipe: its source or the pipe.
    Input,
    Output(Channel),
}

/// Before and after an attempt; `moving.rs` has what happens while it runs.
impl Streams {
    /// Prepares the streams of a run. Called before the first attempt, which moves the offset of standard input: later
    /// attempts go back to the one noted here. An error means that standard input cannot be examined.
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

    /// Creates pipes or pseudo-terminals for an attempt, forgets what the last attempt's output showed, and returns
    /// the command's ends. The caller has to drop them once the command has started, or its output would never end. The
    /// pipe of standard input may hold kept or duplicated bytes already; nothing is taken from the source yet. An error
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
            // The order of both outputs is then as on a terminal.
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

    /// Returns true if both outputs pass through backoff, which forwards them at once to the same file.
    fn are_streamed_to_one_file(&self) -> bool {
        self.stdout_shares_file
            && self.is_streamed(Channel::Stdout)
            && self.is_streamed(Channel::Stderr)
    }

    /// Returns true if one pseudo-terminal carries both outputs, as `outputs.stdout`: nothing needs them apart.
    fn share_one_pty(&self) -> bool {
        self.options.pty
            && self.are_streamed_to_one_file()
            && self.options.is_watched[Channel::Stdout] == self.options.is_watched[Channel::Stderr]
    }

    /// Returns a pseudo-terminal that has lost its reader, to be dropped once the command has got PIPE.
    pub(crate) fn take_lost_pty(&mut self) -> Option<OwnedFd> {
        let outputs = &mut self.outputs;
        outputs
            .stdout
            .lost_pty
            .take()
            .or_else(|| outputs.stderr.lost_pty.take())
    }

    /// Gives the pseudo-terminals of the attempt the size of our terminal. Returns true if that has changed it.
    pub(crate) fn copy_size(&self) -> bool {
        let outputs = self.outputs.values().into_iter();
        outputs.filter(|output| output.copy_size()).count() > 0
    }

    /// Returns true if an output passes through backoff, which forwards it at once.
    fn is_streamed(&self, channel: Channel) -> bool {
        self.options.is_observed(channel) && self.options.modes[channel] == OutputMode::Stream
    }

    /// Prepares an output for an attempt. If backoff must see it, makes a pipe or a pseudo-terminal, keeps the end to
    /// read from, and returns the command's. Returns `/dev/null` if the output is only dropped, and None if the command
    /// inherits the caller's.
    fn begin_output(&mut self, channel: Channel) -> io::Result<Option<OwnedFd>> {
        let output = &mut self.outputs[channel];
        if channel == Channel::Stderr && !fd::is_inherited(stdio::ERR) {
            // The caller has closed it, as some do who want no messages.
            output.begin(None);
            return Ok(None);
        }
        if self.options.is_observed(channel) && self.options.pty {
            let pty = pty::open()?;
            output.begin(Some(pty.read));
            return Ok(Some(pty.write));
        }
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

    /// Ends the attempt: closes its pipes and pseudo-terminals, and keeps the input that it has read for the next
    /// attempt. Returns what the streams have shown, or the first error of a
    /// stream as a message, which ends the run.
    pub(crate) fn end(&mut self) -> Result<Seen, String> {
        self.input.end();
        let seen = Seen {
            // Set by the run.
            wait_asked: None,
            input_lost: self.input.is_incomplete,
            input_error: self.input.error.clone(),
            input_read_ahead: take(&mut self.input.newly_read_ahead),
            // A reader of standard error that is gone does not matter, as for a command whose output is inherited.
            reader_gone: self.outputs.stdout.reader_gone,
            // Stays as it is, while the caller may set `reader_gone` for a reader that left without a failed write.
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

    /// Ends both outputs, and takes the errors of all streams. Returns the first of them as a message, as one is enough
    /// to end the run; None if there was none.
    fn end_outputs_and_take_fault(&mut self) -> Option<String> {
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

    /// Returns, once, which outputs could not be kept completely, and why, for a warning; None if all could. Such an
    /// output is printed instead: what was kept, then the rest as it comes.
    fn not_kept(&mut self) -> Option<String> {
        let mut not_kept = Vec::new();
        for channel in Channel::ALL {
            if let Some(why) = self.outputs[channel].why_not_kept.take() {
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

    /// Forgets kept output once it was printed or given up, so that it is never printed twice and later messages are no
    /// longer held back with it.
    pub(crate) fn forget_kept_output(&mut self) {
        for channel in Channel::ALL {
            self.outputs[channel].close();
            self.outputs[channel].begin_to_forward();
        }
        // The printed output may end within a line. Not noted before: while standard error holds messages back, the end
        // of standard output would not count.
        for channel in Channel::ALL {
            self.note_written(channel);
        }
    }

    /// Drops later messages, and what later hooks write, with `--stderr failure`, as the run has succeeded: standard
    /// error is printed after a failure only, with backoff's own lines in it.
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

    /// Takes lines of backoff that must not be printed now: adds them to the held-back standard error, so that their
    /// order stays, or drops them. Returns true if it has taken them, and false, without an effect, if the caller has
    /// to print them.
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

    /// Returns where hooks and predicates have to write in place of standard error: the file that holds standard error
    /// back (`--stderr failure`), or `/dev/null` if messages are dropped. None if they write to standard error itself,
    /// also if the system had no file to hold it back. An error (no descriptor is free) means that they cannot run.
    pub(crate) fn held_stderr(&mut self) -> io::Result<Option<OwnedFd>> {
        if self.drops_messages {
            return fd::null().map(Some);
        }
        if !self.holds_messages() {
            return Ok(None);
        }
        let file = self.outputs.stderr.kept.shared_file()?;
        file.as_fd().try_clone_to_owned().map(Some)
    }
}
