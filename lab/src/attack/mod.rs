//! backoff under attack: signals, keys, calls that fail, servers, files and records that mean harm, and KILL.
//!
//! Each kind of attack is played in rounds, many at once, and the kinds take turns. A round is made from its seed alone.
//! What backoff has done is judged from outside: what the command wrote itself, the files that are there, the processes
//! that are left, the modes of the terminal. Nothing of the library is asked.

mod budget_file;
mod faults;
mod job_shell;
mod kill;
mod kinds;
mod marked;
mod numbered;
mod outcome;
mod planted;
mod records;
mod redis;
mod round;
mod signals;
mod terminal;
mod turns;

use std::time::Duration;

use clap::Args;
use nix::sys::resource::{Resource, setrlimit};

use rand::rngs::{SysRng, Xoshiro256PlusPlus};
use rand::{RngExt, SeedableRng};

pub use job_shell::Options as JobShell;
pub use job_shell::run as job_shell;
use kinds::Kind;

use crate::{Result, builds};

#[derive(Args)]
pub struct Options {
    /// How long
    #[arg(long, value_name = "N", default_value_t = 1.0, conflicts_with = "rounds", value_parser = minutes)]
    minutes: f64,
    /// So many rounds of each kind, however long they take
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Of the first round of each kind; each later one has the next number. Random unless given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
}

fn minutes(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|minutes| (0.0..=100_000.0).contains(minutes));
    number.ok_or_else(|| "not a number of minutes".to_owned())
}

fn random_seed() -> Result<u64> {
    // Short enough to type.
    Ok(Xoshiro256PlusPlus::try_from_rng(&mut SysRng)?.random_range(0..1_000_000_000))
}

pub fn run(options: &Options) -> Result<()> {
    // Commands die of QUIT here.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let kinds = kinds::present(&options.kinds);
    let battle = turns::Battle {
        binary: builds::plain()?,
        seed: options.seed.map_or_else(random_seed, Ok)?,
        end: match options.rounds {
            Some(rounds) => turns::End::Rounds(rounds),
            None => turns::End::After(Duration::from_secs_f64(options.minutes * 60.0)),
        },
        kinds,
    };
    println!("{} under attack, seed {}", battle.binary, battle.seed);
    let tallies = turns::take(&battle);
    println!("\n| kind | rounds | runs | losses |\n|---|---:|---:|---:|");
    let mut losses = 0;
    for (kind, tally) in battle.kinds.iter().zip(&tallies) {
        println!(
            "| {} | {} | {} | {} |",
            kind.name(),
            tally.rounds,
            tally.runs,
            tally.losses
        );
        losses += tally.losses;
    }
    match losses {
        0 => Ok(()),
        1 => Err("1 round was lost".into()),
        losses => Err(format!("{losses} rounds were lost").into()),
    }
}
