//! The file that holds a budget's ledger: one record with a checksum, in one page.
//!
//! An update writes the whole page in one call. What that leaves if it does not come to its end, the checksum tells
//! from a whole record; so it does with what others wrote.
//!
//! In little-endian order: the 16 bytes `backoff state 3` with a line feed, the length of the record (8), a checksum over
//! length and record (8), the record, zeros. The record is numbers of eight bytes: the longest window, the end and the
//! length of the cool-off (both 0 if there is none), how many runs gave up in a row, how many slots there are, three for each
//! slot (end, attempts, retries), and the numbers of the attempts for which a run within has stood.

use crate::policy::budget::{CoolOff, Counts, LONGEST_COOL_OFF, Ledger, MOST_PASSED_ON, MOST_SLOTS, Slot};

/// The size of a file: one page, as memory and file systems have it.
pub const FILE: usize = 4096;
const HEADER: usize = 32;
const LONGEST: usize = FILE - HEADER;
/// Version 1 held two copies, version 2 no attempts that were passed on. They were never released.
const MAGIC: &[u8; 16] = b"backoff state 3\n";

const _: () = assert!((5 + 3 * MOST_SLOTS + MOST_PASSED_ON) * size_of::<u64>() <= LONGEST);

/// Reads a file. One without a byte, or a page of zeros, is of a budget that nobody has used yet. None if it is torn, or
/// not backoff's.
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

/// The whole file.
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

/// FNV-1a, 64 bits: enough against accidents; nobody else may write the file.
fn checksum(record: &[u8]) -> u64 {
    let length = (record.len() as u64).to_le_bytes();
    let bytes = length.iter().chain(record);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The record alone.
pub fn encode(ledger: &Ledger) -> Vec<u8> {
    let (until, length) = ledger
        .cool_off
        .map_or((0, 0), |cool_off| (cool_off.until, cool_off.length));
    let slots = ledger
        .slots
        .iter()
        .flat_map(|slot| [slot.until, slot.counts.attempts, slot.counts.retries]);
    [
        ledger.span,
        until,
        length,
        ledger.failed_runs,
        ledger.slots.len() as u64,
    ]
    .into_iter()
    .chain(slots)
    .chain(ledger.passed_on.iter().copied())
    .flat_map(u64::to_le_bytes)
    .collect()
}

/// None if it is not one.
pub fn decode(record: &[u8]) -> Option<Ledger> {
    let (numbers, rest) = record.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let (span, until, length) = (numbers.next()?, numbers.next()?, numbers.next()?);
    let failed_runs = numbers.next()?;
    let of_slots = usize::try_from(numbers.next()?).ok()?.checked_mul(3)?;
    let numbers: Vec<u64> = numbers.collect();
    let (of_slots, passed_on) = numbers.split_at_checked(of_slots)?;
    let slots: Vec<Slot> = of_slots
        .as_chunks()
        .0
        .iter()
        .map(|&[until, attempts, retries]| Slot {
            until,
            counts: Counts { attempts, retries },
        })
        .collect();
    let in_order = slots.is_sorted_by(|a, b| a.until < b.until);
    // Nobody leaves that much to wait.
    let is_sane = u128::from(length) <= LONGEST_COOL_OFF.as_millis();
    let fits = slots.len() <= MOST_SLOTS && passed_on.len() <= MOST_PASSED_ON;
    (is_sane && rest.is_empty() && fits && in_order).then_some(Ledger {
        span,
        slots,
        cool_off: (length > 0).then_some(CoolOff { until, length }),
        failed_runs,
        passed_on: passed_on.to_vec(),
    })
}

#[cfg(test)]
mod tests;
