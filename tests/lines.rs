//! backoff accepts the options of command lines that no test runs.

use std::sync::LazyLock;

use regex::Regex;

use crate::util::documents::{Block, Document, blocks, code_spans, documents};
use crate::util::{Ends, backoff};

tests! {
    the_options_in_blocks_that_are_not_run_are_taken
    the_options_in_sentences_and_tables_are_taken
    options_are_found
}

/// Matches the options of a shell command line, up to the command, and the `options:` of the action.
static LINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?:\bbackoff|\boptions:) (-.*?)(?: --(?:[ }]|$)|$)").unwrap());
/// Matches a list of words in a Dockerfile or Compose file.
static LIST: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\[[^]]*\bbackoff"?, ("?-[^]]*)\]"#).unwrap());

fn options_of_line(line: &str) -> Option<Vec<String>> {
    if line.trim_start().starts_with("install ") {
        return None;
    }
    if let Some(list) = LIST.captures(line) {
        let words = list[1]
            .split(", ")
            .map(|word| word.trim_matches('"').to_owned());
        return Some(words.take_while(|word| word != "--").collect());
    }
    let options = &LINE.captures(line)?[1];
    Some(shlex::split(options).unwrap_or_else(|| panic!("{options}: a quote is open")))
}

fn lines(block: &Block) -> Vec<String> {
    block
        .text()
        .replace("\\\n", "")
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Asserts that backoff accepts the options in these lines. Returns how many lines have options.
fn check(place: &str, lines: &[String]) -> usize {
    let mut count = 0;
    for line in lines {
        // backoff would read the file of `?ca=`, which does not exist here.
        let Some(options) = options_of_line(&line.replace("?ca=/etc/ssl/cache.pem", "")) else {
            continue;
        };
        count += 1;
        let shown = backoff("--plan").args(options).args(["--", "true"]).ends();
        let said = String::from_utf8(shown.stderr).unwrap();
        assert_eq!(
            (&*said, shown.status.code()),
            ("", Some(0)),
            "{place}: {line}"
        );
    }
    count
}

/// Returns true for documents with command lines that backoff rejects.
fn shows_mistakes(document: &Document) -> bool {
    document.name.starts_with("tests/")
}

fn the_options_in_blocks_that_are_not_run_are_taken() {
    // Comments in TOML show commands that need that config file.
    let is_run = |block: &Block| ["console", "toml"].contains(&block.language);
    let count: usize = documents()
        .iter()
        .filter(|document| !shows_mistakes(document))
        .flat_map(blocks)
        .filter(|block| !is_run(block))
        .map(|block| check(&block.file_name(), &lines(&block)))
        .sum();
    assert!(count > 60, "{count}");
}

fn the_options_in_sentences_and_tables_are_taken() {
    let mut count = 0;
    for document in documents().iter().filter(|one| !shows_mistakes(one)) {
        let mut lines = code_spans(document);
        // A span without a command may be part of a line, or an action such as `--list-presets`.
        lines.retain(|line| line.contains(" -- ") && !line.contains("..."));
        count += check(&document.name, &lines);
    }
    assert!(count > 40, "{count}");
}

fn options_are_found() {
    for (line, options) in [
        (
            "exec backoff -n 3 -r 'a b' -- sh -c 'exit 3' -- x",
            "-n 3 -r a b",
        ),
        ("X := backoff -n 4 --", "-n 4"),
        ("${CI:+backoff -n 3 --} make", "-n 3"),
        ("set -- backoff -q --every 1s", "-q --every 1s"),
        (
            r#"ENTRYPOINT ["/backoff", "-n", "2", "--", "/worker"]"#,
            "-n 2",
        ),
        (
            "command: [backoff, --for, psql, -n, \"6\", --]",
            "--for psql -n 6",
        ),
        ("    options: -n 4", "-n 4"),
    ] {
        assert_eq!(
            options_of_line(line)
                .map(|words| words.join(" "))
                .as_deref(),
            Some(options),
            "{line}"
        );
    }
    assert_eq!(options_of_line("cp backoff /usr/local/bin/"), None);
}
