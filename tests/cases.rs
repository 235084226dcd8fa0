//! Runs the console blocks of the documents, and of the cases in `tests/cases/*.md`.
//!
//! In a block, `$ ` begins a command and `> ` continues it. The lines after a command are its standard output and
//! standard error. `...` stands for any text within a line; a line `...` stands for any number of lines. One bash runs
//! a block in an empty directory, so later commands see files, variables and `$?` of earlier commands. `BLESS=1`
//! replaces expected output that differs, with `...` for times.

use std::fmt::Write as _;
use std::fs;
use std::sync::{LazyLock, Mutex};

use regex::{Captures, Regex};

use crate::util::documents::{Block, Document, ROOT, blocks, code_spans, document, documents};
use crate::util::ended::{TIME, lines_match};
use crate::util::harness::{Case, in_turn};
use crate::util::{Ends, IS_LINUX, server, shell, side_by_side};

tests! {
    documents_show_what_is_printed
    options_in_the_documents_are_accepted
    everyday_lines_are_recipes
    most_blocks_need_no_linux
    lines_of_the_page_for_newcomers_are_cases
    no_console_block_is_left_out
    a_block_is_taken_apart
}

/// Printed after each command; no document contains this text.
const MARK: &str = "\u{1}end of command\u{1}";

/// `program NAME SCRIPT` creates a program in a directory of PATH, or at the path NAME if NAME contains a slash.
const PRELUDE: &str = r#"exec 2>&1; umask 022; PATH=$PWD/bin:$PATH
program() {
    mkdir -p bin; case $1 in */*) set -- "$1" "$2";; *) set -- "bin/$1" "$2";; esac
    printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"
}
"#;

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

fn console_blocks(document: &Document) -> Vec<Block> {
    let mut blocks = blocks(document);
    blocks.retain(|block| block.language == "console");
    blocks
}

/// Returns true for a block that this system cannot run, and prints why.
#[allow(clippy::print_stderr, reason = "nothing may be left out silently")]
fn is_left_out(block: &Block) -> bool {
    if cfg!(target_os = "linux") {
        return false;
    }
    let needed = needs_linux(block);
    if let Some(word) = needed {
        eprintln!("{}:{} is left out: {word}", block.document, block.line);
    }
    needed.is_some()
}

/// Returns a word of a block that only Linux, or its programs, can act on.
fn needs_linux(block: &Block) -> Option<&'static str> {
    const WORDS: [&str; 7] = [
        "/proc",
        "/dev/full",
        "/dev/shm",
        "prlimit",
        "setpriv",
        "setsid -w",
        "stat -c",
    ];
    let uses = |word: &&str| block.lines.iter().any(|line| line.contains(*word));
    WORDS.into_iter().find(uses)
}

/// Runs a block with these variables. Returns an error with all differences; with `BLESS`, also corrects the document.
fn check(
    block: &Block,
    variables: &[(&str, String)],
    normalize: fn(&str) -> String,
) -> Result<(), String> {
    if is_left_out(block) {
        return Ok(());
    }
    let place = format!("{}:{}", block.document, block.line);
    let steps = steps(&block.lines);
    let printed = printed_by(&steps, variables)
        .map_err(|shown| format!("{place}: not every command ended: {shown}"))?;
    let (mut problems, mut blessed) = (String::new(), String::new());
    for (step, printed) in steps.iter().zip(&printed) {
        let Step { command, expected } = step;
        let normal: Vec<String> = expected.iter().map(|line| normalize(line)).collect();
        writeln!(blessed, "$ {}", command.replace('\n', "\n> ")).unwrap();
        if is_as_elsewhere(step)
            && !lines_match(&normal, &normalize(printed).lines().collect::<Vec<_>>())
        {
            let problem = format!("expected: {normal:#?}\nprinted: {printed}");
            writeln!(problems, "{place}: {command}\n{problem}").unwrap();
            blessed.extend(printed.lines().map(|line| with_wildcards(line) + "\n"));
        } else {
            blessed.extend(expected.iter().map(|line| line.clone() + "\n"));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        bless(block, &blessed);
    }
    Err(problems)
}

/// Returns false if another system than Linux prints something else: without `tee(2)`, backoff reads a pipe ahead of
/// the command, and without files in memory, it cannot hand output to a predicate if the disk is full.
fn is_as_elsewhere(step: &Step) -> bool {
    let differs = ["| { b", "on 2m backoff"];
    IS_LINUX || !differs.iter().any(|text| step.command.contains(text))
}

/// Runs the commands in an empty directory, and returns what each prints; if not every command ended, an error with
/// what was printed.
fn printed_by(steps: &[Step], variables: &[(&str, String)]) -> Result<Vec<String>, String> {
    let mut script = PRELUDE.to_owned();
    for step in steps {
        // The mark must not change `$?` for the next command.
        let mark = format!("__status=$?; printf %s '{MARK}'; (exit $__status)");
        writeln!(script, "{}\n{mark}", step.command).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let mut shell = shell(&script);
    shell.current_dir(dir.path());
    shell.envs(variables.iter().map(|(name, value)| (name, value)));
    let mut live = shell.live();
    // A block has many commands, and the machine may be busy.
    live.patience *= 5;
    let shown = String::from_utf8_lossy(&live.output().stdout)
        .replace(dir.path().to_str().unwrap(), "$PWD");
    let mut parts: Vec<String> = shown.split(MARK).map(str::to_owned).collect();
    if parts.len() != steps.len() + 1 || parts.pop().as_deref() != Some("") {
        return Err(shown);
    }
    Ok(parts)
}

/// Replaces variable text by wildcards.
fn with_wildcards(line: &str) -> String {
    static VARIES: LazyLock<Regex> = LazyLock::new(|| {
        let time = format!(r"\b(?:after|in|of|another|waiting) {TIME}\b");
        let json = r#""(?:ts|run_id|started)":"[^"]*"|_s":[0-9][0-9.e-]*"#;
        Regex::new(&format!(r"{time}|{json}|bash: line [0-9]+:(?: +[0-9]+)?")).unwrap()
    });
    let replaced = |found: &Captures<'_>| {
        let start = found[0].find([' ', ':']).map_or(0, |at| at + 1);
        let (start, rest) = found[0].split_at(start);
        let ends = if rest.ends_with('"') {
            ("\"", "\"")
        } else if rest.ends_with(':') {
            ("line ", ":")
        } else {
            ("", "")
        };
        format!("{start}{}...{}", ends.0, ends.1)
    };
    VARIES.replace_all(line, replaced).into_owned()
}

/// Writes a block into its document, unless an identical block was corrected meanwhile.
fn bless(block: &Block, blessed: &str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let path = format!("{ROOT}/{}", block.document);
    let fenced = |text: &str| format!("```console\n{text}```\n");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        path,
        text.replacen(&fenced(&block.text()), &fenced(blessed), 1),
    )
    .unwrap();
}

/// Checks every block of these documents.
fn check_all(documents: &[Document]) {
    let blocks: Vec<Block> = documents.iter().flat_map(console_blocks).collect();
    assert!(!blocks.is_empty());
    let checked = side_by_side(&blocks, |block| check(block, &[], str::to_owned));
    let problems: Vec<String> = checked.into_iter().filter_map(Result::err).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns a test for each section of the pages in `tests/cases/` and `tests/needs/`: its line `needs:`, after the
/// heading, names the programs. `tests/needs/before.sh` runs before each block of a section with such a line.
pub fn pages() -> Vec<Case> {
    let mut tests = Vec::new();
    for document in documents() {
        let page = document.name.strip_prefix("tests/cases/");
        let Some(page) = page.or(document.name.strip_prefix("tests/needs/")) else {
            continue;
        };
        if page == "redis.md" && !cfg!(feature = "redis") {
            continue;
        }
        let mut blocks = console_blocks(&document);
        let lines: Vec<&str> = document.text.lines().collect();
        let starts = (0..lines.len()).filter(|i| *i == 0 || lines[*i].starts_with("## "));
        for start in starts.rev().collect::<Vec<_>>() {
            let title = lines[start].trim_start_matches(['#', ' ']);
            let name = format!("cases::{}::{title}", page.trim_end_matches(".md")).replace(' ', "_");
            let needs = lines.get(start + 1).and_then(|line| line.strip_prefix("needs:"));
            let needs = needs.map(str::to_owned);
            let blocks = blocks.split_off(blocks.partition_point(|block| block.line <= start));
            if blocks.is_empty() {
                continue;
            }
            let programs = needs.iter().flat_map(|needs| needs.split_whitespace());
            // Lists are made once.
            let programs = programs.map(|program| &*program.to_owned().leak()).collect();
            // A page takes its turn as the module of its name does.
            let page = page.trim_end_matches(".md").to_owned();
            let test = move || in_turn(&page, || run(&blocks, needs.is_some()));
            tests.push((name, programs, Box::new(test) as _));
        }
    }
    tests
}

/// Checks the blocks of a section.
fn run(blocks: &[Block], has_needs: bool) {
    let check_block = |block: &Block| {
        let mut variables = Vec::new();
        if has_needs {
            variables = vec![
                ("BASH_ENV", format!("{ROOT}/tests/needs/before.sh")),
                ("ROOT", ROOT.to_owned()),
                ("SERVER", server::start()),
                ("CLOSES", server::closes()),
                ("FULL", server::FULL.0.clone()),
            ];
        }
        check(block, &variables, str::to_owned)
    };
    let checked = side_by_side(blocks, check_block);
    let problems: Vec<String> = checked.into_iter().filter_map(Result::err).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Documents with console blocks that need no programs.
const DOCUMENTS: [&str; 9] = [
    "README.md",
    "docs/budgets.md",
    "docs/ci.md",
    "docs/coming-from.md",
    "docs/configuration.md",
    "docs/faq.md",
    "docs/guide.md",
    "docs/idempotency.md",
    "docs/schedules.md",
];

fn documents_show_what_is_printed() {
    check_all(&DOCUMENTS.map(document));
}

/// Checks the options of every command line in the documents, by asking for the waits instead of a run.
fn options_in_the_documents_are_accepted() {
    let line = Regex::new(r"\bbackoff (-[^|\n]*?) -- ").unwrap();
    let documents = documents();
    let pages = documents.iter().filter(|page| page.name == "README.md" || page.name.starts_with("docs/"));
    let texts: Vec<String> = pages
        .flat_map(blocks)
        .filter(|block| block.language == "sh")
        .map(|block| block.text().replace("\\\n", " "))
        .collect();
    let options: Vec<&str> = texts
        .iter()
        .flat_map(|text| line.captures_iter(text))
        .map(|found| found.get(1).unwrap().as_str())
        // Its file is missing here.
        .filter(|options| !options.contains("?ca="))
        .collect();
    assert!(options.len() > 90, "{}", options.len());
    side_by_side(&options, |options| {
        let plan = format!("backoff --plan {options}");
        shell(&plan).env("ID", "x").env("pid", "1").code(0).out();
    });
}

fn everyday_lines_are_recipes() {
    let recipes = document("docs/recipes.md").text;
    for block in console_blocks(&document("tests/cases/everyday.md")) {
        let lines = block
            .lines
            .iter()
            .filter_map(|line| line.strip_prefix("$ "));
        for line in lines.filter(|line| line.starts_with("backoff ") && !line.ends_with("echo $?"))
        {
            assert!(recipes.lines().any(|recipe| recipe == line), "{line}");
        }
    }
}

fn most_blocks_need_no_linux() {
    let documents = documents();
    let blocks: Vec<Block> = documents.iter().flat_map(console_blocks).collect();
    let needing = |block: &&Block| needs_linux(block).is_some();
    let count = blocks.iter().filter(needing).count();
    assert!(count > 0 && count * 4 < blocks.len(), "{count}");
}

fn lines_of_the_page_for_newcomers_are_cases() {
    static LINE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:command: |sh '|exec )*(backoff .* -- .*?)'?$").unwrap());
    let cases = document("tests/cases/coming-from.md").text;
    let mut count = 0;
    for span in code_spans(&document("docs/coming-from.md")) {
        let Some(line) = LINE.captures(&span).filter(|_| !span.contains("...")) else {
            continue;
        };
        count += 1;
        assert!(cases.contains(&line[1]), "{}", &line[1]);
    }
    assert!(count > 40, "{count}");
}

fn no_console_block_is_left_out() {
    for document in documents() {
        let is_run = DOCUMENTS.contains(&&*document.name);
        let is_case = ["tests/cases/", "tests/needs/"].iter().any(|dir| document.name.starts_with(dir));
        assert!(is_run || is_case || console_blocks(&document).is_empty(), "{}", document.name);
    }
}

fn a_block_is_taken_apart() {
    let steps = steps(&["$ one", "> two", "out", "> not a command", "$ three"]);
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0].command, "one\ntwo");
    assert_eq!(steps[0].expected, ["out", "> not a command"]);
    assert_eq!(
        (steps[1].command.as_str(), steps[1].expected.len()),
        ("three", 0)
    );
}
