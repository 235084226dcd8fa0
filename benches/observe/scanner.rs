//! What the scanner adds to a stream that passes through: megabytes per second over log lines in
//! memory, in pushes of 64 KiB, best of five, next to counting the lines. Nothing is found, as in a
//! run that goes well.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use backoff_cli::search::pattern::{Pattern, Patterns};
use backoff_cli::search::scanner::Scanner;

const SIZE: usize = 500 << 20;
const PUSH: usize = 64 << 10;

const TEN: [&str; 10] = [
    "connection refused",
    "connection reset",
    "timed out",
    "temporary failure",
    "service unavailable",
    "too many requests",
    "broken pipe",
    "no route to host",
    "network is unreachable",
    "bad gateway",
];

/// Lines of 50 to 150 bytes, of words and numbers.
fn log(words: &[&str], crlf: bool) -> Vec<u8> {
    let mut text = String::with_capacity(SIZE + 200);
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    while text.len() < SIZE {
        write!(
            text,
            "2024-05-{:02}T{:02}:{:02}:00.{:03}Z INFO",
            next(28),
            next(24),
            next(60),
            next(1000)
        )
        .unwrap();
        for _ in 0..4 + next(12) {
            text.push(' ');
            text.push_str(words[next(words.len())]);
        }
        write!(text, " id={}{}", next(1_000_000), if crlf { "\r\n" } else { "\n" }).unwrap();
    }
    text.into_bytes()
}

fn best(name: &str, size: usize, mut run: impl FnMut()) {
    let times = (0..5).map(|_| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    });
    let time = times.fold(f64::MAX, f64::min);
    println!(
        "  {name:34} {:8.0} MB/s",
        f64::from(u32::try_from(size).unwrap()) / time / 1e6
    );
}

fn main() {
    let plain = [
        "request",
        "served",
        "from",
        "cache",
        "connection",
        "opened",
        "to",
        "backend",
        "retry",
        "status=200",
        "user",
        "token",
        "time",
        "the",
        "service",
        "is",
        "available",
        "network",
        "broker",
        "temp",
        "too",
        "gateway",
    ];
    let unicode: Vec<&str> = plain.iter().copied().chain(["größe", "naïve", "日本語"]).collect();
    let any = TEN.join("|");
    let cased = format!("(?i){any}");
    let sets: [(&str, Vec<&str>); 10] = [
        ("a literal", vec![TEN[0]]),
        ("a literal, any case", vec!["(?i)connection refused"]),
        ("an alternation of ten", vec![&any]),
        ("an alternation of ten, any case", vec![&cased]),
        ("ten patterns", TEN.to_vec()),
        ("anchored", vec!["^error"]),
        ("at the end", vec!["status=500$"]),
        (r"with \A", vec![r"\Aerror"]),
        ("words", vec![r"(?i)\berror\b"]),
        ("numbers", vec![r"\bstatus=5\d\d\b"]),
    ];
    for (name, words, crlf) in [
        ("plain", &plain[..], false),
        ("CRLF", &plain[..], true),
        ("Unicode", &unicode[..], false),
    ] {
        let log = log(words, crlf);
        println!("{name} lines");
        best("counting lines", log.len(), || {
            let count: usize = log
                .chunks(PUSH)
                .map(|bytes| memchr::memchr_iter(b'\n', bytes).count())
                .sum();
            black_box(count);
        });
        let mut copy = vec![0; PUSH];
        best("copying", log.len(), || {
            for bytes in log.chunks(PUSH) {
                copy[..bytes.len()].copy_from_slice(bytes);
                black_box(&copy);
            }
        });
        for (name, texts) in &sets {
            let set = Arc::new(Patterns::new(
                texts.iter().map(|text| Pattern::compile(text).unwrap()).collect(),
            ));
            best(name, log.len(), || {
                let mut scanner = Scanner::new(Arc::clone(&set));
                for bytes in log.chunks(PUSH) {
                    scanner.push(bytes, &mut |_, _| ());
                }
                assert!(!scanner.is_settled());
            });
        }
    }
    let begin = Instant::now();
    for _ in 0..100 {
        black_box(Pattern::compile(black_box(&cased)).unwrap());
    }
    println!("compiling ten, any case: {:.0} us", begin.elapsed().as_secs_f64() * 1e4);
}
