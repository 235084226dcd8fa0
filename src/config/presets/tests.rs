use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use regex::bytes::{Regex, RegexBuilder};

use super::table::TABLE;
use super::{
    Preset, Row, RowVerdict, columns, expanded, find, lines_of, list, own_rows, split_at_list,
};
use crate::config::presets;
use crate::search::visible;

/// A tool, an exit code and an output.
type Sample = (&'static str, u8, &'static str);

fn samples(kind: &str) -> Vec<Sample> {
    let lines = include_str!("../quotations.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let fields = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    let of_kind = fields.filter(|fields| fields[0] == kind);
    let samples: Vec<Sample> = of_kind
        .map(|fields| (fields[1], fields[2].parse().unwrap_or(0), text(fields[3])))
        .collect();
    assert!(samples.len() > 30, "{kind}");
    samples
}

fn text(field: &str) -> &'static str {
    let mut text = String::new();
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => match chars.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'e' => '\x1b',
                c => c,
            },
            c => c,
        });
    }
    if text == "-" { "" } else { text.leak() }
}

fn innocent() -> Vec<&'static str> {
    samples("innocent")
        .into_iter()
        .map(|(.., line)| line)
        .collect()
}

/// Returns the lines that patterns see.
fn lines(output: &str) -> Vec<Vec<u8>> {
    let text = visible::visible(output.as_bytes());
    visible::lines(&text).map(<[u8]>::to_vec).collect()
}

/// Returns a compiled expression from a cache, as compiling all of them is slow in debug builds.
fn regex(text: Cow<'static, str>) -> Regex {
    static COMPILED: Mutex<BTreeMap<Cow<'static, str>, Regex>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap();
    let compile = || {
        RegexBuilder::new(&text)
            .unicode(false)
            .size_limit(1 << 26)
            .case_insensitive(true)
            .build()
            .unwrap()
    };
    if let Some(compiled) = compiled.get(&text) {
        return compiled.clone();
    }
    let regex = compile();
    compiled.insert(text, regex.clone());
    regex
}

// --- the table ---

#[test]
fn no_line_is_skipped() {
    let names: Vec<&str> = presets::all().map(|preset| preset.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let lines = TABLE
        .lines()
        .filter(|line| !line.starts_with("# ") && *line != "#");
    let (mut heads, mut rows) = (0, 0);
    for line in lines {
        let [name, kind, _, text, source] =
            columns(line).unwrap_or_else(|| panic!("five columns: {line:?}"));
        assert_eq!(line, line.trim_end());
        assert!(!source.contains('\t'), "six columns: {line:?}");
        match kind {
            "preset" => heads += 1,
            "list" => {
                assert!(
                    name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'),
                    "{name}"
                );
                assert!(text.is_ascii() && source.len() >= 4, "{line}");
            }
            _ => rows += 1,
        }
        assert!(
            kind == "list" || names.contains(&name),
            "{name} is no preset"
        );
    }
    assert_eq!(names.len(), heads);
    assert_eq!(
        names
            .iter()
            .map(|name| own_rows(name).count())
            .sum::<usize>(),
        rows,
        "a row cannot be read"
    );
}

#[test]
fn lists_are_there_and_used() {
    let named = |text: &'static str| -> Vec<&str> {
        let mut names = Vec::new();
        let mut rest = text;
        while let Some((_, name, after)) = split_at_list(rest) {
            names.push(name);
            rest = after;
        }
        names
    };
    let texts = TABLE.lines().filter_map(|line| Some(columns(line)?[3]));
    let used: BTreeSet<&str> = texts.flat_map(named).collect();
    let of_list = |line| columns(line).filter(|columns| columns[1] == "list");
    let lists: BTreeSet<&str> = TABLE
        .lines()
        .filter_map(|line| Some(of_list(line)?[0]))
        .collect();
    assert_eq!(used, lists);
    for list in lists {
        let together = lines_of(list).filter_map(of_list).count();
        let all = TABLE
            .lines()
            .filter_map(of_list)
            .filter(|columns| columns[0] == list)
            .count();
        assert_eq!(together, all, "the lines of {list} do not stand together");
    }
    let expression = expanded("a{2}b{STATUS}c");
    assert!(
        expression.starts_with("a{2}b(?:") && expression.ends_with(")c"),
        "{expression}"
    );
    assert!(
        expression.contains("|503|") && !expression.contains("{HTTP}"),
        "{expression}"
    );
}

#[test]
fn includes_are_there_and_one_deep() {
    for preset in presets::all() {
        for included in list(preset.included) {
            let inner = find(included).unwrap();
            assert!(
                inner.name == included && inner.included == "-",
                "{included}"
            );
            assert_ne!(included, preset.name);
        }
    }
}

#[test]
fn the_own_rows_come_first() {
    let rows: Vec<Row> = find("terraform").unwrap().rows().collect();
    let network: Vec<Row> = find("network").unwrap().rows().collect();
    assert!(rows.ends_with(&network));
    assert!(rows.len() > network.len());
}

#[test]
fn every_row_says_what_it_goes_by_and_compiles() {
    for preset in presets::all() {
        assert!(
            preset
                .rows()
                .any(|row| matches!(row.verdict, RowVerdict::Retry | RowVerdict::Refused)),
            "{}",
            preset.name
        );
        for row in preset.rows() {
            assert!(row.source.len() >= 4, "{}: {row:?}", preset.name);
            assert!(
                row.codes.is_some() || row.text.is_some(),
                "{}: {row:?}",
                preset.name
            );
            let Some(text) = row.expression() else {
                continue;
            };
            let regex = regex(text.clone());
            assert!(
                !regex.is_match(b""),
                "{}: {text} matches nothing at all",
                preset.name
            );
            assert!(
                !regex.is_match(b"some line"),
                "{}: {text} matches anything",
                preset.name
            );
            for flag in ["(?i", "(?-i", "(?s", "(?m", "(?x", "(?u", "(?-u"] {
                assert!(!text.contains(flag), "{}: {text} sets flags", preset.name);
            }
        }
        // Exit code 0 is a success, for which no row is consulted.
        assert!(
            !preset
                .rows()
                .any(|row| row.codes.is_some_and(|codes| codes.contains(0)))
        );
    }
}

#[test]
fn a_program_has_one_preset() {
    let mut seen = BTreeSet::new();
    for preset in presets::all() {
        for program in preset.programs() {
            assert!(seen.insert(program), "{program} is in two presets");
            assert_eq!(
                presets::for_program(program).map(|found| found.name),
                Some(preset.name)
            );
            assert_eq!(find(program).map(|found| found.name), Some(preset.name));
        }
        assert!(
            preset.name == "network"
                || preset.name == "sysexits"
                || preset.programs().any(|program| program == preset.name),
            "{}",
            preset.name
        );
    }
    for unknown in ["", "true", "sh", "CURL", "curl ", "network.preset", "about"] {
        assert_eq!(find(unknown), None, "{unknown:?}");
        assert_eq!(presets::for_program(unknown), None, "{unknown:?}");
    }
    assert_eq!(presets::for_program("network"), None);
}

#[test]
fn the_presets_that_were_promised() {
    for name in
        "curl wget ssh scp sftp rsync git apt-get apt apk dnf yum pip npm cargo go docker kubectl helm terraform \
                 aws gcloud gsutil az gh psql pg_dump pg_restore pg_isready mysql mariadb redis-cli sqlite3 mongosh \
                 mongodump rclone restic borg ansible-playbook ffmpeg flock sendmail sysexits network \
                 yarn pnpm bun gradle mvn bundle gem dotnet composer uv poetry nix conda brew pacman zypper skopeo \
                 buildah podman pulumi packer svn hg rustup snap flatpak twine ftp lftp git-lfs"
            .split_whitespace()
    {
        assert!(find(name).is_some(), "{name}");
    }
}

// --- a naive judge ---

fn says(row: &Row, code: u8, output: &str) -> bool {
    row.codes.is_none_or(|codes| codes.contains(code))
        && row
            .expression()
            .map(regex)
            .is_none_or(|regex| lines(output).iter().any(|line| regex.is_match(line)))
}

fn is_transient(preset: &Preset, code: u8, output: &str) -> bool {
    !any(preset, RowVerdict::Stop, code, output)
        && !any(preset, RowVerdict::Behind, code, output)
        && (any(preset, RowVerdict::Retry, code, output)
            || any(preset, RowVerdict::Refused, code, output))
}

fn is_refused(preset: &Preset, code: u8, output: &str) -> bool {
    is_transient(preset, code, output) && any(preset, RowVerdict::Refused, code, output)
}

fn any(preset: &Preset, verdict: RowVerdict, code: u8, output: &str) -> bool {
    preset
        .rows()
        .any(|row| row.verdict == verdict && says(&row, code, output))
}

#[track_caller]
fn judge(samples: &[Sample], expected: bool) {
    let wrong: Vec<_> = samples
        .iter()
        .filter(|(tool, code, output)| {
            is_transient(&find(tool).unwrap(), *code, output) != expected
        })
        .collect();
    assert!(wrong.is_empty(), "not transient = {expected}: {wrong:#?}");
}

#[test]
fn every_preset_has_a_sample_of_each_kind() {
    let of = |samples: &[Sample], name| {
        samples
            .iter()
            .any(|(tool, ..)| find(tool).is_some_and(|found| found.name == name))
    };
    let [transient, refused, permanent] = ["transient", "refused", "permanent"].map(samples);
    for Preset { name, .. } in presets::all() {
        assert!(
            of(&transient, name) || of(&refused, name),
            "no transient sample for {name}"
        );
        assert!(of(&permanent, name), "no permanent sample for {name}");
    }
}

#[test]
fn real_transient_messages() {
    judge(&samples("transient"), true);
    judge(&samples("refused"), true);
}

#[test]
fn what_came_before_any_work_is_told_from_what_came_midway() {
    let refused = |(tool, code, output): &Sample| is_refused(&find(tool).unwrap(), *code, output);
    let early: Vec<_> = samples("transient").into_iter().filter(refused).collect();
    assert!(early.is_empty(), "taken for refused: {early:#?}");
    let midway: Vec<_> = samples("refused")
        .into_iter()
        .filter(|sample| !refused(sample))
        .collect();
    assert!(midway.is_empty(), "not taken for refused: {midway:#?}");
}

#[test]
fn real_permanent_messages() {
    judge(&samples("permanent"), false);
}

#[test]
fn what_a_log_says_in_passing_is_not_transient() {
    for preset in presets::all() {
        let output = innocent().join("\n");
        for code in [1, 2, 3, 8, 22, 100, 101, 125, 128, 255] {
            let by_code = is_transient(&preset, code, "");
            assert_eq!(
                is_transient(&preset, code, &output),
                by_code,
                "{} {code}",
                preset.name
            );
        }
        for line in innocent() {
            for row in preset.rows() {
                assert!(
                    !row.expression()
                        .is_some_and(|text| regex(text).is_match(line.as_bytes())),
                    "{}: {line:?} matches {:?}",
                    preset.name,
                    row.text
                );
            }
        }
    }
}

#[test]
fn a_text_alone_does_not_do_where_codes_are_given() {
    let refused = "ssh: connect to host 127.0.0.1 port 22: Connection refused";
    judge(
        &[
            ("ssh", 255, refused),
            ("scp", 1, refused),
            ("rsync", 255, refused),
        ],
        true,
    );
    judge(
        &[
            ("ssh", 1, refused),
            ("ssh", 7, refused),
            ("rsync", 23, refused),
            ("scp", 2, refused),
        ],
        false,
    );
    judge(&[("curl", 7, ""), ("curl", 22, "")], true);
    judge(
        &[("wget", 8, ""), ("ssh", 255, ""), ("git", 128, "")],
        false,
    );
}

/// The scanner folds cases after it has read a class.
#[test]
fn a_negated_class_names_both_cases_of_a_letter() {
    let texts = TABLE.lines().filter_map(|line| Some(columns(line)?[3]));
    for text in texts {
        for class in text.split("[^").skip(1) {
            let class = class.split(']').next().unwrap_or_default();
            let mut letters = class.replace("\\", "").replace("xe2x94x82", "");
            for perl in ["\\w", "\\s", "\\d"] {
                if class.contains(perl) {
                    letters = letters.replace(&perl[1..], "");
                }
            }
            for letter in letters.chars().filter(char::is_ascii_alphabetic) {
                let other = if letter.is_ascii_lowercase() {
                    letter.to_ascii_uppercase()
                } else {
                    letter.to_ascii_lowercase()
                };
                assert!(letters.contains(other), "{text}: [^{class}]");
            }
        }
    }
}
