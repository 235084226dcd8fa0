//! Cleans any stream: `cargo +nightly fuzz run clean`. The first byte is the size of the pieces.
//!
//! The pieces make no difference, nothing grows, and no escape, CR or backspace stays.
#![no_main]

use backoff_cli::search::clean::Cleaner;
use libfuzzer_sys::fuzz_target;

fn cleaned(stream: &[u8], size: usize) -> Vec<u8> {
    let (mut cleaner, mut clean) = (Cleaner::default(), Vec::new());
    for piece in stream.chunks(size.max(1)) {
        clean.extend_from_slice(cleaner.clean(piece));
    }
    clean.extend_from_slice(cleaner.finish());
    clean
}

fuzz_target!(|input: &[u8]| {
    let Some((&size, stream)) = input.split_first() else {
        return;
    };
    let clean = cleaned(stream, usize::from(size));
    assert_eq!(clean, cleaned(stream, usize::MAX));
    assert!(clean.len() <= stream.len());
    assert!(!clean.iter().any(|byte| b"\x1b\r\x08".contains(byte)));
});
