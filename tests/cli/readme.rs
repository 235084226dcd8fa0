//! The documents are run: every command of their console blocks, and a Makefile.
//!
//! In a block, `$ ` begins a command and `> ` goes on with it; what follows is its output, both
//! streams together. `...` stands for anything within a line; a line that is only `...`, for any
//! number of lines. The README shows the times of a real run; any others will do.

use crate::common::documents::{Block, Document, blocks, document, documents};
use crate::common::readme::{first_block, text_of, without_times};
use crate::common::{IS_PORTABLE, clean, executable, path_with_backoff, run, shell, within};

const README: &str = "README.md";
const RECIPES: &str = "docs/recipes.md";
const CONFIGURATION: &str = "docs/configuration.md";

/// The documents whose commands are run, with the number of their console blocks: a reader that finds fewer tests nothing.
const RUN: &[(&str, usize)] = &[(README, 2), (RECIPES, 33), (CONFIGURATION, 2)];

/// Printed after each command; no document prints it.
const MARK: &str = "\u{1}end of command\u{1}";

/// A command with what it should print.
#[derive(Debug, Default, PartialEq)]
struct Step {
    command: String,
    expected: Vec<String>,
}

fn console_blocks(document: &Document) -> Vec<Block> {
    let mut blocks = blocks(document);
    blocks.retain(|block| block.language == "console");
    blocks
}

fn steps(lines: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                command: command.to_owned(),
                ..Step::default()
            });
            continue;
        }
        let step = steps.last_mut().unwrap();
        match line.strip_prefix("> ").or((*line == ">").then_some("")) {
            Some(more) if step.expected.is_empty() => {
                step.command.push('\n');
                step.command.push_str(more);
            }
            _ => step.expected.push((*line).to_owned()),
        }
    }
    steps
}

/// Whether a line is as expected, `...` standing for anything.
fn line_matches(expected: &str, line: &str) -> bool {
    let Some((start, rest)) = expected.split_once("...") else {
        return expected == line;
    };
    line.strip_prefix(start)
        .is_some_and(|line| (0..=line.len()).any(|i| line.is_char_boundary(i) && line_matches(rest, &line[i..])))
}

/// Whether lines are as expected, a line `...` standing for any number of them.
fn lines_match(expected: &[String], lines: &[&str]) -> bool {
    match expected {
        [] => lines.is_empty(),
        [any, rest @ ..] if any == "..." => (0..=lines.len()).any(|i| lines_match(rest, &lines[i..])),
        [first, rest @ ..] => lines
            .split_first()
            .is_some_and(|(line, lines)| line_matches(first, line) && lines_match(rest, lines)),
    }
}

/// A server that is overloaded, as curl tells of it. `tests/tools/picture.rs` has the real ones.
const OVERLOADED: &str = "#!/bin/sh
test \"$BACKOFF_ATTEMPT\" = 4 && exit
echo 'curl: (22) The requested URL returned error: 503' >&2
exit 22
";

/// One shell for the block, so that later commands see the files and the status of earlier ones.
fn check(block: &Block) {
    let steps = steps(&block.lines);
    let mut script = "exec 2>&1\numask 022\n".to_owned();
    for step in &steps {
        // The mark must not change what `$?` is for the next command.
        script.push_str(&format!(
            "{}\n__status=$?; printf %s '{MARK}'; (exit $__status)\n",
            step.command
        ));
    }
    let dir = tempfile::tempdir().unwrap();
    let mut shell = shell(&script);
    shell.current_dir(dir.path());
    if block.document == README {
        executable(&within(&dir, "curl"), OVERLOADED);
        shell.env("PATH", format!("{}:{}", dir.path().display(), path_with_backoff()));
        shell.env("BACKOFF_BASE", "10ms");
    }
    let shown = run(&mut shell);
    let mut parts: Vec<&str> = shown.stdout.split(MARK).collect();
    let rest = parts.pop();
    assert_eq!(
        (parts.len(), rest),
        (steps.len(), Some("")),
        "{}:{}: {shown:#?}",
        block.document,
        block.line
    );
    // What a command has not read is left for the next one, where there is `tee(2)`.
    let is_as_shown = |step: &&Step| !*IS_PORTABLE || !step.command.contains("| { backoff");
    for (step, printed) in steps.iter().zip(parts).filter(|(step, _)| is_as_shown(step)) {
        let (mut expected, mut printed) = (step.expected.clone(), printed.to_owned());
        if block.document == README {
            expected.iter_mut().for_each(|line| *line = without_times(line));
            printed = without_times(&printed);
        }
        let lines: Vec<&str> = printed.lines().collect();
        assert!(
            lines_match(&expected, &lines),
            "{}:{}: {}\nexpected: {expected:#?}\nprinted: {lines:#?}",
            block.document,
            block.line,
            step.command,
        );
    }
}

fn check_all(name: &str) {
    for block in console_blocks(&document(name)) {
        check(&block);
    }
}

#[test]
fn every_console_block_of_the_readme_does_what_it_shows() {
    check_all(README);
}

#[test]
fn every_console_block_of_the_recipes_does_what_it_shows() {
    check_all(RECIPES);
}

#[test]
fn every_console_block_of_the_configuration_does_what_it_shows() {
    check_all(CONFIGURATION);
}

#[test]
fn the_console_blocks_are_found() {
    for document in documents() {
        let blocks = console_blocks(&document);
        let expected = RUN
            .iter()
            .find(|(name, _)| *name == document.name)
            .map_or(0, |(_, count)| *count);
        assert_eq!(blocks.len(), expected, "{}: {blocks:#?}", document.name);
        for block in &blocks {
            assert!(!steps(&block.lines).is_empty(), "{block:?}");
            for step in steps(&block.lines) {
                assert!(
                    !step.command.contains("cargo"),
                    "{}:{}: what builds or installs goes into a block of sh, which is not run",
                    block.document,
                    block.line
                );
            }
        }
    }
}

#[test]
fn the_picture_shows_the_first_block() {
    let picture = text_of(include_str!("../../docs/terminal.svg"));
    let block: Vec<&str> = first_block().lines().collect();
    assert!(
        block.len() > 1 && picture.starts_with(&block.join(" ")),
        "{block:#?}\n{picture}"
    );
}

#[test]
fn times_are_all_the_same_word() {
    let shown = "exit 1 after <1ms; retrying in 0.13s\nin 1m30s: (--deadline 5m)";
    assert_eq!(
        without_times(shown),
        "exit 1 after TIME; retrying in TIME\nin TIME: (--deadline 5m)"
    );
}

#[test]
fn the_configuration_is_one() {
    let dir = tempfile::tempdir().unwrap();
    let file = within(&dir, "config.toml");
    let blocks = blocks(&document(CONFIGURATION));
    let block = blocks.iter().find(|block| block.language == "toml").unwrap();
    let script = format!("umask 022; echo \"$TEXT\" >{file}; backoff --config {file} -p deploy -vv -- true");
    let shown = run(shell(&script).env("TEXT", block.lines.join("\n"))).expect_code(0);
    shown.expect_stderr("retry-exit = 7, 100-110 (policy deploy, ");
}

#[test]
fn the_makefile_works_and_its_sub_make_shares_the_jobs() {
    let mut makefiles = blocks(&document(RECIPES));
    // The other one fetches over the network.
    makefiles.retain(|block| block.language == "makefile" && block.lines[0].contains("-b 100ms"));
    let [makefile] = &makefiles[..] else {
        panic!("one Makefile: {makefiles:#?}")
    };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("Makefile"), makefile.lines.join("\n") + "\n").unwrap();
    let mut make = clean("make");
    make.arg("-j2").current_dir(dir.path()).env("PATH", path_with_backoff());
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        make.env_remove(name);
    }
    let shown = run(&mut make).expect_code(0);
    for line in ["fetched", "built one", "built two"] {
        assert!(shown.stdout.lines().any(|printed| printed == line), "{shown:#?}");
    }
    assert!(!shown.stderr.contains("jobserver"), "{shown:#?}");
    assert!(shown.stderr.contains(": succeeded on attempt 2 of 4"), "{shown:#?}");
}

#[test]
fn wildcards_match_what_they_should() {
    assert!(line_matches("a...z", "abcz") && line_matches("...", "") && line_matches("a... b...", "a1 b2"));
    assert!(!line_matches("a...z", "abc") && !line_matches("ab", "abc") && !line_matches("...b", "abc"));
    let expected: Vec<String> = ["a", "...", "z"].map(str::to_owned).into();
    assert!(lines_match(&expected, &["a", "z"]) && lines_match(&expected, &["a", "b", "c", "z"]));
    assert!(!lines_match(&expected, &["a", "b"]) && !lines_match(&expected, &["a", "z", "b"]));
}

#[test]
fn a_block_is_taken_apart() {
    let steps = steps(&["$ one", "> two", "out", "> not a command", "$ three"]);
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].command, "one\ntwo");
    assert_eq!(steps[0].expected, ["out", "> not a command"]);
    assert_eq!((steps[1].command.as_str(), steps[1].expected.len()), ("three", 0));
}
