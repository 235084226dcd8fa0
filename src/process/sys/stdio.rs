//! Direct writes to the standard descriptors, without the buffer, lock and panics of `print!` and `eprintln!`. For use
//! before and after a run. During a run, messages go through the event loop, which handles signals. Only the countdown
//! is then written here, as [`write_if_room`] does not wait.

use std::io::IsTerminal;
use std::os::fd::RawFd;

use nix::poll::PollFlags;
use nix::unistd::write;

use super::fd::{has_lost_its_reader, inherited, is_piped, ready};
use crate::run::uninterrupted;
use crate::text::{describe, printable};

pub(crate) const IN: RawFd = 0;
pub(crate) const OUT: RawFd = 1;
pub(crate) const ERR: RawFd = 2;

/// Writes all of a text, and waits for its reader. A slow reader causes EAGAIN only if the caller made the descriptor
/// non-blocking. After an error, part of the text may have been written.
fn write_all(fd: RawFd, mut bytes: &[u8]) -> nix::Result<()> {
    while !bytes.is_empty() {
        let written = uninterrupted(|| write(inherited(fd), bytes))?;
        bytes = &bytes[written..];
    }
    Ok(())
}

pub(crate) fn is_terminal(fd: RawFd) -> bool {
    inherited(fd).is_terminal()
}

/// Writes a short text to standard error, unless `poll(2)` says that the write would block (a stopped terminal). It
/// then writes nothing and returns false, and the caller may try again. Returns true even if the write or `poll` fails,
/// as trying again would not help.
pub(crate) fn write_if_room(text: &str) -> bool {
    let error = inherited(ERR);
    if ready(error, PollFlags::POLLOUT).is_ok_and(|events| events.is_empty()) {
        return false;
    }
    let _ = write(error, text.as_bytes());
    true
}

/// Returns true if standard output is a pipe or socket whose reader is gone. A terminal that hung up does not count, as
/// SIGHUP reports it.
pub(crate) fn output_has_lost_its_reader() -> bool {
    is_piped(OUT) && has_lost_its_reader(inherited(OUT))
}

/// Prints requested text (`--help`, `--plan`) on standard output.
pub(crate) fn print(text: &str) -> Result<(), String> {
    write_all(OUT, text.as_bytes()).map_err(describe)
}

/// Formats an error or warning as one line that begins with backoff's name. Escapes control characters, including
/// newlines, as the text may quote others.
pub(crate) fn complaint(text: &str) -> String {
    format!("backoff: {}\n", printable(text))
}

/// Writes an error of backoff to standard error, ignoring write errors.
pub(crate) fn complain(line: &str) {
    let _ = write_all(ERR, complaint(line).as_bytes());
}
