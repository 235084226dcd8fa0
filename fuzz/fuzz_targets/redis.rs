//! The answer of a Redis server that nobody need trust, in pieces of any size: no bytes panic, no more are read than an
//! answer can have, an answer is taken for what it is, and what is said of anything else is printable and short.
//!
//! The input is the size of the pieces, the number of commands before the script, and the bytes.
#![no_main]

use std::cell::Cell;
use std::io::{Read, Result, Write};
use std::rc::Rc;

use backoff_cli::fuzzing::answer;
use libfuzzer_sys::fuzz_target;

const LONGEST: usize = 4096;

struct Server {
    bytes: Vec<u8>,
    piece: usize,
    read: Rc<Cell<usize>>,
}

impl Read for Server {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let rest = &self.bytes[self.read.get()..];
        let count = self.piece.min(buffer.len()).min(rest.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.read.set(self.read.get() + count);
        Ok(count)
    }
}

impl Write for Server {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

fuzz_target!(|input: &[u8]| {
    let [piece, commands, bytes @ ..] = input else { return };
    let commands = usize::from(commands % 3);
    let read = Rc::new(Cell::new(0));
    let server = Server {
        bytes: bytes.to_vec(),
        piece: usize::from(*piece).max(1),
        read: Rc::clone(&read),
    };
    let taken = answer(server, commands);
    assert!(read.get() <= LONGEST);
    let (numbers, is_list) = match (&taken, expected(&bytes[..bytes.len().min(LONGEST)], commands)) {
        (Ok(taken), expected) => (Some(taken.clone()), expected == Some(taken.clone())),
        (Err(_), expected) => (None, expected.is_none()),
    };
    assert!(is_list, "{numbers:?} of {}", bytes.escape_ascii());
    if let Err(why) = taken {
        assert!(
            why.chars().all(|c| matches!(c, ' '..='~')) && why.len() < 100,
            "{why:?}"
        );
    }
});

/// The naive way.
fn expected(bytes: &[u8], commands: usize) -> Option<Vec<u64>> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let mut line = |kind: u8| {
        let line = lines.next()?.strip_suffix(b"\r\n")?.strip_prefix(&[kind])?;
        Some(String::from_utf8_lossy(line).into_owned())
    };
    for _ in 0..commands {
        line(b'+')?;
    }
    let count: u64 = line(b'*')?.parse().ok()?;
    (0..count).map(|_| line(b':')?.parse().ok()).collect()
}
