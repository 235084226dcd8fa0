//! The configuration file as anybody may have written it: what the fuzz target `config` checks.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::ffi::OsString;
use std::io::Write;

use backoff_cli::cli::{self, Parsed, Typed};
use backoff_cli::config::load::Config;
use backoff_cli::generate;
use backoff_cli::plan::resolve::resolve;
use backoff_cli::run::plan::Plan;
use backoff_cli::config::settings::Settings;
use proptest::prelude::*;

/// A plan from this file, or what is wrong with it.
fn planned(typed: &Typed) -> Result<Plan, String> {
    let config = Config::load(&Settings::new(typed, &[])).map_err(|usage| usage.0)?;
    for line in generate::policies(&config) {
        assert!(!line.contains(|c: char| c.is_control() && c != '\n'), "{line:?}");
    }
    Plan::resolve(typed, &[], &config).map_err(|usage| usage.0)
}

fn check(text: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    let path = file.path().to_str().unwrap();
    for words in [&["--", "true"][..], &["--policy", "mine", "--", "true"]] {
        let args = [&["backoff", "--config", path], words].concat();
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let Parsed::Run(typed) = cli::parse(&args) else {
            unreachable!("{args:?}");
        };
        if let Err(line) = planned(&typed) {
            assert!(!line.contains(char::is_control), "{line:?}");
            assert!(line.contains(path) || line.contains("policy"), "{line:?}");
        }
    }
}

/// A file of lines that make sense by themselves, most of them.
fn file() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "[defaults]",
        "[policy.mine]",
        "[policy.sip]",
        "[[policy.mine.rule]]",
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
        "retry-exit = [5, \"100-110\", \"tempfail\"]",
        "exit = 0x1F",
        "signal = [\"TERM\", 9]",
        "match = '(a|b'",
        "match = \"busy\"",
        "verdict = \"permanent\"",
        "timed-out = true",
        "policy = \"mine\"",
        "quiet = true",
        "verbose = 2",
        "for = []",
        "when = 1979-05-27T07:32:00Z",
        "spread = \"\\u001b[31m\"",
    ]);
    let line = prop_oneof![9 => lines.prop_map(str::to_owned), 1 => any::<String>()];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&text);
    }

    #[test]
    fn lines_in_any_order(text in file()) {
        check(text.as_bytes());
    }
}
