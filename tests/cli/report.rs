//! The report's times, and the links that the report and the log do not follow. All else is in `tests/cases/report.md`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::within;
use crate::common::words::Words;

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
