//! The file that holds a budget's ledger: one record with a checksum, in one page.
//!
//! An update writes the whole page in one call. The checksum detects an incomplete update and foreign content.
//!
//! In little-endian order: the 16 bytes `backoff state 6` with a line feed, a checksum over the rest of the page (8
//! bytes), and the record: numbers of eight bytes, then zeros. The numbers are the longest window (the time in which an
//! attempt counts), and three for each slot (end, attempts, retries), a part of the window. Times are in milliseconds,
//! ends since the UNIX epoch.

use crate::policy::budget::{Counts, Ledger, MOST_SLOTS, Slot};

/// The size of a file: one page of memory and file systems.
pub const FILE_SIZE: usize = 4096;
/// Earlier versions were never released.
const MAGIC: &[u8; 16] = b"backoff state 6\n";

const _: () = assert!(MAGIC.len() + (1 + 1 + 3 * MOST_SLOTS) * size_of::<u64>() <= FILE_SIZE);

/// Parses a file. An empty file, which was just created, or a page of zeros, which a crash may leave of it, is an
/// unused budget. Returns None if the file is torn (only a part of an update was written), foreign, longer than a page,
/// or has impossible numbers; the caller then sets it aside.
pub fn read(file: &[u8]) -> Option<Ledger> {
    if [0, FILE_SIZE].contains(&file.len()) && file.iter().all(|byte| *byte == 0) {
        return Some(Ledger::default());
    }
    let (sum, record) = file.strip_prefix(MAGIC)?.split_first_chunk()?;
    let is_whole = file.len() == FILE_SIZE && checksum(record) == u64::from_le_bytes(*sum);
    if is_whole { decode(record) } else { None }
}

/// Returns the content of the whole file (see the head of this file). The ledger has at most [`MOST_SLOTS`] slots,
/// which fit, by the assertion above; more would be cut off.
pub fn write(ledger: &Ledger) -> Vec<u8> {
    let slots = ledger.slots.iter();
    let slots = slots.flat_map(|slot| [slot.until, slot.counts.attempts, slot.counts.retries]);
    let mut record: Vec<u8> = [ledger.span]
        .into_iter()
        .chain(slots)
        .flat_map(u64::to_le_bytes)
        .collect();
    record.resize(FILE_SIZE - MAGIC.len() - size_of::<u64>(), 0);
    [&MAGIC[..], &checksum(&record).to_le_bytes(), &record].concat()
}

/// Returns the FNV-1a hash of 64 bits: enough against accidents, and an attack is none of its tasks, as no other user
/// may write the file.
fn checksum(record: &[u8]) -> u64 {
    record
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Returns the ledger of a record, or None if its numbers are none that backoff writes, or too few. The first slot
/// whose end is 0 is no slot: there, the zeros begin that fill the page.
fn decode(record: &[u8]) -> Option<Ledger> {
    let (words, _) = record.as_chunks();
    let numbers: Vec<u64> = words
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    let (&span, slots) = numbers.split_first()?;
    let slots: Vec<Slot> = slots
        .as_chunks()
        .0
        .iter()
        .map(|&[until, attempts, retries]| Slot {
            until,
            counts: Counts { attempts, retries },
        })
        .take_while(|slot| slot.until > 0)
        .collect();
    let has_valid_slots = slots.len() <= MOST_SLOTS && slots.is_sorted_by(|a, b| a.until < b.until);
    if !has_valid_slots {
        return None;
    }
    Some(Ledger { span, slots })
}

#[cfg(test)]
mod tests;
