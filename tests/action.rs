//! Runs the scripts in `packaging/action/` the way `action.yml` does, with a runner's environment.

use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use tempfile::TempDir;

use crate::util::documents::ROOT;
use crate::util::{BIN, Ends, clean, executable, path_with, within};

tests! {
    a_retried_step_has_annotations_outputs_and_a_summary ["bash", "xargs"]
    a_step_without_retries_has_no_summary ["bash", "xargs"]
    the_command_status_is_the_command_s_own ["bash", "xargs"]
    a_request_that_changes_something_is_sent_once ["bash", "xargs"]
    a_word_that_is_no_option_fails_the_step ["bash", "xargs"]
    a_label_is_one_piece_of_code ["bash", "xargs"]
    the_command_gets_the_runner_s_signals ["bash", "xargs"]
    inputs_that_cannot_be_installed_fail_the_step ["bash", "curl"]
    every_input_reaches_a_script []
}

/// The inputs with the defaults of `action.yml`.
const DEFAULTS: [(&str, &str); 8] = [
    ("VERSION", ""),
    ("SHA256", ""),
    ("BASE_URL", ""),
    ("RUN", ""),
    ("OPTIONS", ""),
    ("LABEL", ""),
    ("BINARY", ""),
    ("REPORT", ""),
];

/// The steps of `action.yml`. The last one has `if: always()`.
const STEPS: &str = r#"
"$GITHUB_ACTION_PATH/packaging/action/install" || exit
PATH=$(cat path):$PATH "$GITHUB_ACTION_PATH/packaging/action/run" || status=$?
report=$(sed -n 's/^report=//p' output)
if test -n "$report"; then INPUT_REPORT=$report "$GITHUB_ACTION_PATH/packaging/action/result"; fi
exit "${status-0}"
"#;

struct Job {
    dir: TempDir,
    /// Standard output and error together.
    log: String,
}

impl Job {
    fn read(&self, file: &str) -> String {
        read_to_string(self.dir.path().join(file)).unwrap_or_default()
    }

    fn output(&self, name: &str) -> String {
        let outputs = self.read("output");
        let mut values = outputs
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        values.next_back().unwrap_or_default().to_owned()
    }

    fn outputs(&self) -> [String; 4] {
        ["attempts", "exit-status", "command-status", "outcome"].map(|name| self.output(name))
    }
}

/// Returns a bash command with a runner's environment and these inputs.
fn runner(script: &str, dir: &Path, inputs: &[(&str, &str)]) -> Command {
    let mut command = clean("bash");
    command.args(["-e", "-o", "pipefail", "-c", script]);
    command.current_dir(dir).env("RUNNER_TEMP", dir);
    for (name, file) in [
        ("GITHUB_PATH", "path"),
        ("GITHUB_OUTPUT", "output"),
        ("GITHUB_STEP_SUMMARY", "summary"),
    ] {
        command.env(name, dir.join(file));
    }
    command
        .env("GITHUB_ACTION_PATH", ROOT)
        .env("GITHUB_REPOSITORY", "someone/something")
        .env("GITHUB_SERVER_URL", "https://github.invalid");
    for (name, value) in DEFAULTS.iter().chain(inputs) {
        command.env(format!("INPUT_{name}"), value);
    }
    command
}

#[track_caller]
fn job_with(variables: &[(&str, &str)], inputs: &[(&str, &str)], code: i32) -> Job {
    let dir = tempfile::tempdir().unwrap();
    let steps = format!("{{ {STEPS} }} 2>&1");
    let mut command = runner(&steps, dir.path(), &[("BINARY", *BIN)]);
    command.envs(variables.iter().copied());
    for (name, value) in inputs {
        command.env(format!("INPUT_{name}"), value);
    }
    let log = command.code(code).out();
    Job { dir, log }
}

/// Runs the action with these inputs and asserts the exit code.
#[track_caller]
fn job(inputs: &[(&str, &str)], code: i32) -> Job {
    job_with(&[], inputs, code)
}

const SECOND_SUCCEEDS: (&str, &str) = ("RUN", "test \"$BACKOFF_ATTEMPT\" = 2\necho done");

fn a_retried_step_has_annotations_outputs_and_a_summary() {
    let label = ("LABEL", "npm ci");
    let job = job(&[SECOND_SUCCEEDS, label, ("OPTIONS", "-b 10ms")], 0);
    let warning = "\n::warning title=backoff::npm ci: attempt 1 of 5 failed: exit 1 ";
    assert!(job.log.contains(warning), "{}", job.log);
    assert!(job.log.contains("\ndone\n"), "{}", job.log);
    assert_eq!(job.outputs(), ["2", "0", "0", "succeeded"]);
    assert_eq!(job.read("summary"), "- `npm ci` succeeded on attempt 2\n");
    let report = read_to_string(job.output("report")).unwrap();
    assert!(report.contains("\"attempts_made\":2,"), "{report}");
    assert!(job.output("path").ends_with("/backoff"));
}

fn a_step_without_retries_has_no_summary() {
    let job = job(
        &[(
            "RUN",
            "env | grep -E '^INPUT_(RUN|OPTIONS|LABEL)=' || echo none",
        )],
        0,
    );
    assert!(job.log.contains("\nnone\n"), "{}", job.log);
    assert!(!job.log.contains("::"), "{}", job.log);
    assert_eq!(job.outputs(), ["1", "0", "0", "succeeded"]);
    assert_eq!(job.read("summary"), "");
}

fn the_command_status_is_the_command_s_own() {
    let cases = [
        ("exit 7", "-n 2 -b 10ms --exhausted-exit 75", 75, "2", "7"),
        ("exit 7", "-n 1", 7, "1", "7"),
        ("exit 0", "-n 1 --success-exit 3", 1, "1", "0"),
        ("kill -KILL $$", "-n 1 --exhausted-exit 9", 9, "1", "137"),
        (
            "sleep 60",
            "-n 1 -t 200ms --exhausted-exit 9",
            9,
            "1",
            "124",
        ),
    ];
    for (run, options, code, attempts, command_status) in cases {
        let job = job(&[("RUN", run), ("OPTIONS", options)], code);
        let code = code.to_string();
        let expected = [attempts, &code, command_status, "gave_up"];
        assert_eq!(job.outputs(), expected, "{run} {options}: {}", job.log);
    }
    let options = ("OPTIONS", "-n 2 -b 10ms --exhausted-exit 75");
    let summary = job(&[("RUN", "exit 7"), options], 75).read("summary");
    assert_eq!(
        summary,
        "- `backoff` gave up after 2 attempts with exit status 75\n"
    );
}

/// The runner passes the commands to bash in a file, which backoff examines.
fn a_request_that_changes_something_is_sent_once() {
    let tools = tempfile::tempdir().unwrap();
    executable(&within(&tools, "curl"), "#!/bin/sh\necho sent\nexit 56\n");
    let path = path_with(tools.path().to_str().unwrap());
    let options = ("OPTIONS", "--for curl -n 3 -b 10ms");
    for (run, attempts) in [
        ("cd /\ncurl -d x=1 http://localhost/", "1"),
        ("cd /\ncurl http://localhost/", "3"),
    ] {
        let job = job_with(&[("PATH", &path)], &[("RUN", run), options], 56);
        assert_eq!(job.output("attempts"), attempts, "{run}: {}", job.log);
        let sent = job.log.matches("sent\n").count();
        assert_eq!(sent.to_string(), attempts, "{run}: {}", job.log);
    }
}

/// Asserts that these options cause exactly one error and that nothing runs.
#[track_caller]
fn refused(options: &str, error: &str) {
    let job = job(&[("RUN", "echo ran"), ("OPTIONS", options)], 1);
    let errors: Vec<&str> = job
        .log
        .lines()
        .filter(|line| line.starts_with("::"))
        .collect();
    let [said] = errors[..] else {
        panic!("{options}: {}", job.log)
    };
    assert!(
        said.starts_with(&format!("::error title=backoff::options: {error}")),
        "{options}: {said}"
    );
    assert!(!job.log.contains("ran\n"), "{options}: {}", job.log);
    assert_eq!(job.output("report"), "", "{options}");
    assert!(!job.dir.path().join("pwned").exists(), "{options}");
}

fn a_word_that_is_no_option_fails_the_step() {
    let left_over = "is neither an option nor the value of one, so nothing was run";
    for (options, word) in [
        ("-n 2 # comment", "#"),
        ("-n 4\n# comment\n-b 5s", "#"),
        ("-n 2 true", "true"),
        ("make -n 2", "make"),
        ("-n 2 -- echo ran", "--"),
        ("-n $(touch pwned)", ""),
        ("-b 5 s", "s"),
        ("touch pwned", "touch"),
    ] {
        let error = if word.is_empty() {
            String::new()
        } else {
            format!("\"{word}\" {left_over}")
        };
        refused(options, &error);
    }
    // A switch with a value, and a misspelled option.
    refused("--retry-after true", "");
    refused("--pty yes -n 2", "");
    refused("--atempts 2", "");
    refused("-n 2 -r", "--retry-match: a value is required");
    refused("-n '2", "a quote is not closed");
    refused("--report x", "--report is given by the action");
    refused("--report=x -n 2", "--report is given by the action");
}

fn a_label_is_one_piece_of_code() {
    let label = ("LABEL", "a`<b>%0A::error::x");
    let job = job(&[SECOND_SUCCEEDS, label, ("OPTIONS", "-b 10ms")], 0);
    assert_eq!(
        job.read("summary"),
        "- `a <b>%0A::error::x` succeeded on attempt 2\n"
    );
    let commands = job.log.lines().filter(|line| line.starts_with("::"));
    assert_eq!(commands.count(), 2, "{}", job.log);
    for label in ["a\nb", &"x".repeat(65)] {
        refused_label(label);
    }
}

#[track_caller]
fn refused_label(label: &str) {
    let job = job(&[("RUN", "echo ran"), ("LABEL", label)], 1);
    let error = "::error title=backoff::label: it has more than one line or 64 characters\n";
    assert!(job.log.ends_with(error), "{}", job.log);
    assert!(!job.log.contains("ran\n"), "{}", job.log);
}

fn the_command_gets_the_runner_s_signals() {
    let dir = tempfile::tempdir().unwrap();
    let run = "trap 'echo got TERM; exit 9' TERM\necho ready\nwhile :; do sleep 0.1; done";
    let inputs = [("RUN", run), ("BINARY", *BIN)];
    runner(STEPS.lines().nth(1).unwrap(), dir.path(), &inputs)
        .code(0)
        .out();
    let path = read_to_string(within(&dir, "path")).unwrap();
    let script = format!("exec {ROOT}/packaging/action/run");
    let mut step = runner(&script, dir.path(), &inputs);
    step.env("PATH", path_with(path.trim()));
    let mut live = step.live();
    live.expect_line("ready");
    live.signal(Signal::SIGTERM);
    let (out, err) = live.code(9).texts();
    assert_eq!(out, "got TERM\n");
    assert!(err.contains("interrupted by SIGTERM"), "{err}");
}

fn inputs_that_cannot_be_installed_fail_the_step() {
    let nowhere = ("BASE_URL", "file:///nowhere");
    for (inputs, error) in [
        (vec![("VERSION", "$(touch pwned)")], "which release? "),
        (vec![("VERSION", "../x"), nowhere], "which release? "),
        (
            vec![("BASE_URL", "http://127.0.0.1:9")],
            "base-url: it begins with ",
        ),
        (vec![nowhere], "cannot download file:///nowhere/backoff-"),
        (
            vec![("BINARY", "$(touch pwned)")],
            "binary: there is no file ",
        ),
        (
            vec![("BINARY", "/bin/false")],
            "the binary does not run here",
        ),
        (
            vec![("BASE_URL", "https://127.0.0.1:9/%0A::set")],
            "cannot download https://127.0.0.1:9/%250A::set/",
        ),
    ] {
        let mut all = vec![("BINARY", ""), ("RUN", "echo ran")];
        all.extend(inputs);
        let job = job(&all, 1);
        let last = job.log.lines().last().unwrap_or_default();
        assert!(
            last.starts_with(&format!("::error title=backoff::{error}")),
            "{all:?}: {}",
            job.log
        );
        assert_eq!(job.read("path"), "", "{all:?}");
        assert!(!job.dir.path().join("pwned").exists(), "{all:?}");
    }
}

/// The scripts use `set -u`, so they fail if `action.yml` does not pass a variable.
fn every_input_reaches_a_script() {
    let action = read_to_string(format!("{ROOT}/action.yml")).unwrap();
    for (name, _) in DEFAULTS {
        let input = name.to_lowercase().replace('_', "-");
        let source = if name == "REPORT" {
            "steps.run.outputs.report".to_owned()
        } else {
            format!("inputs.{input}")
        };
        let line = format!("INPUT_{name}: ${{{{ {source} }}}}");
        assert!(action.contains(&line), "{line}");
    }
    let passed = action.matches(" INPUT_").count();
    // The label goes to two steps.
    assert_eq!(passed, DEFAULTS.len() + 1);
}
