//! Compares the scanner with the naive search: `cargo +nightly fuzz run scanner`.
//!
//! The input is the size of the pieces, an expression up to the first byte 0xfe, and the stream.
#![no_main]

use std::sync::Arc;

use backoff_cli::search::clean::Cleaner;
use backoff_cli::search::pattern::Pattern;
use backoff_cli::search::patterns::Patterns;
use backoff_cli::search::scanner::Scanner;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((&size, input)) = input.split_first() else {
        return;
    };
    let Some(cut) = input.iter().position(|&byte| byte == 0xfe) else {
        return;
    };
    let (text, stream) = (&input[..cut], &input[cut + 1..]);
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let naive = |unicode| {
        regex::bytes::RegexBuilder::new(text)
            .unicode(unicode)
            .build()
    };
    let pattern = match Pattern::parse(text) {
        // backoff rejects a larger pattern before the command starts.
        Ok(pattern) if pattern.places() > 5_000 => return,
        Ok(pattern) => pattern,
        Err(_) => return,
    };
    // The naive engine limits the size of an expression.
    let Ok(naive) = naive(!text.is_ascii()).or_else(|_| naive(true)) else {
        return;
    };
    // `clean` checks the cleaner.
    let mut cleaner = Cleaner::default();
    let mut clean = cleaner.clean(stream).to_vec();
    clean.extend_from_slice(cleaner.finish());
    let expected = clean
        .split_inclusive(|&byte| byte == b'\n')
        .find_map(|line| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            Some(naive.find(line)?.as_bytes().to_vec())
        });

    let mut scanner = Scanner::new(Arc::new(Patterns::new(vec![pattern])));
    let mut all = Vec::new();
    let mut found = |_, text: &[u8]| all.push(text.to_vec());
    for piece in stream.chunks(usize::from(size).max(1)) {
        scanner.push(piece, &mut found);
    }
    scanner.finish(&mut found);
    assert_eq!(scanner.is_settled(), expected.is_some());
    assert_eq!(
        all,
        Vec::from_iter(expected),
        "{text:?} in {}",
        stream.escape_ascii()
    );
});
