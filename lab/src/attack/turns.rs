//! Rounds, many at once, the kinds in turns.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::kinds::Kind;
use super::outcome::Loss;
use super::round::Round;

/// How many losses of a kind are told in full.
const MOST_TOLD: u64 = 20;

pub struct Battle {
    pub binary: String,
    pub seed: u64,
    pub end: End,
    pub kinds: Vec<Kind>,
}

pub enum End {
    Rounds(u64),
    After(Duration),
}

#[derive(Clone, Default)]
pub struct Tally {
    pub rounds: u64,
    pub runs: u64,
    pub losses: u64,
}

/// What each kind has come to.
pub fn take(battle: &Battle) -> Vec<Tally> {
    let tallies = Mutex::new(vec![Tally::default(); battle.kinds.len()]);
    let turn = AtomicU64::new(0);
    let began = Instant::now();
    // Most of a round is waiting.
    let threads = 2 * thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((kind, round)) = next(battle, &turn, began) {
                    play(battle, kind, round, &tallies);
                }
            });
        }
    });
    tallies.into_inner().unwrap_or_default()
}

/// The number of a kind and of its round.
fn next(battle: &Battle, turn: &AtomicU64, began: Instant) -> Option<(usize, u64)> {
    let turn = turn.fetch_add(1, Ordering::Relaxed);
    let kinds = battle.kinds.len() as u64;
    let round = turn.checked_div(kinds)?;
    let goes_on = match battle.end {
        End::Rounds(rounds) => round < rounds,
        End::After(time) => began.elapsed() < time,
    };
    goes_on.then_some(((turn % kinds) as usize, round))
}

fn play(battle: &Battle, kind: usize, number: u64, tallies: &Mutex<Vec<Tally>>) {
    let seed = battle.seed.wrapping_add(number);
    let (runs, story, outcome) = match Round::new(seed, &battle.binary) {
        Ok(mut round) => {
            let outcome = battle.kinds[kind].play(&mut round);
            (round.runs, std::mem::take(&mut round.story), outcome)
        }
        Err(error) => (0, Vec::new(), Err(Loss::from(error))),
    };
    let Ok(mut tallies) = tallies.lock() else { return };
    let tally = &mut tallies[kind];
    tally.rounds += 1;
    tally.runs += runs;
    if let Err(Loss(seen)) = outcome {
        tally.losses += 1;
        if tally.losses <= MOST_TOLD {
            let name = battle.kinds[kind].name();
            println!("\nlost: attack --kind {name} --seed {seed} --rounds 1");
            story.iter().for_each(|line| println!("  {line}"));
            println!("  seen: {}", seen.replace('\n', "\n    "));
        }
    }
}
