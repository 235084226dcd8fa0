//! Observes the output of one attempt, as far as options ask for it: keeps it for predicates, keeps its end for hooks
//! and for rules of presets, and looks for the user's patterns. Changes nothing in the stream.

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

/// The end of each output that presets judge, and from which waits (`Retry-After`) are read, in bytes.
const JUDGED: usize = 1 << 20;

/// The end of the output that hooks get, in bytes.
const HOOK_OUTPUT: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct OutputObserver {
    /// The outputs to observe (`--match-on`).
    watched: PerChannel<bool>,
    /// All observed output, of both outputs as it came, for predicates.
    copy: Option<Spool>,
    /// The end of the observed output, for hooks.
    hook_output: Option<Tail>,
    watch_list: Rc<WatchList>,
    /// The search of each output for the patterns of the user.
    watches: PerChannel<Watch>,
    /// The end of each output, if something reads it after a failure.
    tails: Option<PerChannel<Tail>>,
}

impl OutputObserver {
    /// Prepares to observe an attempt, as far as options examine its output. Without such an option it observes
    /// nothing, at no cost.
    pub(super) fn new(options: &StreamOptions) -> OutputObserver {
        let watched = PerChannel::each(|channel| options.is_watched[channel]);
        let needs_tails = options.has_presets || options.reads_waits;
        OutputObserver {
            watched,
            copy: (options.has_retry_if || options.has_success_if).then(Spool::default),
            hook_output: options.has_hook_output.then(|| Tail::new(HOOK_OUTPUT)),
            watches: PerChannel::each(|_| Watch::new(&options.watch_list)),
            watch_list: Rc::clone(&options.watch_list),
            tails: needs_tails.then(|| PerChannel::each(|_| Tail::new(JUDGED))),
        }
    }

    /// Observes the next piece of an output, which need not end at a line's end.
    pub(super) fn observe(&mut self, channel: Channel, bytes: &[u8]) {
        if bytes.is_empty() || !self.watched[channel] {
            return;
        }
        // Once it is full, a predicate would judge a part.
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

    /// Returns what rules may ask of the attempt's output, once it has ended, and forgets it; the copies for hooks and
    /// predicates stay.
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

    /// Returns a file with all observed output, as the standard input of predicates; None unless there are any. An
    /// error means that it could not be kept, and ends the run: the predicate's answer would be about a part.
    pub(crate) fn copy_file(&mut self) -> io::Result<Option<OwnedFd>> {
        self.copy.as_mut().map(Spool::input_of_child).transpose()
    }

    /// Returns a file with the end of the observed output, as the standard input of hooks; `/dev/null` without
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
