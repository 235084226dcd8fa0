//! All streams of the command that backoff has a hand in: made before an attempt, moved while it
//! runs, settled when the run is over. Streams that nobody has to see stay the caller's own.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nix::poll::PollFlags;

use super::input::Input;
use super::output::{Broken, Flow, Outlet, Release, Watcher};
use super::spool::Spool;
use crate::policy::outcome::Seen;
use crate::policy::retry_after::RetryAfter;
use crate::policy::signal::Signal;
use crate::process::sys::fd;
use crate::process::terminal::pty::Pty;
use crate::run::streams::{OutputMode, StreamOptions};
use crate::run::text::describe_error;
use crate::search::lines::Lines;

/// What is kept of a text that matched, for messages.
const EXCERPT: usize = 80;

/// The streams of a run.
pub struct Plumbing {
    streams: StreamOptions,
    input: Input,
    outlets: [Outlet; 2],
    flows: [Option<Flow>; 2],
    lines: [Lines; 2],
    listener: Option<RetryAfter>,
    /// The terminal of the running attempt (`--pty`); its output is flow 0.
    pty: Option<Pty>,
    copy: Spool,
    seen: Seen,
    /// Output has come since this was last asked.
    has_moved: bool,
    fault: Option<String>,
}

impl std::fmt::Debug for Plumbing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plumbing")
            .field("streams", &self.streams)
            .finish_non_exhaustive()
    }
}

/// The descriptors that the command gets in place of 0, 1 and 2; None is the caller's own. To be
/// dropped once the command has started.
#[derive(Debug, Default)]
pub struct Ends(pub [Option<OwnedFd>; 3]);

impl Ends {
    /// Their numbers, -1 for none.
    pub fn numbers(&self) -> [RawFd; 3] {
        std::array::from_fn(|i| self.0[i].as_ref().map_or(-1, AsRawFd::as_raw_fd))
    }
}

/// Takes note of what one output shows.
struct Note<'a> {
    streams: &'a StreamOptions,
    is_watched: bool,
    copy: &'a mut Spool,
    lines: &'a mut Lines,
    listener: Option<&'a mut RetryAfter>,
    seen: &'a mut Seen,
    forgotten: &'a mut Vec<usize>,
    now: SystemTime,
}

impl Watcher for Note<'_> {
    fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.is_watched {
            return Ok(());
        }
        if self.streams.copy {
            self.copy.append(bytes)?;
        }
        if let Some(listener) = &mut self.listener {
            self.lines.push(bytes, &mut |line| listener.read(line, self.now));
        }
        Ok(())
    }

    fn found(&mut self, pattern: usize, text: &[u8]) {
        let excerpt = &text[..text.len().min(EXCERPT)];
        self.seen.matched[pattern].get_or_insert_with(|| String::from_utf8_lossy(excerpt).into_owned());
        self.forgotten.push(pattern);
        self.forgotten
            .extend(self.streams.superseded.get(pattern).into_iter().flatten());
    }
}

impl Plumbing {
    /// Looks at the caller's streams; None if all of them can stay as they are.
    pub fn new(streams: &StreamOptions) -> io::Result<Option<Plumbing>> {
        let input = Input::new(streams.input, streams.input_limit)?;
        let is_plain = (0..2).all(|i| !streams.is_observed(i) && streams.keep[i] == OutputMode::Stream);
        if is_plain && input.is_inherited() {
            return Ok(None);
        }
        Ok(Some(Plumbing {
            streams: streams.clone(),
            input,
            outlets: [Outlet::new(1, streams.keep[0]), Outlet::new(2, streams.keep[1])],
            flows: [None, None],
            lines: Default::default(),
            listener: None,
            pty: None,
            copy: Spool::default(),
            seen: Seen::default(),
            has_moved: false,
            fault: None,
        }))
    }

    /// Whether standard input has to be read to its end before the first attempt.
    pub fn needs_filling(&self) -> bool {
        self.input.needs_filling()
    }

    /// Makes the streams of an attempt.
    pub fn begin(&mut self) -> io::Result<Ends> {
        self.seen = Seen {
            matched: vec![None; self.streams.patterns.len()],
            ..Seen::default()
        };
        self.copy.clear();
        self.has_moved = false;
        self.listener = self.streams.retry_after.then(RetryAfter::default);
        let mut ends = Ends::default();
        ends.0[0] = self.input.begin()?;
        for i in 0..2 {
            self.outlets[i].begin();
            self.lines[i] = Lines::default();
            if self.streams.pty {
                continue;
            }
            if self.streams.is_observed(i) {
                let (read, write) = fd::pipe()?;
                fd::set_nonblocking(&read)?;
                self.flows[i] = Some(self.flow(read, i));
                ends.0[i + 1] = Some(write);
            } else if self.streams.keep[i] == OutputMode::Null {
                ends.0[i + 1] = Some(fd::null()?);
            }
        }
        if self.streams.pty {
            let pty = Pty::open(self.input.is_inherited())?;
            self.flows[0] = Some(self.flow(pty.output()?, 0));
            for (end, of_terminal) in ends.0.iter_mut().zip(pty.ends()?) {
                *end = end.take().or(of_terminal);
            }
            self.pty = Some(pty);
        }
        Ok(ends)
    }

    fn flow(&self, source: OwnedFd, output: usize) -> Flow {
        let looks = self.is_watched(output) && !self.streams.patterns.is_empty();
        Flow::new(
            source,
            self.streams.pty,
            looks.then(|| Arc::clone(&self.streams.patterns)),
        )
    }

    /// Whether this output is looked at. What a terminal shows is one output.
    fn is_watched(&self, output: usize) -> bool {
        self.streams.watched[output] || (self.streams.pty && self.streams.watched.contains(&true))
    }

    /// The terminal of the running attempt, if it has one of its own.
    pub fn pty(&mut self) -> Option<&mut Pty> {
        self.pty.as_mut()
    }

    /// Whether the attempt runs on a terminal of its own.
    pub fn has_pty(&self) -> bool {
        self.pty.is_some()
    }

    /// Whether the last attempt's own terminal was hung up, as nobody reads its output.
    pub fn is_hung_up(&self) -> bool {
        self.streams.pty && self.outlets[0].broken() == Some(&Broken::ReaderGone)
    }

    /// The signals that keys have made on the attempt's own terminal since this was last asked.
    pub fn typed(&mut self) -> Vec<Signal> {
        self.pty.as_mut().map(Pty::typed).unwrap_or_default()
    }

    /// What to poll for: standard input, output and error.
    pub fn interests(&self) -> [Option<(BorrowedFd<'_>, PollFlags)>; 3] {
        let output = |i: usize| self.flows[i].as_ref().and_then(|flow| flow.interest(&self.outlets[i]));
        let typed = self.pty.as_ref().and_then(Pty::interest);
        [self.input.interest().or(typed), output(0), output(1)]
    }

    /// When to look again, whatever poll says.
    pub fn wake_after(&self) -> Option<Duration> {
        self.input
            .wake_after()
            .or_else(|| self.pty.as_ref().and_then(Pty::wake_after))
    }

    /// Moves what is ready.
    pub fn work(&mut self, ready: [bool; 3], now: SystemTime) {
        if ready[0] || self.input.wake_after().is_some() {
            let worked = self.input.work();
            self.heed(worked);
        }
        if let Some(pty) = &mut self.pty {
            pty.work(ready[0]);
        }
        for i in 0..2 {
            if ready[i + 1] {
                self.move_output(i, now);
            }
        }
    }

    fn move_output(&mut self, i: usize, now: SystemTime) {
        let mut forgotten = Vec::new();
        let is_watched = self.is_watched(i);
        let Some(flow) = &mut self.flows[i] else { return };
        let mut note = Note {
            streams: &self.streams,
            is_watched,
            copy: &mut self.copy,
            lines: &mut self.lines[i],
            listener: self.listener.as_mut(),
            seen: &mut self.seen,
            forgotten: &mut forgotten,
            now,
        };
        match flow.work(&mut self.outlets[i], &mut note) {
            Ok(moved) => self.has_moved |= moved,
            Err(error) => self.fail(format!("cannot keep the output for --retry-if: {error}")),
        }
        self.forget(&forgotten);
        if self.outlets[i].broken().is_some()
            && let Some(pty) = &mut self.pty
        {
            pty.hang_up();
        }
    }

    /// What could not be kept of standard input makes a failure final, and nothing worse.
    fn heed(&mut self, of_input: io::Result<()>) {
        let Err(error) = of_input else { return };
        if self.input.is_lost() {
            self.seen.input_error.get_or_insert_with(|| error.to_string());
        } else {
            self.input.stall();
            self.fail(format!("standard input: {}", describe_error(&error)));
        }
    }

    fn forget(&mut self, patterns: &[usize]) {
        for pattern in patterns {
            for flow in self.flows.iter_mut().flatten() {
                flow.forget(*pattern);
            }
        }
    }

    /// Whether the attempt has to be ended: it may wait for input that will not come.
    pub fn is_stalled(&self) -> bool {
        self.input.is_stalled()
    }

    /// What has failed since this was last asked.
    pub fn fault(&mut self) -> Option<String> {
        self.fault.take()
    }

    /// Nothing more is taken from the command: it ends by SIGPIPE, or by itself.
    fn fail(&mut self, why: String) {
        self.fault.get_or_insert(why);
        for flow in self.flows.iter_mut().flatten() {
            flow.close();
        }
        if let Some(pty) = &mut self.pty {
            pty.hang_up();
        }
    }

    /// Whether output has come since this was last asked.
    pub fn has_moved(&mut self) -> bool {
        std::mem::take(&mut self.has_moved)
    }

    /// Whether output may still come.
    pub fn is_open(&self) -> bool {
        self.flows.iter().flatten().any(Flow::is_open)
    }

    /// Whether output was taken and waits for its reader.
    pub fn has_pending(&self) -> bool {
        self.flows.iter().flatten().any(Flow::has_pending)
    }

    /// The attempt is over: what its output showed.
    pub fn end(&mut self, now: SystemTime) -> Result<Seen, String> {
        self.pty = None;
        let ended = self.input.end();
        self.heed(ended);
        for i in 0..2 {
            let is_watched = self.is_watched(i);
            let Some(mut flow) = self.flows[i].take() else { continue };
            let mut forgotten = Vec::new();
            if let Some(listener) = &mut self.listener {
                self.lines[i].finish(&mut |line| listener.read(line, now));
            }
            flow.finish(&mut Note {
                streams: &self.streams,
                is_watched,
                copy: &mut self.copy,
                lines: &mut self.lines[i],
                listener: self.listener.as_mut(),
                seen: &mut self.seen,
                forgotten: &mut forgotten,
                now,
            });
            self.forget(&forgotten);
        }
        self.seen.wait_asked = self.listener.as_ref().and_then(RetryAfter::wait);
        self.seen.input_lost = self.input.is_lost();
        for (outlet, name) in self.outlets.iter().zip(["standard output", "standard error"]) {
            match outlet.broken() {
                Some(Broken::ReaderGone) => self.seen.reader_gone = true,
                Some(Broken::Fault(why)) => {
                    self.fault.get_or_insert_with(|| format!("{name}: {why}"));
                }
                None => {}
            }
        }
        match self.fault() {
            Some(fault) => Err(fault),
            None => Ok(std::mem::take(&mut self.seen)),
        }
    }

    /// What the attempt printed on the streams that are looked at, for `--retry-if`.
    pub fn copy(&self) -> &Spool {
        &self.copy
    }

    /// The run is over: begins to print what was kept of an output.
    pub fn settle(&mut self, output: usize, succeeded: bool) -> (Release, &mut Outlet) {
        let release = self.outlets[output].settle(succeeded);
        (release, &mut self.outlets[output])
    }
}
