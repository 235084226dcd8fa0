//! Reads and writes a directory's budget file, by the description of the format and without the code under test.
#![allow(unused_imports, reason = "each test binary uses a part of it")]

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};

pub use backoff_cli::policy::budget::{BudgetLimits, Counts, Ledger, MOST_SLOTS, Question, Slot};

/// The size of a budget file.
pub const PAGE: usize = 4096;
const MAGIC: &[u8; 16] = b"backoff state 6\n";

/// Reads the ledger of a file. A process that counts after the end of its run has the lock meanwhile.
#[track_caller]
pub fn ledger(path: impl AsRef<Path>) -> Ledger {
    let opened = File::open(path).unwrap();
    let mut locked = Flock::lock(opened, FlockArg::LockShared).unwrap();
    let mut file = Vec::new();
    locked.read_to_end(&mut file).unwrap();
    assert_eq!((file.len(), &file[..16]), (PAGE, &MAGIC[..]));
    let numbers = file[16..]
        .as_chunks()
        .0
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes));
    let numbers: Vec<u64> = numbers.collect();
    assert_eq!(numbers[0], checksum(&file[24..]));
    let slots = numbers[2..].chunks_exact(3).take_while(|slot| slot[0] > 0);
    let slot = |slot: &[u64]| Slot {
        until: slot[0],
        counts: Counts {
            attempts: slot[1],
            retries: slot[2],
        },
    };
    Ledger {
        span: numbers[1],
        slots: slots.map(slot).collect(),
    }
}

/// Returns the content of the file that holds a ledger.
pub fn file_of(ledger: &Ledger) -> Vec<u8> {
    let mut numbers = vec![ledger.span];
    for Slot { until, counts } in &ledger.slots {
        numbers.extend([*until, counts.attempts, counts.retries]);
    }
    numbers.resize((PAGE - 24) / 8, 0);
    let record: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    [&MAGIC[..], &checksum(&record).to_le_bytes(), &record].concat()
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns the attempts and retries of a ledger.
pub fn counted(ledger: &Ledger) -> (u64, u64) {
    let counts = ledger.slots.iter().map(|slot| slot.counts);
    counts.fold((0, 0), |sum, counts| {
        (sum.0 + counts.attempts, sum.1 + counts.retries)
    })
}
