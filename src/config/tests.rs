use std::ffi::OsString;
use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::cli::parse::{Task, parse};

/// Asserts that a config file with this text, valid or not, leads to at most one printable line about an error.
fn check(text: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    let path = file.path().to_str().unwrap();
    for words in [&["--", "true"][..], &["--policy", "mine", "--", "true"]] {
        let words = [&["--config", path], words].concat();
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let Ok(Task::Run(line)) = parse(&words) else {
            panic!("{words:?}")
        };
        if let Err(problem) = merge(*line, &[]) {
            assert!(!problem.contains(char::is_control), "{problem:?}");
            assert!(
                problem.contains(path) || problem.contains("policy"),
                "{problem:?}"
            );
        }
    }
}

/// Generates files of lines, most of which are valid on their own.
fn file() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "[defaults]",
        "[policy.mine]",
        "[policy.wait]",
        "[policy]",
        "attempts = 7",
        "attempts = \"unlimited\"",
        "max-delay = \"1m\"",
        "max_delay = 3",
        "base = 0.5",
        "base = -1",
        "factor = inf",
        "growth = \"linear\"",
        "jitter = \"slotted\"",
        "delays = [\"1s\", 5]",
        "retry-exit = [5, \"100-110\", \"TERM\"]",
        "retry-match = '(a|b'",
        "fail-match = [\"busy\", \"\"]",
        "policy = \"mine\"",
        "quiet = true",
        "verbose = 2",
        "for = []",
        "when = 1979-05-27T07:32:00Z",
        "jitter = \"\\u001b[31m\"",
    ]);
    let line = prop_oneof![9 => lines.prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn lines_in_any_order(text in file()) {
        check(text.as_bytes());
    }
}
