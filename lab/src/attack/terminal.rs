//! Keys and signals on a real terminal, below a shell with job control that continues what stops. Ctrl-C comes last.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::libc;
use nix::pty::{grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rand::RngExt;

use super::marked;
use super::numbered::{Numbered, starts};
use super::outcome::{Outcome, ensure};
use super::round::{PATIENCE, Round};

const CTRL_C: &str = "\x03";
/// And what signal the key makes.
const KEYS: &[(&str, i32)] = &[
    (CTRL_C, libc::SIGINT),
    ("\x1c", libc::SIGQUIT),
    ("\x1a", libc::SIGTSTP),
    ("\x1a", libc::SIGTSTP),
    ("\x1a", libc::SIGTSTP),
    ("x", 0),
    ("\n", 0),
];
const SENT: &[Signal] = &[
    Signal::SIGTSTP,
    Signal::SIGCONT,
    Signal::SIGWINCH,
    Signal::SIGUSR1,
    Signal::SIGTERM,
];

const SCENES: &[&str] = &[
    "",
    "--fail-match nothing",
    "--pty",
    "--pty --fail-match nothing",
    "--pty -t 60ms",
    "--stdout final",
    "--on-retry true",
    "--before-retry true",
    "--pty --on-retry true",
];

struct Terminal {
    master: File,
    reader: JoinHandle<Vec<u8>>,
}

pub fn play(round: &mut Round) -> Outcome {
    let options = round.pick(SCENES);
    let command = Numbered {
        lines: round.pick(&[0, 3, 20]),
        nap: round.pick(&["0", "0.003", "0.03", "1"]),
        good: 1_000_000,
        ..Numbered::default()
    };
    let notes = round.path("notes");
    let shell = std::env::current_exe()?.display().to_string();
    let nap = round.pick(&["0", "1", "10"]);
    let mut words = vec![
        "--ctty".to_owned(),
        shell,
        "job-shell".into(),
        notes,
        nap.into(),
        "--".into(),
    ];
    words.push(round.binary.clone());
    words.extend(round.options(&format!("-n unlimited -b 1ms -m 3ms {options}")));
    words.extend(command.words(round));
    let mut line = round.command("setsid");
    let mut terminal = open(line.args(words))?;
    let run = round.start(&mut line, None)?;
    // The command holds the terminal as long as it is there.
    drop(line);
    let job = expect_job(round)?;
    round.pause(10_000);

    let mut allowed = BTreeSet::from([libc::SIGINT]);
    for _ in 0..round.rng.random_range(0..12) {
        if round.is(0.75) {
            let (key, signal) = round.pick(KEYS);
            round.story.push(format!("key {}", key.escape_debug()));
            terminal.master.write_all(key.as_bytes())?;
            allowed.insert(signal);
        } else {
            let signal = round.pick(SENT);
            // The number is taken by nobody else while the shell has not reaped it.
            if ended(round).is_none() && kill(job, signal).is_ok() {
                round.story.push(format!("{signal}"));
                allowed.insert(signal as i32);
            }
        }
        round.pause(8_000);
    }
    end_by_key(round, &mut terminal.master)?;
    let shown = run.end(round)?;
    drop(terminal.master);
    let output = terminal.reader.join().unwrap_or_default();
    let notes = fs::read_to_string(round.dir().join("notes"))?;
    let output = output[output.len().saturating_sub(400)..].escape_ascii();
    ensure!(
        !notes.contains("modes differ"),
        "modes of the terminal: {notes}\n{output}"
    );
    let status = ended(round);
    let is_allowed = status.is_some_and(|(kind, number)| match kind {
        End::Code => number == command.code || number == 124 && options.contains("-t"),
        End::Signal => allowed.contains(&number),
    });
    ensure!(is_allowed, "a status that nothing explains: {notes}\n{shown}\n{output}");
    let started = starts(round);
    ensure!(
        started.is_sorted_by(|one, next| one < next),
        "attempts out of order: {started:?}"
    );
    Ok(())
}

/// A new terminal, on which the command is to run.
fn open(command: &mut Command) -> Outcome<Terminal> {
    let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlag::O_NOCTTY.bits())
        .open(ptsname_r(&master)?)?;
    command
        .stdin(slave.try_clone()?)
        .stdout(slave.try_clone()?)
        .stderr(Stdio::from(slave))
        .env("TERM", "dumb");
    let master = File::from(OwnedFd::from(master));
    let mut from = master.try_clone()?;
    let reader = thread::spawn(move || {
        let (mut all, mut bytes) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            all.extend_from_slice(&bytes[..count]);
        }
        all
    });
    Ok(Terminal { master, reader })
}

fn expect_job(round: &Round) -> Outcome<Pid> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let notes = fs::read_to_string(round.dir().join("notes")).unwrap_or_default();
        if let Some(number) = notes.strip_prefix("pid ").and_then(|rest| rest.split_once('\n')) {
            return Ok(Pid::from_raw(number.0.parse()?));
        }
        sleep(Duration::from_millis(1));
    }
    ensure!(false, "the job does not start");
    Ok(Pid::this())
}

#[derive(Clone, Copy)]
enum End {
    Code,
    Signal,
}

/// How the job has ended, if it has.
fn ended(round: &Round) -> Option<(End, i32)> {
    let notes = fs::read_to_string(round.dir().join("notes")).ok()?;
    let (kind, number) = notes.lines().last()?.split_once(' ')?;
    let kind = match kind {
        "code" => End::Code,
        "signal" => End::Signal,
        _ => return None,
    };
    Some((kind, number.parse().ok()?))
}

/// Ctrl-C. The shell may have the terminal just then, or the key is lost in a change of modes; but not again and again.
fn end_by_key(round: &mut Round, master: &mut File) -> Outcome {
    for _ in 0..4 {
        round.pause(20_000);
        round.story.push("key \\u{3}".into());
        master.write_all(CTRL_C.as_bytes())?;
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(3) {
            if ended(round).is_some() {
                return Ok(());
            }
            sleep(Duration::from_millis(1));
        }
    }
    let processes = marked::described(&marked::processes(round.dir()));
    ensure!(false, "deaf to Ctrl-C: {processes}");
    Ok(())
}
