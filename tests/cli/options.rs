//! The command line: grammars, sources and their order, bad input.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::common::options::{OPTIONS, Opt, Takes};
use crate::common::words::Words;
use crate::common::{backoff, executable, ran, run, shell, within};

/// Refused before anything was started, in one line that says all of this.
#[track_caller]
fn refused(args: impl Words, says: &[&str]) {
    refused_as_it_is(words!("{..} -- echo started", args), says);
}

#[track_caller]
fn refused_as_it_is(args: impl Words, says: &[&str]) {
    let shown = ran(args).expect_code(125);
    assert_eq!(shown.stdout, "", "{shown:?}");
    assert_eq!(shown.stderr.lines().count(), 1, "{shown:?}");
    assert!(shown.stderr.starts_with("backoff: "), "{shown:?}");
    for part in says {
        assert!(shown.stderr.contains(part), "no {part:?} in {shown:?}");
    }
}

#[test]
fn no_command() {
    refused_as_it_is("", &["no command given"]);
    refused_as_it_is("--", &["no command given"]);
    refused_as_it_is("-n 3", &["no command given"]);
}

#[test]
fn unknown_options_are_never_the_command() {
    refused(
        "--attempt 3",
        &["'--attempt'", "a similar argument exists: '--attempts'"],
    );
    refused("-x", &["'-x'"]);
    refused("--no-such-thing=1", &["'--no-such-thing'"]);
    let shown = run(backoff("").arg(OsStr::from_bytes(b"--\xff")).arg("echo")).expect_code(125);
    assert!(
        shown.stdout.is_empty() && shown.stderr.contains("unexpected argument"),
        "{shown:?}"
    );
}

#[test]
fn values_that_cannot_be_read_are_quoted_and_a_good_one_is_shown() {
    let durations = [
        "--deadline",
        "--timeout",
        "--kill-after",
        "--base",
        "--max-delay",
        "--stop-at-delay",
        "--initial-delay",
        "--splay",
        "--reset-after",
        "--idle-timeout",
        "--max-retry-after",
    ];
    for option in durations {
        for bad in [
            "5parsecs",
            "-1",
            "-5s",
            "nan",
            "inf",
            "",
            "1e3",
            "１",
            "5M",
            "1y",
            "0.0000000001s",
        ] {
            refused([option, bad], &[option, &format!("{bad:?}"), "try 500ms, 2s"]);
            refused(
                [&format!("{option}={bad}")],
                &[option, &format!("{bad:?}"), "try 500ms, 2s"],
            );
        }
    }
    for option in ["--success-match", "--fail-match", "--retry-match", "--stop-match"] {
        refused([option, ""], &[option, "\"\" is empty", "'timed out|refused'"]);
    }
    for bad in ["0", "-1", "1.5", "five", "", "99999999999999999999999", "٣"] {
        refused(words!("-n {}", bad), &["--attempts", &format!("{bad:?}"), "unlimited"]);
    }
    for bad in ["0.5", "nan", "inf", "-2", "1e999", "x"] {
        refused(words!("-f {}", bad), &["--factor", &format!("{bad:?}"), "try 2"]);
    }
    for option in ["--success-exit", "--retry-exit", "--stop-exit"] {
        for bad in [
            "256", "1,,2", "5-3", "-1", "", "teapot", "1-999", "SIGNOPE", "RTMIN+99", "KILL-HUP", "time-out",
        ] {
            refused(
                [option, bad],
                &[option, &format!("{bad:?}"), "try 7, 1,2,75 or 100-110"],
            );
        }
    }
    for bad in ["0=1", "24=", "1=0=0", "timeout", "timeout=0", "=0"] {
        refused(["--success-exit", bad], &["--success-exit", &format!("{bad:?}")]);
    }
    refused("--signal SIGNOPE", &["--signal", "\"SIGNOPE\"", "try TERM"]);
    for option in ["--exhausted-exit", "--flaky-exit"] {
        for bad in ["256", "-1", "1,2", "teapot"] {
            refused([option, bad], &[option, &format!("{bad:?}"), "0 to 255"]);
        }
    }
    refused("--seed -1", &["--seed", "\"-1\""]);
    refused("--consecutive 0", &["--consecutive", "\"0\"", "at least 1"]);
    refused("-j slotted:99", &["--jitter", "\"slotted:99\"", "1 to 62"]);
    refused("-j full:9", &["\"full:9\" is not one of"]);
    refused("-j additive --spread 25%", &["--spread", "\"25%\"", "duration"]);
    refused("-j proportional --spread 1s", &["--spread", "\"1s\"", "percentage"]);
    refused(
        "-j proportional --spread 101%",
        &["--spread", "\"101%\"", "from 0% to 100%"],
    );
    refused("--delays 1s,,2s", &["--delays", "\"1s,,2s\"", "; try 1s,5s,30s"]);
    refused(
        "--growth cubic",
        &["--growth", "\"cubic\"", "exponential, linear, fibonacci, constant"],
    );
    refused("--jitter some", &["--jitter", "\"some\"", "decorrelated"]);
    refused(
        "--policy mine",
        &["--policy", "\"mine\"", "sip, google, ethernet, aws, clojure"],
    );
    refused("--nested never", &["--nested", "\"never\"", "allow, once, warn"]);
    refused("--generate html", &["--generate", "\"html\"", "man, complete-bash"]);
}

#[test]
fn every_value_must_be_there_and_be_text() {
    for opt in OPTIONS.iter() {
        let flag = format!("--{}", opt.long);
        match &opt.takes {
            Takes::Value(_) | Takes::Word(_) => {
                refused_as_it_is([&flag], &[&flag, "a value is required"]);
                for next in ["--", "-n", "--attempts", "--attempts=3", "-h", "--version"] {
                    refused([&flag, next], &[&flag, "a value is required", next, "follows"]);
                }
                if matches!(&opt.takes, Takes::Value(name) if name.starts_with("PATH")) {
                    // A path is bytes.
                    continue;
                }
                let shown = run(backoff([&flag])
                    .arg(OsStr::from_bytes(b"\xff\xfe"))
                    .args(["echo", "started"]))
                .expect_code(125);
                assert!(shown.stdout.is_empty(), "{flag}: {shown:?}");
            }
            Takes::Optional(_) => refused([&format!("{flag}=")], &[&flag, "is"]),
            Takes::Nothing => {
                refused([&format!("{flag}=3")], &[&flag, "unexpected value"]);
            }
        }
    }
}

#[test]
fn contradictions_are_refused() {
    refused("-b 10s -m 1s", &["--base 10s", "--max-delay 1s"]);
    refused("--growth linear --delays 1s", &["--growth linear", "--delays 1s"]);
    refused(
        "--jitter decorrelated --growth linear",
        &["--jitter decorrelated", "--growth linear"],
    );
    refused(
        "--jitter slotted --growth linear",
        &["--jitter slotted", "--growth linear"],
    );
    refused(
        "--jitter decorrelated --delays 1s",
        &["--jitter decorrelated", "--delays 1s"],
    );
    refused("-q -v", &["--quiet", "--verbose"]);
    refused("--log-file x --report x", &["--log-file x", "--report x"]);
    refused(
        "--spread 1s -j full",
        &["--spread 1s", "--jitter full", "additive or proportional"],
    );
    refused("--consecutive 6", &["--consecutive 6", "5 attempts"]);
    refused("--stop-at-delay 10s -m 5s", &["--stop-at-delay 10s", "--max-delay 5s"]);
    refused("--reset-after 0", &["--reset-after 0"]);
    refused(
        "-d 5s --initial-delay 3s --splay 2s",
        &["--initial-delay 3s and --splay 2s"],
    );
}

#[test]
fn whatever_its_source_a_contradiction_is_refused() {
    for (args, variable, value, says) in [
        (
            "-n 2",
            "BACKOFF_CONSECUTIVE",
            "3",
            "BACKOFF_CONSECUTIVE=3 can never be reached with 2 attempts",
        ),
        (
            "--consecutive 3",
            "BACKOFF_ATTEMPTS",
            "2",
            "--consecutive 3 can never be reached with 2 attempts",
        ),
        (
            "--idempotent no",
            "BACKOFF_CONSECUTIVE",
            "3",
            "cannot go with BACKOFF_CONSECUTIVE=3",
        ),
        (
            "--idempotent no",
            "BACKOFF_UNTIL",
            "never",
            "cannot go with BACKOFF_UNTIL=never",
        ),
    ] {
        let shown = run(backoff(words!("{..} -- echo started", args)).env(variable, value)).expect_code(125);
        assert!(shown.stdout.is_empty() && shown.stderr.contains(says), "{shown:?}");
    }
}

#[test]
fn a_weaker_source_gives_way_where_two_exclude_each_other() {
    let plan = |variable: (&str, &str), args: &str| {
        run(backoff(words!("--plan -n 3 -j none {..}", args)).env(variable.0, variable.1))
            .expect_code(0)
            .stdout
    };
    assert!(plan(("BACKOFF_GROWTH", "linear"), "--delays 7s").contains("7s"));
    assert!(plan(("BACKOFF_DELAYS", "7s"), "--growth constant").contains("500ms"));
    run(backoff("-v -- true").env("BACKOFF_QUIET", "1")).expect_stderr("succeeded");
    run(backoff("-q -n 1 -- false").env("BACKOFF_VERBOSE", "2")).expect_silence();
    run(backoff("--plan -g linear").env("BACKOFF_JITTER", "decorrelated")).expect_code(0);
    run(backoff("--plan -g linear").env("BACKOFF_POLICY", "ethernet")).expect_code(0);
    run(backoff("--plan -j full").env("BACKOFF_SPREAD", "3s")).expect_code(0);
}

#[test]
fn defaults_give_way_to_what_is_given() {
    let plan = |args: &str| ran(args).expect_code(0).stdout;
    assert!(plan("--plan -m 100ms -j none").contains(" 100ms "));
    assert!(plan("--plan --delays 1m -j none").contains(" 1m "));
    assert!(plan("--plan --delays 1m -m 5s -j none").contains(" 5s "));
    assert!(plan("--plan -p sip --delays 10s -n 2").contains(" 10s "));
    assert!(plan("--plan -p aws -n 99 -j none --stop-at-delay 60s").contains(" 51.2s "));
    assert!(plan("--plan -n 99 -b 1s --stop-at-delay 1m -j none").contains(" 32s "));
}

#[test]
fn a_plan_counts_the_first_delay_and_comes_line_by_line() {
    let shown = run!("--plan -d 300ms --initial-delay 200ms -b 150ms -j none");
    assert_eq!(
        shown.expect_code(0).stdout,
        "before the first attempt: 200ms, which is part of --deadline\n--deadline 300ms leaves no time for a retry\n"
    );
    let shown = run(&mut shell(
        "backoff --plan -n 99999999999 -j none | sed -n '51{p;q}'; echo ${PIPESTATUS[0]}",
    ));
    let words: Vec<&str> = shown.stdout.split_whitespace().collect();
    assert_eq!(words, ["50", "30s", "30s", "30s", "22m32s", "22m32s", "22m32s", "141"]);
}

#[test]
fn options_end_at_the_first_other_word() {
    let shown = run!("-n 1 echo -n 3 --help -- --base");
    assert_eq!(shown.stdout, "3 --help -- --base");
    assert_eq!(run!("-- echo -- x").stdout, "-- x\n");
    assert_eq!(run!("printf %s --version").stdout, "--version");
    run!("-q -- --help").expect_code(127);
    run!("-q -- -n").expect_code(127);
}

#[test]
fn the_last_of_an_option_given_twice_counts() {
    let shown = run!("-n 9 -b 1ms -n2 --attempts=3 -- sh -c 'echo $BACKOFF_ATTEMPT; false'");
    assert_eq!(shown.stdout, "1\n2\n3\n");
}

#[test]
fn flags_beat_variables_beat_policies_beat_defaults() {
    let limit = |args: &str, variables: &[(&str, &str)]| {
        let all = words!("{..} -- sh -c 'echo $BACKOFF_ATTEMPT_LIMIT'", args);
        run(backoff(all).envs(variables.iter().copied())).expect_code(0).stdout
    };
    assert_eq!(limit("", &[]), "5\n");
    assert_eq!(limit("-p aws", &[]), "3\n");
    assert_eq!(limit("", &[("BACKOFF_POLICY", "ethernet")]), "16\n");
    assert_eq!(limit("-p aws", &[("BACKOFF_ATTEMPTS", "7")]), "7\n");
    assert_eq!(limit("-p aws -n 9", &[("BACKOFF_ATTEMPTS", "7")]), "9\n");
    assert_eq!(limit("", &[("BACKOFF_ATTEMPTS", "")]), "5\n");
}

#[test]
fn a_plan_of_very_many_retries_has_an_end() {
    for (attempts, more) in [
        ("1001", None),
        ("1002", Some("and 1 more")),
        ("18446744073709551615", Some("and 18446744073709550614 more")),
    ] {
        let shown = run!("--plan -n {}", attempts).expect_code(0);
        let lines: Vec<&str> = shown.stdout.lines().collect();
        assert!(lines[1_000].starts_with(" 1000  "), "{}", lines[1_000]);
        assert_eq!(lines.get(1_001).copied(), more);
        assert!(lines.len() <= 1_002);
    }
}

#[test]
fn a_bad_variable_is_named() {
    for opt in OPTIONS.iter() {
        let variable = opt.variable();
        let mut command = backoff("-- echo started");
        // Any text is a shell command or a name, and nearly any a regular expression.
        let bad = match &*opt.long {
            "retry-if" | "success-if" | "on-retry" | "before-retry" | "on-give-up" | "budget" | "log-file"
            | "report" => continue,
            // These have no variable.
            long if ACTIONS.contains(&long) => continue,
            "store" => "-bad-://",
            "label" => "@bad\t@",
            long if long.ends_with("-match") => "(@bad@",
            _ => "@bad@",
        };
        command.env(&variable, bad);
        // Some are looked at only where another option makes them mean something.
        match &*opt.long {
            "spread" => command.env("BACKOFF_JITTER", "additive"),
            _ => &mut command,
        };
        let shown = run(&mut command).expect_code(125);
        assert!(shown.stdout.is_empty(), "{variable}: {shown:?}");
        assert!(
            shown.stderr.starts_with(&format!("backoff: {variable}: {bad:?} ")),
            "{shown:?}"
        );
    }
    let shown = run(backoff("-- echo").env("BACKOFF_BASE", OsStr::from_bytes(b"\xff"))).expect_code(125);
    assert!(shown.stderr.contains("BACKOFF_BASE"), "{shown:?}");
}

#[test]
fn every_option_has_a_working_variable() {
    // For each option a value whose effect shows.
    let shows: &[(&str, &str, &str, &str)] = &[
        ("attempts", "2", "-- sh -c 'echo $BACKOFF_ATTEMPT_LIMIT'", "2\n"),
        ("deadline", "0.1", "-q --exhausted-exit 9 -- sleep 9", "9"),
        (
            "stop-after",
            "3s",
            "--plan --every 2s",
            "--stop-after 3s ends the run after 1 retry",
        ),
        ("timeout", "0.1", "-q -n 1 -- sleep 9", "124"),
        (
            "signal",
            "KILL",
            r#"-q -n 1 -t 0.1 -k 0 -- bash -c "trap '' TERM; while :; do sleep 0.01; done""#,
            "124",
        ),
        (
            "kill-after",
            "0.1",
            r#"-q -n 1 -t 0.1 -- bash -c "trap '' TERM; while :; do sleep 0.01; done""#,
            "124",
        ),
        ("every", "7s", "--plan -n 3", "2 7s 7s 7s 14s 14s 14s"),
        ("base", "3s", "--plan -j none -n 2", "3s"),
        ("factor", "5", "--plan -j none -n 3", "2.5s"),
        ("max-delay", "600ms", "--plan -j none -n 3", "600ms"),
        ("growth", "linear", "--plan -j none -n 4", "1.5s"),
        ("delays", "3s,9s", "--plan -j none -n 3", "9s"),
        ("jitter", "none", "--plan -n 2", "1 500ms 500ms 500ms 500ms 500ms"),
        ("spread", "7s", "--plan -j additive -n 2", "7.5s"),
        (
            "stop-at-delay",
            "1s",
            "--plan -j none",
            "--stop-at-delay ends the run here",
        ),
        (
            "initial-delay",
            "1ms",
            "-vv -- true",
            "initial-delay = 1ms (BACKOFF_INITIAL_DELAY)",
        ),
        ("splay", "1ms", "-vv -- true", "splay = 1ms (BACKOFF_SPLAY)"),
        ("reset-after", "0", "-- true", "125"),
        ("seed", "1", "-- true", "0"),
        ("policy", "sip", "--plan -n 5", "4s"),
        ("until", "never", "-n 2 -b 1ms -- true", "attempt limit reached"),
        ("success-exit", "3", "-q -- sh -c 'exit 3'", "3"),
        ("consecutive", "2", "-- sh -c 'echo $BACKOFF_ATTEMPT'", "1\n2\n"),
        ("retry-exit", "9", "-- false", "no retry rule matches"),
        ("stop-exit", "1", "-- false", "permanent: --stop-exit"),
        (
            "budget",
            "api",
            "--store /proc/none -- true",
            "going on without the budget \"api\"",
        ),
        ("budget-ratio", "10", "-- true", "BACKOFF_BUDGET_RATIO"),
        ("budget-min", "-1", "-- true", "BACKOFF_BUDGET_MIN"),
        ("budget-window", "0", "-- true", "BACKOFF_BUDGET_WINDOW"),
        ("cool-off", "maybe", "-- true", "BACKOFF_COOL_OFF"),
        ("skipped-exit", "0", "-- true", "BACKOFF_SKIPPED_EXIT"),
        ("store", "/proc/none", "--budget api -- true", "/proc/none"),
        ("store-down", "maybe", "-- true", "BACKOFF_STORE_DOWN"),
        ("nested", "once", "-- false", "leaves retries to the outer backoff"),
        ("log-format", "json", "-n 1 -- false", "\"event\":\"gave_up\""),
        ("log-file", "/dev/stdout", "-n 1 -- false", "gave up after 1 attempt"),
        ("label", "job", "-n 1 -- false", "backoff: job: gave up"),
        ("report", "/dev/stdout", "-- true", "\"result\":\"succeeded\""),
        ("color", "always", "-n 1 -- false", "\u{1b}[31mfalse: gave up"),
        ("progress", "maybe", "-- true", "BACKOFF_PROGRESS"),
        ("on-retry", "echo hooked", "-n 2 -b 1ms -- false", "hooked"),
        ("on-give-up", "echo hooked", "-n 1 -- false", "hooked"),
        ("before-retry", "echo hooked", "-n 2 -b 1ms -- false", "hooked"),
        (
            "hook-output",
            "1",
            "-n 1 --stdout null --on-give-up 'sed s/^/hooked-/' -- sh -c 'echo out; exit 1'",
            "hooked-out",
        ),
        ("quiet", "1", "-n 1 -- false", "1"),
        ("verbose", "2", "-- true argument", "'argument'"),
        ("exhausted-exit", "75", "-q -n 1 -- false", "75"),
        ("flaky-exit", "9", "-q -b 1ms -- sh -c 'test $BACKOFF_ATTEMPT = 2'", "9"),
        ("c-locale", "1", "-- sh -c 'echo $LC_ALL'", "C.UTF-8"),
        ("idle-timeout", "0.1", "-q -n 1 -- sleep 9", "124"),
        ("success-match", "yes", "-q -n 1 -- echo no", "no"),
        (
            "fail-match",
            "no",
            "-n 1 -- echo no",
            "matched \"no\" (exit 0; --fail-match; ",
        ),
        ("retry-match", "x", "-- false", "no retry rule matches"),
        (
            "stop-match",
            "bad",
            "-- sh -c 'echo bad; exit 1'",
            "permanent: --stop-match",
        ),
        ("retry-if", "exit 1", "-- false", "permanent: --retry-if"),
        ("success-if", "exit 1", "-n 1 -- true", "--success-if says no (exit 0; "),
        ("for", "curl", "-- sh -c 'exit 3'", "gave up after 1 attempt"),
        (
            "match-on",
            "stderr",
            "-n 1 --stop-match bad -- sh -c 'echo bad; exit 1'",
            "exit 1",
        ),
        (
            "retry-after",
            "1",
            "-d 9s -- sh -c 'echo Retry-After: 60; exit 1'",
            "after --deadline 9s",
        ),
        (
            "max-retry-after",
            "1s",
            "--retry-after -- sh -c 'echo Retry-After: 60; exit 1'",
            "--max-retry-after",
        ),
        ("stdin", "null", "-- readlink /proc/self/fd/0", "/dev/null"),
        ("stdin-limit", "oops", "-- true", "BACKOFF_STDIN_LIMIT"),
        ("stdout", "null", "-- readlink /proc/self/fd/1", "0"),
        ("stderr", "null", "-q -- readlink /proc/self/fd/2", "/dev/null"),
        ("pty", "1", "-n 1 -- sh -c 'tty <&1'", "/dev/pts/"),
        ("idempotent", "no", "-- false", "is not idempotent"),
        ("config", "/no/such/file", "-- true", "No such file or directory"),
    ];
    for opt in OPTIONS.iter().filter(|opt| !ACTIONS.contains(&&*opt.long)) {
        let (_, value, args, expected) = shows
            .iter()
            .find(|(long, ..)| *long == opt.long)
            .unwrap_or_else(|| panic!("--{} is not shown here", opt.long));
        let mut command = backoff(args);
        command.env(opt.variable(), value);
        match &*opt.long {
            "nested" => command.env("BACKOFF_DEPTH", "1"),
            _ => &mut command,
        };
        let shown = run(&mut command);
        let all = format!("{}{}{}", shown.stdout, shown.stderr, shown.code().unwrap_or(-1));
        let all = if opt.long == "consecutive" {
            all
        } else {
            all.split(' ')
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(
            all.contains(expected),
            "{}: no {expected:?} in {shown:?}",
            opt.variable()
        );
    }
}

/// What backoff does in place of running a command.
const ACTIONS: [&str; 5] = ["plan", "plot", "list-presets", "list-policies", "generate"];

/// What a variable might plausibly hold that somebody has left in the environment of a machine.
fn plausible(opt: &Opt) -> Vec<&str> {
    let mut values = vec!["0", "1", "TERM", "skip"];
    if let Takes::Word(words) = &opt.takes {
        values.extend(words.iter().map(String::as_str));
    }
    values
}

/// A variable that is left over somewhere must not turn a deploy into a false success.
#[test]
fn no_variable_makes_a_success_of_a_command_that_was_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let files = ["config", "log-file", "report"];
    let others = ["HELP", "VERSION", "N", "H", "V", "DRY_RUN", "SKIP"].map(|name| format!("BACKOFF_{name}"));
    let known = OPTIONS.iter().flat_map(|opt| {
        let values = plausible(opt).into_iter().map(str::to_owned);
        values.map(|value| {
            (
                opt.variable(),
                if files.contains(&&*opt.long) {
                    within(&dir, "file")
                } else {
                    value
                },
            )
        })
    });
    let unknown = others
        .into_iter()
        .flat_map(|name| ["0", "1"].map(|value| (name.clone(), value.to_owned())));
    for (name, value) in known.chain(unknown) {
        let ran = within(&dir, "ran");
        let mut command = backoff(words!("-- sh -c 'echo >{}'", ran));
        // Waits that would take longer are refused.
        command.env("BACKOFF_DEADLINE", "1s").env("XDG_STATE_HOME", dir.path());
        let shown = run(command.env(&name, &value));
        let has_run = std::fs::remove_file(&ran).is_ok();
        assert!(has_run || shown.code() != Some(0), "{name}={value}: {shown:?}");
    }
    for action in ACTIONS {
        let name = format!("BACKOFF_{}", action.replace('-', "_").to_uppercase());
        let value = if action == "generate" { "man" } else { "1" };
        let shown = run(backoff("-- echo ran").env(&name, value)).expect_code(0);
        assert_eq!(shown.stdout, "ran\n");
        assert!(shown.stderr.contains(&format!(
            "the variable \"{name}\" has no meaning; --{action} is taken from the command line alone\n"
        )));
    }
}

#[test]
fn nor_do_variables_together() {
    let dir = tempfile::tempdir().unwrap();
    let ended = |args: &str, variables: &[(&str, &str)]| {
        let command = &mut backoff(args);
        run(command
            .envs(variables.iter().copied())
            .env("XDG_STATE_HOME", dir.path()))
        .code()
    };
    let exhausted = ("BACKOFF_EXHAUSTED_EXIT", "0");
    // One run leaves a wait behind that the next one has no time for.
    let budget = ("BACKOFF_BUDGET", "api");
    assert_eq!(ended("-q -n 1 -b 20s -j none -m 1m -- false", &[budget]), Some(1));
    let cool_off = [budget, ("BACKOFF_COOL_OFF", "1"), ("BACKOFF_DEADLINE", "1s")];
    assert_eq!(ended("-q -- true", &cool_off), Some(124));
    assert_eq!(ended("-q -- true", &[&cool_off[..], &[exhausted]].concat()), Some(125));
    let missing = [
        ("BACKOFF_RETRY_EXIT", "127"),
        ("BACKOFF_ATTEMPTS", "2"),
        ("BACKOFF_BASE", "1ms"),
    ];
    for (variables, code) in [(&missing[..], 127), (&[&missing[..], &[exhausted]].concat(), 125)] {
        assert_eq!(ended("-q -- no-such-command", variables), Some(code));
        let until = [variables, &[("BACKOFF_UNTIL", "never")]].concat();
        assert_eq!(ended("-q -- no-such-command", &until), Some(code), "{until:?}");
    }
    let shown = run(backoff("-- true").env("BACKOFF_EXHAUSTED_EXIT", "0"));
    shown.expect_stderr("BACKOFF_EXHAUSTED_EXIT: \"0\" is taken from the command line alone");
    run!("-q -n 1 --exhausted-exit 0 -- false").expect_code(0);
}

/// A failing deployment stays one, whatever is left over somewhere.
#[test]
fn that_a_failure_is_wanted_has_to_be_typed() {
    let dir = tempfile::tempdir().unwrap();
    let (file, ran) = (within(&dir, "config.toml"), within(&dir, "ran"));
    let line = |said: &str| {
        format!("backoff: {said}: failure is taken from the command line alone, as it makes a success of a failure\n")
    };
    let fails = words!("-- sh -c 'touch {}; exit 1'", ran);
    for command in [
        fails.clone(),
        words!("-- env -i no-such-program"),
        words!("-n 9 -- true"),
    ] {
        let shown = run(backoff(command).env("BACKOFF_UNTIL", "failure")).expect_code(125);
        assert_eq!(shown.stderr, line("BACKOFF_UNTIL=failure"));
        assert!(!std::fs::exists(&ran).unwrap());
    }
    std::fs::write(&file, "[defaults]\nuntil = 'failure'\n").unwrap();
    let with_file = |words: &[String]| {
        let words = words!("-n 2 -b 1ms --config {} {..}", file, words);
        run(backoff(words).env_remove("BACKOFF_CONFIG"))
    };
    let said = format!("--until failure ({file}:2:9)");
    let shown = with_file(&fails).expect_code(125);
    assert_eq!(shown.stderr, line(&said));
    // The others may come from anywhere, and what was typed counts.
    for until in ["never", "success"] {
        std::fs::write(&file, format!("[defaults]\nuntil = '{until}'\n")).unwrap();
        with_file(&fails).expect_code(1);
        run(backoff("-q -n 2 -b 1ms -- false").env("BACKOFF_UNTIL", until)).expect_code(1);
        run(backoff("-q --until failure -- false").env("BACKOFF_UNTIL", until)).expect_code(0);
    }
    run(backoff("--until success -- true").env("BACKOFF_UNTIL", "failure")).expect_code(0);
}

#[test]
fn every_word_of_a_list_is_accepted() {
    for opt in OPTIONS.iter() {
        if let Takes::Word(words) = &opt.takes {
            for word in words {
                run!("--plan {}", format!("--{}={word}", opt.long)).expect_code(0);
            }
        }
    }
}

#[test]
fn a_preset_that_is_named_twice_counts_once() {
    let rules = |presets: &str| {
        let said = run!("-vv --for {} -- true", presets).expect_code(0).stderr;
        said.lines().filter(|line| line.contains("for network = ")).count()
    };
    assert!(rules("network") > 0 && rules("network") == rules(&["network"; 100].join(",")));
}

#[test]
fn auto_judges_what_it_does_not_know_as_without_it() {
    run!("-q --for auto -b 1ms -- sh -c 'test $BACKOFF_ATTEMPT = 2'").expect_code(0);
}

#[test]
fn switches_take_on_and_off_from_variables() {
    for (value, silent) in [
        ("1", true),
        ("yes", true),
        ("true", true),
        ("0", false),
        ("off", false),
        ("", false),
    ] {
        let shown = run(backoff("-n 1 -- false").env("BACKOFF_QUIET", value));
        assert_eq!(shown.stderr.is_empty(), silent, "{value:?}");
    }
}

#[test]
fn huge_values_saturate() {
    for huge in ["99999999999999999999", "99999999999999w"] {
        run!("--plan -m {} -n 9999 -f 1e300", huge).expect_code(0);
        for option in ["-t", "-d", "-k", "--stop-at-delay", "--reset-after"] {
            run!("{} {} -- true", option, huge).expect_code(0);
        }
    }
    run!("-n 18446744073709551615 -- true").expect_code(0);
}

#[test]
fn decimals_are_rounded_and_never_mean_for_ever() {
    run!("-q -n 1 -t 0.3333333333333333s -- sleep 9").expect_code(124);
    let shown = run(backoff("-q -n 1 -- sleep 9").env("BACKOFF_TIMEOUT", "0.0011111111111111h,1m")).expect_code(124);
    assert!(shown.stderr.is_empty(), "{shown:?}");
    assert!(
        run!("--plan -n 2 -j none -b 0.33333333333333333333333m")
            .stdout
            .contains(" 20s ")
    );
    run!("-b 5M -- true")
        .expect_code(125)
        .expect_stderr("5m would be minutes");
}

#[test]
fn slotted_jitter_has_a_ceiling() {
    let last = |jitter: &str| {
        run!("--plan -n 9 -j {}", jitter)
            .expect_code(0)
            .stdout
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    let row = last("slotted:1");
    assert!(
        row.split_whitespace().take(4).eq(["8", "0s", "250ms", "500ms"]),
        "{row}"
    );
    assert_eq!(last("slotted"), last("slotted:10"));
    run!("-vv -j slotted:4 -- true").expect_stderr("backoff: jitter = slotted:4 (--jitter)\n");
}

#[test]
fn a_deadline_lifts_limits_of_attempts_from_weaker_sources() {
    let limit = |args: &str, variables: &[(&str, &str)]| {
        let all = words!("{..} -- sh -c 'echo $BACKOFF_ATTEMPT_LIMIT'", args);
        run(backoff(all).envs(variables.iter().copied())).expect_code(0).stdout
    };
    let two = ("BACKOFF_ATTEMPTS", "2");
    assert_eq!(limit("-d 9s", &[two]), "\n");
    assert_eq!(limit("-d 9s -p aws", &[]), "\n");
    assert_eq!(limit("--stop-after 9s", &[two]), "\n");
    assert_eq!(limit("-p aws", &[("BACKOFF_DEADLINE", "9s")]), "\n");
    assert_eq!(limit("-d 9s -n 2", &[]), "2\n");
    assert_eq!(limit("-n 3", &[("BACKOFF_DEADLINE", "9s")]), "3\n");
    assert_eq!(limit("", &[two, ("BACKOFF_DEADLINE", "9s")]), "2\n");
    assert_eq!(limit("-d 0", &[two]), "2\n");
    run(backoff("-vv -d 9s -- true").env(two.0, two.1))
        .expect_stderr("backoff: attempts = unlimited (BACKOFF_ATTEMPTS says 2)\n");
}

#[test]
fn tiny_bounds_are_bounds_and_zero_is_none() {
    run!("-q -n 1 -t 1ns -- sleep 9").expect_code(124);
    run!("-t 0 -d 0 -- sleep 0.05").expect_code(0);
}

#[test]
fn what_is_said_and_when() {
    let fails = "-n 2 -b 1ms -- sh -c 'exit 7' secret";
    let shown = ran(fails);
    assert!(
        !shown.stderr.contains("secret") && !shown.stderr.contains("starting"),
        "{shown:?}"
    );
    let verbose = run!("-v {..}", fails);
    assert!(
        verbose.stderr.contains("attempt 1 of 2: starting 'sh'\n") && !verbose.stderr.contains("secret"),
        "{verbose:?}"
    );
    let very = run!("-vv {..}", fails);
    assert!(very.stderr.contains("starting 'sh' '-c' 'exit 7' 'secret'"), "{very:?}");
    run!("-q {..}", fails).expect_silence();
    run!("-v -e 7 -n 2 -b 1ms -- sh -c 'exit 7'").expect_stderr("exit 7 (--retry-exit) after");
    run!("-q -- no-such-command-here").expect_stderr("cannot run 'no-such-command-here'");
    run!("-- {}", "/no/such\n\x1b[31m").expect_stderr(r"cannot run $'/no/such\n\x1B[31m': command not found");
    run!("-n unlimited -b 1ms -- sh -c 'test $BACKOFF_ATTEMPT = 2'")
        .expect_stderr("backoff: sh: succeeded on attempt 2 after ");
}

#[test]
fn rules_from_the_command_line() {
    let attempts = |args: &str, script: &str| {
        let script = format!("echo; {script}");
        run!("-q -n 3 -b 1ms {..} -- sh -c {}", args, script).stdout.len()
    };
    assert_eq!(attempts("-e 1-3", "exit 2"), 3);
    assert_eq!(attempts("-e 1-3", "exit 4"), 1);
    assert_eq!(attempts("-e 1-3 --stop-exit 2", "exit 2"), 1);
    assert_eq!(attempts("--stop-exit 2", "exit 3"), 3);
    assert_eq!(attempts("--retry-exit tempfail", "exit 75"), 3);
    assert_eq!(attempts("--success-exit 0,3", "exit 3"), 1);
    for (rules, script, times) in [
        ("-e HUP,SIGTERM", "kill -TERM $$", 3),
        ("-e HUP", "kill -TERM $$", 1),
        ("-e HUP", "exit 1", 1),
        ("-e rtmax-1", "kill -s RTMAX-1 $$", 3),
        ("--stop-exit KILL", "kill -KILL $$", 1),
        ("--stop-exit KILL", "kill -TERM $$", 3),
        ("-t 60ms -e timeout", "sleep 9", 3),
        ("-t 9s -e timeout", "exit 7", 1),
        ("-t 60ms -e 75", "sleep 9", 3),
        ("-t 60ms --stop-exit 1,timeout", "sleep 9", 1),
        ("-i 60ms --stop-exit timeout", "sleep 9", 1),
        ("-t 60ms --idempotent no", "sleep 9", 1),
        ("-t 60ms --idempotent no -e timeout", "sleep 9", 3),
    ] {
        assert_eq!(attempts(rules, script), times, "{rules}");
    }
    assert_eq!(attempts("-t 60ms", "sleep 9"), 3);
}

#[test]
fn a_code_of_success_may_become_0() {
    for (words, script, code) in [
        ("--success-exit 0,24=0", "exit 24", 0),
        ("--success-exit 0,24=0", "exit 0", 0),
        ("--success-exit 20-30=0,2", "exit 22", 0),
        ("--success-exit 0,2", "exit 2", 2),
        ("--success-exit 0 --success-exit SIGTERM=0", "kill $$", 0),
        (
            "--success-exit 0,1=0 --success-match 'created|exists'",
            "echo it exists; exit 1",
            0,
        ),
        (
            "--success-exit 0,1=0 --success-match 'created|exists'",
            "echo no; exit 1",
            1,
        ),
        (
            "--success-exit 24=0 --flaky-exit 9",
            "test $BACKOFF_ATTEMPT = 1 || exit 24; exit 3",
            9,
        ),
        ("--success-exit 24=0 --until never", "exit 24", 0),
    ] {
        run!("-q -n 2 -b 1ms {..} -- sh -c {}", words, script).expect_code(code);
    }
}

#[test]
fn slips_of_newcomers_get_a_hint() {
    for (words, hint) in [
        ("-- 'ls -la'", "a command line needs a shell; try backoff sh -c '...'"),
        ("-- FOO=1 true", "to set a variable, try backoff env 'FOO=1' ..."),
        ("-- -n 3 true", "options of backoff stand before --"),
    ] {
        ran(words).expect_code(127).expect_stderr(hint);
    }
    let plain = run!("-- /no/such/command").expect_code(127);
    assert!(!plain.stderr.contains(';'), "{plain:?}");
    run!("--for curl,foo -- true")
        .expect_code(125)
        .expect_stderr("names no preset with \"foo\"");
    run!("--store redis.example.com:6379 -- true")
        .expect_code(125)
        .expect_stderr("try redis://HOST:6379");
}

#[test]
fn a_dash_is_standard_output() {
    let shown = run!("--report - -- true").expect_code(0);
    assert!(shown.stdout.starts_with("{\"schema\":1,"), "{shown:?}");
    let shown = run!("--log-file - -n 1 -- false").expect_code(1).expect_silence();
    assert!(shown.stdout.contains(" backoff: false: gave up"), "{shown:?}");
}

#[test]
fn verbose_tells_of_variables_without_a_meaning() {
    let told = |name: &str, args: &str| run(backoff(args).env(name, "2")).expect_code(0);
    for (name, hint) in [
        ("BACKOFF_MIN_DELAY", "; did you mean base?"),
        (
            "BACKOFF_RETRIES",
            "; did you mean attempts, which counts the first one, too?",
        ),
        ("BACKOFF_XYZ\n", ""),
    ] {
        let shown = told(name, "-v -- true");
        let line = format!("backoff: the variable {name:?} has no meaning{hint}\n");
        assert!(shown.stderr.starts_with(&line), "{shown:?}");
        told(name, "-- true").expect_silence();
        let shown = told(name, "-v --log-format json -- true");
        assert!(!shown.stderr.contains(name), "{shown:?}");
    }
    // Empty, it counts as unset. Those of options and of outer runs have a meaning.
    run(backoff("-v -- true").env("BACKOFF_MAX_DELY", "")).expect_stderr("backoff: true: attempt 1 of 5: starting");
    let inner = "backoff -v -- true >&2";
    let script = "backoff -n 2 -b 1ms --retry-if \"$INNER\" --on-retry \"$INNER\" -- sh -c \"$INNER; exit 1\"";
    let shown = run(shell(script).env("INNER", inner).env("BACKOFF_KILL_AFTER", "2s")).expect_code(1);
    assert_eq!(shown.stderr.matches("starting 'true'").count(), 5, "{shown:?}");
    assert!(!shown.stderr.contains("has no meaning"), "{shown:?}");
}

#[test]
fn a_failure_tells_where_auto_finds_nothing() {
    let line = "backoff: --for auto knows no preset for \"false\"; --list-presets shows those there are\n";
    for presets in ["auto", "network, auto"] {
        let command = |name: &str| words!("-n 2 -b 1ms --for {} -- /usr/bin/env {}", presets, name);
        let shown = ran(command("false")).expect_code(1);
        assert!(shown.stderr.starts_with(line), "{shown:?}");
        assert_eq!(shown.stderr.matches(line).count(), 1, "{shown:?}");
        ran(command("true")).expect_silence();
    }
    // Behind others: what is no fault of the network is not retried.
    let script = "echo no >&2; exit 3";
    run!("-n 2 -b 1ms --for auto -- env A=b timeout 9 sh -c {}", script).expect_stderr("knows no preset for \"sh\"");
    let dir = tempfile::tempdir().unwrap();
    let curl = within(&dir, "curl");
    executable(&curl, &format!("#!/bin/sh\n{script}\n"));
    let script = format!("{curl} -fsS URL");
    run!("--for auto -- env A=b timeout 9 sh -c {}", script)
        .expect_code(3)
        .expect_stderr("permanent: no retry rule matches");
    for (preset, command) in [("network", "true"), ("auto", "/nonexistent/curl")] {
        let shown = run!("-v --for {} -- {}", preset, command).expect_stderr(": starting ");
        assert!(!shown.stderr.contains("knows no preset"), "{shown:?}");
    }
}

#[test]
fn every_option_has_a_black_box_test() {
    let tests = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"));
    let files = ["cli", "tools"].map(|folder| std::fs::read_dir(tests.join(folder)).unwrap());
    let paths = files.into_iter().flatten().map(|entry| entry.unwrap().path());
    let all: String = paths.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for opt in OPTIONS.iter() {
        assert!(all.contains(&format!("--{}", opt.long)), "no test names --{}", opt.long);
    }
}
