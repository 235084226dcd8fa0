use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::policy::budget::{BudgetLimits, Question};

fn ledgers() -> impl Strategy<Value = Ledger> {
    (
        any::<u64>(),
        prop::collection::btree_set(any::<u64>(), 0..=MOST_SLOTS),
        any::<(u64, u64)>(),
        prop::option::of((any::<u64>(), 1..=LONGEST_COOL_OFF.as_millis() as u64)),
        prop_oneof![Just(0), any::<u64>()],
    )
        .prop_map(|(span, untils, (attempts, retries), cool_off, failed_runs)| Ledger {
            span,
            slots: untils
                .into_iter()
                .map(|until| Slot {
                    until,
                    counts: Counts { attempts, retries },
                })
                .collect(),
            cool_off: cool_off.map(|(until, length)| CoolOff { until, length }),
            failed_runs,
        })
}

/// Returns a file as an earlier version wrote it: two copies, each with a sequence number.
fn first_version(record: &[u8]) -> Vec<u8> {
    let mut copy = b"backoff state 1\n".to_vec();
    copy.extend(1_u64.to_le_bytes());
    copy.extend((record.len() as u64).to_le_bytes());
    copy.extend([7; 8]);
    copy.extend(record);
    copy.resize(4096, 0);
    [copy.clone(), copy].concat()
}

#[test]
fn the_last_record_counts() {
    assert_eq!(read(&[]), Some(Ledger::default()));
    assert_eq!(read(&[0; 100]), None);
    assert_eq!(read(&[0; FILE]), Some(Ledger::default()));
    let mut file = vec![0; FILE];
    for attempts in 0..5 {
        let slots = (0..MOST_SLOTS as u64 - attempts).map(|until| Slot {
            until,
            counts: Counts { attempts, retries: 0 },
        });
        let ledger = Ledger {
            span: attempts,
            slots: slots.collect(),
            cool_off: None,
            failed_runs: attempts,
        };
        file.copy_from_slice(&write(&ledger));
        assert_eq!(read(&file), Some(ledger));
    }
}

#[test]
fn what_others_wrote_is_foreign() {
    let first = first_version(&encode(&Ledger::default()));
    let longer = [write(&Ledger::default()), vec![0]].concat();
    let not_a_ledger = page(b"odd");
    for other in [
        &b"hello"[..],
        MAGIC,
        b"backoff state 1\n",
        &first,
        &first[..FILE],
        &[0, 0, 1],
        &[255; FILE],
        &longer,
        &not_a_ledger,
    ] {
        assert_eq!(read(other), None, "{:?}", &other[..other.len().min(40)]);
    }
}

#[test]
fn what_is_out_of_order_is_no_record() {
    let numbers = |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    assert!(decode(&numbers(&[1, 0, 0, 9])).is_some_and(|ledger| ledger.failed_runs == 9));
    assert!(decode(&numbers(&[1, 0, 0, 0, 5, 1, 0, 6, 1, 0])).is_some());
    assert!(decode(&numbers(&[1, 0, 0, 0, 6, 1, 0, 5, 1, 0])).is_none());
    assert!(decode(&numbers(&[1, 0, 0])).is_none());
    assert!(decode(&numbers(&[1, 0, 0, 0, 5])).is_none());
    let slots = MOST_SLOTS as u64 + 1;
    let many: Vec<u64> = (0..slots).flat_map(|until| [until, 1, 0]).collect();
    assert!(decode(&numbers(&[&[1, 0, 0, 0], &many[..]].concat())).is_none());
    assert!(decode(b"odd").is_none());
}

proptest! {
    #[test]
    fn a_record_is_read_as_it_was_written(ledger in ledgers()) {
        let record = encode(&ledger);
        prop_assert!(record.len() <= LONGEST);
        prop_assert_eq!(decode(&record), Some(ledger.clone()));
        prop_assert_eq!(read(&write(&ledger)), Some(ledger));
    }

    /// A file from any writer: an update answers from the record found, and the next read returns the record written.
    #[test]
    fn an_update_of_any_file_is_read_back(
        numbers in prop::collection::vec(prop_oneof![0..2000_u64, any::<u64>()], 0..30),
        now: u64,
        asks in 0..5_u8,
    ) {
        let record: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        let file = page(&record);
        prop_assert_eq!(whole(&file), Some(&record[..]));
        prop_assert_eq!(read(&file), decode(&record));
        if let Some(mut ledger) = read(&file) {
            let question = match asks {
                0 => Question::Attempt,
                1 => Question::Retry,
                2 => Question::CoolOff,
                3 => Question::GaveUp { cool_off: Duration::from_millis(now), earlier: Some(now) },
                _ => Question::Succeeded,
            };
            let terms = BudgetLimits { ratio: 100_000, min: 10, window: Duration::from_secs(600) };
            ledger.answer(&terms, question, Duration::from_millis(now));
            let new = encode(&ledger);
            prop_assert!(new.len() <= LONGEST);
            let written = write(&ledger);
            prop_assert_eq!(whole(&written), Some(&new[..]));
            prop_assert!(read(&written).is_some());
        }
    }

    #[test]
    fn any_bytes_are_a_record_or_none(record in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Some(ledger) = decode(&record) {
            let again = encode(&ledger);
            prop_assert_eq!(again.len(), record.len());
        }
    }

    /// A new record written over an old one up to any byte: the result is the old one, the new one or none.
    #[test]
    fn a_torn_update_is_noticed(old in prop::option::of(ledgers()), new in ledgers(), torn in 0..=FILE) {
        let before = old.as_ref().map_or_else(Vec::new, write);
        let mut file = write(&new)[..torn].to_vec();
        file.extend(before.iter().skip(torn));
        let found = read(&file);
        // A page ends in zeros, so a late tear may leave the record whole.
        prop_assert!(found.is_none() || found == Some(old.unwrap_or_default()) || found == Some(new));
    }

    #[test]
    fn any_bytes_can_be_read(file in prop::collection::vec(any::<u8>(), 0..200), magic: bool) {
        let file = if magic { [MAGIC.as_slice(), &file].concat() } else { file };
        let _ = read(&file);
    }

    #[test]
    fn a_changed_bit_is_noticed(ledger in ledgers(), at in 0..FILE, bit in 0..8_u8) {
        let mut file = write(&ledger);
        file[at] ^= 1 << bit;
        prop_assert_eq!(read(&file), None);
    }
}
