//! Attacks backoff: signals and KILL at any moment, and failing system calls.
//!
//! Rounds of each kind of attack run in parallel, and the kinds take turns. The seed alone determines a round. Each
//! result is judged from outside: by the command's own records, and by the files and processes left.

#[macro_use]
mod round;
mod faults;
mod files;
mod kill;
mod numbered;
mod run;
mod signals;

use std::env;
use std::path::{Path, PathBuf};
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

    fn name(self) -> String {
        match self.to_possible_value() {
            Some(value) => value.get_name().to_owned(),
            None => String::new(),
        }
    }
}

pub fn run(options: &Options) -> Result<()> {
    // QUIT would dump core.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let binary = binary()?;
    println!("{} under attack, seed {}", binary.display(), options.seed);
    let attack = Attack::begin(options, binary)?;
    thread::scope(|scope| {
        // Rounds mostly wait.
        for _ in 0..2 * thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| attack.play_rounds());
        }
    });
    let tallies = attack.tallies.into_inner().unwrap_or_default();
    print(&tallies);
    let losses: u64 = tallies.iter().map(|tally| tally.losses).sum();
    if losses > 0 {
        return Err(format!("{losses} rounds lost").into());
    }
    Ok(())
}

fn print(tallies: &[Tally]) {
    println!("\n| kind | rounds | losses |\n|---|---:|---:|");
    for tally in tallies {
        let name = tally.kind.name();
        println!("| {name} | {} | {} |", tally.rounds, tally.losses);
    }
}

fn binary() -> Result<PathBuf> {
    let binary = env::var("BACKOFF").unwrap_or_else(|_| "target/release/backoff".into());
    let path = Path::new(&binary).canonicalize();
    path.map_err(|why| format!("BACKOFF={binary}: {why}").into())
}

/// An attack that is going on.
struct Attack<'a> {
    kinds: &'a [Kind],
    binary: PathBuf,
    /// The seed of the first round of each kind.
    seed: u64,
    /// The number of rounds of each kind; None if the attack ends at a time.
    rounds: Option<u64>,
    end: Instant,
    /// The number of rounds that have begun; the kinds take turns.
    turn: AtomicU64,
    /// A tally for each of the kinds.
    tallies: Mutex<Vec<Tally>>,
}

struct Tally {
    kind: Kind,
    rounds: u64,
    losses: u64,
}

impl Tally {
    fn new(kind: Kind) -> Tally {
        Tally {
            kind,
            rounds: 0,
            losses: 0,
        }
    }
}

impl Attack<'_> {
    fn begin(options: &Options, binary: PathBuf) -> Result<Attack<'_>> {
        let kinds = if options.kinds.is_empty() {
            Kind::value_variants()
        } else {
            &options.kinds
        };
        Ok(Attack {
            tallies: Mutex::new(kinds.iter().copied().map(Tally::new).collect()),
            kinds,
            binary,
            seed: options.seed,
            rounds: options.rounds,
            end: Instant::now() + Duration::try_from_secs_f64(options.minutes * 60.0)?,
            turn: AtomicU64::new(0),
        })
    }

    /// Plays one round after the other until the attack is over.
    fn play_rounds(&self) {
        loop {
            let turn = self.turn.fetch_add(1, Ordering::Relaxed) as usize;
            let kind = turn % self.kinds.len();
            let number = (turn / self.kinds.len()) as u64;
            if self.is_over(number) {
                return;
            }
            let is_lost = self.play_round(self.kinds[kind], number);
            if let Ok(mut tallies) = self.tallies.lock() {
                tallies[kind].rounds += 1;
                tallies[kind].losses += u64::from(is_lost);
            }
        }
    }

    fn is_over(&self, number: u64) -> bool {
        match self.rounds {
            Some(rounds) => number >= rounds,
            None => Instant::now() > self.end,
        }
    }

    /// Plays a round. If it is lost, prints the loss and returns true.
    fn play_round(&self, kind: Kind, number: u64) -> bool {
        let seed = self.seed.wrapping_add(number);
        match play(kind, seed, &self.binary) {
            Ok(()) => false,
            Err(loss) => {
                loss.print(kind, seed);
                true
            }
        }
    }
}

/// A lost round.
struct Loss {
    /// The steps of the round.
    story: Vec<String>,
    seen: String,
}

impl Loss {
    fn print(&self, kind: Kind, seed: u64) {
        let kind = kind.name();
        println!("\nlost: attack --kind {kind} --seed {seed} --rounds 1");
        for step in &self.story {
            println!("  {step}");
        }
        println!("  seen: {}", self.seen.replace('\n', "\n    "));
    }
}

fn play(kind: Kind, seed: u64, binary: &Path) -> std::result::Result<(), Loss> {
    let mut round = match Round::new(seed, binary) {
        Ok(round) => round,
        Err(error) => {
            return Err(Loss {
                story: Vec::new(),
                seen: error.to_string(),
            });
        }
    };
    match kind.play(&mut round) {
        Ok(()) => Ok(()),
        Err(error) => Err(Loss {
            story: std::mem::take(&mut round.story),
            seen: error.to_string(),
        }),
    }
}
