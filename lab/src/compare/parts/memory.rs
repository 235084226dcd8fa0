//! What a tool holds while it waits: for the command, and for the next attempt.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::compare::goals::Goal;
use crate::compare::tools::{NO_WAIT, Tool};
use crate::compare::{Bench, Figures};
use crate::table::{Table, or_dash};
use crate::{Result, child};

/// Long enough, and nobody else's.
const COMMAND: [&str; 2] = ["sleep", "600.0917"];
const LONG: Duration = Duration::from_secs(600);

/// What a tool is made to wait for.
struct State {
    attempts: usize,
    wait: Duration,
    command: &'static [&'static str],
}

const COMMAND_RUNS: State = State {
    attempts: 1,
    wait: NO_WAIT,
    command: &COMMAND,
};
const BETWEEN_ATTEMPTS: State = State {
    attempts: 2,
    wait: LONG,
    command: &["false"],
};

/// Of a tool and the processes it needs, without the command; memory in KiB.
#[derive(Default)]
struct Held {
    pss: u64,
    private: u64,
    processes: u64,
    threads: u64,
    /// How often one of them gave up the processor by itself while it was watched.
    switches: u64,
}

/// How long a tool is left alone before it is watched, and how long it is watched.
struct Times {
    settling: Duration,
    watched: Duration,
}

pub fn measure(bench: &Bench) -> Result<Figures> {
    let (settling, watched) = if bench.options.quick { (200, 100) } else { (700, 2000) };
    let times = Times {
        settling: Duration::from_millis(settling),
        watched: Duration::from_millis(watched),
    };
    let title = format!(
        "KiB of a tool with the processes that it needs, without the command: private (PSS); wake-ups in {} s",
        times.watched.as_secs_f64()
    );
    let columns = [
        "tool",
        "while the command runs",
        "between attempts",
        "processes",
        "threads",
        "wake-ups",
    ];
    let mut table = Table::new("memory", &title, &columns);
    let mut of_static = None;
    for tool in &bench.tools {
        let running = watch(tool, &COMMAND_RUNS, &times)?;
        let between = watch(tool, &BETWEEN_ATTEMPTS, &times)?;
        let kib = |held: &Held| format!("{} ({})", held.private, held.pss);
        // Most of them have more between attempts.
        let more = |count: fn(&Held) -> u64| running.iter().chain(&between).map(count).max().unwrap_or(0).to_string();
        table.row([
            tool.title.to_owned(),
            or_dash(running.as_ref().map(kib)),
            or_dash(between.as_ref().map(kib)),
            more(|held| held.processes),
            more(|held| held.threads),
            more(|held| held.switches),
        ]);
        if let Some(held) = between.filter(|_| tool.is_static()) {
            of_static = Some(format!("{} KiB; {}; {}", held.private, held.threads, held.switches));
        }
    }
    let what = "between attempts: private memory; threads; wake-ups";
    Ok(Figures {
        tables: vec![table],
        goals: vec![Goal::new(what, "300 KiB; 1; 0", of_static)],
    })
}

/// None if the tool cannot be told to do that.
fn watch(tool: &Tool, state: &State, times: &Times) -> Result<Option<Held>> {
    let Some(words) = tool.wrap(state.attempts, state.wait, state.command) else {
        return Ok(None);
    };
    let child = child::of_words(&words).spawn()?;
    thread::sleep(times.settling);
    let before = held(&child);
    thread::sleep(times.watched);
    let mut after = held(&child);
    end(child);
    after.switches = after.switches.saturating_sub(before.switches);
    Ok(Some(after))
}

/// As it is now; the switches are those since its start.
fn held(child: &Child) -> Held {
    let mut held = Held::default();
    for pid in tree(child.id()) {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        // The command's own.
        if read("cmdline").ends_with(&format!("{}\0{}\0", COMMAND[0], COMMAND[1])) && pid != child.id() {
            continue;
        }
        let memory = read("smaps_rollup");
        held.pss += number(&memory, "Pss:");
        held.private += number(&memory, "Pss_Anon:");
        held.processes += 1;
        for thread in numbers_in(&format!("/proc/{pid}/task")) {
            held.threads += 1;
            held.switches += number(&read(&format!("task/{thread}/status")), "voluntary_ctxt_switches:");
        }
    }
    held
}

/// Of the line that starts so.
fn number(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// A process and all below it.
fn tree(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(&pid) = found.get(next) {
        for thread in numbers_in(&format!("/proc/{pid}/task")) {
            let children = fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
        }
        next += 1;
    }
    found
}

fn numbers_in(dir: &str) -> Vec<u32> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn end(mut child: Child) {
    let all = tree(child.id());
    for pid in all {
        if let Ok(pid) = pid.try_into() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
    let _ = child.wait();
}
