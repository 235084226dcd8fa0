//! What a tool holds while it waits: for the command, and for the next attempt.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::compare::columns::Column;
use crate::compare::tools::{NO_WAIT, Tool};
use crate::compare::{Bench, Figures};
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
    let mut running = Column::new("KiB while the command runs", "-");
    let mut between = Column::new("KiB between attempts", "300");
    let mut counts = Column::new("processes, threads, wake-ups", "1, 1, 0");
    for tool in &bench.tools {
        let mut all = Vec::new();
        for (column, state) in [(&mut running, &COMMAND_RUNS), (&mut between, &BETWEEN_ATTEMPTS)] {
            if let Some(held) = watch(tool, state, &times)? {
                column.set(tool.title, format!("{} ({})", held.private, held.pss));
                all.push(held);
            }
        }
        let most = |count: fn(&Held) -> u64| all.iter().map(count).max().unwrap_or(0);
        let (processes, threads) = (most(|held| held.processes), most(|held| held.threads));
        counts.set(
            tool.title,
            format!("{processes}, {threads}, {}", most(|held| held.switches)),
        );
    }
    let scale = format!(
        "KiB are private (PSS), with the processes that the tool needs and without the command; wake-ups are those in {} s.",
        times.watched.as_secs_f64()
    );
    Ok(Figures {
        columns: vec![running, between, counts],
        scales: vec![scale],
        tables: Vec::new(),
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
