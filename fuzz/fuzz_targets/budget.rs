//! Reads a budget file of any content: reading does not panic, an accepted record is valid, and each record gives an
//! answer and the next record at any time.
//!
//! The input is the time, the window, the minimum of attempts and the length of a cool-off (8 bytes each), the question
//! (1), and the file.
#![no_main]

use std::time::Duration;

use backoff_cli::fuzzing::record::{self, decode};
use backoff_cli::policy::budget::{BudgetLimits, MOST_SLOTS, Question};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((numbers, rest)) = input.split_first_chunk::<32>() else {
        return;
    };
    let Some((question, file)) = rest.split_first() else {
        return;
    };
    let (numbers, _) = numbers.as_chunks::<8>();
    let number = |i: usize| u64::from_le_bytes(numbers[i]);
    let now = Duration::from_millis(number(0));
    let limits = BudgetLimits {
        ratio: 100_000,
        min: number(2),
        window: Duration::from_millis(number(1).max(1)),
    };
    let question = match question % 5 {
        0 => Question::Attempt,
        1 => Question::Retry,
        2 => Question::CoolOff,
        3 => Question::GaveUp {
            cool_off: Duration::from_millis(number(3)),
            earlier: Some(number(2)),
        },
        _ => Question::Succeeded,
    };

    let file = &file[..file.len().min(record::FILE_SIZE)];
    // The checksum rejects most inputs, so the file is also decoded as a bare record.
    for mut ledger in [record::read(file), decode(file)].into_iter().flatten() {
        let answer = ledger.answer(&limits, question, now);
        assert_eq!(answer.allowed, limits.allow(answer.counts));
        assert!(ledger.slots.len() <= MOST_SLOTS);
        assert!(ledger.slots.is_sorted_by(|a, b| a.until < b.until));
        let written = record::write(&ledger);
        assert_eq!(written.len(), record::FILE_SIZE);
        assert_eq!(record::read(&written), Some(ledger));
    }
});
