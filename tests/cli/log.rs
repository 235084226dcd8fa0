//! Log formats, the log file, colour, and what must not get into any of them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::common::process::state;
use crate::common::pty::Terminal;
use crate::common::words::Words;
use crate::common::{BIN, Live, Shown, backoff, clean, eventually, run, shell, within};

/// The objects of a log in JSON.
fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}")))
        .collect()
}

fn events(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|object| object["event"].as_str().unwrap()).collect()
}

#[track_caller]
fn logged(args: impl Words) -> Vec<Value> {
    objects(&run!("--log-format json -b 1ms {..}", args).stderr)
}

/// The lines of a log for people, without the time and the run that each begins with.
#[track_caller]
fn in_a_log(text: &str) -> Vec<&str> {
    let said = |line| {
        let mut parts = str::splitn(line, 3, ' ');
        let (time, id) = (parts.next().unwrap(), parts.next().unwrap());
        assert!(humantime::parse_rfc3339(time).is_ok() && time.ends_with('Z'), "{line}");
        assert!(id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{line}");
        parts.next().unwrap()
    };
    text.lines().map(said).collect()
}

#[test]
fn json_tells_the_whole_run() {
    let log = logged("-n 2 -- sh -c 'exit $BACKOFF_ATTEMPT'");
    assert_eq!(
        events(&log),
        [
            "attempt_started",
            "attempt_failed",
            "retrying",
            "attempt_started",
            "attempt_failed",
            "gave_up"
        ]
    );
    let run_id = &log[0]["run_id"];
    assert_eq!(run_id.as_str().unwrap().len(), 36);
    for object in &log {
        assert_eq!(&object["run_id"], run_id);
        let ts = object["ts"].as_str().unwrap();
        assert!(humantime::parse_rfc3339(ts).is_ok() && ts.ends_with('Z'), "{ts}");
    }
    assert_eq!(log[1]["attempt"], 1);
    assert_eq!(log[1]["exit"], 1);
    assert_eq!(log[1]["signal"], Value::Null);
    assert_eq!(log[1]["timed_out"], false);
    assert_eq!(log[1]["verdict"], "transient");
    assert_eq!(log[1]["reason"], "exit 1");
    assert!(log[1]["duration_s"].as_f64().unwrap() > 0.0);
    assert!(log[2]["delay_s"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (&log[4]["attempt"], &log[4]["exit"]),
        (&Value::from(2), &Value::from(2))
    );
    assert_eq!(
        (&log[5]["reason"], &log[5]["attempts"]),
        (&Value::from("attempts"), &Value::from(2))
    );
}

#[test]
fn json_of_a_success() {
    run!("--log-format json -- true").expect_code(0).expect_silence();
    let log = logged("-v -- true");
    assert_eq!(events(&log), ["attempt_started", "succeeded"]);
    let log = logged("-- sh -c 'test $BACKOFF_ATTEMPT = 2'");
    assert_eq!(
        events(&log),
        [
            "attempt_started",
            "attempt_failed",
            "retrying",
            "attempt_started",
            "succeeded"
        ]
    );
    run!("--log-format json -q -n 2 -b 1ms -- false").expect_silence();
    let log = logged("-q -- no-such-command");
    assert_eq!(events(&log), ["attempt_failed", "gave_up"]);
    assert_eq!(log[0]["reason"], "command not found");
}

#[test]
fn json_names_each_way_to_fail() {
    fn failed(args: impl Words) -> Value {
        let log = logged(args);
        log.into_iter()
            .find(|object| object["event"] == "attempt_failed")
            .unwrap()
    }
    let died = failed("-n 1 -- sh -c 'kill -KILL $$'");
    assert_eq!((&died["signal"], &died["exit"]), (&Value::from(9), &Value::Null));
    let late = failed("-n 1 -t 50ms -- sleep 9");
    assert_eq!((&late["timed_out"], &late["exit"]), (&Value::from(true), &Value::Null));
    let missing = failed("-- no-such-command");
    assert_eq!(
        (&missing["exit"], &missing["verdict"]),
        (&Value::from(127), &Value::from("permanent"))
    );
    let matched = failed(words!(
        "-n 1 -r 'over.*d' -- sh -c {}",
        "printf 'over\\033load'; exit 3"
    ));
    assert_eq!(matched["reason"], "matched \"over\u{1b}load\" (exit 3)");
}

#[test]
fn json_names_each_reason_to_give_up() {
    for (args, reason) in [
        ("-n 1 -- false", "attempts"),
        ("--stop-exit 1 -- false", "permanent"),
        ("-d 9s -b 1h -m 1h -- false", "deadline"),
        ("--stop-after 9s -b 1h -m 1h -- false", "stop_after"),
        ("--stop-at-delay 1ms -- false", "delay"),
        (
            "--retry-after --max-retry-after 1s -- sh -c 'echo Retry-After: 9; exit 1'",
            "delay",
        ),
        (
            "--store STORE --budget b --budget-min 0 --budget-ratio 0 -- false",
            "budget",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = within(&dir, "store");
        let log = logged(args.replace("STORE", &store));
        assert_eq!(log.last().unwrap()["event"], "gave_up", "{args:?}");
        assert_eq!(log.last().unwrap()["reason"], reason, "{args:?}");
    }
    let mut nested = backoff("--log-format json --nested once -- false");
    let log = objects(&run(nested.env("BACKOFF_DEPTH", "1")).stderr);
    assert_eq!(log.last().unwrap()["reason"], "nested");
    let mut lost = shell("printf abc | backoff --log-format json --stdin-limit 1 -- sh -c 'cat; exit 1'");
    let log = objects(&run(&mut lost).stderr);
    assert_eq!(log.last().unwrap()["reason"], "stdin");
}

#[test]
fn json_tells_of_an_interruption() {
    let mut command = backoff("--log-format json -b 1h -m 1h -- sh -c 'echo ready; exit 1'");
    let mut live = Live::start(&mut command);
    live.expect_line("ready");
    eventually("it waits", || state(live.pid()) == Some('S') && !has_child(live.pid()));
    live.signal(Signal::SIGTERM);
    let shown = live.finish();
    assert_eq!(shown.signal(), Some(15));
    let log = objects(&shown.stderr);
    assert_eq!(events(&log).last(), Some(&"interrupted"));
    assert_eq!(log.last().unwrap()["signal"], 15);
}

#[test]
fn a_fault_of_its_own_is_the_end_of_the_log() {
    const WHY: &str = "cannot print standard output: No space left on device";
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let filed = |format: &str| {
        let script = format!("backoff --log-format {format} --log-file {log} --stdout final -- echo out >/dev/full");
        let shown = run(&mut shell(&script)).expect_code(125);
        assert_eq!(shown.stderr, format!("backoff: {WHY}\n"));
        fs::read_to_string(&log).unwrap()
    };
    assert_eq!(in_a_log(&filed("text")), [format!("backoff: {WHY}")]);
    fs::remove_file(&log).unwrap();
    let log = objects(&filed("json"));
    assert_eq!(events(&log), ["attempt_started", "warning"]);
    assert_eq!(log[1]["message"], format!("backoff itself failed: {WHY}"));
}

fn has_child(pid: i32) -> bool {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    children.is_ok_and(|children| !children.trim().is_empty())
}

#[test]
fn a_warning_is_an_event() {
    let log = logged("-v --store /proc/none --budget b -- true");
    let warning = log.iter().find(|object| object["event"] == "warning").unwrap();
    assert!(
        warning["message"]
            .as_str()
            .unwrap()
            .contains("going on without the budget")
    );
}

#[test]
fn nothing_that_is_said_is_a_command_to_a_runner() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo '##[set-env name=PATH]/evil'; exit 1";
    let with = |format: &str, args: &[&str]| {
        let mut command = backoff("-vv -n 2 -b 1ms --stdout null -r '##.set.*'");
        command.env("GITHUB_ACTIONS", "true").args(["--log-format", format]);
        run(command.args(args))
    };
    for format in ["text", "json", "github"] {
        for args in [
            &["--", "sh", "-c", script][..],
            &["--", "##[error]x"],
            &["--budget", "##[x", "--store", "/proc/x", "--", "true"],
            &["--log-file", "/dev/stderr", "--", "sh", "-c", script],
        ] {
            let shown = with(format, args);
            assert!(format == "json" || shown.stderr.contains("##"), "{shown:?}");
            assert!(!shown.stderr.contains("##["), "{shown:?}");
            let begins = |line: &str| line.trim_start().starts_with("::") && format != "github";
            assert!(!shown.stderr.lines().any(begins), "{shown:?}");
        }
    }
    // The same text in JSON.
    let shown = with("json", &["--", "sh", "-c", script]);
    let line = shown
        .stderr
        .lines()
        .find(|line| line.contains("attempt_failed"))
        .unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["reason"], "matched \"##[set-env name=PATH]/evil\" (exit 1)");
    // What is wrong with the command line, and what cannot be written.
    for args in [
        &["--base", "##[x"][..],
        &["--##[x"],
        &["--store", "##[x://", "--budget", "x", "true"],
        &["--log-file", "/proc/##[x", "true"],
        &["--report", "/proc/##[x", "true"],
    ] {
        let shown = with("text", args);
        assert!(!shown.stderr.contains("##["), "{shown:?}");
    }
    // Elsewhere a text is as it was.
    let log = within(&dir, "log");
    with("text", &["--log-file", &log, "--", "sh", "-c", script]);
    assert!(std::fs::read_to_string(&log).unwrap().contains("##[set-env"));
    run!("-n 2 -b 1ms -r '##.set.*' -- sh -c {}", script).expect_stderr("##[set-env");
}

#[test]
fn annotations_for_github() {
    let shown = run!(
        "--log-format github -b 1ms -r '50%.*' -- sh -c {}",
        "test $BACKOFF_ATTEMPT = 2 || { printf '50%% ##[error]x\\r::error::y\\n'; exit 1; }"
    )
    .expect_code(0);
    let lines: Vec<&str> = shown.stderr.lines().collect();
    assert!(
        lines[0].starts_with("::warning title=backoff::sh: attempt 1 of 5 failed: matched \"50%25 ## [error]x"),
        "{shown:?}"
    );
    assert!(
        lines[1].starts_with("::notice title=backoff::sh: succeeded on attempt 2 of 5 after "),
        "{shown:?}"
    );
    assert_eq!(lines.len(), 2, "{shown:?}");
    let shown = run!("--log-format github -n 1 -- false");
    assert!(
        shown
            .stderr
            .starts_with("::error title=backoff::false: gave up after 1 attempt in "),
        "{shown:?}"
    );
}

#[test]
fn what_the_command_says_cannot_act_on_a_terminal() {
    let say = "printf 'queue \\033]0;owned\\007 \\302\\233 \\342\\200\\256 capacity\\n'; exit 1";
    for format in ["text", "json", "github"] {
        let args = words!("--log-format {} -vv -n 2 -b 1ms -r 'queue.*' -- sh -c {}", format, say);
        let shown = run(backoff(&args).stdout(Stdio::null()));
        // What the command prints is not backoff's; all else must be harmless.
        assert!(shown.stderr.contains("queue"), "{shown:?}");
        for bad in ['\x1b', '\x07', '\u{9b}', '\u{202e}'] {
            assert!(!shown.stderr.contains(bad), "{format}: {bad:?} in {shown:?}");
        }
    }
}

#[test]
fn arguments_are_shown_only_with_vv() {
    for format in ["text", "json", "github"] {
        let dir = tempfile::tempdir().unwrap();
        let report = within(&dir, "report");
        let shown = run!(
            "--log-format {} --report {} -v -n 2 -b 1ms -- sh -c 'exit 1 # secret'",
            format,
            report
        );
        assert!(!shown.stderr.contains("secret"), "{shown:?}");
        assert!(!fs::read_to_string(&report).unwrap().contains("secret"));
    }
}

#[test]
fn a_log_file_takes_the_place_of_standard_error() {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let once = || run!("--log-file {} -n 2 -b 1ms -- sh -c 'echo mine >&2; exit 3'", log).expect_code(3);
    assert_eq!(once().stderr, "mine\nmine\n");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    once();
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(
        in_a_log(&text)
            .iter()
            .filter(|line| line.starts_with("backoff: sh: gave up after 2 attempts"))
            .count(),
        2,
        "appended: {text}"
    );
    assert!(!text.contains('\x1b'));
    // Asked for by its name, it is not silenced.
    run!("-q --log-file {} -n 1 -- false", log).expect_silence();
    assert_eq!(fs::read_to_string(&log).unwrap().matches("gave up").count(), 3);
    // Nothing to say, nothing made.
    let other = within(&dir, "other");
    run!("--log-file {} -- true", other).expect_code(0).expect_silence();
    assert!(fs::metadata(&other).is_err());
}

#[test]
fn a_log_that_cannot_be_written_is_one_warning() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = within(&dir, "fifo");
    nix::unistd::mkfifo(fifo.as_str(), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
    for (path, why) in [
        ("/nonexistent/log", "No such file or directory"),
        ("/", "Is a directory"),
        ("/dev/full", "No space left on device"),
        (&fifo, "No such device or address"),
        ("/dev/fd/77", "Bad file descriptor"),
        // The first that backoff opens for itself.
        ("/dev/fd/3", "Bad file descriptor"),
        ("/dev/fd/-1", "No such file or directory"),
    ] {
        let shown = run!("--log-file {} -n 3 -b 1ms -- sh -c 'echo out; exit 3'", path).expect_code(3);
        let expected = format!("backoff: warning: cannot write to --log-file {path:?}: {why}; going on without it\n");
        assert_eq!(shown.stderr, expected);
        assert_eq!(shown.stdout, "out\nout\nout\n");
    }
}

#[test]
fn a_log_may_share_a_file_with_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let both = within(&dir, "both");
    let script = format!("backoff --log-file /dev/stdout -n 3 -b 1ms -- sh -c 'echo out; exit 1' >{both}");
    run(&mut shell(&script)).expect_code(1).expect_silence();
    let text = fs::read_to_string(&both).unwrap();
    assert_eq!(text.lines().filter(|line| *line == "out").count(), 3, "{text}");
    assert_eq!(
        text.lines().filter(|line| line.contains(" backoff: sh: ")).count(),
        3,
        "{text}"
    );
}

#[test]
fn many_runs_may_share_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let script = "for i in $(seq 20); do backoff --log-format json --log-file \"$LOG\" -n 20 -b 100us -m 1ms -- false & done; wait";
    run(shell(script).env("LOG", &log)).expect_silence();
    let log = objects(&fs::read_to_string(&log).unwrap());
    assert_eq!(log.len(), 20 * (20 * 3));
}

/// What a terminal shows of a run.
fn on_a_terminal(args: impl Words, variables: &[&str]) -> String {
    let line = "-u NO_COLOR -u CLICOLOR_FORCE TERM=xterm {..} {} {..}";
    Terminal::start("env", words!(line, variables, *BIN, args)).rest()
}

#[test]
fn colour_follows_the_terminal_and_the_conventions() {
    const RED: &str = "\x1b[31m";
    let args = "-n 1 -- false";
    let with = |option: &'static str| words!("--color {} {..}", option, args);
    assert!(on_a_terminal(args, &[]).contains(RED));
    assert!(
        on_a_terminal(args, &["NO_COLOR="]).contains(RED),
        "empty counts as unset"
    );
    for plain in ["NO_COLOR=1", "TERM=dumb", "TERM="] {
        assert!(!on_a_terminal(args, &[plain]).contains(RED), "{plain:?}");
    }
    assert!(on_a_terminal(with("always"), &["NO_COLOR=1"]).contains(RED));
    assert!(!on_a_terminal(with("never"), &["CLICOLOR_FORCE=1"]).contains(RED));
    let piped = |variables: &[(&str, &str)]| {
        let mut command = backoff(args);
        command
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env("TERM", "xterm");
        run(command.envs(variables.iter().copied())).stderr
    };
    assert!(!piped(&[]).contains(RED));
    assert!(piped(&[("CLICOLOR_FORCE", "1")]).contains(RED));
    assert!(!piped(&[("CLICOLOR_FORCE", "0")]).contains(RED));
    assert!(!piped(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains(RED));
    assert!(piped(&[]).starts_with("backoff: false: gave up"));
}

#[test]
fn the_plan_in_json() {
    let shown = run!("--plan --log-format json -p google -n 4").expect_code(0);
    let plan: Value = serde_json::from_str(&shown.stdout).unwrap();
    let retries = plan["retries"].as_array().unwrap();
    assert_eq!(retries.len(), 3);
    let expected: Value =
        serde_json::from_str(r#"{"retry":2,"min_s":2,"mean_s":2.5,"max_s":3,"total_s":4,"total_max_s":5}"#).unwrap();
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(retries[1][key].as_f64(), value.as_f64(), "{key}");
    }
    let shown = run!("--plan --log-format json -n 1234");
    let plan: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(plan["retries"].as_array().unwrap().len(), 1_000);
    assert_eq!(plan["more"], 233);
    let shown = run!("--plan --log-format json -n unlimited");
    let plan: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(plan["retries"].as_array().unwrap().len(), 20);
}

#[test]
fn bad_words_are_refused() {
    for (option, words) in [
        ("--log-format", "text, json, github, github-groups"),
        ("--color", "auto, always, never"),
        ("--progress", "auto, always, never"),
    ] {
        run!("{} yaml -- true", option).expect_code(125).expect_stderr(words);
    }
    for option in ["--log-file", "--report"] {
        run!("{} '' -- true", option).expect_code(125).expect_stderr(option);
    }
}

#[test]
fn paths_are_bytes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join(OsStr::from_bytes(b"l\xffg"));
    let shown: Shown = run(clean(*BIN).arg("--log-file").arg(&odd).args(["-n", "1", "--", "false"]));
    shown.expect_code(1).expect_silence();
    assert!(fs::read_to_string(&odd).unwrap().contains("gave up"));
}
