//! What the scanner adds to a stream that passes through: megabytes per second over log lines in
//! memory, in pushes of 64 KiB, best of five, next to counting the lines. Nothing is found, as in a
//! run that goes well.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use backoff_cli::search::pattern::Pattern;
use backoff_cli::search::patterns::Patterns;
use backoff_cli::search::scanner::Scanner;
use clap::Args;

use super::Pace;
use crate::Result;

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

const WORDS: [&str; 22] = [
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

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pace: Pace,
}

pub fn run(options: &Options) -> Result<()> {
    let size = options.pace.full_or(500 << 20, 4 << 20);
    let sets = sets()?;
    let unicode: Vec<&str> = WORDS.into_iter().chain(["größe", "naïve", "日本語"]).collect();
    for (name, words, end) in [
        ("plain", &WORDS[..], "\n"),
        ("CRLF", &WORDS[..], "\r\n"),
        ("Unicode", &unicode[..], "\n"),
    ] {
        println!("{name} lines");
        over(&log(size, words, end)?, &sets)?;
    }
    let begin = Instant::now();
    for _ in 0..100 {
        black_box(Pattern::compile(black_box(&ten_in_any_case()))?);
    }
    println!("compiling ten, any case: {:.0} us", begin.elapsed().as_secs_f64() * 1e4);
    Ok(())
}

fn ten_in_any_case() -> String {
    format!("(?i){}", TEN.join("|"))
}

/// What is looked for, and its name.
fn sets() -> Result<Vec<(&'static str, Arc<Patterns>)>> {
    let (ten, ten_in_any_case) = (TEN.join("|"), ten_in_any_case());
    let sets: [(&str, &[&str]); 10] = [
        ("a literal", &TEN[..1]),
        ("a literal, any case", &["(?i)connection refused"]),
        ("an alternation of ten", &[&ten]),
        ("an alternation of ten, any case", &[&ten_in_any_case]),
        ("ten patterns", &TEN),
        ("anchored", &["^error"]),
        ("at the end", &["status=500$"]),
        (r"with \A", &[r"\Aerror"]),
        ("words", &[r"(?i)\berror\b"]),
        ("numbers", &[r"\bstatus=5\d\d\b"]),
    ];
    let mut compiled = Vec::new();
    for (name, texts) in sets {
        let patterns: std::result::Result<Vec<_>, _> = texts.iter().map(|text| Pattern::compile(text)).collect();
        compiled.push((name, Arc::new(Patterns::new(patterns?))));
    }
    Ok(compiled)
}

/// Lines of 50 to 150 bytes, of words and numbers.
fn log(size: usize, words: &[&str], end: &str) -> Result<Vec<u8>> {
    let mut text = String::with_capacity(size + 200);
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    while text.len() < size {
        let (day, hour, minute, fraction) = (next(28), next(24), next(60), next(1000));
        write!(text, "2024-05-{day:02}T{hour:02}:{minute:02}:00.{fraction:03}Z INFO")?;
        for _ in 0..4 + next(12) {
            text.push(' ');
            text.push_str(words[next(words.len())]);
        }
        write!(text, " id={}{end}", next(1_000_000))?;
    }
    Ok(text.into_bytes())
}

/// Prints what takes how long over this log.
fn over(log: &[u8], sets: &[(&str, Arc<Patterns>)]) -> Result<()> {
    best("counting lines", log, || {
        let pieces = log.chunks(PUSH);
        let count: usize = pieces.map(|bytes| memchr::memchr_iter(b'\n', bytes).count()).sum();
        black_box(count);
    });
    let mut copy = vec![0; PUSH];
    best("copying", log, || {
        for bytes in log.chunks(PUSH) {
            copy[..bytes.len()].copy_from_slice(bytes);
            black_box(&copy);
        }
    });
    for (name, set) in sets {
        let mut has_found = false;
        best(name, log, || {
            let mut scanner = Scanner::new(Arc::clone(set));
            for bytes in log.chunks(PUSH) {
                scanner.push(bytes, &mut |_, _| ());
            }
            has_found |= scanner.is_settled();
        });
        if has_found {
            return Err(format!("{name}: it was to find nothing").into());
        }
    }
    Ok(())
}

fn best(name: &str, log: &[u8], mut run: impl FnMut()) {
    let times = (0..5).map(|_| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    });
    let time = times.fold(f64::MAX, f64::min);
    println!("  {name:34} {:8.0} MB/s", log.len() as f64 / time / 1e6);
}
