//! Judges what real tools printed, and keeps `evidence.tsv` and the table in `docs/presets.md`, which name the tools.
//! `BLESS=1 cargo test --lib -- recorded` rewrites them.
#![allow(
    clippy::disallowed_methods,
    reason = "BLESS is a variable of the tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{EVIDENCE, Evidence, Preset, Row, RowVerdict, find};
use crate::config::presets;
use crate::search::visible;

static SAMPLES: LazyLock<String> = LazyLock::new(|| recordings("samples.tsv"));
static MISSES: LazyLock<String> = LazyLock::new(|| recordings("misses.tsv"));

/// The output of a tool in one run.
struct Recorded {
    is_transient: bool,
    preset: &'static str,
    /// The tool's name in the table: several versions have several names.
    tool: &'static str,
    fault: &'static str,
    mode: &'static str,
    exit: u8,
    version: &'static str,
    date: &'static str,
    program: &'static str,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

static RECORDED: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let lines = SAMPLES.lines().filter(|line| !line.starts_with('#'));
    lines.skip(1).map(recorded).collect()
});

/// Reads a table of recordings. The published crate comes without them: returns nothing there.
fn recordings(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/presets");
    if !path.exists() {
        return String::new();
    }
    std::fs::read_to_string(path.join(name)).expect("a table")
}

/// Returns the run that a line of the samples describes.
fn recorded(line: &'static str) -> Recorded {
    let columns: Vec<&str> = line.split('\t').collect();
    let [
        verdict,
        preset,
        tool,
        fault,
        mode,
        exit,
        version,
        date,
        command,
        stdout,
        stderr,
    ] = columns.try_into().expect("eleven columns");
    let word = command.split(' ').next().unwrap_or_default();
    Recorded {
        is_transient: verdict == "transient",
        preset,
        tool,
        fault,
        mode,
        exit: exit.parse().expect("an exit status"),
        version,
        date,
        program: word.rsplit('/').next().unwrap_or_default(),
        stdout: unescaped(stdout),
        stderr: unescaped(stderr),
    }
}

/// Returns the bytes that a column stands for: `\n`, `\e` and the like are escapes, and `-` is empty.
fn unescaped(column: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    if column == "-" {
        return bytes;
    }
    let mut rest = column;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.as_bytes());
        let (escape, next) = after.split_at(1);
        rest = next;
        bytes.push(match escape {
            "n" => b'\n',
            "r" => b'\r',
            "t" => b'\t',
            "e" => 0x1b,
            "x" => {
                let (digits, next) = rest.split_at(2);
                rest = next;
                u8::from_str_radix(digits, 16).expect("two digits")
            }
            other => other.as_bytes()[0],
        });
    }
    bytes.extend(rest.as_bytes());
    bytes
}

/// A row with its compiled expression.
struct Compiled {
    row: Row,
    regex: Option<Regex>,
}

static COMPILED: LazyLock<BTreeMap<&str, Vec<Compiled>>> = LazyLock::new(|| {
    let of_preset = |preset: Preset| (preset.name, preset.rows().map(compiled).collect());
    presets::all().map(of_preset).collect()
});

/// Compiles the expression of a row. Without the scanner's shortcuts, so that the tests judge the rows alone.
fn compiled(row: Row) -> Compiled {
    let regex = row.expression().map(|text| {
        RegexBuilder::new(&text)
            .unicode(false)
            .size_limit(1 << 26)
            .case_insensitive(true)
            .build()
            .expect("it parses")
    });
    Compiled { row, regex }
}

/// Returns the lines that patterns see.
fn lines(output: &[u8]) -> Vec<Vec<u8>> {
    let text = visible::visible(output);
    visible::lines(&text).map(<[u8]>::to_vec).collect()
}

/// Returns true if `--for` judges the run transient: a row holds, and none that says otherwise. A plain form of the
/// classifier.
fn is_judged_transient(run: &Recorded) -> bool {
    let mut seen = lines(&run.stdout);
    seen.extend(lines(&run.stderr));
    let holds = |compiled: &&Compiled| {
        let is_code = compiled
            .row
            .codes
            .is_none_or(|codes| codes.contains(run.exit));
        let is_match = |regex: &Regex| seen.iter().any(|line| regex.is_match(line));
        is_code && compiled.regex.as_ref().is_none_or(is_match)
    };
    let rows = &COMPILED[run.preset];
    let verdicts: Vec<RowVerdict> = rows.iter().filter(holds).map(|it| it.row.verdict).collect();
    let is_final = |verdict: &RowVerdict| matches!(verdict, RowVerdict::Stop | RowVerdict::Behind);
    !verdicts.is_empty() && !verdicts.iter().any(is_final)
}

/// The runs that are judged wrong.
static WRONG: LazyLock<Vec<&Recorded>> = LazyLock::new(|| {
    let is_wrong = |run: &&Recorded| is_judged_transient(run) != run.is_transient;
    RECORDED.iter().filter(is_wrong).collect()
});

/// Returns the tools and faults of the runs that no rule can judge right, from their table.
fn misses() -> BTreeSet<(&'static str, &'static str)> {
    let lines = MISSES.lines().filter(|line| !line.starts_with('#'));
    let columns = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    columns.map(|columns| (columns[0], columns[1])).collect()
}

#[test]
fn what_tools_printed_is_judged_right_but_for_the_known_misses() {
    let known = misses();
    let is_unknown = |run: &&&Recorded| !known.contains(&(run.tool, run.fault));
    let unknown: Vec<String> = WRONG
        .iter()
        .filter(is_unknown)
        .map(|run| shown(run))
        .collect();
    assert!(unknown.is_empty(), "judged wrong:\n{}", unknown.join("\n"));
    let wrong: BTreeSet<_> = WRONG.iter().map(|run| (run.tool, run.fault)).collect();
    let mended: Vec<_> = known.difference(&wrong).collect();
    assert!(mended.is_empty(), "no longer judged wrong: {mended:?}");
}

/// Returns a run with the end of its output, in a line.
fn shown(run: &Recorded) -> String {
    let output = if run.stderr.is_empty() {
        &run.stdout
    } else {
        &run.stderr
    };
    let end = &output[output.len().saturating_sub(300)..];
    let end = end.escape_ascii();
    let Recorded {
        tool,
        fault,
        mode,
        exit,
        is_transient,
        ..
    } = run;
    format!("{tool}, {fault}, {mode}: exit {exit}, is transient: {is_transient}: {end}")
}

#[test]
fn auto_picks_the_preset_of_each_recorded_tool() {
    for run in RECORDED.iter() {
        let preset = presets::for_program(run.program).map(|preset| preset.name);
        assert_eq!(preset, Some(run.preset), "{}", run.program);
    }
}

/// Asserts that a file is what was made, or writes it.
#[track_caller]
fn assert_current(file: &str, committed: &str, made: &str) {
    if RECORDED.is_empty() {
        return;
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(format!("{}/{file}", env!("CARGO_MANIFEST_DIR")), made).expect("a file");
    } else {
        assert!(
            committed == made,
            "{file} has drifted: run BLESS=1 cargo test --lib -- recorded"
        );
    }
}

#[test]
fn the_evidence_has_not_drifted() {
    let mut made = String::new();
    for preset in presets::all() {
        let runs: Vec<_> = RECORDED
            .iter()
            .filter(|run| run.preset == preset.name)
            .collect();
        if let Some(date) = runs.iter().map(|run| run.date).max() {
            writeln!(made, "{}\t{}\t{date}", preset.name, tools(&runs)).expect("a string");
        }
    }
    assert_current("src/config/presets/evidence.tsv", EVIDENCE, &made);
}

/// Returns programs with versions, as in `npm 10.9.9, 11.21.2; npx 10.9.9`.
fn tools(runs: &[&Recorded]) -> String {
    let mut versions: BTreeMap<&str, BTreeSet<(Vec<u32>, &str)>> = BTreeMap::new();
    for run in runs {
        let numbers = run.version.split(|c: char| !c.is_ascii_digit());
        let key = numbers.filter_map(|number| number.parse().ok()).collect();
        versions
            .entry(run.program)
            .or_default()
            .insert((key, run.version));
    }
    let of_program = |(program, versions): (&&str, &BTreeSet<(Vec<u32>, &str)>)| {
        let versions: Vec<&str> = versions.iter().map(|(_, version)| *version).collect();
        format!("{program} {}", versions.join(", "))
    };
    versions
        .iter()
        .map(of_program)
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn the_document_has_a_row_for_each_preset() {
    let file = "docs/presets.md";
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let committed = std::fs::read_to_string(path).expect("a document");
    let heading = "| preset | programs | judged by |\n|---|---|---|\n";
    let (text, _) = committed.split_once(heading).expect("a table");
    let mut made = text.to_owned() + heading;
    for preset in presets::all() {
        let programs = preset.programs().collect::<Vec<_>>().join(", ");
        let judges = match preset.evidence() {
            Evidence::Run { tools, .. } => tools,
            Evidence::Quoted => "quoted texts",
        };
        writeln!(made, "| {} | {programs} | {judges} |", preset.name).expect("a string");
    }
    assert_current(file, &committed, &made);
}

#[test]
fn each_run_names_a_preset() {
    for run in RECORDED.iter() {
        assert!(find(run.preset).is_some(), "{}", run.preset);
    }
}
