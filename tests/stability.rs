//! `tests/stable.txt` lists all options, variables and JSON fields, which are stable (docs/stability.md). `BLESS=1`
//! does not change the list. Whoever adds or removes a name has to edit it.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::util::options::{OPTIONS, Takes};
use crate::util::{Ends, backoff};

tests! {
    options_are_stable
    variables_are_stable
    json_fields_are_stable
}

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the lines of a list, whose heading begins with `name`.
fn promised(name: &str) -> BTreeSet<String> {
    let lists = include_str!("stable.txt").split("\n\n");
    let lines = lists.map(|list| list.lines()).find(|lines| lines.clone().next().unwrap().starts_with(name));
    lines.expect(name).skip(1).map(str::to_owned).collect()
}

#[track_caller]
fn is_promised(name: &str, present: &BTreeSet<String>) {
    let promised = promised(name);
    let missing: Vec<&String> = present.difference(&promised).collect();
    let gone: Vec<&String> = promised.difference(present).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "tests/stable.txt, {name}: missing {missing:?}, no longer there {gone:?}"
    );
}

fn options_are_stable() {
    let takes = |takes: &Takes| match takes {
        Takes::Value(value) => format!(" {value}"),
        Takes::Optional(value) => format!("[={value}]"),
        Takes::Word(words) => format!(" {}", words.join("|")),
        Takes::Nothing => String::new(),
    };
    let options = OPTIONS
        .iter()
        .map(|opt| format!("--{}{}", opt.long, takes(&opt.takes)));
    let others = ["--help", "--version"].map(str::to_owned);
    is_promised("Options", &options.chain(others).collect());
}

fn variables_are_stable() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = backoff(
        "-n 2 -b 1ms -t 60s --budget b --on-retry env --before-retry env --on-give-up env \
         --retry-if 'env; exit 0' -- sh -c 'env; exit 1'",
    );
    // Set by an outer run.
    command.env("BACKOFF_DEPTH", "1");
    command.env("XDG_STATE_HOME", dir.path());
    let output = command.ends();
    let all = [output.stdout, output.stderr].concat();
    let names: BTreeSet<String> = String::from_utf8_lossy(&all)
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, _)| name.to_owned())
        .filter(|name| name.starts_with("BACKOFF_") && name != "BACKOFF_CONFIG")
        .collect();
    is_promised("Variables", &names);
}

/// Adds the names of all properties in a schema.
fn add_names(names: &mut BTreeSet<String>, kind: &str, schema: &Value) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                if let ("properties", Value::Object(properties)) = (key.as_str(), value) {
                    names.extend(properties.keys().map(|name| format!("{kind} {name}")));
                }
                add_names(names, kind, value);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_names(names, kind, item)),
        _ => {}
    }
}

fn json_fields_are_stable() {
    let mut names = BTreeSet::new();
    for kind in ["log", "report"] {
        let text = fs::read_to_string(format!("{ROOT}/docs/{kind}.schema.json")).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        add_names(&mut names, kind, &schema);
    }
    is_promised("Fields", &names);
}
