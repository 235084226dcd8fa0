//! The options listed in the manual.

use std::sync::LazyLock;

use super::{Ends, backoff};

pub struct Opt {
    pub long: String,
    pub heading: String,
    pub takes: Takes,
}

pub enum Takes {
    /// A value, with its name in the manual.
    Value(String),
    /// An optional value after `=`, with its name in the manual.
    Optional(String),
    /// One of these words.
    Word(Vec<String>),
    Nothing,
}

pub static OPTIONS: LazyLock<Vec<Opt>> = LazyLock::new(|| {
    let manual = backoff("--generate man").code(0).out().replace("\\-", "-");
    let section = manual.split(".SH OPTIONS\n").nth(1).unwrap();
    let section = section.split("\n.SH ").next().unwrap();
    let mut heading = "";
    let mut options = Vec::new();
    for line in section.lines() {
        if let Some(title) = line.strip_prefix(".SS ") {
            heading = title.trim_matches('"');
        }
        // \fB-n\fR, \fB--attempts\fR \fI<N|unlimited>\fR
        let Some((_, names)) = line.strip_prefix("\\fB-").and(line.split_once("\\fB--")) else {
            continue;
        };
        let (long, value) = names.split_once("\\fR").unwrap();
        let value = value.split(" [default").next().unwrap();
        // `--help` and `--version` are not settings.
        if ["help", "version"].contains(&long) {
            continue;
        }
        options.push(Opt {
            long: long.to_owned(),
            heading: heading.to_owned(),
            takes: takes(value),
        });
    }
    assert!(options.len() > 50, "{}", options.len());
    options
});

fn takes(value: &str) -> Takes {
    let value = value
        .replace("\\fI", "")
        .replace("\\fR", "")
        .replace(['<', '>'], "");
    let value = value.trim();
    if value.is_empty() {
        return Takes::Nothing;
    }
    if let Some(value) = value.strip_prefix("[=") {
        return Takes::Optional(value.strip_suffix(']').unwrap_or(value).to_owned());
    }
    match value.split_once('|') {
        Some(_)
            if value
                .chars()
                .all(|c| c.is_lowercase() || c == '|' || c == '-') =>
        {
            Takes::Word(value.split('|').map(str::to_owned).collect())
        }
        _ => Takes::Value(value.to_owned()),
    }
}

impl Opt {
    /// Returns the variable, such as `BACKOFF_SOME_OPTION`.
    pub fn variable(&self) -> String {
        format!("BACKOFF_{}", self.long.to_uppercase().replace('-', "_"))
    }
}
