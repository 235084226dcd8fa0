//! For each way to give up, JSON on its own gives the same reason as the text, and names the option that decided.

use std::fs;

use serde_json::Value;

use crate::util::{Ends, backoff, within};

tests! {
    json_alone_has_the_reason_of_the_text
}

/// A command line, in which `STORE` stands for a fresh directory, and the `rule` of the attempt and of the end.
const SITUATIONS: &[(&str, &str, &str)] = &[
    ("-n 1 -- false", "default", "--attempts"),
    ("-n 1 -e 1 -- false", "--retry-exit", "--attempts"),
    ("-e 7 -- false", "none matched", "none matched"),
    ("--stop-exit 1 -- false", "--stop-exit", "--stop-exit"),
    ("-r x -- false", "none matched", "none matched"),
    (
        "-n 1 -r bad -- sh -c 'echo bad; exit 1'",
        "--retry-match",
        "--attempts",
    ),
    (
        "--stop-match bad -- sh -c 'echo bad; exit 1'",
        "--stop-match",
        "--stop-match",
    ),
    (
        "--for curl -- sh -c 'exit 3'",
        "none matched",
        "none matched",
    ),
    (
        "-n 1 --for curl -- sh -c 'exit 7'",
        "--for curl",
        "--attempts",
    ),
    (
        "--for curl -- sh -c 'exit 99'",
        "none matched",
        "none matched",
    ),
    ("--retry-if 'exit 1' -- false", "--retry-if", "--retry-if"),
    ("-n 1 --retry-if true -- false", "--retry-if", "--attempts"),
    ("--retry-if 'exit 3' -- false", "--retry-if", "--retry-if"),
    (
        "--success-if 'exit 3' -- true",
        "--success-if",
        "--success-if",
    ),
    ("-n 1 --fail-match bad -- echo bad", "default", "--attempts"),
    ("--idempotent no -- false", "--idempotent", "--idempotent"),
    (
        "-d 1m -b 5m -m 5m -j none -- false",
        "default",
        "--deadline",
    ),
    ("-d 2s -- sleep 30", "timeout", "--deadline"),
    (
        "--stop-after 1m -b 5m -m 5m -j none -- false",
        "default",
        "--stop-after",
    ),
    ("--stop-at-delay 0 -- false", "default", "--stop-at-delay"),
    (
        "--retry-after=2s -- sh -c 'echo Retry-After: 60; exit 1'",
        "default",
        "--retry-after",
    ),
    (
        "--budget a --budget-min 0 --budget-ratio 0% --store STORE -- false",
        "default",
        "--budget",
    ),
    (
        "--budget a --store-down deny --store /proc/none -b 1ms -- false",
        "default",
        "--store-down",
    ),
    ("-n 1 -t 50ms -- sleep 30", "timeout", "--attempts"),
    (
        "--stop-exit timeout -t 50ms -- sleep 30",
        "--stop-exit",
        "--stop-exit",
    ),
    (
        "-b 1ms --before-retry 'exit 3' -- false",
        "default",
        "--before-retry",
    ),
    ("-- no-such-command-here", "default", "default"),
    (
        "-n 1 -e 127 -- no-such-command-here",
        "--retry-exit",
        "--attempts",
    ),
];

/// Returns the lines with this event.
fn events<'l>(lines: &'l [Value], event: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["event"] == event).collect()
}

/// Returns true if the record has the reason that the text gives.
fn says(text: &str, end: &Value) -> bool {
    let rule = end["rule"].as_str().unwrap();
    match (rule, end["reason"].as_str().unwrap()) {
        ("none matched", _) => text.contains("none of the") && text.contains("matched"),
        ("default", "permanent") => text.contains("command not found"),
        ("--attempts", "attempts") => {
            text.contains("attempt limit reached") || text.contains("cannot run")
        }
        ("--budget", "budget") => text.contains("exhausted"),
        ("--retry-after", "delay") => {
            text.contains("asked to wait 1m, longer than --retry-after=2s")
                && end["asked_s"] == 60.0
        }
        ("--idempotent", reason) => reason == "not_idempotent" && text.contains("not idempotent"),
        (option, _) => text.contains(option),
    }
}

fn json_alone_has_the_reason_of_the_text() {
    assert!(SITUATIONS.len() >= 20);
    for (index, (line, attempt_rule, end_rule)) in SITUATIONS.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| within(&dir, &format!("{name}{index}"));
        let run = |options: &str, store: &str| {
            let line = line.replace("STORE", &path(store));
            let mut command = backoff(format!("{options} {line}"));
            command.env("XDG_STATE_HOME", dir.path());
            let output = command.ends();
            assert!(!output.status.success(), "{line}");
            String::from_utf8(output.stderr).unwrap()
        };
        let text = run("", "text-store");
        let report = path("report");
        let log = run(
            &format!("--log-format json --report {report}"),
            "json-store",
        );
        let lines: Vec<Value> = log
            .lines()
            .filter(|line| line.starts_with('{'))
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let failed = events(&lines, "attempt_failed");
        assert_eq!(failed[0]["rule"], *attempt_rule, "{line}: {log}");
        let end = events(&lines, "gave_up")[0];
        assert_eq!(end["rule"], *end_rule, "{line}: {log}");
        let last = text.lines().last().unwrap();
        assert!(says(last, end), "{line}: {end} does not say {last:?}");
        let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        assert_eq!(report["rule"], end["rule"], "{line}");
        assert_eq!(report["attempts"][0]["rule"], *attempt_rule, "{line}");
    }
}
