//! Reads the sources, and checks the rules of the architecture.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "these are tests"
)]

#[path = "architecture/imports.rs"]
mod imports;

use std::fs;
use std::path::PathBuf;

use imports::{Arrow, Source, arrows, arrows_up, circles};
use regex::Regex;

/// The modules from top to bottom: a module imports only from modules below it.
const ROOMS: &[&str] = &[
    "the top", "plan", "config", "cli", "presets", "process", "budget", "report", "run", "policy",
    "search", "text",
];

/// The modules of `process`, from top to bottom. Files in no folder, and `host`, are its top.
const ROOMS_OF_PROCESS: &[&str] = &[
    "the top",
    "attempt",
    "event_loop",
    "files",
    "streams",
    "terminal",
    "spawn",
    "signals",
    "sys",
];

const MOST_UNSAFE: usize = 30;

fn sources(dir: &str) -> Vec<Source> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let of_entry = |path: PathBuf| match path.to_str().unwrap() {
        dir if path.is_dir() => sources(dir),
        name if name.ends_with(".rs") => {
            vec![Source::new(name, &fs::read_to_string(&path).unwrap())]
        }
        _ => Vec::new(),
    };
    entries.flat_map(of_entry).collect()
}

/// Returns the module of a file: `plan` for `src/plan/waits.rs`.
fn room(file: &str) -> Option<String> {
    let path = file.strip_prefix("src/")?;
    Some(
        path.split_once('/')
            .map_or("the top", |(room, _)| room)
            .to_owned(),
    )
}

fn room_of_process(file: &str) -> Option<String> {
    let path = file.strip_prefix("src/process/")?;
    let folder = path.split_once('/').map_or("the top", |(folder, _)| folder);
    Some(if folder == "host" { "the top" } else { folder }.to_owned())
}

fn problems(arrows: &[Arrow]) -> Vec<String> {
    let mut problems = arrows_up(arrows, ROOMS, room);
    problems.extend(arrows_up(arrows, ROOMS_OF_PROCESS, room_of_process));
    problems.extend(circles(arrows, room));
    problems
}

#[test]
fn an_import_only_goes_down() {
    let problems = problems(&arrows(&sources("src")));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_file_stands_beside_the_rooms() {
    for Source { path, .. } in sources("src") {
        let is_top = ["src/lib.rs", "src/main.rs"].contains(&path.as_str());
        let room = room(&path).unwrap();
        let is_room = room != "the top" && ROOMS.contains(&room.as_str());
        assert!(is_top || is_room, "{path}");
    }
}

fn count(pattern: &str, Source { code, .. }: &Source) -> usize {
    Regex::new(pattern).unwrap().find_iter(code).count()
}

#[test]
fn only_the_command_line_knows_the_parser() {
    for source in sources("src") {
        let speaks = count(r"\bclap\b", &source) > 0;
        assert!(
            !speaks || source.path.starts_with("src/cli/"),
            "{}",
            source.path
        );
    }
}

/// Asserts that `process` imports only facts and answers of `policy`, and no module that decides.
#[test]
fn effects_decide_nothing() {
    for arrow in arrows(&sources("src")) {
        let decides = ["classifier", "delay", "forecast", "session"];
        let to = arrow.to.strip_prefix("src/policy/").unwrap_or_default();
        let decides = decides.iter().any(|file| to.starts_with(file));
        assert!(
            !(decides && arrow.from.starts_with("src/process/")),
            "{arrow}"
        );
    }
}

#[test]
fn one_condition_chooses_what_other_systems_use() {
    // The seam, and what has to name a system outside of it: numbers of signals, and tests of Linux's own calls.
    let seam = ["src/process/sys/mod.rs", "src/process/sys/other.rs"];
    let outside = ["src/policy/signal.rs", "src/process/streams/stdin/tests.rs"];
    let mut named_outside = 0;
    for source in sources("src") {
        let path = source.path.as_str();
        let named = count(r"\btarget_os\b", &source);
        assert!(
            named == 0 || seam.contains(&path) || outside.contains(&path),
            "{path}: sys::system is the seam"
        );
        if outside.contains(&path) {
            named_outside += named;
        }
    }
    assert!(named_outside <= 2, "{named_outside} outside of the seam");
}

#[test]
fn unsafe_stays_in_its_room() {
    let mut blocks = 0;
    for source in sources("src") {
        let here = count(r"\bunsafe\s*\{", &source);
        assert!(
            here == 0 || source.path.starts_with("src/process/"),
            "{}",
            source.path
        );
        blocks += here;
    }
    assert!(blocks <= MOST_UNSAFE, "{blocks} blocks");
}

// --- the test of the test ----------------------------------------------------------------------

/// Returns the problems of files in memory, a row for each file, with `\n` for the end of a line.
fn problems_of(files: &str) -> Vec<String> {
    let row = |(path, text): (&str, &str)| Source::new(path, &text.replace(r"\n", "\n"));
    let sources: Vec<Source> = files
        .lines()
        .filter_map(|line| line.split_once(" | ").map(row))
        .collect();
    problems(&arrows(&sources))
}

#[test]
fn a_straight_sample_passes() {
    let problems = problems_of(
        r##"
src/main.rs | fn main() { backoff_cli::main() }
src/lib.rs | pub mod plan; pub mod run; pub mod policy; use plan::waits; pub use policy::exit::Exit;
src/plan/mod.rs | pub mod waits; mod values;
src/plan/waits.rs | use super::values; use crate::run::{self, host::Host}; fn f() { values::g(); }
src/plan/values.rs | use std::fmt; use self::inner::x; mod inner { use super::super::super::policy; }
src/run/mod.rs | pub mod host; pub mod engine;
src/run/host.rs | pub(in crate::plan) struct Host; // crate::plan::waits\n/* use crate::plan; */
src/run/engine.rs | use super::host; const A: &str = "crate::plan::x"; const B: &str = r#"use crate::plan;"#;\n
src/run/engine2.rs | fn f<'crate_>(c: char) -> bool { c == '"' || c == '\'' || std::run::plan::x() || self.plan }
src/run/engine3.rs | /// crate::plan::waits\n#[cfg(test)] mod tests { use super::*; fn g() { super::f(host::x) } }
src/policy/mod.rs | pub mod exit;
src/policy/exit.rs | #[cfg(test)] mod tests;
src/policy/exit/tests.rs | use super::*; use crate::policy::exit;"##,
    );
    assert_eq!(problems, [""; 0]);
}

#[test]
fn an_arrow_up_is_seen_wherever_it_stands() {
    for (line, policy) in [
        (1, "use crate::plan::waits;"),
        (
            3,
            r"\nuse crate::{\n run::host, plan::{values::Value, waits::{self, Waits}},\n};",
        ),
        (3, r"\n\nuse super::super::plan::waits::f;"),
        (3, r"\nfn f() {\n g(|| vec![crate::plan::waits::f()])\n}"),
        (1, "fn f() -> Vec<crate::plan::waits::F> {}"),
        (
            2,
            r"use super::super::plan as upper;\nfn f() { upper::waits::f() }",
        ),
        (2, r"mod inner {\n use super::super::super::plan::waits;\n}"),
        (
            3,
            r"#[cfg(test)]\nmod tests {\n fn f() { super::super::super::plan::waits::f() }\n}",
        ),
        (2, r"fn f() {\n use crate::plan::waits::f;\n}"),
        (
            2,
            r"macro_rules! m { () => {\n $crate::plan::waits::f() } }",
        ),
        (1, "use self::super::super::plan::waits;"),
        (1, "pub use crate::plan::waits::*;"),
    ] {
        let modules = "src/plan/mod.rs | pub mod waits; pub mod values;\nsrc/plan/waits.rs | \nsrc/policy/mod.rs | pub mod delay;";
        let problems = problems_of(&format!("{modules}\nsrc/policy/delay.rs | {policy}"));
        let expected =
            format!("src/policy/delay.rs:{line} -> src/plan/waits.rs: policy stands below plan");
        assert!(problems.contains(&expected), "{policy}: {problems:#?}");
    }
}

#[test]
fn circles_are_seen() {
    for (files, expected) in [
        (
            r"
src/plan/mod.rs | mod a; pub mod b;
src/plan/a.rs | \nuse crate::run::a;
src/plan/b.rs | //
src/run/mod.rs | pub mod a;
src/run/a.rs | \n\nuse crate::plan::b;",
            "src/run/a.rs:3 -> src/plan/b.rs: run stands below plan",
        ),
        (
            r"
src/run/mod.rs | mod a; mod b; mod c; mod d;
src/run/a.rs | use super::b::B;
src/run/b.rs | \nuse crate::run::c;\nuse super::d;
src/run/c.rs | \n\nfn f() { super::a::g() }
src/run/d.rs | //",
            "a circle: src/run/a.rs:1 -> src/run/b.rs, src/run/b.rs:2 -> src/run/c.rs, src/run/c.rs:3 -> src/run/a.rs",
        ),
        // A declaration of a module is no arrow; a use of its content is an arrow.
        ("src/run/mod.rs | mod a; struct Shared;\nsrc/run/a.rs | use super::Shared;", ""),
        (
            "src/run/mod.rs | mod a; pub use a::A;\nsrc/run/a.rs | use super::Shared;",
            "a circle: src/run/a.rs:1 -> src/run/mod.rs, src/run/mod.rs:1 -> src/run/a.rs",
        ),
        // The modules of `process` have an order, too.
        (
            r"
src/process/host/mod.rs | use super::{leave, streams::sink};
src/process/leave.rs | //
src/process/streams/sink.rs | use crate::process::signals::Signals;
src/process/signals/mod.rs | use crate::process::leave;\nuse crate::process::streams::sink;",
            "src/process/signals/mod.rs:1 -> src/process/leave.rs: signals stands below the top
src/process/signals/mod.rs:2 -> src/process/streams/sink.rs: signals stands below streams
a circle: src/process/signals/mod.rs:2 -> src/process/streams/sink.rs, src/process/streams/sink.rs:1 -> src/process/signals/mod.rs",
        ),
    ] {
        assert_eq!(problems_of(files).join("\n"), expected);
    }
}
