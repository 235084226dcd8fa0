//! What backoff costs in front of a command that succeeds, as a ratio to what `timeout` costs, and what a retry costs, as
//! a ratio to starting the command. Next to other tools: `compare`.
//!
//! Runs alternate, so that a change of the machine's speed hits all sides; figures are medians, and ratios are medians of
//! the ratios of neighbours.

use std::fs;

use clap::Args;

use super::Pace;
use crate::measure::{in_turns, median, ratio};
use crate::{Result, builds, child};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    pace: Pace,
    /// Of the static build, not of the plain one
    #[arg(long = "static")]
    is_static: bool,
}

pub fn run(options: &Options) -> Result<()> {
    let backoff = match options.is_static {
        true => builds::static_one()?.ok_or("there is no compiler for the static build")?,
        false => builds::plain()?,
    };
    println!("{backoff}: {:.2} MB", fs::metadata(&backoff)?.len() as f64 / 1e6);
    start_up(&backoff, options.pace.full_or(400, 5))?;
    retry(&backoff, options.pace.full_or(200, 5))
}

fn start_up(backoff: &str, rounds: usize) -> Result<()> {
    let commands: [(&str, &[&str]); 3] = [
        ("true", &["true"]),
        ("timeout 60 true", &["timeout", "60", "true"]),
        ("backoff -- true", &[backoff, "--", "true"]),
    ];
    let times = in_turns(&commands, rounds / 20, rounds, |(_, words)| time(words))?;
    println!("start-up, {rounds} interleaved runs, medians");
    for ((name, _), times) in commands.iter().zip(&times) {
        println!("  {name:18} {:8.1} us", median(times.iter().map(|time| time * 1e6)));
    }
    let [bare, timeout, backoff] = &times[..] else {
        return Err("not three commands".into());
    };
    let over = |wrapped: &[f64], i: usize| wrapped[i] - bare[i];
    println!("  backoff / timeout, whole run      {:.2}", ratio(backoff, timeout));
    println!(
        "  backoff / timeout, over bare true {:.2}",
        median((0..rounds).map(|i| over(backoff, i) / over(timeout, i)))
    );
    Ok(())
}

fn retry(backoff: &str, retries: usize) -> Result<()> {
    let attempts = (retries + 1).to_string();
    let retrying = [backoff, "-q", "-b", "0", "-m", "0", "-n", &attempts, "--", "false"];
    let once = [backoff, "-q", "-n", "1", "--", "false"];
    let (mut per_retry, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..retries.div_ceil(10) {
        per_retry.push((time(&retrying)? - time(&once)?) / retries as f64 * 1e6);
    }
    for _ in 0..retries {
        bare.push(time(&["false"])? * 1e6);
    }
    let per_retry = median(per_retry);
    println!(
        "retry without delay: {per_retry:.1} us an attempt, {:.2} x starting `false` from here",
        per_retry / median(bare)
    );
    Ok(())
}

fn time(words: &[&str]) -> Result<f64> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    child::time(&mut child::of_words(&words))
}
