//! Another reader and writer of a budget's file than the product's, by what `docs/DESIGN.md` and the product's source say
//! of its form.

use std::fs;
use std::path::Path;

use super::outcome::{Loss, Outcome};

pub const SIZE: usize = 4096;
const MAGIC: &[u8] = b"backoff state 3\n";

#[derive(Debug, Default, PartialEq)]
pub struct Counts {
    pub attempts: u64,
    pub retries: u64,
}

/// What is counted in a file; none where there is no file, or an unused one.
pub fn counts(path: &Path) -> Outcome<Counts> {
    let bytes = fs::read(path).unwrap_or_default();
    if bytes.iter().all(|byte| *byte == 0) {
        return Ok(Counts::default());
    }
    read(&bytes).ok_or_else(|| Loss(format!("{} holds no whole record", path.display())))
}

/// None if it is not whole.
pub fn read(bytes: &[u8]) -> Option<Counts> {
    let numbers: Vec<u64> = bytes.strip_prefix(MAGIC)?.chunks_exact(8).map(number).collect();
    let (length, sum) = (*numbers.first()?, *numbers.get(1)?);
    let (record, rest) = bytes.get(32..)?.split_at_checked(usize::try_from(length).ok()?)?;
    if bytes.len() != SIZE || checksum(record) != sum || rest.iter().any(|byte| *byte != 0) {
        return None;
    }
    let slots = usize::try_from(record.get(32..40).map(number)?).ok()?;
    let slots = record.get(40..)?.get(..slots.checked_mul(24)?)?;
    let slots: Vec<u64> = slots.chunks_exact(8).map(number).collect();
    let total = |which: usize| {
        slots
            .chunks_exact(3)
            .fold(0, |sum: u64, slot| sum.saturating_add(slot[which]))
    };
    Some(Counts {
        attempts: total(1),
        retries: total(2),
    })
}

/// A file with this record, whatever it says.
pub fn file(record: &[u64]) -> Vec<u8> {
    let record: Vec<u8> = record.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut file = MAGIC.to_vec();
    file.extend((record.len() as u64).to_le_bytes());
    file.extend(checksum(&record).to_le_bytes());
    file.extend(record);
    file.resize(SIZE, 0);
    file
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// FNV-1a over the length and the record.
fn checksum(record: &[u8]) -> u64 {
    let length = (record.len() as u64).to_le_bytes();
    length.iter().chain(record).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
