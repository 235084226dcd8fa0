//! All streams of the command that backoff has a hand in: made before an attempt, moved while it
//! runs, settled when the run is over. Streams that nobody has to see stay the caller's own.

use std::cell::OnceCell;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::destination::{Broken, OutputDestination};
use super::observer::OutputObserver;
use super::pump::OutputPump;
use super::spool::Spool;
use super::stdin::Stdin;
use crate::policy::outcome::Seen;
use crate::policy::signal::Signal;
use crate::process::spawn::ChildStdio;
use crate::process::sys::clock::{now, time_of_day};
use crate::process::sys::{fd, stdio};
use crate::process::terminal::pty::Pty;
use crate::run::streams::{OutputMode, StreamOptions};
use crate::run::text::describe_error;

/// The streams of a run.
pub(crate) struct Streams {
    options: StreamOptions,
    input: Stdin,
    /// Why what was read of standard input, maybe before the first attempt, could not be kept.
    input_error: Option<String>,
    destinations: [OutputDestination; 2],
    /// Standard output goes where standard error does. Asked once something was written there.
    is_one_place: OnceCell<bool>,
    /// What was last written where standard error goes ends in the middle of a line, as far as it went through here.
    is_in_line: bool,
    /// None between two attempts.
    attempt: Option<AttemptStreams>,
    /// What the last attempt printed, for predicates.
    copy: Spool,
    held_lines: HeldLines,
    /// The end of it, for hooks; None if they get nothing.
    tail: Option<Vec<u8>>,
    fault: Option<String>,
}

/// What becomes of what backoff and its hooks say on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldLines {
    /// It is not held back.
    Passed,
    /// It is kept among what the command says there, as that is (`--stderr failure`).
    Kept,
    /// The run has succeeded.
    Dropped,
}

/// Those of one attempt.
struct AttemptStreams {
    pumps: [Option<OutputPump>; 2],
    /// Its terminal (`--pty`), whose output is that of pump 0.
    pty: Option<Pty>,
    observer: OutputObserver,
    /// Output has come since this was last asked.
    has_new_output: bool,
    /// Time that the search in its output may still take.
    search_left: Duration,
}

impl std::fmt::Debug for Streams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Streams")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// What is said where a predicate cannot be given the output that it is to judge.
pub(crate) fn cannot_keep(error: &io::Error) -> String {
    format!("cannot keep the output for --retry-if or --success-if: {error}")
}

/// Before, during and after an attempt.
impl Streams {
    /// Looks at the caller's streams; None if all of them can stay as they are.
    pub(crate) fn new(options: &StreamOptions) -> io::Result<Option<Box<Streams>>> {
        let input = Stdin::new(options.input, options.input_limit)?;
        let is_plain = (0..2).all(|i| !options.is_observed(i) && options.keep[i] == OutputMode::Stream);
        if is_plain && input.is_inherited() {
            return Ok(None);
        }
        Ok(Some(Box::new(Streams {
            options: options.clone(),
            input,
            input_error: None,
            destinations: [(1, 0), (2, 1)].map(|(fd, output)| OutputDestination::new(fd, options.keep[output])),
            is_one_place: OnceCell::new(),
            is_in_line: false,
            attempt: None,
            copy: Spool::default(),
            held_lines: match options.keep[1] {
                OutputMode::Failure => HeldLines::Kept,
                _ => HeldLines::Passed,
            },
            tail: None,
            fault: None,
        })))
    }

    /// Whether standard input has to be read to its end before the first attempt.
    pub(crate) fn needs_filling(&self) -> bool {
        self.input.needs_filling()
    }

    /// Makes the streams of an attempt.
    pub(crate) fn begin(&mut self) -> io::Result<ChildStdio> {
        self.copy.clear();
        let mut attempt = AttemptStreams {
            pumps: [None, None],
            pty: None,
            observer: OutputObserver::new(&self.options),
            has_new_output: false,
            search_left: Duration::MAX,
        };
        let mut child = ChildStdio {
            input: self.input.begin()?,
            outputs: [None, None],
        };
        for destination in &mut self.destinations {
            destination.begin();
        }
        if self.options.pty {
            let pty = Pty::open(self.input.is_inherited())?;
            attempt.pumps[0] = Some(OutputPump::new(pty.output()?, true));
            child.input = child.input.or(pty.child_input()?);
            child.outputs = [pty.child_output()?, pty.child_output()?];
            attempt.pty = Some(pty);
        } else {
            for output in 0..2 {
                if self.options.is_observed(output) {
                    let (read, write) = fd::pipe()?;
                    fd::set_nonblocking(&read)?;
                    attempt.pumps[output] = Some(OutputPump::new(read, false));
                    child.outputs[output] = Some(write);
                } else if self.options.keep[output] == OutputMode::Null {
                    child.outputs[output] = Some(fd::null()?);
                }
            }
        }
        self.attempt = Some(attempt);
        Ok(child)
    }

    /// The attempt is over: all that its streams have shown, or what has failed.
    pub(crate) fn end(&mut self) -> Result<Seen, String> {
        // Ours is to be as it was.
        if let Some(attempt) = &mut self.attempt {
            attempt.pty = None;
        }
        let input_ended = self.input.end();
        self.on_input(input_ended);
        let mut seen = Seen {
            input_lost: self.input.is_lost(),
            input_error: self.input_error.clone(),
            input_read_ahead: self.input.take_newly_read_ahead(),
            ..Seen::default()
        };
        if let Some(mut attempt) = self.attempt.take() {
            attempt.pumps = [None, None];
            attempt.observer.finish(time_of_day());
            seen.matched = attempt.observer.take_matches();
            seen.wait_asked = attempt.observer.wait_asked();
            let (copy, tail) = attempt.observer.into_kept();
            (self.copy, self.tail) = (copy.unwrap_or_default(), tail);
        }
        for (destination, name) in self.destinations.iter().zip(["standard output", "standard error"]) {
            match destination.broken() {
                Some(Broken::ReaderGone) => seen.reader_gone = true,
                Some(Broken::Fault(why)) => {
                    self.fault.get_or_insert_with(|| format!("{name}: {why}"));
                }
                None => {}
            }
        }
        self.take_fault().map_or(Ok(seen), Err)
    }

    /// What the last attempt printed on the streams that are looked at, for predicates.
    pub(crate) fn copy(&self) -> &Spool {
        &self.copy
    }

    /// Whether backoff's own lines are held back.
    pub(crate) fn holds_lines(&self) -> bool {
        self.held_lines != HeldLines::Passed
    }

    /// A line of backoff's own comes next. Where it is held back, it is kept as a line of its own; elsewhere, whether one
    /// that was passed on has to be ended first.
    pub(crate) fn begin_line(&mut self) -> Result<bool, String> {
        if self.held_lines == HeldLines::Kept {
            let ended = self.destinations[1].end_kept_line();
            ended.map_err(|why| format!("standard error: {why}"))?;
        }
        Ok(!self.holds_lines() && std::mem::take(&mut self.is_in_line))
    }

    fn outputs_are_one_place(&self) -> bool {
        let ask = || fd::is_same_file(stdio::OUT, stdio::ERR);
        *self.is_one_place.get_or_init(ask)
    }

    /// Something may have been written to an output.
    pub(crate) fn on_written(&mut self, output: usize) {
        if let Some(is_in_line) = self.destinations[output].take_is_in_line()
            && (output == 1 || self.outputs_are_one_place())
        {
            self.is_in_line = is_in_line;
        }
    }

    /// Keeps or drops what would go to standard error, if that is held back; whether it is.
    pub(crate) fn hold(&mut self, lines: &[u8]) -> Result<bool, String> {
        if self.held_lines == HeldLines::Kept {
            let kept = self.destinations[1].keep_own(lines);
            kept.map_err(|why| format!("standard error: {why}"))?;
        }
        Ok(self.holds_lines())
    }

    /// The run is over and what was kept is printed: what is said from now on is not held back any more.
    pub(crate) fn settle_lines(&mut self) {
        self.held_lines = HeldLines::Passed;
    }

    /// The run has succeeded: where lines were held back, no more are wanted.
    pub(crate) fn hush(&mut self) {
        if self.options.keep[1] == OutputMode::Failure {
            self.held_lines = HeldLines::Dropped;
        }
    }

    /// The end of it, for hooks.
    pub(crate) fn tail(&self) -> Option<&[u8]> {
        self.tail.as_deref()
    }

    /// The run is over: where what was kept of an output is to be printed.
    pub(crate) fn settle(&mut self, output: usize, succeeded: bool) -> &mut OutputDestination {
        self.destinations[output].settle(succeeded);
        &mut self.destinations[output]
    }
}

/// While an attempt runs.
impl Streams {
    /// What to poll for: standard input, output and error.
    pub(crate) fn interests(&self) -> [Option<(BorrowedFd<'_>, PollFlags)>; 3] {
        let attempt = self.attempt.as_ref();
        let output = |i: usize| {
            let pump = attempt?.pumps[i].as_ref()?;
            pump.interest(&self.destinations[i])
        };
        let typed = || attempt?.pty.as_ref()?.interest();
        [self.input.interest().or_else(typed), output(0), output(1)]
    }

    /// When to look again, whatever poll says.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        let typed = || self.attempt.as_ref()?.pty.as_ref()?.wake_after();
        self.input.wake_after().or_else(typed)
    }

    /// Moves what is ready.
    pub(crate) fn work(&mut self, ready: [bool; 3]) {
        if ready[0] || self.input.wake_after().is_some() {
            let worked = self.input.work();
            self.on_input(worked);
        }
        for output in 0..2 {
            if ready[output + 1] {
                self.move_output(output);
            }
        }
    }

    /// Moves what is typed, if that is ready.
    pub(crate) fn pass_on_keys(&mut self, ready: [bool; 3]) {
        if let Some(pty) = self.pty() {
            pty.work(ready[0]);
        }
    }

    fn move_output(&mut self, output: usize) {
        let Some(attempt) = &mut self.attempt else { return };
        let Some(pump) = &mut attempt.pumps[output] else { return };
        let destination = &mut self.destinations[output];
        if let Some(bytes) = pump.work(destination, attempt.observer.most(output)) {
            let begun = now();
            let taken_in = attempt.observer.take_in(output, bytes, time_of_day());
            attempt.has_new_output = true;
            attempt.search_left = attempt
                .search_left
                .saturating_sub(now().saturating_duration_since(begun));
            if attempt.search_left.is_zero() {
                attempt.observer.stop_search();
            }
            if let Err(error) = taken_in {
                self.fail(cannot_keep(&error));
            }
        }
        self.on_written(output);
        if self.destinations[output].broken().is_some()
            && let Some(pty) = self.pty()
        {
            pty.hang_up();
        }
    }

    /// Limits the time that the search in the rest of the output takes.
    pub(crate) fn limit_search(&mut self, limit: Duration) {
        if let Some(attempt) = &mut self.attempt {
            attempt.search_left = limit;
        }
    }

    /// What could not be kept of standard input makes a failure final, and nothing worse.
    fn on_input(&mut self, done: io::Result<()>) {
        let Err(error) = done else { return };
        if !self.input.is_lost() {
            self.input.stall();
            self.fail(format!("standard input: {}", describe_error(&error)));
        } else {
            self.input_error.get_or_insert_with(|| error.to_string());
        }
    }

    /// Nothing more is taken from the command: it ends by SIGPIPE, or by itself.
    fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
        let Some(attempt) = &mut self.attempt else { return };
        for pump in attempt.pumps.iter_mut().flatten() {
            pump.close();
        }
        if let Some(pty) = &mut attempt.pty {
            pty.hang_up();
        }
    }

    /// The attempt's own terminal, if it has one.
    pub(crate) fn pty(&mut self) -> Option<&mut Pty> {
        self.attempt.as_mut()?.pty.as_mut()
    }

    /// Whether the attempt runs on a terminal of its own.
    pub(crate) fn has_pty(&self) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.pty.is_some())
    }

    /// The signals that keys have made on the attempt's own terminal since this was last asked.
    pub(crate) fn take_key_signals(&mut self) -> Vec<Signal> {
        self.pty().map(Pty::take_key_signals).unwrap_or_default()
    }

    /// Whether the attempt's own terminal was hung up, as nobody reads its output.
    pub(crate) fn is_hung_up(&self) -> bool {
        self.options.pty && self.destinations[0].broken() == Some(&Broken::ReaderGone)
    }

    /// Whether the attempt has to be ended: it may wait for input that will not come.
    pub(crate) fn is_stalled(&self) -> bool {
        self.input.is_stalled()
    }

    /// What has failed since this was last asked.
    pub(crate) fn take_fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Whether output has come since this was last asked.
    pub(crate) fn take_new_output(&mut self) -> bool {
        let new = self.attempt.as_mut().map(|attempt| &mut attempt.has_new_output);
        new.is_some_and(std::mem::take)
    }

    fn pumps(&self) -> impl Iterator<Item = &OutputPump> {
        self.attempt.iter().flat_map(|attempt| attempt.pumps.iter().flatten())
    }

    /// Whether output may still come.
    pub(crate) fn is_open(&self) -> bool {
        self.pumps().any(OutputPump::is_open)
    }

    /// Whether output was taken and waits for its reader.
    pub(crate) fn has_pending_output(&self) -> bool {
        self.pumps().any(OutputPump::has_pending)
    }
}
