//! Console blocks are run: those of the documents, and the cases in `tests/cases/*.md`.
//!
//! In a block, `$ ` begins a command and `> ` continues it; the lines after it are its output, both streams together.
//! `...` stands for any text within a line; a line that is only `...`, for any number of lines. A block is one bash in
//! an empty directory, so later commands see files, variables and `$?` of earlier ones. `BLESS=1` writes the output of
//! what differs anew, with `...` for times.

use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;

use regex::Regex;

use crate::common::documents::{Block, Document, ROOT, blocks, document, documents};
use crate::common::{IS_PORTABLE, run, shell};

/// Printed after each command; no document prints it.
const MARK: &str = "\u{1}end of command\u{1}";

/// A command and its expected output.
#[derive(Debug, Default, PartialEq)]
struct Step {
    command: String,
    expected: Vec<String>,
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
        let step = steps.last_mut().expect("a block begins with `$ `");
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

fn line_matches(expected: &str, line: &str) -> bool {
    let Some((start, rest)) = expected.split_once("...") else {
        return expected == line;
    };
    line.strip_prefix(start)
        .is_some_and(|line| (0..=line.len()).any(|i| line.is_char_boundary(i) && line_matches(rest, &line[i..])))
}

fn lines_match(expected: &[String], lines: &[&str]) -> bool {
    match expected {
        [] => lines.is_empty(),
        [any, rest @ ..] if any == "..." => (0..=lines.len()).any(|i| lines_match(rest, &lines[i..])),
        [first, rest @ ..] => lines
            .split_first()
            .is_some_and(|(line, lines)| line_matches(first, line) && lines_match(rest, lines)),
    }
}

pub fn console_blocks(document: &Document) -> Vec<Block> {
    let mut blocks = blocks(document);
    blocks.retain(|block| block.language == "console");
    blocks
}

/// Runs a block with these variables. Returns an error with all that differs.
pub fn check(block: &Block, variables: &[(&str, String)], normalize: fn(&str) -> String) -> Result<(), String> {
    let steps = steps(&block.lines);
    let mut script = "exec 2>&1\numask 022\n".to_owned();
    for step in &steps {
        // The mark must not change `$?` for the next command.
        writeln!(
            script,
            "{}\n__status=$?; printf %s '{MARK}'; (exit $__status)",
            step.command
        )
        .unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let mut shell = shell(&script);
    shell.current_dir(dir.path());
    shell.envs(variables.iter().map(|(name, value)| (name, value)));
    let shown = run(&mut shell);
    let place = format!("{}:{}", block.document, block.line);
    let mut parts: Vec<&str> = shown.stdout.split(MARK).collect();
    if parts.len() != steps.len() + 1 || parts.pop() != Some("") {
        return Err(format!("{place}: not every command ended: {shown:#?}"));
    }
    // A pipe is read ahead of the command without `tee(2)`.
    let is_as_shown = |step: &Step| !*IS_PORTABLE || !step.command.contains("| { backoff");
    let mut problems = String::new();
    for (step, printed) in steps.iter().zip(&parts) {
        let expected: Vec<String> = step.expected.iter().map(|line| normalize(line)).collect();
        let normal = normalize(printed);
        if is_as_shown(step) && !lines_match(&expected, &normal.lines().collect::<Vec<_>>()) {
            let Step { command, .. } = step;
            writeln!(
                problems,
                "{place}: {command}\nexpected: {expected:#?}\nprinted: {printed}"
            )
            .unwrap();
            if std::env::var_os("BLESS").is_some() {
                bless(block, step, printed);
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Writes what a command printed into its document.
fn bless(block: &Block, step: &Step, printed: &str) {
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(after|in) <?([0-9]+(\.[0-9]+)?(ms|s|m|h))+\b").unwrap());
    let path = format!("{ROOT}/{}", block.document);
    let command = format!("$ {}\n", step.command.replace('\n', "\n> "));
    let mut old = command.clone();
    step.expected.iter().for_each(|line| writeln!(old, "{line}").unwrap());
    let text = fs::read_to_string(&path).unwrap();
    let new = command + &TIME.replace_all(printed, "$1 ...");
    fs::write(path, text.replacen(&old, &new, 1)).unwrap();
}

/// Checks every block of these documents, side by side, as most only wait.
fn check_all(documents: &[Document]) {
    let blocks: Vec<Block> = documents.iter().flat_map(console_blocks).collect();
    assert!(!blocks.is_empty());
    let problems: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = blocks
            .iter()
            .map(|block| scope.spawn(|| check(block, &[], str::to_owned)))
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().unwrap().err())
            .collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn documents_show_what_is_printed() {
    check_all(&["recipes", "ci", "configuration"].map(|name| document(&format!("docs/{name}.md"))));
}

#[test]
fn every_case_is_as_written() {
    let mut cases = documents();
    cases.retain(|document| document.name.starts_with("tests/cases/"));
    check_all(&cases);
}

#[test]
fn no_console_block_is_left_out() {
    for document in documents() {
        let is_run = ["README.md", "docs/recipes.md", "docs/ci.md", "docs/configuration.md"].contains(&&*document.name);
        let is_case = document.name.starts_with("tests/cases/");
        assert!(
            is_run || is_case || console_blocks(&document).is_empty(),
            "{}",
            document.name
        );
    }
}

#[test]
fn wildcards_match_as_described() {
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
