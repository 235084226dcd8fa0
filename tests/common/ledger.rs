//! Reads and writes a directory's budget file by the description of the format, not with the code under test.
#![allow(unused_imports, reason = "each test binary uses a part of it")]

use std::path::Path;

pub use backoff_cli::policy::budget::{BudgetLimits, CoolOff, Counts, Ledger, MOST_SLOTS, Question, Slot};

/// The size of a file.
pub const PAGE: usize = 4096;
const MAGIC: &[u8; 16] = b"backoff state 4\n";

/// Reads the ledger of a file that no process is writing.
#[track_caller]
pub fn ledger(path: impl AsRef<Path>) -> Ledger {
    let file = std::fs::read(path).unwrap();
    assert_eq!((file.len(), &file[..16]), (PAGE, &MAGIC[..]));
    let numbers: Vec<u64> = file[16..]
        .as_chunks()
        .0
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    let (length, sum, record) = (numbers[0] as usize, numbers[1], &numbers[2..]);
    assert_eq!(sum, checksum(&file[32..][..length]));
    let record = &record[..length / 8];
    let [span, until, length, failed_runs] = record[..4].try_into().unwrap();
    let slots = record[4..].as_chunks().0;
    Ledger {
        span,
        slots: slots
            .iter()
            .map(|&[until, attempts, retries]| Slot {
                until,
                counts: Counts { attempts, retries },
            })
            .collect(),
        cool_off: (length > 0).then_some(CoolOff { until, length }),
        failed_runs,
    }
}

/// Returns the content of the file that holds a ledger.
pub fn file_of(ledger: &Ledger) -> Vec<u8> {
    let slots = ledger
        .slots
        .iter()
        .flat_map(|slot| [slot.until, slot.counts.attempts, slot.counts.retries]);
    let (until, length) = ledger.cool_off.map_or((0, 0), |wait| (wait.until, wait.length));
    let head = [ledger.span, until, length, ledger.failed_runs];
    let record: Vec<u8> = head.into_iter().chain(slots).flat_map(u64::to_le_bytes).collect();
    let mut file = MAGIC.to_vec();
    file.extend((record.len() as u64).to_le_bytes());
    file.extend(checksum(&record).to_le_bytes());
    file.extend(record);
    file.resize(PAGE, 0);
    file
}

/// FNV-1a over length and record.
fn checksum(record: &[u8]) -> u64 {
    let length = (record.len() as u64).to_le_bytes();
    let bytes = length.iter().chain(record);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns all attempts and retries of a ledger.
pub fn counted(ledger: &Ledger) -> (u64, u64) {
    let counts = ledger.slots.iter().map(|slot| slot.counts);
    counts.fold((0, 0), |sum, counts| (sum.0 + counts.attempts, sum.1 + counts.retries))
}
