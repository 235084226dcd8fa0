//! The report's times, and the links that the report and the log do not follow. Other tests are in
//! `tests/cases/report.md`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::common::{Ends, backoff, within};

fn read(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn each_attempt_says_when_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "report");
    // Times are cut to milliseconds.
    let ms = Duration::from_millis(1);
    let before = SystemTime::now() - ms;
    backoff(format!(
        "-qq --report {path} -n 3 -b 40ms -j none -- sh -c 'sleep 0.02; exit 1'"
    ))
    .code(1);
    let latest = SystemTime::now();
    let report = read(&path);
    let started =
        |value: &Value| humantime::parse_rfc3339(value["started"].as_str().unwrap()).unwrap();
    let length =
        |value: &Value, key: &str| Duration::from_secs_f64(value[key].as_f64().unwrap_or(0.0));
    assert_eq!(report["attempts"].as_array().unwrap().len(), 3);
    let mut earliest = started(&report);
    assert!(earliest >= before, "{report}");
    for attempt in report["attempts"].as_array().unwrap() {
        let started = started(attempt);
        assert!(started + ms >= earliest && started <= latest, "{report}");
        earliest = started + length(attempt, "duration_s") + length(attempt, "delay_s");
    }
}

fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn no_link_is_followed_where_others_could_have_put_it() {
    let dir = tempfile::tempdir().unwrap();
    // In this directory every user may create files, as in `/tmp`.
    let shared = within(&dir, "shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let [victim, fifo, indirect] = ["victim", "fifo", "indirect"].map(|name| within(&dir, name));
    nix::unistd::mkfifo(&*fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let link = format!("{shared}/link");
    // A link of this user may lead to a link of another user.
    symlink(&link, &indirect).unwrap();
    for target in [&victim, &fifo] {
        symlink(target, &link).unwrap();
        for option in ["--report", "--log-file"] {
            for path in [&link, &indirect] {
                fs::write(&victim, "precious").unwrap();
                let run = backoff(format!("{option} {path} -v -- true")).code(0);
                run.says("a symbolic link where others could have put it");
                assert_eq!(
                    fs::read_to_string(&victim).unwrap(),
                    "precious",
                    "{option} {path}"
                );
            }
        }
        fs::remove_file(&link).unwrap();
    }
    // In this directory, backoff may still create a file, and write to a file of this user.
    let [own, log] = ["own", "log"].map(|name| format!("{shared}/{name}"));
    for _ in 0..2 {
        backoff(format!("--report {own} --log-file {log} -v -- true")).code(0);
        assert_eq!(
            (&read(&own)["result"], mode(&own), mode(&log)),
            (&"succeeded".into(), 0o600, 0o600)
        );
    }
    assert_eq!(
        fs::read_dir(&shared).unwrap().count(),
        2,
        "nothing is left beside them"
    );
}
