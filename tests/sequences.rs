//! Sequences of events during a run, checked against a model: signals to backoff, exits and stops of the command, a
//! limit, output, and a reader that goes away. `BACKOFF_TEST_ROUNDS=2000 cargo test sequences::` plays more random
//! sequences.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use crate::util::process::{state, with_variable};
use crate::util::pty::Terminal;
use crate::util::{BIN, PATIENCE, clean, eventually, side_by_side};

tests! {
    every_two_events ["setsid"]
    random_events ["setsid"]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Signal(Signal),
    Exit(u8),
    /// The command stops itself.
    Stop,
    /// `--deadline` passes.
    Limit,
    Output,
    ReaderGone,
}

const EVENTS: [Event; 12] = [
    Event::Signal(Signal::SIGTERM),
    Event::Signal(Signal::SIGINT),
    Event::Signal(Signal::SIGHUP),
    Event::Signal(Signal::SIGTSTP),
    Event::Signal(Signal::SIGCONT),
    Event::Signal(Signal::SIGUSR1),
    Event::Exit(0),
    Event::Exit(1),
    Event::Stop,
    Event::Limit,
    Event::Output,
    Event::ReaderGone,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Isolation {
    /// Without a terminal, the command leads its own process group.
    Group,
    /// On a terminal, the command shares backoff's process group.
    Shared,
}

#[derive(Debug)]
struct Sequence {
    number: usize,
    isolation: Isolation,
    events: Vec<Event>,
    /// Pauses before the events, in microseconds.
    pauses: Vec<u64>,
}

fn every_two_events() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut all = vec![vec![]];
    all.extend(EVENTS.map(|event| vec![event]));
    for first in EVENTS {
        all.extend(EVENTS.map(|second| vec![first, second]));
    }
    play(all, &mut rng);
}

fn random_events() {
    let seed = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let rounds = std::env::var("BACKOFF_TEST_ROUNDS").map_or(20, |text| text.parse().unwrap());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut event = || EVENTS[rng.random_range(0..EVENTS.len())];
    let all = (0..rounds).map(|_| (0..4).map(|_| event()).collect());
    let all = all.collect();
    play(all, &mut rng);
}

/// Plays all sequences, alternating between a separate and a shared process group.
fn play(all: Vec<Vec<Event>>, rng: &mut Xoshiro256PlusPlus) {
    let isolations = [Isolation::Group, Isolation::Shared].into_iter().cycle();
    let sequences: Vec<Sequence> = all
        .into_iter()
        .zip(isolations)
        .enumerate()
        .map(|(number, (events, isolation))| Sequence {
            number,
            isolation,
            pauses: events.iter().map(|_| rng.random_range(0..20_000)).collect(),
            events,
        })
        .collect();
    side_by_side(&sequences, play_one);
}

/// A command that obeys the orders in a named pipe.
const COMMAND: &str = r#"
exec 3<>orders
echo started >>starts
while read -r order <&3; do
    case $order in
        exit*) exit "${order#exit }" ;;
        stop) kill -STOP $$ ;;
        out) echo out ;;
    esac
done"#;

/// A run that a signal ends gets the long deadline, unless the deadline is one of its events.
const SHORT: &str = "700ms";
const LONG: &str = "1h";

fn deadline_of(sequence: &Sequence) -> &'static str {
    let is_ended_by_signal = first_end(sequence).is_some();
    if is_ended_by_signal && !sequence.events.contains(&Event::Limit) {
        LONG
    } else {
        SHORT
    }
}

fn play_one(sequence: &Sequence) {
    let dir = tempfile::tempdir().unwrap();
    let orders = dir.path().join("orders");
    mkfifo(&orders, Mode::from_bits_truncate(0o600)).unwrap();
    let mut orders = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(orders)
        .unwrap();
    let id = format!(
        "{}-{}-{}",
        std::process::id(),
        sequence.number,
        sequence.events.len()
    );
    let mut run = Run::start(sequence, dir.path(), deadline_of(sequence), &id);
    let has_started = || dir.path().join("starts").exists();
    eventually("the command has started", || {
        has_started() || run.child().try_wait().unwrap().is_some()
    });
    if !has_started() {
        // On a busy machine the deadline may have passed first.
        return play_one(sequence);
    }
    let began = Instant::now();
    for (event, pause) in sequence.events.iter().zip(&sequence.pauses) {
        std::thread::sleep(Duration::from_micros(*pause));
        run.cause(*event, &mut orders);
    }
    let status = run.end();
    let seen = format!("{sequence:?}: {status:?} after {:?}", began.elapsed());
    assert!(allowed(sequence).contains(&shown(status)), "{seen}");
    run.expect_modes(&seen);
    eventually(&format!("nothing is left: {seen}"), || {
        with_variable("SEQUENCE_OF_TEST", &id).is_empty()
    });
}

/// Returns the first signal that ends the run. SIGHUP counts only on a terminal. Without one, the command may be
/// stopped and not react to it.
fn first_end(sequence: &Sequence) -> Option<Signal> {
    sequence.events.iter().find_map(|event| match event {
        Event::Signal(Signal::SIGHUP) if sequence.isolation == Isolation::Group => None,
        Event::Signal(signal) if ENDING.contains(signal) => Some(*signal),
        _ => None,
    })
}

const ENDING: [Signal; 3] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP];

/// Returns the status as a shell shows it.
fn shown(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap())
}

/// Returns the statuses that the model allows. Events race, so there may be several.
fn allowed(sequence: &Sequence) -> BTreeSet<i32> {
    let mut allowed = BTreeSet::new();
    for event in &sequence.events {
        match event {
            Event::Signal(signal) if ENDING.contains(signal) || *signal == Signal::SIGUSR1 => {
                allowed.insert(128 + *signal as i32);
            }
            Event::Exit(code) => {
                allowed.insert(i32::from(*code));
            }
            Event::ReaderGone => {
                allowed.insert(128 + Signal::SIGPIPE as i32);
            }
            Event::Signal(_) | Event::Stop | Event::Limit | Event::Output => {}
        }
    }
    let may_succeed_first = sequence.events.first() == Some(&Event::Exit(0));
    if sequence.events.contains(&Event::Limit)
        || first_end(sequence).is_none() && !may_succeed_first
    {
        allowed.insert(124);
    }
    allowed
}

enum Run {
    Piped {
        child: Child,
    },
    OnTerminal {
        terminal: Terminal,
        modes: nix::sys::termios::Termios,
        output: Option<std::io::PipeReader>,
    },
}

impl Run {
    fn start(sequence: &Sequence, dir: &std::path::Path, deadline: &str, id: &str) -> Run {
        let options =
            format!("-n 3 -b 1ms -m 2ms -d {deadline} -k 300ms -qq --fail-match @@ -- sh -c");
        let mark = format!("SEQUENCE_OF_TEST={id}");
        match sequence.isolation {
            Isolation::Group => {
                let mut command = clean("setsid");
                command
                    .args(["env", &mark, *BIN])
                    .args(crate::util::words(&options));
                command.arg(COMMAND).current_dir(dir);
                let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
                Run::Piped {
                    child: child.unwrap(),
                }
            }
            Isolation::Shared => {
                let (reader, writer) = std::io::pipe().unwrap();
                let line = format!(
                    "cd '{}'; exec env {mark} {} {options} \"$0\" >&9 2>/dev/null",
                    dir.display(),
                    *BIN
                );
                let terminal = Terminal::with_descriptor_9(writer, "sh", &["-c", &line, COMMAND]);
                let modes = terminal.modes();
                Run::OnTerminal {
                    terminal,
                    modes,
                    output: Some(reader),
                }
            }
        }
    }

    fn child(&mut self) -> &mut Child {
        match self {
            Run::Piped { child } => child,
            Run::OnTerminal { terminal, .. } => &mut terminal.child,
        }
    }

    fn pid(&mut self) -> i32 {
        self.child().id() as i32
    }

    fn cause(&mut self, event: Event, orders: &mut File) {
        let pid = Pid::from_raw(self.pid());
        match event {
            // The run may have ended.
            Event::Signal(signal) => {
                let _ = kill(pid, signal);
            }
            Event::Exit(code) => writeln!(orders, "exit {code}").unwrap(),
            Event::Stop => writeln!(orders, "stop").unwrap(),
            Event::Output => writeln!(orders, "out").unwrap(),
            // Long enough for the short deadline to pass.
            Event::Limit => std::thread::sleep(Duration::from_millis(800)),
            Event::ReaderGone => match self {
                Run::Piped { child } => drop(child.stdout.take()),
                Run::OnTerminal { output, .. } => drop(output.take()),
            },
        }
    }

    /// Waits until backoff exits, and continues it if it is stopped.
    fn end(&mut self) -> ExitStatus {
        let pid = self.pid();
        let began = Instant::now();
        loop {
            if let Some(status) = self.child().try_wait().unwrap() {
                return status;
            }
            assert!(began.elapsed() < PATIENCE, "it hangs");
            if state(pid) == Some('T') {
                let _ = kill(Pid::from_raw(pid), Signal::SIGCONT);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn expect_modes(&self, seen: &str) {
        if let Run::OnTerminal {
            terminal, modes, ..
        } = self
        {
            assert_eq!(terminal.modes(), *modes, "{seen}");
        }
    }
}
