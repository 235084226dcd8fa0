//! Attacks backoff: signals and KILL at any moment, and failing system calls.
//!
//! Rounds of each kind of attack run in parallel, and the kinds take turns. The seed alone determines a round. Each
//! result is judged from outside: by the command's own records, and by the files and processes left.

#[macro_use]
mod round;
mod faults;
mod kill;
mod numbered;
mod signals;

use std::env;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use nix::sys::resource::{Resource, setrlimit};

use crate::Result;
use round::Round;

#[derive(Args)]
pub struct Options {
    /// Duration of the attack
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1.0,
        conflicts_with = "rounds"
    )]
    minutes: f64,
    /// Number of rounds of each kind
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Seed of the first round of each kind; each later round has the next number
    #[arg(long, value_name = "N", default_value_t = std::process::id().into())]
    seed: u64,
    /// Only this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Signals in any order at any moment, without a terminal
    Signals,
    /// KILL at any moment
    Kill,
    /// System calls that fail (needs strace)
    Faults,
}

impl Kind {
    fn play(self, round: &mut Round) -> Result<()> {
        match self {
            Kind::Signals => signals::play(round),
            Kind::Kill => kill::play(round),
            Kind::Faults => faults::play(round),
        }
    }
}

pub fn run(options: &Options) -> Result<()> {
    // QUIT would dump core.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let binary = env::var("BACKOFF").unwrap_or_else(|_| "target/release/backoff".into());
    let binary = Path::new(&binary)
        .canonicalize()
        .map_err(|why| format!("BACKOFF={binary}: {why}"))?;
    let kinds = if options.kinds.is_empty() {
        Kind::value_variants()
    } else {
        &options.kinds
    };
    println!("{} under attack, seed {}", binary.display(), options.seed);
    let tallies = Mutex::new(vec![(0_u64, 0_u64); kinds.len()]);
    let turn = AtomicU64::new(0);
    let end = Instant::now() + Duration::try_from_secs_f64(options.minutes * 60.0)?;
    thread::scope(|scope| {
        // Rounds mostly wait.
        for _ in 0..2 * thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let turn = turn.fetch_add(1, Ordering::Relaxed) as usize;
                    let (kind, number) = (turn % kinds.len(), (turn / kinds.len()) as u64);
                    if options
                        .rounds
                        .map_or(Instant::now() > end, |rounds| number >= rounds)
                    {
                        return;
                    }
                    let is_incomplete =
                        play(kinds[kind], options.seed.wrapping_add(number), &binary);
                    if let Ok(mut tallies) = tallies.lock() {
                        tallies[kind].0 += 1;
                        tallies[kind].1 += u64::from(is_incomplete);
                    }
                }
            });
        }
    });
    println!("\n| kind | rounds | losses |\n|---|---:|---:|");
    let tallies = tallies.into_inner().unwrap_or_default();
    for (kind, (rounds, losses)) in kinds.iter().zip(&tallies) {
        println!("| {} | {rounds} | {losses} |", name(*kind));
    }
    match tallies.iter().map(|(_, losses)| losses).sum::<u64>() {
        0 => Ok(()),
        losses => Err(format!("{losses} rounds lost").into()),
    }
}

fn name(kind: Kind) -> String {
    kind.to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Plays a round. If it fails, prints the story and returns true.
fn play(kind: Kind, seed: u64, binary: &Path) -> bool {
    let (story, outcome) = match Round::new(seed, binary) {
        Ok(mut round) => {
            let outcome = kind.play(&mut round);
            (std::mem::take(&mut round.story), outcome)
        }
        Err(error) => (Vec::new(), Err(error)),
    };
    if let Err(seen) = &outcome {
        println!(
            "\nlost: attack --kind {} --seed {seed} --rounds 1",
            name(kind)
        );
        story.iter().for_each(|line| println!("  {line}"));
        println!("  seen: {}", seen.to_string().replace('\n', "\n    "));
    }
    outcome.is_err()
}
