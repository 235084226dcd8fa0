use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::policy::budget::{BudgetLimits, Question};

/// Returns a file whose record holds these numbers.
fn page(numbers: &[u64]) -> Vec<u8> {
    let mut record: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    record.resize(FILE_SIZE - 24, 0);
    [&MAGIC[..], &checksum(&record).to_le_bytes(), &record].concat()
}

fn ledgers() -> impl Strategy<Value = Ledger> {
    let untils = prop::collection::btree_set(1..=u64::MAX, 0..=MOST_SLOTS);
    (any::<u64>(), untils, any::<(u64, u64)>()).prop_map(|(span, untils, (attempts, retries))| {
        let counts = Counts { attempts, retries };
        Ledger {
            span,
            slots: untils
                .into_iter()
                .map(|until| Slot { until, counts })
                .collect(),
        }
    })
}

#[test]
fn foreign_files_and_records_out_of_order_are_refused() {
    assert_eq!(read(&[]), Some(Ledger::default()));
    assert_eq!(read(&[0; FILE_SIZE]), Some(Ledger::default()));
    assert!(read(&page(&[1, 5, 1, 0, 6, 1, 0])).is_some_and(|ledger| ledger.slots.len() == 2));
    let many: Vec<u64> = (0..=MOST_SLOTS as u64)
        .flat_map(|slot| [slot + 1, 1, 0])
        .collect();
    for refused in [
        &b"hello"[..],
        MAGIC,
        &[0; 100],
        &[255; FILE_SIZE],
        &[write(&Ledger::default()), vec![0]].concat(),
        &page(&[1, 6, 1, 0, 5, 1, 0]),
        &page(&[&[1], &many[..]].concat()),
    ] {
        assert_eq!(
            read(refused),
            None,
            "{:?}",
            &refused[..refused.len().min(40)]
        );
    }
}

proptest! {
    #[test]
    fn a_record_is_read_as_it_was_written(ledger in ledgers()) {
        prop_assert_eq!(read(&write(&ledger)), Some(ledger));
    }

    /// Asserts that a valid record of any numbers can be updated and read back.
    #[test]
    fn an_update_of_any_file_is_read_back(
        numbers in prop::collection::vec(prop_oneof![0..2000_u64, any::<u64>()], 0..30),
        now: u64,
        asks in 0..2_usize,
    ) {
        if let Some(mut ledger) = read(&page(&numbers)) {
            let questions = [Question::Attempt, Question::Retry];
            let limits = BudgetLimits { ratio: 100_000, min: 10, window: Duration::from_secs(600) };
            ledger.answer(&limits, questions[asks], Duration::from_millis(now));
            prop_assert_eq!(read(&write(&ledger)), Some(ledger));
        }
    }

    /// Asserts that a record written over an old one up to any byte reads as the old record, the new record or none.
    #[test]
    fn a_torn_update_is_noticed(old in prop::option::of(ledgers()), new in ledgers(), torn in 0..=FILE_SIZE) {
        let before = old.as_ref().map_or_else(Vec::new, write);
        let mut file = write(&new)[..torn].to_vec();
        file.extend(before.iter().skip(torn));
        let found = read(&file);
        // A page ends in zeros, so a late tear may leave the record whole.
        prop_assert!(found.is_none() || found == Some(old.unwrap_or_default()) || found == Some(new));
    }

    #[test]
    fn any_bytes_are_read_into_a_ledger_that_fits(bytes in prop::collection::vec(any::<u8>(), 0..2 * FILE_SIZE), magic: bool) {
        let file = if magic { [MAGIC.as_slice(), &bytes].concat() } else { bytes.clone() };
        for ledger in [read(&file), decode(&bytes)].into_iter().flatten() {
            prop_assert!(ledger.slots.len() <= MOST_SLOTS);
            prop_assert_eq!(read(&write(&ledger)), Some(ledger));
        }
    }

    #[test]
    fn a_changed_bit_is_noticed(ledger in ledgers(), at in 0..FILE_SIZE, bit in 0..8_u8) {
        let mut file = write(&ledger);
        file[at] ^= 1 << bit;
        prop_assert_eq!(read(&file), None);
    }
}
