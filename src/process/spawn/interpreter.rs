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
    let (file, first) = beginning(path)?;
    match first.strip_prefix(b"#!") {
        Some(rest) => of_a_script(rest).map(|(name, _)| OsStr::from_bytes(name).to_owned()),
        None if first.starts_with(b"\x7fELF") => loader(&file, &first),
        None => None,
    }
}

/// What the first line of a script names.
pub(super) struct Script {
    pub(super) interpreter: OsString,
    /// Empty where there is none.
    argument: OsString,
}

impl Script {
    /// None of what is no script, or one whose first line may be longer than what the kernel reads of it.
    pub(super) fn read(path: &Path) -> Option<Script> {
        let (_, first) = beginning(path)?;
        let rest = first.strip_prefix(b"#!").filter(|rest| rest.contains(&b'\n'))?;
        let (interpreter, argument) = of_a_script(rest)?;
        let text = |bytes| OsStr::from_bytes(bytes).to_owned();
        Some(Script {
            interpreter: text(interpreter),
            argument: text(argument),
        })
    }

    /// `#!/usr/bin/env NAME`: what that looks for, if that is beyond doubt.
    pub(super) fn looked_for(&self) -> Option<&OsStr> {
        let name = self.argument.as_bytes();
        // Elsewhere than on Linux an argument may be split into words.
        let is_one_word = cfg!(target_os = "linux") || !name.contains(&b' ') && !name.contains(&b'\t');
        let is_name = !name.is_empty() && !name.starts_with(b"-") && !name.contains(&b'=');
        let is_env = Path::new(&self.interpreter).file_name() == Some(OsStr::new("env"));
        (is_env && is_name && is_one_word).then_some(&self.argument)
    }
}

/// An open file, and what the kernel reads of it first.
fn beginning(path: &Path) -> Option<(File, Vec<u8>)> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut first = vec![0; FIRST];
    let count = read(&file, &mut first, 0).ok()?;
    // A binary's numbers are looked for at fixed places.
    first[count..].fill(0);
    Some((file, first))
}

/// Its name and argument. The carriage return of a line that ends in CR LF is a part of them.
fn of_a_script(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let line = rest.split(|byte| matches!(byte, b'\n' | 0)).next()?;
    let begin = line.iter().position(|byte| !is_blank(byte))?;
    let line = &line[begin..];
    let (name, argument) = line.split_at(line.iter().position(is_blank).unwrap_or(line.len()));
    let is_not_blank = |byte: &u8| !is_blank(byte);
    let (first, last) = (
        argument.iter().position(is_not_blank),
        argument.iter().rposition(is_not_blank),
    );
    let argument = first
        .zip(last)
        .map_or(&b""[..], |(first, last)| &argument[first..=last]);
    Some((name, argument))
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
