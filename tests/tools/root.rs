//! Files of other users, and devices. Only root can make them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{BIN, clean, run, within};

tests! {
    a_configuration_of_another_user ["root"]
    a_report_of_another_user ["root"]
    a_hooks_file_of_another_user ["root"]
    a_link_to_a_device ["mknod"]
}

const NOBODY: u32 = 65534;

fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn a_configuration_of_another_user() {
    let (home, programs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // Nobody may not be allowed where the tested binary lies.
    let binary = within(&programs, "backoff");
    run(clean("install").args(["-m", "755", *BIN, &binary])).expect_code(0);
    set_mode(&programs, 0o755);
    let file = within(&home, ".config/backoff/config.toml");
    fs::create_dir_all(within(&home, ".config/backoff")).unwrap();
    fs::write(&file, "[defaults]\nattempts = 7\n").unwrap();
    set_mode(&file, 0o644);

    let run_as = |user: Option<u32>| {
        let mut command = clean(&binary);
        command.env_remove("BACKOFF_CONFIG").env_remove("XDG_CONFIG_HOME");
        command.env("HOME", home.path()).current_dir("/");
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        command.args(["--", "sh", "-c", "echo $BACKOFF_ATTEMPT_LIMIT"]);
        command
    };
    let limit = |mut command: Command| run(&mut command).expect_code(0).stdout.trim().to_owned();
    set_mode(&home, 0o755);
    assert_eq!(limit(run_as(Some(NOBODY))), "7");
    // A service that inherited HOME may not enter it: that home is not its own.
    set_mode(&home, 0o700);
    assert_eq!(limit(run_as(Some(NOBODY))), "5");
    set_mode(&home, 0o755);
    set_mode(&file, 0o600);
    run(&mut run_as(Some(NOBODY)))
        .expect_code(125)
        .expect_stderr("config.toml: the configuration file cannot be opened: Permission denied");
    chown(&file, Some(NOBODY), None).unwrap();
    assert_eq!(limit(run_as(Some(NOBODY))), "7");
    run(&mut run_as(None))
        .expect_code(125)
        .expect_stderr("belongs to user 65534, not to user 0 or root");
}

/// A directory in which everybody may make files, as `/tmp`.
fn shared_directory(dir: &TempDir) -> String {
    let shared = within(dir, "shared");
    fs::create_dir(&shared).unwrap();
    set_mode(&shared, 0o1777);
    shared
}

fn write_as_nobody(path: &str) {
    fs::write(path, "theirs").unwrap();
    set_mode(path, 0o666);
    chown(path, Some(NOBODY), None).unwrap();
}

fn a_report_of_another_user() {
    let dir = tempfile::tempdir().unwrap();
    let shared = shared_directory(&dir);
    let foreign = within(&dir, "foreign");
    fs::create_dir(&foreign).unwrap();
    chown(&foreign, Some(NOBODY), None).unwrap();
    for (option, place) in [("--report", &shared), ("--report", &foreign), ("--log-file", &shared)] {
        let path = format!("{place}/report.json");
        write_as_nobody(&path);
        run!("{} {} -v -- true", option, path)
            .expect_code(0)
            .expect_stderr("it belongs to user 65534");
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs", "{option} {path}");
    }
    // In a directory of one's own it may be replaced, but not with a mode that the other user chose.
    let own = within(&dir, "report.json");
    write_as_nobody(&own);
    run!("--report {} -- true", own).expect_code(0).expect_silence();
    let report: Value = serde_json::from_str(&fs::read_to_string(&own).unwrap()).unwrap();
    assert_eq!(report["result"], "succeeded");
    assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o600);
}

fn a_hooks_file_of_another_user() {
    let hook = "echo A=theirs >$BACKOFF_ENV; chown 1 $BACKOFF_ENV";
    let shown = run!("-n 2 -b 1ms --before-retry {} -- sh -c 'echo [$A]; exit 1'", hook).expect_code(1);
    assert_eq!(shown.stdout, "[]\n");
    shown.expect_stderr(": it belongs to another user)\n");
}

fn a_link_to_a_device() {
    let dir = tempfile::tempdir().unwrap();
    let [null, full, link] = ["null", "full", "shared/link"].map(|name| within(&dir, name));
    shared_directory(&dir);
    run(clean("mknod").args([&null, "c", "1", "3"])).expect_code(0);
    run(clean("mknod").args([&full, "c", "1", "7"])).expect_code(0);
    symlink(&null, &link).unwrap();
    for option in ["--report", "--log-file"] {
        run!("{} {} -v -- true", option, link)
            .expect_code(0)
            .expect_stderr("a symbolic link where others could have put it");
        run!("{} {} -v -- true", option, null).expect_code(0);
        run!("{} {} -v -- true", option, full)
            .expect_code(0)
            .expect_stderr("No space left on device");
    }
    for device in [&null, &full] {
        let kind = run(clean("stat").args(["-c", "%F", device])).stdout;
        assert_eq!(kind, "character special file\n", "{device}");
    }
}
