//! Moves data of the command's streams while an attempt runs: what to poll for, and what to do once it is ready. No
//! call blocks, so that signals and limits are handled meanwhile. Outputs that go to the same file take turns at the
//! ends of lines (`turns.rs`).

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::poll::PollFlags;

use super::output::Output;
use super::{Stream, Streams, turns};
use crate::process::sys::clock::now;
use crate::run::streams::{Channel, PerChannel};

impl Streams {
    /// Returns the descriptors and events to poll, each with its purpose, by which [`Streams::work`] gets those that
    /// are ready. Empty between attempts, except while kept output waits for its reader. An attempt that a fault has
    /// broken off may leave its streams open; it is the last one.
    pub(crate) fn interests(&self) -> Vec<(Stream, BorrowedFd<'_>, PollFlags)> {
        let mut all = Vec::new();
        if let Some((fd, events)) = self.input.interest() {
            all.push((Stream::Input, fd, events));
        }
        for channel in Channel::ALL {
            if let Some((fd, events)) = self.output_interest(channel) {
                all.push((Stream::Output(channel), fd, events));
            }
        }
        all
    }

    /// Returns what an output waits for. None if it is inherited or has ended, or if its bytes wait for the end of the
    /// other output's line: polling its writable reader would return at once, again and again.
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

    /// Returns the time after which to call [`Streams::work`] even if `poll` reports nothing, as no event shows some
    /// changes: that the command has read its input, that an output has its turn. None if there is no such change to wait for.
    pub(crate) fn wake_after(&self) -> Option<Duration> {
        let of_turns = self.turns.as_ref().and_then(|turns| turns.left(now()));
        [self.input.wake_after(), of_turns]
            .into_iter()
            .flatten()
            .min()
    }

    /// Moves data of the streams in `ready` (all, if polling failed), without blocking: feeds input, then reads,
    /// examines and forwards or keeps at most one chunk of each output. Returns true if output was moved, that is read
    /// or written, which restarts the idle limit and prolongs draining. Errors are noted as faults of the streams, for
    /// [`Streams::end`].
    pub(crate) fn work(&mut self, ready: &[Stream]) -> bool {
        // If `wake_after` returns a delay, no event reports that the command has read its input.
        if ready.contains(&Stream::Input) || self.input.wake_after().is_some() {
            self.input.fill_pipe();
        }
        self.move_outputs(ready)
    }

    /// Reads from ready outputs and forwards them, in turns if both go to one file. Returns true if output was moved.
    fn move_outputs(&mut self, ready: &[Stream]) -> bool {
        let is_ready = PerChannel::each(|channel| ready.contains(&Stream::Output(channel)));
        let mut has_moved = false;
        for channel in Channel::ALL {
            if is_ready[channel] {
                has_moved |= self.read_output(channel, is_ready[channel.other()]);
            }
        }
        if self.turns.is_some() {
            return self.write_in_turns() || has_moved;
        }
        for channel in Channel::ALL {
            if is_ready[channel] && self.outputs[channel].has_unwritten() {
                has_moved |= self.outputs[channel].write() > 0;
                self.note_written(channel);
            }
        }
        has_moved
    }

    /// Reads and examines the next chunk of an output, unless a part of the last chunk is not written yet. The chunk is
    /// small if both outputs have data and take turns, so that they stay in order. An output that can keep no more
    /// goes on printing what it has kept instead ([`Output::read_next`]). Returns true if it has read any byte.
    fn read_output(&mut self, channel: Channel, is_other_ready: bool) -> bool {
        let limit = if self.turns.is_some() && is_other_ready {
            turns::CHUNK
        } else {
            usize::MAX
        };
        let new_bytes = self.outputs[channel].read_next(limit);
        let has_read = !new_bytes.is_empty();
        self.observer.observe(channel, new_bytes);
        self.note_written(channel);
        has_read
    }

    /// Forwards what both outputs have read, until their reader takes no more or one has to wait for the end of the
    /// other's line. If both have bytes, lines alternate. Returns true if something was written.
    fn write_in_turns(&mut self) -> bool {
        let mut has_moved = false;
        while let Some(channel) = self.next_turn() {
            // If the other output has bytes, too, it has its turn after this line.
            let written = if self.outputs[channel.other()].has_unwritten() {
                self.outputs[channel].write_line()
            } else {
                self.outputs[channel].write()
            };
            // Before `note_written`, which takes it. None if nothing was written.
            let last_byte = self.outputs[channel].last_written;
            if let (Some(turns), Some(last_byte)) = (&mut self.turns, last_byte) {
                turns.on_written(channel, last_byte);
            }
            self.note_written(channel);
            // The reader has no room, or is gone.
            if written == 0 {
                break;
            }
            has_moved = true;
        }
        has_moved
    }

    /// Returns the output to write next, and notes when a wait for the end of a line begins. None if no output has
    /// bytes, or if the one that has some waits for the end of the other's line.
    fn next_turn(&mut self) -> Option<Channel> {
        let waiting = PerChannel::each(|channel| self.outputs[channel].has_unwritten());
        let may_go_on = PerChannel::each(|channel| self.outputs[channel].has_source());
        self.turns.as_mut()?.next(waiting, may_go_on, now())
    }

    /// Notes whether what was just written of an output ends within a line (`is_mid_line`): then the next message of
    /// backoff begins a new one. Does nothing if nothing was written since the last call, or if the output does not go
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

    /// Returns true if output may still come, or waits for its reader.
    pub(crate) fn is_open(&self) -> bool {
        self.outputs.values().into_iter().any(Output::is_open)
    }

    /// Returns true if output was read and is not written yet: it waits for its reader, or for the other output's line.
    pub(crate) fn has_pending_output(&self) -> bool {
        self.outputs.values().into_iter().any(Output::has_unwritten)
    }
}
