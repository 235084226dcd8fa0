//! What backoff costs in front of a command that succeeds, as a ratio to what `timeout` costs, and
//! what a retry costs, as a ratio to starting the command: `cargo bench --bench startup`. Of the static
//! binary: `packaging/static bench --bench startup`. Next to other tools: `benches/run`.
//!
//! Runs alternate, so that a change of the machine's speed hits all sides; figures are medians, and
//! ratios are medians of the ratios of neighbours.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a benchmark"
)]

mod measure;

use std::process::{Command, Stdio};

use measure::{in_turns, median, ratio};

const BACKOFF: &str = env!("CARGO_BIN_EXE_backoff");
const ROUNDS: usize = 400;
const RETRIES: usize = 200;

fn main() {
    let commands: [(&str, &[&str]); 3] = [
        ("true", &["true"]),
        ("timeout 60 true", &["timeout", "60", "true"]),
        ("backoff -- true", &[BACKOFF, "--", "true"]),
    ];
    let times = in_turns(&commands, 20, ROUNDS, |(_, words)| time(words));
    println!(
        "size of the binary: {:.2} MB",
        std::fs::metadata(BACKOFF).unwrap().len() as f64 / 1e6
    );
    println!("start-up, {ROUNDS} interleaved runs, medians");
    for ((name, _), times) in commands.iter().zip(&times) {
        println!("  {name:18} {:8.1} us", median(times.iter().map(|time| time * 1e6)));
    }
    let [bare, timeout, backoff] = &times[..] else {
        unreachable!()
    };
    let over = |wrapped: &[f64], i: usize| wrapped[i] - bare[i];
    println!("  backoff / timeout, whole run      {:.2}", ratio(backoff, timeout));
    println!(
        "  backoff / timeout, over bare true {:.2}",
        median((0..ROUNDS).map(|i| over(backoff, i) / over(timeout, i)))
    );

    let attempts = (RETRIES + 1).to_string();
    let retrying = [BACKOFF, "-q", "-b", "0", "-m", "0", "-n", &attempts, "--", "false"];
    let once = [BACKOFF, "-q", "-n", "1", "--", "false"];
    let per_retry = median((0..20).map(|_| (time(&retrying) - time(&once)) / RETRIES as f64 * 1e6));
    let bare = median((0..RETRIES).map(|_| time(&["false"]) * 1e6));
    println!(
        "retry without delay: {per_retry:.1} us an attempt, {:.2} x starting `false` from here",
        per_retry / bare
    );
}

fn time(words: &[&str]) -> f64 {
    measure::time(
        Command::new(words[0])
            .args(&words[1..])
            .stdin(Stdio::null())
            .stderr(Stdio::null()),
    )
}
