//! Moves data of the command's streams while an attempt runs. Says what to poll for, and what to do once it is ready.
//! No call blocks, so that signals and limits are handled meanwhile.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::output::Output;
use super::sink::CHUNK;
use super::{Stream, Streams};
use crate::run::streams::{Channel, PerChannel};

/// Limit on bytes read from one output before the other, if both go to the same place and both have data.
const MOST_OF_SHARED: usize = 4096;

impl Streams {
    /// Returns the descriptors and events to poll, each with its purpose, by which [`Streams::work`] gets those that
    /// are ready. Empty between attempts, except while kept output waits for its reader. An attempt that a fault has
    /// broken off may leave its streams open, but it is the last one.
    pub(crate) fn interests(&self) -> Vec<(Stream, BorrowedFd<'_>, PollFlags)> {
        let mut all = Vec::new();
        if let Some((fd, events)) = self.input.interest() {
            all.push((Stream::Input, fd, events));
        }
        for channel in Channel::ALL {
            if let Some((fd, events)) = self.outputs[channel].interest() {
                all.push((Stream::Output(channel), fd, events));
            }
        }
        all
    }

    /// Returns the time after which to call [`Streams::work`] even if `poll` reports nothing, if any. Some changes
    /// cause no event, for example that the command has read its input, or that an unfinished line has waited long
    /// enough.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        let of_outputs = self.outputs.values().map(Output::wake_after);
        let of_all = of_outputs.into_iter().chain([self.input.wake_after()]);
        of_all.flatten().min()
    }

    /// Moves data of the streams in `ready` (all, if polling failed), without blocking. Feeds input, then reads,
    /// examines and forwards or keeps at most one chunk of each output. Returns true if output was read or written.
    /// Errors are noted as faults of the streams, for [`Streams::end`].
    pub(crate) fn work(&mut self, ready: &[Stream]) -> bool {
        // If `wake_after` returns a delay, no event reports that the command has read its input.
        if ready.contains(&Stream::Input) || self.input.wake_after().is_some() {
            self.input.fill_pipe();
        }
        self.move_outputs(ready)
    }

    fn move_outputs(&mut self, ready: &[Stream]) -> bool {
        let is_ready = PerChannel::each(|channel| ready.contains(&Stream::Output(channel)));
        let mut has_moved = false;
        for channel in Channel::ALL {
            let must_wait = self.outputs[channel.other()].is_within_line();
            let output = &mut self.outputs[channel];
            if is_ready[channel] {
                // Outputs that are written alternately remain roughly in order.
                let is_shared = output.by_lines && is_ready[channel.other()];
                let new_bytes = output.read_next(if is_shared { MOST_OF_SHARED } else { CHUNK });
                has_moved |= !new_bytes.is_empty();
                self.observer.observe(channel, new_bytes);
            }
            has_moved |= !must_wait && output.write() > 0;
            self.note_written(channel);
        }
        has_moved
    }

    /// Notes whether what was just written of an output ends within a line (`is_mid_line`). The next message of backoff
    /// then begins a new one. Does nothing if nothing was written since the last call, or if the output does not go
    /// where messages go.
    pub(super) fn note_written(&mut self, channel: Channel) {
        let Some(last_byte) = self.outputs[channel].last_written.take() else {
            return;
        };
        let goes_where_messages_go = match channel {
            Channel::Stdout => self.stdout_shares_file && !self.holds_messages(),
            Channel::Stderr => true,
        };
        if goes_where_messages_go {
            self.is_mid_line = last_byte != b'\n';
        }
    }

    /// Returns true if output may still come or waits for its reader.
    pub(crate) fn is_open(&self) -> bool {
        self.outputs.values().into_iter().any(Output::is_open)
    }

    /// Returns true if output was read but not written yet. It waits for its reader, or for the other output's line.
    pub(crate) fn has_pending_output(&self) -> bool {
        self.outputs.values().into_iter().any(Output::has_unwritten)
    }
}
