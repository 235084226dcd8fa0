//! Who is speaking: each line about a run names the command or its label, and in a file the time and the run.

use std::fs;

use serde_json::Value;

use crate::common::pty::Terminal;
use crate::common::{BIN, backoff, executable, ran, run, shell, within};

#[test]
fn a_line_names_the_command_or_its_label() {
    run!("-n 2 -b 1ms -- /bin/false secret")
        .expect_stderr("backoff: false: attempt 1 of 2 failed: ")
        .expect_stderr("backoff: false: gave up after 2 attempts ");
    run!("-n 2 -b 1ms --label 'nightly: größe 5' -- /bin/false")
        .expect_stderr("backoff: nightly: größe 5: attempt 1 of 2 failed: ")
        .expect_stderr("backoff: nightly: größe 5: gave up after 2 attempts ");
    let shown = run!("-v --consecutive 2 -b 1ms --label job -- true").expect_code(0);
    let lines: Vec<&str> = shown.stderr.lines().collect();
    assert!(lines.iter().all(|line| line.starts_with("backoff: job: ")), "{shown:?}");
    assert!(
        lines.len() >= 4,
        "starts, a success to be confirmed, the end: {shown:?}"
    );
    // What is wrong before the start is about backoff, or names the command itself.
    let shown = run!("--label job -- no-such-command");
    assert_eq!(
        shown.stderr,
        "backoff: cannot run 'no-such-command': command not found\n"
    );
    run!("--label job -e 127 -n 2 -b 1ms -- no-such-command")
        .expect_stderr("backoff: job: attempt 1 of 2 failed: cannot run 'no-such-command'");
    for (name, shown) in [("", "''"), ("/", "'/'"), ("/bin/..", "'/bin/..'")] {
        run!("-e 126,127 -n 2 -b 1ms -- {}", name).expect_stderr(&format!("backoff: {shown}: attempt 1 of 2 "));
    }
}

#[test]
fn no_name_can_act_on_a_terminal_or_a_runner() {
    let dir = tempfile::tempdir().unwrap();
    let odd = within(&dir, "a\x1b[31m\n::error::\u{202e}##[x]%");
    executable(&odd, "#!/bin/sh\nexit 1\n");
    let shown = run!("-n 1 -- {}", odd);
    assert!(
        shown
            .stderr
            .starts_with(r"backoff: a\u{1b}[31m\n::error::\u{202e}##[x]%: gave up"),
        "{shown:?}"
    );
    let shown = run(backoff(words!("-n 1 -- {}", odd)).env("GITHUB_ACTIONS", "true"));
    assert!(!shown.stderr.contains("##["), "{shown:?}");
    for format in ["github", "github-groups"] {
        let shown = run!("--log-format {} -n 1 -- {}", format, odd);
        assert!(
            !shown.stderr.contains("##[") && shown.stderr.contains("%25: "),
            "{shown:?}"
        );
        let mut lines = shown.stderr.lines().filter(|line| !line.is_empty());
        assert!(lines.all(|line| line.starts_with("::")), "{shown:?}");
    }
    let script = "cp /bin/false \"$(printf 'a\\377')\"; backoff -n 1 -- ./\"$(printf 'a\\377')\"";
    run(shell(script).current_dir(dir.path())).expect_stderr(r"backoff: a\xff: gave up");
}

#[test]
fn a_label_is_one_short_line() {
    let long = "ü".repeat(64);
    run!("-n 1 --label {} -- false", long).expect_stderr(&format!("backoff: {long}: gave up"));
    let longer = "x".repeat(65);
    for bad in ["", "  ", "a\nb", "a\tb", "\x1b[1m", "a\u{202e}b", &longer] {
        let shown = run!("--label {} -- echo ran", bad).expect_code(125);
        assert_eq!((&*shown.stdout, shown.stderr.lines().count()), ("", 1), "{shown:?}");
        assert!(shown.stderr.starts_with("backoff: --label: "), "{shown:?}");
    }
    run(backoff("-n 1 -- false").env("BACKOFF_LABEL", "job")).expect_stderr("backoff: job: gave up");
    run(backoff("-n 1 --label other -- false").env("BACKOFF_LABEL", "job")).expect_stderr("backoff: other: gave up");
}

#[test]
fn the_countdown_says_it_too() {
    let args = words!("--label job -n 2 --delays 1.6s -j none -- false");
    let shown = Terminal::sized(
        Some((24, 80)),
        "env",
        words!("-u NO_COLOR TERM=xterm {} {..}", *BIN, args),
    )
    .rest();
    // How much is left is for the tests of the countdown to say.
    assert!(shown.contains("backoff: job: starting attempt 2 of 2 in "), "{shown:?}");
    assert!(shown.contains("s (exit 1)\x1b[K"), "{shown:?}");
}

#[test]
fn lines_in_a_file_tell_the_time_and_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let log = within(&dir, "log");
    let once = || {
        run!(
            "-vv -n 2 -b 1ms --log-file {} -- sh -c 'echo $BACKOFF_RUN_ID; exit 3'",
            log
        )
    };
    let ids: Vec<String> = [once(), once()].map(|shown| shown.stdout[..8].to_owned()).into();
    assert_ne!(ids[0], ids[1]);
    let text = fs::read_to_string(&log).unwrap();
    let mut previous = None;
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let time = humantime::parse_rfc3339(words[0]).unwrap();
        assert!(
            words[0].ends_with('Z') && previous.is_none_or(|previous| previous <= time),
            "{line}"
        );
        assert!(ids.iter().any(|id| id == words[1]) && words[2] == "backoff:", "{line}");
        previous = Some(time);
    }
    for id in ids {
        let of_run = |what: &str| {
            text.lines()
                .filter(|line| line.contains(&id) && line.contains(what))
                .count()
        };
        assert_eq!(of_run(" backoff: sh: gave up after 2 attempts"), 1);
        assert!(
            of_run(" backoff: attempts = 2 (--attempts)") == 1 && of_run(": starting 'sh'") == 2,
            "{text}"
        );
    }
    // For the runner of GitHub Actions a command begins the line.
    let other = within(&dir, "other");
    run!("-n 1 --log-format github --log-file {} -- false", other);
    assert!(fs::read_to_string(&other).unwrap().starts_with("::error "));
}

#[test]
fn programs_are_told_both_names() {
    let dir = tempfile::tempdir().unwrap();
    let report = within(&dir, "report");
    for (label, expected) in [("", Value::Null), ("--label 'a \"b\"'", "a \"b\"".into())] {
        let log = ran(words!(
            "{..} -n 2 -b 1ms --log-format json --report {} -- /bin/false secret",
            label,
            report
        ));
        let lines = log.stderr.lines().map(|line| serde_json::from_str(line).unwrap());
        let mut objects: Vec<Value> = lines.collect();
        assert!(objects.len() > 4);
        objects.push(serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap());
        for object in objects {
            assert_eq!(
                (&object["command"], &object["label"]),
                (&"/bin/false".into(), &expected),
                "{object}"
            );
        }
    }
}
