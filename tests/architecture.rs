//! The rules of the house, held by reading the sources.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "these are tests"
)]

#[path = "architecture/imports.rs"]
mod imports;

use std::fs;
use std::path::Path;

use imports::{Arrow, Source, arrows, arrows_up, circles};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// From the top down: an import only ever goes down this list.
const ROOMS: &[&str] = &[
    "the top", "plan", "config", "cli", "process", "budget", "report", "run", "search", "policy",
];

/// The same within `process`. What stands in none of its folders, `host` included, is its top.
const ROOMS_OF_PROCESS: &[&str] = &["the top", "attempt", "streams", "terminal", "spawn", "signals", "sys"];

const MOST_UNSAFE: usize = 30;

fn sources(dir: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut dirs = vec![root.join(dir)];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(Source {
                    path: path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(),
                    text: fs::read_to_string(&path).unwrap(),
                });
            }
        }
    }
    assert!(!found.is_empty());
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// `src/plan/waits.rs` stands in the room `plan`.
fn room(file: &str) -> Option<String> {
    let path = file.strip_prefix("src/")?;
    Some(path.split_once('/').map_or("the top", |(room, _)| room).to_owned())
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
        assert!(
            is_top || (room != "the top" && ROOMS.contains(&room.as_str())),
            "{path}"
        );
    }
}

/// Whether something holds of a token, wherever it stands, and of what follows it.
fn any_token(text: &str, holds: &mut impl FnMut(&TokenTree, Option<&TokenTree>) -> bool) -> bool {
    fn any(stream: TokenStream, holds: &mut impl FnMut(&TokenTree, Option<&TokenTree>) -> bool) -> bool {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        tokens.iter().enumerate().any(|(i, token)| {
            holds(token, tokens.get(i + 1)) || matches!(token, TokenTree::Group(group) if any(group.stream(), holds))
        })
    }
    any(text.parse().unwrap(), holds)
}

fn speaks_of(text: &str, word: &str) -> bool {
    any_token(
        text,
        &mut |token, _| matches!(token, TokenTree::Ident(ident) if ident == word),
    )
}

#[test]
fn only_the_command_line_knows_the_parser() {
    for Source { path, text } in sources("src") {
        let may = room(&path).is_some_and(|room| room == "cli");
        assert!(may || !speaks_of(&text, "clap"), "{path} speaks of clap");
    }
}

/// What is done and what is decided do not mix: `process` knows facts and answers of `policy`, no decisions.
#[test]
fn effects_decide_nothing() {
    for arrow in arrows(&sources("src")) {
        let decides = ["classifier", "delay", "forecast", "session"];
        let to = arrow.to.strip_prefix("src/policy/").unwrap_or_default();
        let decides = decides.iter().any(|file| to.starts_with(file));
        assert!(!(decides && arrow.from.starts_with("src/process/")), "{arrow}");
    }
}

#[test]
fn one_condition_chooses_what_other_systems_use() {
    // What one system alone has goes by its name.
    let named = ["src/policy/signal.rs", "src/process/sys/processes.rs"];
    for Source { path, text } in sources("src") {
        assert!(
            !speaks_of(&text, "backoff_portable") && (named.contains(&path.as_str()) || !speaks_of(&text, "target_os")),
            "{path}: cfg(portable) is the condition"
        );
    }
}

#[test]
fn unsafe_stays_in_its_room() {
    let mut blocks = 0;
    for Source { path, text } in sources("src") {
        let mut here = 0;
        any_token(&text, &mut |token, next| {
            let is_block = matches!(next, Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace);
            here += usize::from(is_block && matches!(token, TokenTree::Ident(word) if word == "unsafe"));
            false
        });
        assert!(here == 0 || path.starts_with("src/process/"), "{path}");
        blocks += here;
    }
    assert!(blocks <= MOST_UNSAFE, "{blocks} blocks");
}

// --- the test of the test ----------------------------------------------------------------------

fn in_memory(files: &[(&str, &str)]) -> Vec<Source> {
    files
        .iter()
        .map(|(path, text)| Source {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        })
        .collect()
}

#[track_caller]
fn expect_problems(files: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(problems(&arrows(&in_memory(files))), expected);
}

#[test]
fn a_straight_sample_passes() {
    let files = [
        ("src/main.rs", "fn main() { backoff_cli::main() }"),
        (
            "src/lib.rs",
            "pub mod plan; pub mod run; pub mod policy; use plan::waits; pub use policy::exit::Exit;",
        ),
        ("src/plan/mod.rs", "pub mod waits; mod values;"),
        (
            "src/plan/waits.rs",
            "use super::values; use crate::run::{self, host::Host}; fn f() { values::g(); }",
        ),
        (
            "src/plan/values.rs",
            "use std::fmt; use self::inner::x; mod inner { use super::super::super::policy; }",
        ),
        ("src/run/mod.rs", "pub mod host; pub mod engine;"),
        (
            "src/run/host.rs",
            "pub(in crate::plan) struct Host; // crate::plan::waits\n/* use crate::plan; */",
        ),
        (
            "src/run/engine.rs",
            r##"use super::host; const A: &str = "crate::plan::x"; const B: &str = r#"use crate::plan;"#;
            /// crate::plan::waits
            fn f<'crate_>(c: char) -> bool { c == '"' || std::run::plan::x() || self.plan }
            #[cfg(test)] mod tests { use super::*; fn g() { super::f(host::x) } }"##,
        ),
        ("src/policy/mod.rs", "pub mod exit;"),
        ("src/policy/exit.rs", "#[cfg(test)] mod tests;"),
        ("src/policy/exit/tests.rs", "use super::*; use crate::policy::exit;"),
    ];
    expect_problems(&files, &[]);
}

#[test]
fn an_arrow_up_is_seen_wherever_it_stands() {
    for (policy, line) in [
        ("use crate::plan::waits;", 1),
        (
            "\nuse crate::{\n    run::host,\n    plan::{\n        values::Value,\n        waits::{self, Waits},\n    },\n};",
            6,
        ),
        ("\n\nuse super::super::plan::waits::f;", 3),
        ("\nfn f() {\n    g(|| vec![crate::plan::waits::f()])\n}", 3),
        ("fn f() -> Vec<crate::plan::waits::F> {}", 1),
        ("use super::super::plan as upper;\nfn f() { upper::waits::f() }", 2),
        ("mod inner {\n    use super::super::super::plan::waits;\n}", 2),
        (
            "#[cfg(test)]\nmod tests {\n    fn f() { super::super::super::plan::waits::f() }\n}",
            3,
        ),
        ("fn f() {\n    use crate::plan::waits::f;\n}", 2),
        ("macro_rules! m { () => {\n $crate::plan::waits::f() } }", 2),
        ("use self::super::super::plan::waits;", 1),
        ("pub use crate::plan::waits::*;", 1),
    ] {
        let files = [
            ("src/plan/mod.rs", "pub mod waits; pub mod values;"),
            ("src/plan/waits.rs", ""),
            ("src/policy/mod.rs", "pub mod delay;"),
            ("src/policy/delay.rs", policy),
        ];
        let expected = format!("src/policy/delay.rs:{line} -> src/plan/waits.rs: policy stands below plan");
        let problems = problems(&arrows(&in_memory(&files)));
        assert!(problems.contains(&expected), "{policy}: {problems:#?}");
    }
}

#[test]
fn rooms_that_import_each_other_are_seen() {
    expect_problems(
        &[
            ("src/plan/mod.rs", "mod a; pub mod b;"),
            ("src/plan/a.rs", "\nuse crate::run::a;"),
            ("src/plan/b.rs", ""),
            ("src/run/mod.rs", "pub mod a;"),
            ("src/run/a.rs", "\n\nuse crate::plan::b;"),
        ],
        &[
            "src/run/a.rs:3 -> src/plan/b.rs: run stands below plan",
            "plan and run import each other: src/plan/a.rs:2 -> src/run/a.rs, src/run/a.rs:3 -> src/plan/b.rs",
        ],
    );
}

#[test]
fn a_circle_of_files_is_seen() {
    expect_problems(
        &[
            ("src/run/mod.rs", "mod a; mod b; mod c; mod d;"),
            ("src/run/a.rs", "use super::b::B;"),
            ("src/run/b.rs", "\nuse crate::run::c;\nuse super::d;"),
            ("src/run/c.rs", "\n\nfn f() { super::a::g() }"),
            ("src/run/d.rs", ""),
        ],
        &["a circle: src/run/a.rs:1 -> src/run/b.rs, src/run/b.rs:2 -> src/run/c.rs, src/run/c.rs:3 -> src/run/a.rs"],
    );
    // To declare a module is no arrow, to use what is in it is one.
    let text = "use super::Shared;";
    expect_problems(
        &[("src/run/mod.rs", "mod a; struct Shared;"), ("src/run/a.rs", text)],
        &[],
    );
    expect_problems(
        &[
            ("src/run/mod.rs", "mod a; struct Shared;\npub use a::A;"),
            ("src/run/a.rs", text),
        ],
        &["a circle: src/run/a.rs:1 -> src/run/mod.rs, src/run/mod.rs:2 -> src/run/a.rs"],
    );
}

#[test]
fn the_rooms_of_process_have_an_order_too() {
    let imp = "#[cfg(unix)]\n#[path = \"linux.rs\"]\nmod imp;\npub use imp::Signals;";
    expect_problems(
        &[
            ("src/process/mod.rs", "mod host; mod leave; mod signals; mod streams;"),
            ("src/process/host/mod.rs", "use super::{leave, streams::sink};"),
            ("src/process/leave.rs", ""),
            ("src/process/streams/mod.rs", "pub mod sink;"),
            ("src/process/streams/sink.rs", "use crate::process::signals::Signals;"),
            ("src/process/signals/mod.rs", imp),
            (
                "src/process/signals/linux.rs",
                "use crate::process::leave;\nuse crate::process::streams::sink;\nuse super::x;",
            ),
        ],
        &[
            "src/process/signals/linux.rs:1 -> src/process/leave.rs: signals stands below the top",
            "src/process/signals/linux.rs:2 -> src/process/streams/sink.rs: signals stands below streams",
            "signals and streams import each other: src/process/signals/linux.rs:2 -> src/process/streams/sink.rs, \
             src/process/streams/sink.rs:1 -> src/process/signals/mod.rs",
            "a circle: src/process/signals/linux.rs:2 -> src/process/streams/sink.rs, src/process/signals/linux.rs:3 -> \
             src/process/signals/mod.rs, src/process/signals/mod.rs:4 -> src/process/signals/linux.rs, \
             src/process/streams/sink.rs:1 -> src/process/signals/mod.rs",
        ],
    );
}
