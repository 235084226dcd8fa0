//! The JSON report of a run.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::process::{is_alive, state};
use crate::common::words::Words;
use crate::common::{Live, backoff, eventually, run, shell, within};

fn report(dir: &TempDir) -> String {
    within(dir, "report.json")
}

fn read(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The report of a run with these words.
fn reported(args: impl Words) -> Value {
    let dir = tempfile::tempdir().unwrap();
    run!("--report {} -b 1ms {..}", report(&dir), args);
    read(&report(&dir))
}

#[test]
fn a_success_after_a_retry() {
    let report = reported("-- sh -c 'test $BACKOFF_ATTEMPT = 2 || exit 3'");
    assert_eq!(report["schema"], 1);
    assert_eq!(report["run_id"].as_str().unwrap().len(), 36);
    assert_eq!(report["command"], "sh");
    assert_eq!(report["result"], "succeeded");
    assert_eq!(report["exit_status"], 0);
    assert_eq!(report["gave_up"], Value::Null);
    assert!(humantime::parse_rfc3339(report["started"].as_str().unwrap()).is_ok());
    let attempts = report["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    let [first, second] = [&attempts[0], &attempts[1]];
    assert_eq!(
        (&first["attempt"], &second["attempt"]),
        (&Value::from(1), &Value::from(2))
    );
    assert_eq!((&first["exit"], &second["exit"]), (&Value::from(3), &Value::from(0)));
    assert_eq!(
        (&first["verdict"], &second["verdict"]),
        (&Value::from("transient"), &Value::from("success"))
    );
    assert_eq!(
        (&first["reason"], &second["reason"]),
        (&Value::from("exit 3"), &Value::Null)
    );
    assert!(first["delay_s"].as_f64().unwrap() > 0.0);
    assert_eq!(second["delay_s"], Value::Null);
    assert_eq!(first["timed_out"], false);
    assert_eq!(first["signal"], Value::Null);
    let total = report["duration_s"].as_f64().unwrap();
    let parts = |attempt: &Value| attempt["duration_s"].as_f64().unwrap() + attempt["delay_s"].as_f64().unwrap_or(0.0);
    assert!(total > 0.0 && total >= parts(first) + parts(second) - 0.001, "{report}");
}

#[test]
fn each_attempt_says_when_it_started() {
    let before = SystemTime::now() - Duration::from_millis(1);
    let report = reported("-n 3 -b 40ms -j none -- sh -c 'sleep 0.02; exit 1'");
    let after = SystemTime::now();
    let started = |value: &Value| humantime::parse_rfc3339(value["started"].as_str().unwrap()).unwrap();
    let length = |value: &Value, key: &str| Duration::from_secs_f64(value[key].as_f64().unwrap_or(0.0));
    let mut earliest = started(&report);
    assert!(earliest >= before, "{report}");
    let attempts = report["attempts"].as_array().unwrap();
    for attempt in attempts {
        // Times are cut to milliseconds.
        let started = started(attempt) + Duration::from_millis(1);
        assert!(
            started >= earliest && started <= after + Duration::from_millis(1),
            "{report}"
        );
        earliest = started - Duration::from_millis(1) + length(attempt, "duration_s") + length(attempt, "delay_s");
    }
    assert_eq!(attempts.len(), 3);
}

#[test]
fn each_way_to_end() {
    let ended = |args: &str| {
        let report = reported(args);
        let text = |key: &str| report[key].as_str().unwrap_or("-").to_owned();
        (text("result"), text("gave_up"), report["exit_status"].as_u64().unwrap())
    };
    let is = |result: &str, why: &str, status: u64| (result.to_owned(), why.to_owned(), status);
    assert_eq!(ended("-- true"), is("succeeded", "-", 0));
    assert_eq!(ended("-n 2 -- sh -c 'exit 7'"), is("gave_up", "attempts", 7));
    assert_eq!(ended("--stop-exit 7 -- sh -c 'exit 7'"), is("gave_up", "permanent", 7));
    assert_eq!(ended("-n 1 -- sh -c 'kill $$'"), is("gave_up", "attempts", 143));
    assert_eq!(ended("-n 1 -t 50ms -- sleep 9"), is("gave_up", "attempts", 124));
    assert_eq!(
        ended("-n 2 --exhausted-exit 75 -- false"),
        is("gave_up", "attempts", 75)
    );
    assert_eq!(ended("-- no-such-command"), is("gave_up", "permanent", 127));
    let flaky = "--flaky-exit 9 -- sh -c 'test $BACKOFF_ATTEMPT = 2'";
    assert_eq!(ended(flaky), is("succeeded", "-", 9));
}

#[test]
fn an_interrupted_attempt_is_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = report(&dir);
    let mut live = Live::start(&mut backoff(words!(
        "--report {} -b 1ms -- sh -c {}",
        path,
        "trap 'exit 4' TERM; echo $BACKOFF_ATTEMPT; test $BACKOFF_ATTEMPT = 2 || exit 1; while :; do sleep 0.01; done"
    )));
    live.expect_line("1");
    live.expect_line("2");
    live.signal(Signal::SIGTERM);
    assert_eq!(live.finish().code(), Some(4));
    let report = read(&path);
    assert_eq!(
        (&report["result"], &report["exit_status"]),
        (&Value::from("interrupted"), &Value::from(4))
    );
    let attempts = report["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2);
    assert_eq!(
        (&attempts[1]["exit"], &attempts[1]["verdict"]),
        (&Value::from(4), &Value::Null)
    );
}

#[test]
fn an_interrupted_wait_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = report(&dir);
    let mut live = Live::start(&mut backoff(words!(
        "--report {} -b 1h -m 1h -- sh -c 'echo $$; exit 3'",
        path
    )));
    let attempt: i32 = live.line().parse().unwrap();
    eventually("it waits", || !is_alive(attempt) && state(live.pid()) == Some('S'));
    live.signal(Signal::SIGINT);
    assert_eq!(live.finish().signal(), Some(2));
    let report = read(&path);
    assert_eq!(
        (&report["result"], &report["exit_status"]),
        (&Value::from("interrupted"), &Value::from(130))
    );
    assert_eq!(report["attempts"].as_array().unwrap().len(), 1);
    assert!(report["attempts"][0]["delay_s"].as_f64().unwrap() >= 3600.0);
}

#[test]
fn a_fault_of_its_own_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = report(&dir);
    run(&mut shell(&format!(
        "backoff --report {path} --stdout final -n 1 -- echo x >/dev/full"
    )))
    .expect_code(125);
    let report = read(&path);
    assert_eq!(
        (&report["result"], &report["exit_status"]),
        (&Value::from("failed"), &Value::from(125))
    );
}

#[test]
fn the_file_is_replaced_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = report(&dir);
    let again = || run!("--report {} -- true", path).expect_code(0).expect_silence();
    again();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let old = fs::File::open(&path).unwrap();
    again();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    // Whoever reads the old one goes on reading the old one.
    let first: Value = serde_json::from_reader(old).unwrap();
    assert_ne!(first["run_id"], read(&path)["run_id"]);
    let link = within(&dir, "link");
    symlink(&path, &link).unwrap();
    run!("--report {} -n 1 -- false", link);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&path)["command"], "false");
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        2,
        "nothing is left beside it"
    );
}

#[test]
fn a_link_that_leads_to_nothing_stays_one() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(within(&dir, "there")).unwrap();
    symlink("there/second", within(&dir, "first")).unwrap();
    symlink("../made", within(&dir, "there/second")).unwrap();
    symlink("round", within(&dir, "round")).unwrap();
    for option in ["--report", "--log-file"] {
        run(backoff(words!("{} first -v -- true", option)).current_dir(&dir)).expect_code(0);
        assert!(fs::symlink_metadata(within(&dir, "there/second")).unwrap().is_symlink());
        let made = fs::read_to_string(within(&dir, "made")).unwrap();
        assert!(made.contains("succeeded"), "{option}: {made}");
        fs::remove_file(within(&dir, "made")).unwrap();
        let shown = run(backoff(words!("{} round -v -- true", option)).current_dir(&dir)).expect_code(0);
        shown.expect_stderr(" \"round\": Too many levels of symbolic links");
    }
}

/// A directory in which everybody may make files, as `/tmp`.
fn shared_directory(dir: &TempDir) -> String {
    let shared = within(dir, "shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    shared
}

fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn no_link_is_followed_where_others_could_have_put_it() {
    let dir = tempfile::tempdir().unwrap();
    let shared = shared_directory(&dir);
    let victim = within(&dir, "victim");
    let fifo = within(&dir, "fifo");
    nix::unistd::mkfifo(&*fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let link = format!("{shared}/link");
    // A link of this user's own may lead to that of another one.
    let indirect = within(&dir, "indirect");
    symlink(&link, &indirect).unwrap();
    for target in [&victim, &fifo] {
        symlink(target, &link).unwrap();
        for option in ["--report", "--log-file"] {
            for path in [&link, &indirect] {
                fs::write(&victim, "precious").unwrap();
                run!("{} {} -v -- true", option, path)
                    .expect_code(0)
                    .expect_stderr(&format!(
                        "warning: cannot write {}",
                        if option == "--report" { "" } else { "to " }
                    ))
                    .expect_stderr("a symbolic link where others could have put it");
                assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{option} {path}");
            }
        }
        fs::remove_file(&link).unwrap();
    }
    // A new file is as good there as elsewhere, and so is one of this user's own.
    let own = format!("{shared}/own");
    for _ in 0..2 {
        run!("--report {} -- true", own).expect_code(0).expect_silence();
        assert_eq!((&read(&own)["result"], mode(&own)), (&Value::from("succeeded"), 0o600));
    }
    let log = format!("{shared}/log");
    run!("--log-file {} -v -- true", log).expect_code(0).expect_silence();
    assert_eq!(mode(&log), 0o600);
    assert_eq!(fs::read_dir(&shared).unwrap().count(), 2, "nothing is left beside them");
}

#[test]
fn what_is_no_file_gets_it_all_the_same() {
    let read: Value = serde_json::from_str(&run!("--report /dev/stdout -- true").stdout).unwrap();
    assert_eq!(read["result"], "succeeded");
    let shown = run(&mut shell("backoff --report >(cat >&2) -- true; wait $!"));
    assert!(shown.stderr.contains("\"succeeded\""), "{shown:?}");
    let dir = tempfile::tempdir().unwrap();
    let both = within(&dir, "both");
    run(&mut shell(&format!(
        "backoff --report /dev/stdout -- echo mine >{both}"
    )))
    .expect_code(0);
    let text = fs::read_to_string(&both).unwrap();
    assert!(text.starts_with("mine\n{\"schema\":1,"), "{text}");
}

#[test]
fn a_report_that_cannot_be_written_is_one_warning() {
    for (path, why) in [
        ("/nonexistent/report", "No such file or directory"),
        ("/", "Is a directory"),
        ("/dev/full", "No space left on device"),
        ("/proc/report", "No such file or directory"),
        ("/dev/fd/3", "Bad file descriptor"),
        ("/dev/fd/-1", "No such file or directory"),
    ] {
        let shown = run!("--report {} -q -n 2 -b 1ms -- sh -c 'exit 3'", path).expect_code(3);
        assert_eq!(
            shown.stderr,
            format!("backoff: warning: cannot write to --report {path:?}: {why}\n")
        );
    }
}

#[test]
fn of_very_many_attempts_the_last_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "report");
    // What cannot be started costs next to nothing.
    let mut many = backoff(words!(
        "--report {} -q -n 10003 -b 0 -m 0 -e 127 -- no-such-command",
        path
    ));
    run(&mut many).expect_code(127);
    let report = read(&path);
    assert_eq!(report["attempts_made"], 10_003);
    let attempts = report["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 10_000);
    assert_eq!(attempts[9_999]["attempt"], 10_003);
}
