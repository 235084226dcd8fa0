//! Which program a file asks to be started by: the one that a script names, or the loader of a binary.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// What the kernel reads of a script.
const FIRST: usize = 256;
/// A path is no longer.
const LONGEST_PATH: usize = 4096;
/// `PT_INTERP` (ELF, System V ABI, chapter 5).
const INTERPRETER: u64 = 3;

/// The interpreter of a file, as the kernel reads it; None of one that names none.
pub(super) fn interpreter(path: &Path) -> Option<OsString> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut first = [0; FIRST];
    let count = read(&file, &mut first, 0).ok()?;
    match first[..count].strip_prefix(b"#!") {
        Some(rest) => of_a_script(rest),
        None if first.starts_with(b"\x7fELF") => loader(&file, &first),
        None => None,
    }
}

/// The carriage return of a line that ends in CR LF is a part of the name.
fn of_a_script(rest: &[u8]) -> Option<OsString> {
    let line = rest.split(|byte| matches!(byte, b'\n' | 0)).next()?;
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t'));
    let name = words.find(|word| !word.is_empty())?;
    Some(OsStr::from_bytes(name).to_owned())
}

/// Where the numbers stand in the two classes of files, of 32 and of 64 bits: the offset and width of an address.
struct Layout {
    table: usize,
    entry_size: usize,
    entries: usize,
    offset: usize,
    length: usize,
    width: usize,
}

const SMALL: Layout = Layout {
    table: 0x1c,
    entry_size: 0x2a,
    entries: 0x2c,
    offset: 0x04,
    length: 0x10,
    width: 4,
};
const LARGE: Layout = Layout {
    table: 0x20,
    entry_size: 0x36,
    entries: 0x38,
    offset: 0x08,
    length: 0x20,
    width: 8,
};

fn loader(file: &File, first: &[u8]) -> Option<OsString> {
    let layout = if first[4] == 1 { SMALL } else { LARGE };
    let is_little = first[5] == 1;
    let number = |bytes: &[u8], at: usize, width: usize| {
        let bytes = bytes.get(at..at + width)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Some(match is_little {
            true => bytes.iter().rev().fold(0, add),
            false => bytes.iter().fold(0, add),
        })
    };
    let table = number(first, layout.table, layout.width)?;
    let size = number(first, layout.entry_size, 2)?;
    for entry in 0..number(first, layout.entries, 2)? {
        let mut header = [0; 56];
        let place = table.checked_add(entry * size)?;
        let count = read(file, &mut header, place).ok()?;
        let header = &header[..count];
        if number(header, 0, 4)? != INTERPRETER {
            continue;
        }
        let place = number(header, layout.offset, layout.width)?;
        let length = usize::try_from(number(header, layout.length, layout.width)?).ok()?;
        let mut name = vec![0; length.min(LONGEST_PATH)];
        let count = read(file, &mut name, place).ok()?;
        name.truncate(count);
        let name = name.split(|byte| *byte == 0).next()?;
        return Some(OsString::from_vec(name.to_vec()));
    }
    None
}

/// As much as there is.
fn read(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
