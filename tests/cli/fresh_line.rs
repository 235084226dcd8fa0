//! A message begins a line if backoff itself passed on an unfinished one to where the message goes.

use crate::common::{run, shell};

const RUN: &str = "-n 2 -b 1ms -j none --color never";

/// A line with its message in short.
fn short(line: &str) -> String {
    let messages = [
        ("backoff: sh: attempt 1 of 2 failed", "RETRY"),
        ("backoff: sh: gave up after 2 attempts", "GAVE UP"),
    ];
    let of_message = |(message, name): (&str, &str)| line.find(message).map(|at| line[..at].to_owned() + name);
    messages.into_iter().find_map(of_message).unwrap_or(line.to_owned())
}

/// Returns the combined standard output and error of a run.
fn in_one_place(options: &str, script: &str) -> Vec<String> {
    let line = format!("backoff {RUN} {options} -- sh -c '{script}' 2>&1");
    let shown = run(&mut shell(&line));
    shown.stdout.lines().map(short).collect()
}

#[test]
fn it_does_so_where_the_output_was_read() {
    let ended = ["part", "RETRY", "part", "GAVE UP"];
    for (options, script) in [
        ("-r part", "printf part; exit 3"),
        ("-r part", "printf part >&2; exit 3"),
        ("-r part", "echo whole >&2; sleep 0.1; printf part; exit 3"),
        ("-r part --match-on stdout", "printf part; exit 3"),
        ("-r part --match-on stderr", "printf part >&2; exit 3"),
        ("-i 9s", "printf part; exit 3"),
        ("--stderr failure", "printf part >&2; exit 3"),
        ("-r part --stderr failure", "printf part >&2; exit 3"),
        ("--pty", "printf part; exit 3"),
    ] {
        let mut lines = in_one_place(options, script);
        lines.retain(|line| line != "whole");
        assert_eq!(lines, ended, "{options} {script}");
    }
    let whole = in_one_place("--fail-match zzz", "printf part; sleep 0.1; echo >&2; exit 3");
    assert_eq!(whole, ended);
    // Printed at the end.
    let kept = in_one_place("--stdout final", "printf part; exit 3");
    assert_eq!(kept, ["RETRY", "part", "GAVE UP"]);
    // It went elsewhere.
    let shown = run!("{..} -r part -- sh -c 'printf part; exit 3'", RUN);
    assert_eq!(shown.stdout, "partpart");
    assert!(shown.stderr.starts_with("backoff: sh: attempt 1"), "{shown:?}");
    // Nobody read it.
    assert_eq!(in_one_place("", "printf part; exit 3"), ["partRETRY", "partGAVE UP"]);
}
