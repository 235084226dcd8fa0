//! What backoff costs in front of a command that succeeds, as a ratio to what `timeout` costs, and
//! what a retry costs, as a ratio to starting the command: `cargo bench`. Of the static binary:
//! `packaging/static bench --bench startup`.
//!
//! Runs alternate, so that a change of the machine's speed hits all sides; figures are medians, and
//! ratios are medians of the ratios of neighbours.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const BACKOFF: &str = env!("CARGO_BIN_EXE_backoff");
const ROUNDS: usize = 400;
const RETRIES: usize = 200;

fn main() {
    let commands: [(&str, Vec<&str>); 3] = [
        ("true", vec!["true"]),
        ("timeout 60 true", vec!["timeout", "60", "true"]),
        ("backoff -- true", vec![BACKOFF, "--", "true"]),
    ];
    let mut times: [Vec<Duration>; 3] = Default::default();
    for round in 0..ROUNDS + 20 {
        for (i, (_, words)) in commands.iter().enumerate() {
            let took = time(words);
            // The first ones fill caches.
            if round >= 20 {
                times[i].push(took);
            }
        }
    }
    println!(
        "size of the binary: {:.2} MB",
        std::fs::metadata(BACKOFF).unwrap().len() as f64 / 1e6
    );
    println!("start-up, {ROUNDS} interleaved runs, medians");
    for ((name, _), times) in commands.iter().zip(&times) {
        println!(
            "  {name:18} {:8.1} us",
            median(times.iter().map(|time| time.as_secs_f64() * 1e6))
        );
    }
    let [bare, timeout, backoff] = &times;
    let over = |wrapped: &[Duration], i: usize| wrapped[i].as_secs_f64() - bare[i].as_secs_f64();
    println!(
        "  backoff / timeout, whole run      {:.2}",
        median(
            backoff
                .iter()
                .zip(timeout)
                .map(|(b, t)| b.as_secs_f64() / t.as_secs_f64())
        )
    );
    println!(
        "  backoff / timeout, over bare true {:.2}",
        median((0..ROUNDS).map(|i| over(backoff, i) / over(timeout, i)))
    );

    let attempts = (RETRIES + 1).to_string();
    let retrying = [BACKOFF, "-q", "-b", "0", "-m", "0", "-n", &attempts, "--", "false"];
    let once = [BACKOFF, "-q", "-n", "1", "--", "false"];
    let per_retry =
        median((0..20).map(|_| (time(&retrying).as_secs_f64() - time(&once).as_secs_f64()) / RETRIES as f64 * 1e6));
    let bare = median((0..RETRIES).map(|_| time(&["false"]).as_secs_f64() * 1e6));
    println!(
        "retry without delay: {per_retry:.1} us an attempt, {:.2} x starting `false` from here",
        per_retry / bare
    );
}

fn time(words: &[&str]) -> Duration {
    let began = Instant::now();
    let status = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let took = began.elapsed();
    assert!(status.is_ok(), "{words:?}");
    took
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
