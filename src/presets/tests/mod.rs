use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::SystemTime;

use regex::bytes::{Regex, RegexBuilder};

use super::rules::{RowVerdict, ToolFile, list, split_at_list};
use super::*;
use crate::policy::sets::CodeSet;
use crate::search::examined::Examined;
use crate::search::tail::Tail;

/// Lines of builds and tests that only mention failures.
const INNOCENT: &str = include_str!("innocent.txt");

fn compiled(text: &str) -> Result<Regex, regex::Error> {
    let mut builder = RegexBuilder::new(text);
    builder.unicode(false).case_insensitive(true).build()
}

/// Returns a compiled expression from a cache, because compiling all of them is slow in debug builds. A wrong one
/// matches nothing, and `each_rule_is_right` reports it.
fn regex(text: String) -> Regex {
    static COMPILED: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    let mut known = COMPILED.lock().unwrap();
    let compile =
        |text: &String| compiled(text).unwrap_or_else(|_| compiled("[^\\x00-\\xff]").unwrap());
    known.entry(text).or_insert_with_key(compile).clone()
}

/// Returns the output of a tool, as its rules see it.
fn printed(output: &str) -> Examined {
    let mut tail = Tail::new(usize::MAX / 2);
    tail.push(output.as_bytes());
    Examined::new(Vec::new(), vec![tail], SystemTime::UNIX_EPOCH)
}

fn holds(row: &Row, code: u8, examined: &Examined) -> bool {
    let is_match = |regex: Regex| examined.lines().any(|line| regex.is_match(line));
    row.codes.is_none_or(|codes| codes.contains(code))
        && row.expression().map(regex).is_none_or(is_match)
}

/// Judges a tool's failure as a run does, in a naive way.
fn judged(rows: &[Row], code: u8, examined: &Examined) -> Option<RowVerdict> {
    let order = [
        RowVerdict::Stop,
        RowVerdict::Behind,
        RowVerdict::Refused,
        RowVerdict::Retry,
    ];
    order.into_iter().find(|verdict| {
        let mut of_kind = rows.iter().filter(|row| row.verdict == *verdict);
        of_kind.any(|row| holds(row, code, examined))
    })
}

/// Parses the file of a preset. Panics with the parser's message if it is wrong.
fn file(preset: &Preset) -> ToolFile {
    toml::from_str(preset.file).unwrap_or_else(|error| panic!("{}.toml: {error}", preset.name))
}

#[test]
fn each_file_has_a_line_in_mod_rs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/presets/tools");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned());
    let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
    let names: Vec<&str> = all().iter().map(|preset| preset.name).collect();
    let without_line: Vec<_> = files
        .iter()
        .filter(|file| !names.contains(&file.as_str()))
        .collect();
    assert!(
        without_line.is_empty() && names.is_sorted(),
        "TOOLS in src/presets/mod.rs needs a line for {without_line:?}, sorted by name"
    );
}

#[test]
fn each_rule_is_right() {
    for preset in all() {
        let file = file(preset);
        let rows = file.rows();
        let name = preset.name;
        let is_retry = |row: &Row| matches!(row.verdict, RowVerdict::Retry | RowVerdict::Refused);
        assert!(
            preset.rows().iter().any(is_retry),
            "{name}: no rule retries"
        );
        for row in &rows {
            assert!(
                row.source.len() >= 4,
                "{name}: a rule needs a source: {row}"
            );
            assert!(
                row.codes.is_some() || row.text.is_some(),
                "{name}: a rule needs exit codes, a line or both: {row:?}"
            );
            assert!(
                !row.codes.is_some_and(|codes| codes.contains(0)),
                "{name}: exit 0 is a success: {row}"
            );
            let Some(text) = row.expression() else {
                continue;
            };
            for flag in ["(?i", "(?-", "(?s", "(?m", "(?x", "(?u"] {
                assert!(
                    !text.contains(flag),
                    "{name}: {row}: leave {flag}) out, texts ignore case"
                );
            }
            let regex = compiled(&text).unwrap_or_else(|error| panic!("{name}: {row}: {error}"));
            for line in ["", "some line"] {
                assert!(
                    !regex.is_match(line.as_bytes()),
                    "{name}: matches {line:?}: {row}"
                );
            }
        }
        for (_, rule, _) in file.examples() {
            let codes = rule.exit.as_deref().unwrap_or("1");
            assert!(
                codes.parse::<CodeSet>().is_ok(),
                "{name}: exit {codes:?} is no list such as \"1,4-6\""
            );
        }
        for rule in file.texts().filter(|rule| rule.has_line()) {
            assert!(
                !rule.example.as_slice().is_empty(),
                "{name}: a rule needs an example: {rule:?}"
            );
        }
        for included in &file.include {
            let inner = find(included).unwrap_or_else(|| panic!("{name}: no preset {included}"));
            assert_eq!(
                inner.read().include,
                [""; 0],
                "{name}: {included} includes others"
            );
        }
    }
}

#[test]
fn lists_are_there_and_used() {
    let mut used = BTreeSet::new();
    let mut texts: Vec<String> = all()
        .iter()
        .flat_map(Preset::rows)
        .filter_map(|row| row.text)
        .collect();
    while let Some(text) = texts.pop() {
        let Some((_, name, after)) = split_at_list(&text) else {
            continue;
        };
        assert!(
            !list(name).is_empty(),
            "{{{name}}} is not in lists.toml: {text}"
        );
        texts.push(after.to_owned());
        if used.insert(name.to_owned()) {
            texts.extend_from_slice(list(name));
        }
    }
    let lists: BTreeMap<String, toml::Value> =
        toml::from_str(include_str!("../lists.toml")).unwrap();
    assert_eq!(used, lists.into_keys().collect());
}

#[test]
fn a_program_has_one_preset() {
    let mut seen = BTreeSet::new();
    for preset in all() {
        for program in preset.programs() {
            assert!(seen.insert(program), "{program} is in two presets");
        }
    }
    for unknown in ["", "true", "sh", "CURL", "curl ", "network.preset", "about"] {
        assert_eq!(find(unknown), None, "{unknown:?}");
    }
    assert_eq!(for_program("network"), None);
}

#[test]
fn the_document_has_a_row_for_each_preset() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/presets.md");
    let document = std::fs::read_to_string(path).unwrap();
    for preset in all() {
        let programs = preset.programs().collect::<Vec<_>>().join(", ");
        let row = format!("| {} | {programs} |", preset.name);
        assert!(
            document.contains(&row),
            "docs/presets.md: add a row that begins with {row:?}, and say how it was judged"
        );
    }
    let rows = document.lines().filter(|line| line.starts_with("| "));
    assert_eq!(
        rows.count(),
        all().len() + 1,
        "docs/presets.md has a row without a preset"
    );
    let number = format!("ules for {} tools", all().len());
    for name in ["README.md", "CHANGELOG.md"] {
        let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&number), "{name}: there are now r{number}");
    }
}

#[test]
fn each_example_gets_the_verdict_of_its_rule() {
    let mut wrong = Vec::new();
    for preset in all() {
        let file = file(preset);
        let rows = preset.rows();
        for (verdict, rule, example) in file.examples() {
            let codes = rule.exit.as_deref().unwrap_or("1");
            let code = codes.split([',', '-']).next().unwrap().parse().unwrap();
            let examined = printed(example);
            let found = judged(&rows, code, &examined);
            let by = rows
                .iter()
                .find(|row| Some(row.verdict) == found && holds(row, code, &examined));
            let is_right = match verdict {
                Some(_) => found == verdict && holds(&rule.row(found.unwrap()), code, &examined),
                None => matches!(found, None | Some(RowVerdict::Stop)),
            };
            if !is_right {
                let name = preset.name;
                let by = by.map_or("no rule".to_owned(), |row| {
                    format!("{} {row}", row.verdict.word())
                });
                wrong.push(format!(
                    "{name}.toml: judged by {by}, not by the rule of the example {example:?}"
                ));
            }
        }
    }
    let count = wrong.len();
    assert!(
        wrong.is_empty(),
        "{count} examples are judged wrong:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn what_a_log_says_in_passing_is_not_transient() {
    for preset in all() {
        for row in preset.rows() {
            for line in INNOCENT.lines() {
                let is_match = |text| regex(text).is_match(line.as_bytes());
                assert!(
                    !row.expression().is_some_and(is_match),
                    "{}: {line:?} matches {row}",
                    preset.name
                );
            }
        }
    }
}

#[test]
fn a_text_alone_does_not_do_where_codes_are_given() {
    let refused = "ssh: connect to host 127.0.0.1 port 22: Connection refused";
    for (name, code, output, expected) in [
        ("ssh", 255, refused, Some(RowVerdict::Refused)),
        ("ssh", 1, refused, None),
        ("curl", 7, "", Some(RowVerdict::Refused)),
        ("git", 128, "", None),
    ] {
        let rows = find(name).unwrap().rows();
        assert_eq!(
            judged(&rows, code, &printed(output)),
            expected,
            "{name} {code}"
        );
    }
}
