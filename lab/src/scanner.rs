//! Measures the scanner on a forwarded stream: megabytes per second over log lines in memory, in pushes of 64 KiB, best
//! of five, next to counting the lines. No pattern matches, as in a run that succeeds.

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use backoff_cli::search::pattern::Pattern;
use backoff_cli::search::scanner::{Patterns, Scanner};
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
    let log = log(if options.quick { 4 << 20 } else { 500 << 20 })?;
    best("counting lines", &log, || {
        black_box(log.iter().filter(|byte| **byte == b'\n').count());
    });
    let ten_in_any_case = format!("(?i){TEN}");
    for (name, texts) in [
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
        let patterns = texts.into_iter().map(Pattern::parse);
        let patterns = patterns.collect::<std::result::Result<_, _>>()?;
        let patterns = Arc::new(Patterns::new(patterns));
        let mut has_found = false;
        best(name, &log, || {
            let mut scanner = Scanner::new(Arc::clone(&patterns));
            for bytes in log.chunks(PUSH) {
                scanner.push(bytes, &mut |_, _| ());
            }
            has_found |= scanner.is_settled();
        });
        if has_found {
            return Err(format!("{name}: something was found").into());
        }
    }
    Ok(())
}

/// Returns lines of 50 to 150 bytes, of words and numbers.
fn log(size: usize) -> Result<Vec<u8>> {
    let words: Vec<&str> = WORDS.split(' ').collect();
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
        write!(
            text,
            "2024-05-{day:02}T{hour:02}:{minute:02}:00.{fraction:03}Z INFO"
        )?;
        for _ in 0..4 + next(12) {
            text.push(' ');
            text.push_str(words[next(words.len())]);
        }
        writeln!(text, " id={}", next(1_000_000))?;
    }
    Ok(text.into_bytes())
}

fn best(name: &str, log: &[u8], mut run: impl FnMut()) {
    let times = (0..5).map(|_| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    });
    let time = times.fold(f64::MAX, f64::min);
    println!("{name:34} {:8.0} MB/s", log.len() as f64 / time / 1e6);
}
