//! Judges what real tools printed, byte by byte.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::rules::{Row, RowVerdict};
use super::{Preset, all, for_program};
use crate::search::visible;

static SAMPLES: LazyLock<String> = LazyLock::new(|| recordings("samples.tsv"));
static MISSES: LazyLock<String> = LazyLock::new(|| recordings("misses.tsv"));

/// The output of a tool in one run.
struct Recorded {
    is_transient: bool,
    preset: &'static str,
    /// The tool's name in the table. Versions have different names.
    tool: &'static str,
    fault: &'static str,
    mode: &'static str,
    exit: u8,
    program: &'static str,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

static RECORDED: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let lines = SAMPLES.lines().filter(|line| !line.starts_with('#'));
    lines.skip(1).map(recorded).collect()
});

/// Reads a table of recordings. The published crate comes without them, so it is empty there.
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
        _version,
        _date,
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
        program: word.rsplit('/').next().unwrap_or_default(),
        stdout: unescaped(stdout),
        stderr: unescaped(stderr),
    }
}

/// Returns the bytes that a column stands for. `\n`, `\e` and the like are escapes, and `-` is empty.
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

struct Compiled {
    row: Row,
    regex: Option<Regex>,
}

static COMPILED: LazyLock<BTreeMap<&str, Vec<Compiled>>> = LazyLock::new(|| {
    let of_preset = |preset: &Preset| {
        (
            preset.name,
            preset.rows().into_iter().map(compiled).collect(),
        )
    };
    all().iter().map(of_preset).collect()
});

/// Compiles the expression of a row, without the scanner's shortcuts, so that the tests judge the rows alone.
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

/// Returns true if `--for` judges the run transient: a row applies, and none that says otherwise. A simple form of the
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

/// The runs that are misjudged.
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

/// Formats a run on one line, with the end of its output.
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
        let preset = for_program(run.program).map(|preset| preset.name);
        assert_eq!(preset, Some(run.preset), "{}", run.program);
    }
}
