//! Measures the scanner on a forwarded stream: megabytes per second over log lines in memory, in pushes of 64 KiB, best
//! of five, next to counting the lines. No pattern matches, as in a run that succeeds.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use backoff_cli::search::pattern::Pattern;
use backoff_cli::search::patterns::Patterns;
use backoff_cli::search::scanner::Scanner;
use clap::Args;

use crate::Result;

const PUSH: usize = 64 << 10;

const TEN: &str = "connection refused|connection reset|timed out|temporary failure|service unavailable|too many requests|\
                   broken pipe|no route to host|network is unreachable|bad gateway";

const WORDS: &str = "request served from cache connection opened to backend retry status=200 user token time the service is \
                     available network broker temp too gateway";

#[derive(Args)]
pub struct Options {
    /// Use a small log, to see whether the measurement works
    #[arg(long)]
    quick: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let size = if options.quick { 4 << 20 } else { 500 << 20 };
    let log = log(size)?;
    print_best("counting lines", &log, || {
        black_box(log.iter().filter(|byte| **byte == b'\n').count());
    });
    let ten_in_any_case = format!("(?i){TEN}");
    for (name, patterns) in [
        ("a literal", vec!["connection refused"]),
        ("a literal, any case", vec!["(?i)connection refused"]),
        ("an alternation of ten", vec![TEN]),
        ("an alternation of ten, any case", vec![&*ten_in_any_case]),
        ("ten patterns", TEN.split('|').collect()),
        ("anchored", vec!["^error"]),
        ("at the end", vec!["status=500$"]),
        ("words", vec![r"(?i)\berror\b"]),
        ("numbers", vec![r"\bstatus=5\d\d\b"]),
    ] {
        measure(name, &patterns, &log)?;
    }
    Ok(())
}

/// Fails if all patterns match, as the scanner skips the rest of the log then.
fn measure(name: &str, patterns: &[&str], log: &[u8]) -> Result<()> {
    let mut parsed = Vec::new();
    for pattern in patterns {
        parsed.push(Pattern::parse(pattern)?);
    }
    let patterns = Arc::new(Patterns::new(parsed));
    let mut has_found = false;
    print_best(name, log, || {
        let mut scanner = Scanner::new(Arc::clone(&patterns));
        for bytes in log.chunks(PUSH) {
            scanner.push(bytes, &mut |_, _| ());
        }
        has_found |= scanner.is_settled();
    });
    if has_found {
        return Err(format!("{name}: something was found").into());
    }
    Ok(())
}

/// Returns lines of 50 to 150 bytes, of words and numbers.
fn log(size: usize) -> Result<Vec<u8>> {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let mut text = String::with_capacity(size + 200);
    let mut numbers = Numbers(1);
    while text.len() < size {
        let day = numbers.below(28);
        let hour = numbers.below(24);
        let minute = numbers.below(60);
        let fraction = numbers.below(1000);
        write!(
            text,
            "2024-05-{day:02}T{hour:02}:{minute:02}:00.{fraction:03}Z INFO"
        )?;
        for _ in 0..4 + numbers.below(12) {
            text.push(' ');
            text.push_str(words[numbers.below(words.len())]);
        }
        writeln!(text, " id={}", numbers.below(1_000_000))?;
    }
    Ok(text.into_bytes())
}

/// A linear congruential generator (Knuth's MMIX): the same log in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Prints the throughput of the fastest of five runs.
fn print_best(name: &str, log: &[u8], mut run: impl FnMut()) {
    let mut least = f64::MAX;
    for _ in 0..5 {
        let begin = Instant::now();
        run();
        least = least.min(begin.elapsed().as_secs_f64());
    }
    println!("{name:34} {:8.0} MB/s", log.len() as f64 / least / 1e6);
}
