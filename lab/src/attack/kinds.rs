//! The kinds of attack.

use std::process::{Command, Stdio};

use clap::ValueEnum;

use super::outcome::Outcome;
use super::round::Round;
use super::{faults, kill, planted, records, redis, signals, terminal};

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Signals in any order at any moment, without a terminal
    Signals,
    /// Keys and signals on a terminal, below a shell with job control
    Terminal,
    /// System calls that fail (needs strace)
    Faults,
    /// A Redis server that means harm
    Redis,
    /// Links, pipes and files of others where backoff writes and reads
    Planted,
    /// Budgets with a record that is damaged, used by several runs at once
    Records,
    /// KILL at any moment
    Kill,
}

impl Kind {
    pub fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    pub fn play(self, round: &mut Round) -> Outcome {
        match self {
            Kind::Signals => signals::play(round),
            Kind::Terminal => terminal::play(round),
            Kind::Faults => faults::play(round),
            Kind::Redis => redis::play(round),
            Kind::Planted => planted::play(round),
            Kind::Records => records::play(round),
            Kind::Kill => kill::play(round),
        }
    }

    /// The program that it cannot do without.
    fn tool(self) -> &'static str {
        match self {
            Kind::Faults => "strace",
            _ => "setsid",
        }
    }
}

/// Those that were asked for, all unless any was, without those whose program is missing.
pub fn present(asked: &[Kind]) -> Vec<Kind> {
    let all = if asked.is_empty() {
        Kind::value_variants()
    } else {
        asked
    };
    let (present, missing): (Vec<Kind>, Vec<Kind>) = all.iter().partition(|kind| is_there(kind.tool()));
    for kind in missing {
        println!("left out: {} needs {}", kind.name(), kind.tool());
    }
    present
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    let told = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    told.status().is_ok()
}
