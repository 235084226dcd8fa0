//! Console cases that need programs: each section of `tests/tools/cases/*.md` is a test. Its line `needs:` names the
//! programs. `tests/cli/cases.rs` describes the blocks; `tests/tools/cases/before.sh` runs before each block.

#[path = "../cli/cases.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the tests of it are run where it stands"
)]
mod runner;

use runner::{check, console_blocks};

use crate::common::documents::{Block, ROOT, documents};
use crate::common::tools::Case;
use crate::server;

pub fn tests() -> Vec<Case> {
    let mut tests = Vec::new();
    for document in documents() {
        let Some(name) = document.name.strip_prefix("tests/tools/cases/") else {
            continue;
        };
        if name == "redis.md" && !cfg!(feature = "redis") {
            continue;
        }
        let mut blocks = console_blocks(&document);
        let lines: Vec<&str> = document.text.lines().collect();
        let starts = (0..lines.len()).filter(|i| lines[*i].starts_with("## "));
        for start in starts.rev().collect::<Vec<_>>() {
            let title = format!("{}::{}", name.trim_end_matches(".md"), &lines[start][3..]);
            let needs = lines[start + 1]
                .strip_prefix("needs:")
                .expect("what a section needs");
            let of_section = blocks.partition_point(|block| block.line <= start);
            let blocks = blocks.split_off(of_section);
            let test = Box::new(move || run(&blocks));
            tests.push((
                title.replace(' ', "_"),
                needs.split_whitespace().collect(),
                test as _,
            ));
        }
    }
    tests
}

fn run(blocks: &[Block]) {
    assert!(!blocks.is_empty());
    let problems = blocks.iter().filter_map(|block| {
        let variables = [
            ("BASH_ENV", format!("{ROOT}/tests/tools/cases/before.sh")),
            ("ROOT", ROOT.to_owned()),
            ("SERVER", server::start()),
            ("CLOSES", server::closes()),
            ("FULL", server::FULL.0.clone()),
        ];
        check(block, &variables, str::to_owned).err()
    });
    let problems: Vec<String> = problems.collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
