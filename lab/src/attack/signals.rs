//! Sends signals in any order at any moment, without a terminal. TERM and CONT come last.

use std::collections::BTreeSet;

use nix::sys::signal::Signal::{
    self, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM, SIGTSTP, SIGTTIN, SIGUSR1,
    SIGWINCH,
};
use rand::RngExt;

use super::files::expect_files_of;
use super::numbered::{Numbered, TRAPPED, expect_input};
use super::round::{Invocation, Round};
use super::run::{Ended, Started, Target};
use crate::Result;

const SCENES: &[&str] = &[
    "",
    "--fail-match nothing",
    "--stdout final",
    "-t 40ms -k 20ms",
    "-i 40ms -k 20ms",
    "--pty",
    "--pty --fail-match nothing",
    "--on-retry true",
    "--before-retry true --hook-output",
    "--stdin replay",
    "--fail-match nothing --stdin auto",
    "--budget b --store DIR/store --budget-min 1000",
    "--report DIR/report --log-file DIR/log --log-format json -v",
];

const SIGNALS: &[Signal] = &[
    SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTSTP, SIGTTIN, SIGCONT, SIGCONT, SIGUSR1,
    SIGWINCH, SIGCHLD,
];

pub fn play(round: &mut Round) -> Result<()> {
    let options = round.pick(SCENES);
    let command = random_command(round, options);
    let input = random_input(round, &command);
    let attempts = round.pick(&["3", "unlimited"]);
    let run = round.start(Invocation {
        options: &format!("-n {attempts} -b 1ms -m 3ms {options}"),
        command: command.words(round),
        input: input.clone(),
        ..Invocation::default()
    })?;
    round.pause(8_000);
    let mut allowed = Allowed::without_signals(&command, options);
    send_signals(round, &run, &mut allowed);
    round.pause(15_000);
    run.signal(SIGTERM, Target::Backoff);
    run.signal(SIGCONT, Target::Backoff);
    let ended = run.end(round)?;

    ensure!(allowed.has(&ended), "an unexplained status\n{ended}");
    if options.contains("final") {
        command.lines_of_one_attempt(&ended.stdout)?;
    } else {
        command.expect_stream(round, &ended.stdout)?;
    }
    if let Some(input) = input {
        expect_input(round, &input)?;
    }
    expect_files_of(&ended, round)
}

fn random_command(round: &mut Round, options: &str) -> Numbered {
    Numbered {
        lines: round.pick(&[0, 3, 40]),
        nap: round.pick(&["0", "0.003", "0.02", "1"]),
        code: round.pick(&[1, 75]),
        first_success: round.pick(&[2, 1_000_000]),
        reads_input: options.contains("--stdin"),
        trap: round.pick(&["", "", "TERM INT", "TERM HUP QUIT INT USR1"]),
        padding: round.pick(&[1, 100]),
    }
}

fn random_input(round: &mut Round, command: &Numbered) -> Option<Vec<u8>> {
    if command.reads_input {
        Some(vec![b'i'; round.pick(&[10, 5_000, 200_000])])
    } else {
        None
    }
}

/// Sends up to eleven signals, which may end the run from then on.
fn send_signals(round: &mut Round, run: &Started, allowed: &mut Allowed) {
    for _ in 0..round.rng.random_range(0..12) {
        let signal = round.pick(SIGNALS);
        let target = if round.chance(0.3) {
            Target::Group
        } else {
            Target::Backoff
        };
        if run.signal(signal, target) {
            let to_group = target == Target::Group;
            round
                .story
                .push(format!("signal {signal}, to the group: {to_group}"));
            allowed.signals.insert(signal);
        }
        round.pause(4_000);
    }
}

/// The permitted statuses of a run.
struct Allowed {
    codes: Vec<i32>,
    signals: BTreeSet<Signal>,
}

impl Allowed {
    /// Returns the statuses of a run that only gets the last TERM.
    fn without_signals(command: &Numbered, options: &str) -> Allowed {
        let mut codes = vec![command.code, 0];
        let mut signals = BTreeSet::from([SIGTERM]);
        if !command.trap.is_empty() {
            codes.push(TRAPPED);
        }
        // KILL comes after the limit, or after a forwarded signal.
        if options.contains("-k") {
            codes.push(124);
            signals.insert(SIGKILL);
        }
        Allowed { codes, signals }
    }

    fn has(&self, ended: &Ended) -> bool {
        match ended.code() {
            Some(code) => self.codes.contains(&code),
            None => self
                .signals
                .iter()
                .any(|signal| ended.signal() == Some(*signal as i32)),
        }
    }
}
