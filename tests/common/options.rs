//! The options, as the manual and the completions list them.

use std::sync::LazyLock;

use super::ran;

pub struct Opt {
    pub long: String,
    pub heading: String,
    pub takes: Takes,
}

pub enum Takes {
    /// A value, which the manual calls so.
    Value(String),
    /// Nothing, or a value after `=`, which the manual calls so.
    Optional(String),
    /// One of these.
    Word(Vec<String>),
    Nothing,
}

pub static OPTIONS: LazyLock<Vec<Opt>> = LazyLock::new(|| {
    let manual = ran("--generate man").stdout.replace("\\-", "-");
    let completion = ran("--generate complete-bash").stdout;
    let section = manual.split(".SH OPTIONS\n").nth(1).unwrap();
    let section = section.split("\n.SH ").next().unwrap();
    let mut heading = "";
    let mut options = Vec::new();
    for line in section.lines() {
        if let Some(title) = line.strip_prefix(".SS ") {
            heading = title;
        }
        // .BR -n ", " --attempts " \fIN|unlimited\fR"
        let Some((_, names)) = line.strip_prefix(".BR -").and(line.split_once("--")) else {
            continue;
        };
        let (long, value) = names.split_once(' ').unwrap_or((names, ""));
        // These two are no settings.
        if ["help", "version"].contains(&long) {
            continue;
        }
        options.push(Opt {
            long: long.to_owned(),
            heading: heading.to_owned(),
            takes: takes(long, value, &completion),
        });
    }
    assert!(options.len() > 50, "{}", options.len());
    options
});

fn takes(long: &str, value: &str, completion: &str) -> Takes {
    let value = value.replace("\\fI", "").replace("\\fR", "");
    let value = value.trim_matches(['"', ' ']);
    if value.is_empty() {
        return Takes::Nothing;
    }
    if let Some(value) = value.strip_prefix("[=") {
        return Takes::Optional(value.trim_end_matches(']').to_owned());
    }
    let case = completion.split(&format!("--{long})\n")).nth(1).unwrap();
    let first = case.trim_start().lines().next().unwrap();
    let words = first
        .split_once("compgen -W \"")
        .and_then(|(_, rest)| rest.split_once('"'));
    match words {
        Some((words, _)) => Takes::Word(words.split(' ').map(str::to_owned).collect()),
        None => Takes::Value(value.to_owned()),
    }
}

impl Opt {
    /// `BACKOFF_SOME_OPTION`
    pub fn variable(&self) -> String {
        format!("BACKOFF_{}", self.long.to_uppercase().replace('-', "_"))
    }
}
