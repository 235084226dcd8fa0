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
    if long == "policy" {
        // The shell asks for them.
        return Takes::Word(value.split('|').map(str::to_owned).collect());
    }
    let names = [format!("--{long})"), format!("--{long} |")];
    let is_case = |line: &&str| names.iter().any(|name| line.trim_start().starts_with(name));
    let words = completion.lines().find(is_case).and_then(|case| {
        let (_, words) = case.split_once("words='")?;
        // Signals, and lists: the shell knows more than the manual.
        words.strip_suffix("' ;;").filter(|_| value != "SIGNAL")
    });
    match words {
        Some(words) => Takes::Word(words.split(' ').map(str::to_owned).collect()),
        None => Takes::Value(value.to_owned()),
    }
}

impl Opt {
    /// `BACKOFF_SOME_OPTION`
    pub fn variable(&self) -> String {
        format!("BACKOFF_{}", self.long.to_uppercase().replace('-', "_"))
    }
}
