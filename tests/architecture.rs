//! The rules of the house, held by reading the sources.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut dirs = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(dir)];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

/// What a file imports of this crate, outside its tests: the first word after `crate::`.
fn imports(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines()
        .filter(|line| line.trim_start().starts_with("use crate::"))
        .flat_map(|line| {
            let path = line.trim_start().strip_prefix("use crate::").unwrap();
            let parts: Vec<&str> = match path.strip_prefix('{') {
                Some(list) => list.split(", ").collect(),
                None => vec![path],
            };
            parts
                .into_iter()
                .map(|part| part.split([':', ';', '{', '}']).next().unwrap().to_owned())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn policy_knows_outcomes_and_signals_only() {
    for (path, text) in sources("src/policy") {
        for import in imports(&text) {
            assert!(
                ["outcome", "signal"].contains(&import.as_str()),
                "{} imports {import}",
                path.display()
            );
        }
    }
}

#[test]
fn effects_do_not_know_policy() {
    let rooms = ["src/os", "src/io", "src/store"];
    for (path, text) in rooms.into_iter().flat_map(sources) {
        assert!(
            !imports(&text).iter().any(|import| import == "policy"),
            "{} imports policy",
            path.display()
        );
        assert!(!text.contains("crate::policy"), "{}", path.display());
    }
}

#[test]
fn what_is_meant_does_not_know_the_parser() {
    for file in ["src/plan.rs", "src/settings.rs", "src/run.rs"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        assert!(!text.contains("clap"), "{file} speaks of clap");
    }
}

#[test]
fn unsafe_stays_in_its_rooms_and_explains_itself() {
    for (path, text) in sources("src") {
        let in_room = path
            .components()
            .any(|part| part.as_os_str() == "os" || part.as_os_str() == "io");
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            if line.contains("unsafe {") {
                assert!(in_room, "{}:{}", path.display(), i + 1);
            }
        }
    }
}

#[test]
fn every_option_has_a_black_box_test() {
    let tests: String = sources("tests").into_iter().map(|(_, text)| text).collect();
    for opt in backoff_cli::cli::table::OPTIONS {
        assert!(
            tests.contains(&format!("--{}", opt.long)),
            "no test names --{}",
            opt.long
        );
    }
}
