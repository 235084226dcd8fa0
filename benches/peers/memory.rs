//! What a tool holds while it waits: for the command, and for the next attempt.

use std::fs;
use std::process::Child;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::dots::Dots;
use crate::summary::Headline;
use crate::table::{Table, digits};
use crate::tools::{self, NO_WAIT, Wait};
use crate::{Bench, Outcome, Part};

/// Long enough, and nobody else's.
const COMMAND: [&str; 2] = ["sleep", "600.0917"];
const LONG: Wait = Wait::Fixed(Duration::from_secs(600));

/// Of a tool and the processes it needs, without the command; memory in KiB.
#[derive(Default)]
struct Held {
    pss: u64,
    private: u64,
    rss: u64,
    processes: usize,
    threads: usize,
    /// How often one of them gave up the processor by itself, so far.
    switches: u64,
}

pub fn measure(bench: &Bench) -> Outcome<Part> {
    let settling = Duration::from_millis(if bench.options.quick { 200 } else { 700 });
    let watched = Duration::from_millis(if bench.options.quick { 100 } else { 2000 });
    let title = format!(
        "Memory of a tool that waits, with the processes that it needs and without the command; and how often \
         they woke up in {} s",
        watched.as_secs_f64()
    );
    let columns = [
        "tool",
        "waits for",
        "PSS, KiB",
        "private, KiB",
        "RSS, KiB",
        "processes",
        "threads",
        "wake-ups",
    ];
    let mut table = Table::new("memory", &title, &columns);
    table.words = 2;
    let mut part = Part::default();
    for (state, headline, attempts, wait, command) in [
        (
            "the command",
            "memory while the command runs, PSS in MB",
            1,
            NO_WAIT,
            &COMMAND[..],
        ),
        (
            "the next attempt",
            "memory between attempts, PSS in MB",
            2,
            LONG,
            &["false"][..],
        ),
    ] {
        let mut headline = Headline::new(headline);
        let mut dots = Vec::new();
        for tool in &bench.tools {
            let Some(words) = tool.wrap(attempts, wait, command) else {
                continue;
            };
            let child = tools::command(&words).spawn()?;
            thread::sleep(settling);
            let before = held(&child);
            thread::sleep(watched);
            let after = held(&child);
            end(child);
            table.row([
                tool.title.to_owned(),
                state.to_owned(),
                after.pss.to_string(),
                after.private.to_string(),
                after.rss.to_string(),
                after.processes.to_string(),
                after.threads.to_string(),
                after.switches.saturating_sub(before.switches).to_string(),
            ]);
            headline.set(tool.title, digits(after.pss as f64 * 1024.0 / 1e6));
            dots.push((tool.title, after.pss as f64));
        }
        Dots {
            title: &format!("Memory while waiting for {state}"),
            axis: "PSS in KiB",
            dots: &dots,
        }
        .write(
            &bench
                .options
                .into
                .join(format!("memory-{}.svg", state.replace(' ', "-"))),
        )?;
        part.headlines.push(headline);
    }
    part.tables.push(table);
    Ok(part)
}

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
        held.rss += number(&memory, "Rss:");
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
