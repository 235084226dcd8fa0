//! Observes the output of one attempt, as far as options need it. Keeps it for predicates, keeps its end for hooks and
//! preset rules, and searches it for the user's patterns. Changes nothing in the stream.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use super::spool::Spool;
use crate::process::sys::clock::time_of_day;
use crate::process::sys::fd::null;
use crate::run::streams::{Channel, PerChannel, StreamOptions};
use crate::search::examined::Examined;
use crate::search::tail::Tail;
use crate::search::watch::{Watch, WatchList};

/// How much of each output's end presets judge and waits (`Retry-After`) are read from, in bytes.
const JUDGED: usize = 1 << 20;

/// How much of the output's end hooks get, in bytes.
const HOOK_OUTPUT: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct OutputObserver {
    /// The outputs to observe (`--match-on`).
    watched: PerChannel<bool>,
    /// All observed output for predicates, with both outputs in the order in which they came.
    copy: Option<Spool>,
    /// The end of the observed output, for hooks.
    hook_output: Option<Tail>,
    watch_list: Rc<WatchList>,
    /// The search of each output for the user's patterns.
    watches: PerChannel<Watch>,
    /// The end of each output, if something reads it after a failure.
    tails: Option<PerChannel<Tail>>,
}

impl OutputObserver {
    /// Prepares to observe an attempt, as far as options examine its output. Without such an option, it observes
    /// nothing and costs nothing.
    pub(super) fn new(options: &StreamOptions) -> OutputObserver {
        let needs_tails = options.has_presets || options.reads_waits;
        OutputObserver {
            watched: options.is_watched,
            copy: (options.has_retry_if || options.has_success_if).then(Spool::default),
            hook_output: options.has_hook_output.then(|| Tail::new(HOOK_OUTPUT)),
            watches: PerChannel::each(|_| Watch::new(&options.watch_list)),
            watch_list: Rc::clone(&options.watch_list),
            tails: needs_tails.then(|| PerChannel::each(|_| Tail::new(JUDGED))),
        }
    }

    /// Observes the next piece of an output, which may end within a line.
    pub(super) fn observe(&mut self, channel: Channel, bytes: &[u8]) {
        if bytes.is_empty() || !self.watched[channel] {
            return;
        }
        // Once it is full, a predicate would judge only a part.
        if let Some(copy) = &mut self.copy
            && copy.full.is_none()
        {
            copy.append(bytes);
        }
        if let Some(hook_output) = &mut self.hook_output {
            hook_output.push(bytes);
        }
        if let Some(tails) = &mut self.tails {
            tails[channel].push(bytes);
        }
        self.watches[channel].push(&self.watch_list, bytes);
    }

    /// Returns what rules may ask about the output of the finished attempt, and forgets it. The copies for hooks and
    /// predicates remain.
    pub(crate) fn take_examined(&mut self) -> Examined {
        let mut found = Vec::new();
        for channel in Channel::ALL {
            found.extend(self.watches[channel].finish(&self.watch_list));
        }
        let tails = match self.tails.take() {
            Some(PerChannel { stdout, stderr }) => vec![stdout, stderr],
            None => Vec::new(),
        };
        Examined::new(found, tails, time_of_day())
    }

    /// Returns a file with all observed output as the standard input of predicates, or None if there are none. Returns
    /// an error if the output could not be kept. That ends the run, as the predicate would judge only a part.
    pub(crate) fn copy_file(&mut self) -> io::Result<Option<OwnedFd>> {
        self.copy.as_mut().map(Spool::input_of_child).transpose()
    }

    /// Returns a file with the end of the observed output as the standard input of hooks, or `/dev/null` without
    /// `--hook-output`.
    pub(crate) fn tail_file(&self) -> io::Result<OwnedFd> {
        let Some(hook_output) = &self.hook_output else {
            return null();
        };
        let mut file = Spool::default();
        file.append(hook_output.bytes());
        file.input_of_child()
    }
}
