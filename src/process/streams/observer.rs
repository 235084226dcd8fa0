//! Observes the output of one attempt, as far as options ask for it: keeps it for predicates and its end for hooks,
//! reads waits (`Retry-After`) from its lines, and searches it for the patterns of rules. Changes nothing in the
//! stream.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use super::spool::Spool;
use crate::policy::retry_after::RetryAfter;
use crate::process::sys::clock::{now, time_of_day};
use crate::process::sys::fd::null;
use crate::run::streams::{Channel, PerChannel, StreamOptions};
use crate::search::lines::Lines;
use crate::search::scanner::Scanner;

/// Longest excerpt of a match in messages, in bytes.
const EXCERPT: usize = 80;

#[derive(Debug)]
pub(crate) struct OutputObserver {
    /// The outputs to observe (`--match-on`).
    watched: PerChannel<bool>,
    /// All observed output, of both outputs as it came, for predicates.
    copy: Option<Transcript>,
    /// The end of the observed output, for hooks.
    tail: Option<Tail>,
    /// The unfinished line of each output, for `retry_after`.
    lines: PerChannel<Lines>,
    /// The waits that lines have asked for (`--retry-after`).
    retry_after: Option<RetryAfter>,
    /// None for an output that is not searched, or no longer. Boxed, as each is moved for a search, and most runs have
    /// none.
    scanners: PerChannel<Option<Box<Scanner>>>,
    /// For each pattern the beginning of the first text that matched ([`EXCERPT`]).
    matches: Vec<Option<String>>,
    /// Remaining time for searching; limited once the command has ended.
    pub(crate) search_left: Duration,
}

impl OutputObserver {
    /// Prepares to observe an attempt, as far as options examine its output. Without such an option it observes
    /// nothing, at no cost.
    pub(super) fn new(options: &StreamOptions) -> OutputObserver {
        let patterns = options.patterns.list.len();
        let mut watched = PerChannel::each(|channel| options.is_watched[channel]);
        if options.pty {
            // A pseudo-terminal carries both outputs, as standard output.
            watched.stdout |= watched.stderr;
        }
        let scanners = PerChannel::each(|channel| {
            if watched[channel] && patterns > 0 {
                Some(Box::new(Scanner::new(Arc::clone(&options.patterns))))
            } else {
                None
            }
        });
        OutputObserver {
            watched,
            copy: (options.has_retry_if || options.has_success_if).then(Transcript::default),
            tail: options.has_hook_output.then(Tail::default),
            lines: PerChannel::default(),
            retry_after: options.retry_after.is_some().then(RetryAfter::default),
            scanners,
            matches: vec![None; patterns],
            search_left: Duration::MAX,
        }
    }

    /// Returns how many bytes to read from an output at most, so that one search is short: signals are not handled
    /// meanwhile.
    pub(super) fn read_limit(&self, channel: Channel) -> usize {
        self.scanners[channel]
            .as_ref()
            .map_or(usize::MAX, |scanner| scanner.most())
    }

    /// Observes the next piece of an output, which need not end at a line's end. Gives up all further searching once
    /// `search_left` is used up, so that hostile patterns do not delay the end of an attempt for long; the copies for
    /// predicates and hooks, and the reading of waits, go on. A piece is at most [`OutputObserver::read_limit`] long.
    pub(super) fn observe(&mut self, channel: Channel, bytes: &[u8]) {
        if bytes.is_empty() || !self.watched[channel] {
            return;
        }
        if let Some(copy) = &mut self.copy {
            copy.append(bytes);
        }
        if let Some(tail) = &mut self.tail {
            tail.push(bytes);
        }
        if let Some(retry_after) = &mut self.retry_after {
            // The output may ask to wait until a time of day.
            let time = time_of_day();
            self.lines[channel].push(bytes, &mut |line| retry_after.read(line, time));
        }
        let begun = now();
        self.search(channel, |scanner, found| scanner.push(bytes, found));
        self.search_left = self
            .search_left
            .saturating_sub(now().saturating_duration_since(begun));
        if self.search_left.is_zero() {
            self.scanners = PerChannel::default();
        }
    }

    /// Ends both outputs: examines their unfinished last lines, and returns what was found in the whole attempt.
    /// Nothing can be found afterwards; the copies for hooks and predicates, which run later, stay.
    pub(super) fn finish(&mut self) -> Findings {
        for channel in Channel::ALL {
            self.search(channel, |scanner, found| scanner.finish(found));
            if let Some(retry_after) = &mut self.retry_after {
                let time = time_of_day();
                self.lines[channel].finish(&mut |line| retry_after.read(line, time));
            }
        }
        self.scanners = PerChannel::default();
        let retry_after = self.retry_after.as_ref();
        let wait_asked = retry_after.and_then(RetryAfter::wait);
        Findings {
            matched: std::mem::take(&mut self.matches),
            wait_asked,
        }
    }

    /// Searches one output by `step`, which pushes bytes to its scanner or ends its stream. Stores the beginning of a
    /// matching text for messages. A pattern that matched is no longer searched for in either output, as one match is
    /// enough for a rule. Does nothing for an output that is not searched.
    fn search(
        &mut self,
        channel: Channel,
        step: impl FnOnce(&mut Scanner, &mut dyn FnMut(usize, &[u8])),
    ) {
        let Some(mut scanner) = self.scanners[channel].take() else {
            return;
        };
        step(&mut scanner, &mut |pattern, text| {
            let excerpt = excerpt(text);
            self.matches[pattern]
                .get_or_insert_with(|| String::from_utf8_lossy(excerpt).into_owned());
            if let Some(other) = &mut self.scanners[channel.other()] {
                other.close(pattern);
            }
        });
        self.scanners[channel] = Some(scanner);
    }

    /// Returns a file with all observed output, as the standard input of predicates; None unless there are any. An
    /// error means that it could not be kept, and ends the run: the predicate's answer would be about a part.
    pub(crate) fn copy_file(&self) -> io::Result<Option<OwnedFd>> {
        self.copy.as_ref().map(Transcript::to_file).transpose()
    }

    /// Returns a file with the end of the observed output, as the standard input of hooks; `/dev/null` without
    /// `--hook-output`.
    pub(crate) fn tail_file(&self) -> io::Result<OwnedFd> {
        let Some(tail) = &self.tail else {
            return null();
        };
        let mut file = Spool::default();
        file.append(readable_end(&tail.bytes, TAIL));
        file.to_file()
    }
}

/// The findings in the output of an attempt.
pub(super) struct Findings {
    /// For each pattern the beginning of the first text that matched, for messages.
    pub(super) matched: Vec<Option<String>>,
    /// The wait that the output asks for.
    pub(super) wait_asked: Option<Duration>,
}

/// All observed output of an attempt, for predicates, unless it cannot be kept.
#[derive(Debug)]
enum Transcript {
    Kept(Spool),
    /// The reason.
    Lost(String),
}

impl Default for Transcript {
    fn default() -> Transcript {
        Transcript::Kept(Spool::default())
    }
}

impl Transcript {
    /// Adds bytes. If they cannot be kept, drops all bytes and remembers why: a predicate must not judge a part.
    fn append(&mut self, bytes: &[u8]) {
        if let Transcript::Kept(spool) = self {
            spool.append(bytes);
            if let Some(why) = spool.full() {
                *self = Transcript::Lost(why);
            }
        }
    }

    /// Returns a file with all bytes, to be read from its beginning. An error tells why they are lost, or cannot be
    /// copied.
    fn to_file(&self) -> io::Result<OwnedFd> {
        match self {
            Transcript::Kept(spool) => spool.to_file(),
            Transcript::Lost(why) => Err(io::Error::other(why.as_str())),
        }
    }
}

/// Returns the beginning of a text for a message, at most [`EXCERPT`] bytes, and not cut within a character.
fn excerpt(text: &[u8]) -> &[u8] {
    let mut length = text.len().min(EXCERPT);
    // At most three bytes continue a character of UTF-8. A text with more in a row is not UTF-8, and is cut anywhere.
    for _ in 0..3 {
        if text.get(length).copied().is_some_and(is_continuation) {
            length -= 1;
        }
    }
    &text[..length]
}

/// Returns true for a byte of UTF-8 that continues a character.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Most bytes of an attempt's output that hooks get (`--hook-output`).
const TAIL: usize = 64 << 10;

/// The last bytes of an attempt's output: at least [`TAIL`] of them, if there are so many.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    /// Adds bytes, and now and then drops the oldest.
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Cut at twice the limit, so that each byte is moved once, whatever the size of the pieces.
        if self.bytes.len() > 2 * TAIL {
            // Also keep the byte before, which `readable_end` looks at: it may end a line.
            self.bytes.drain(..self.bytes.len() - TAIL - 1);
        }
    }
}

/// Returns at most the last `limit` bytes. If that cuts the text, it begins with a whole line if one begins in the
/// first half, or else with a whole character.
fn readable_end(bytes: &[u8], limit: usize) -> &[u8] {
    let cut = bytes.len().saturating_sub(limit);
    if cut == 0 {
        return bytes;
    }
    // Begins one byte before the cut: the line after a newline at index N begins at `cut + N`.
    let first_half = &bytes[cut - 1..cut + limit / 2];
    let newline = first_half.iter().position(|byte| *byte == b'\n');
    // UTF-8: up to three bytes continue a character.
    let partial_character = bytes[cut..]
        .iter()
        .take(3)
        .take_while(|byte| is_continuation(**byte))
        .count();
    &bytes[cut + newline.unwrap_or(partial_character)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(limit: usize, text: &str) -> String {
        String::from_utf8_lossy(readable_end(text.as_bytes(), limit)).into_owned()
    }

    #[test]
    fn what_is_cut_begins_with_a_line_if_that_is_near() {
        assert_eq!(end(8, "ab\ncd\n"), "ab\ncd\n");
        assert_eq!(end(8, "ab\ncd\nef\n"), "cd\nef\n");
        assert_eq!(end(6, "ab\ncd\nef\n"), "cd\nef\n");
        assert_eq!(end(8, "ab\ncdefghij\n"), "defghij\n");
        assert_eq!(end(8, "one long line"), "ong line");
        assert_eq!(end(8, "ab\u{20ac}cdefg"), "\u{20ac}cdefg");
        assert_eq!(end(7, "ab\u{20ac}cdefg"), "cdefg");
        assert_eq!(end(1, "ab\n"), "\n");
        assert_eq!(end(1, "abc"), "c");
    }
}
