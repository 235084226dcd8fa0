//! Times in the report, and file modes. Other tests are in `tests/cases/output.md`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::util::{Ends, backoff, within};

tests! {
    each_attempt_says_when_it_started
    a_new_report_and_a_new_log_are_private
}

fn read(path: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn each_attempt_says_when_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let path = within(&dir, "report");
    // Times are truncated to milliseconds.
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

fn a_new_report_and_a_new_log_are_private() {
    let dir = tempfile::tempdir().unwrap();
    let [report, log] = ["report", "log"].map(|name| within(&dir, name));
    for _ in 0..2 {
        backoff(format!("--report {report} --log-file {log} -v -- true")).code(0);
        assert_eq!(
            (&read(&report)["result"], mode(&report), mode(&log)),
            (&"succeeded".into(), 0o600, 0o600)
        );
    }
    let left = fs::read_dir(&dir).unwrap().count();
    assert_eq!(left, 2, "nothing is left beside them");
}
