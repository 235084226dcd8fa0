//! The file that holds a budget's ledger: one record with a checksum, in one page.
//!
//! An update writes the whole page in one call. The checksum detects an incomplete update and foreign content.
//!
//! In little-endian order: the 16 bytes `backoff state 4` with a line feed, the length of the record (8), a checksum
//! over length and record (8), the record, zeros. The record is numbers of eight bytes: the longest window, the end and
//! the length of the cool-off (both 0 if there is none), the number of consecutive failed runs, and three for each slot
//! (end, attempts, retries).

use crate::policy::budget::{CoolOff, Counts, LONGEST_COOL_OFF, Ledger, MOST_SLOTS, Slot};

/// The size of a file: one page of memory and file systems.
pub const FILE: usize = 4096;
const HEADER: usize = 32;
const LONGEST: usize = FILE - HEADER;
/// Earlier versions were never released.
const MAGIC: &[u8; 16] = b"backoff state 4\n";

const _: () = assert!((4 + 3 * MOST_SLOTS) * size_of::<u64>() <= LONGEST);

/// Parses a file. An empty file or a page of zeros is an unused budget. Returns None if the file is torn or foreign.
pub fn read(file: &[u8]) -> Option<Ledger> {
    if [0, FILE].contains(&file.len()) && file.iter().all(|byte| *byte == 0) {
        return Some(Ledger::default());
    }
    decode(whole(file)?)
}

fn whole(file: &[u8]) -> Option<&[u8]> {
    let rest = file.strip_prefix(MAGIC)?;
    let (length, rest) = rest.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let (record, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let is_whole = checksum(record) == u64::from_le_bytes(*sum) && rest.iter().all(|byte| *byte == 0);
    (file.len() == FILE && is_whole).then_some(record)
}

/// Returns the content of the whole file.
pub fn write(ledger: &Ledger) -> Vec<u8> {
    page(&encode(ledger))
}

fn page(record: &[u8]) -> Vec<u8> {
    debug_assert!(record.len() <= LONGEST);
    let mut file = MAGIC.to_vec();
    file.extend((record.len() as u64).to_le_bytes());
    file.extend(checksum(record).to_le_bytes());
    file.extend(record);
    file.resize(FILE, 0);
    file
}

/// FNV-1a, 64 bits: enough against accidents; no other user may write the file.
fn checksum(record: &[u8]) -> u64 {
    let length = (record.len() as u64).to_le_bytes();
    let bytes = length.iter().chain(record);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the record alone.
pub fn encode(ledger: &Ledger) -> Vec<u8> {
    let cool_off = ledger.cool_off;
    let (until, length) = cool_off.map_or((0, 0), |cool_off| (cool_off.until, cool_off.length));
    let slots = ledger.slots.iter();
    let slots = slots.flat_map(|slot| [slot.until, slot.counts.attempts, slot.counts.retries]);
    let head = [ledger.span, until, length, ledger.failed_runs];
    head.into_iter().chain(slots).flat_map(u64::to_le_bytes).collect()
}

/// Returns None if the record is invalid.
pub fn decode(record: &[u8]) -> Option<Ledger> {
    let (numbers, rest) = record.as_chunks::<8>();
    let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let (&[span, until, length, failed_runs], slots) = numbers.split_first_chunk()?;
    let (slots, incomplete) = slots.as_chunks();
    let slot = |&[until, attempts, retries]: &[u64; 3]| Slot {
        until,
        counts: Counts { attempts, retries },
    };
    let slots: Vec<Slot> = slots.iter().map(slot).collect();
    let is_whole = rest.is_empty() && incomplete.is_empty() && slots.len() <= MOST_SLOTS;
    let in_order = slots.is_sorted_by(|a, b| a.until < b.until);
    // No run sets a longer cool-off.
    let is_sane = u128::from(length) <= LONGEST_COOL_OFF.as_millis();
    (is_whole && in_order && is_sane).then_some(Ledger {
        span,
        slots,
        cool_off: (length > 0).then_some(CoolOff { until, length }),
        failed_runs,
    })
}

#[cfg(test)]
mod tests;
